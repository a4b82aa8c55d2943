"""A table that was dropped on the page: in a folder of its own if it can be opened, and gone if it cannot.

Where somebody can say what it lacks, such as its encoding, it waits for that in a hidden folder.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kveil.studio.answers import Told
from kveil.studio.files import fresh_folder, stem_of


@dataclass
class DroppedTable:
    """A dropped table by the path that the page knows it by, and where it lies while it waits."""

    root: Path
    named: str
    hidden: Path

    @classmethod
    def empty(cls, root: Path, name: str) -> DroppedTable:
        """Make a place for a table that is about to come."""
        try:
            hidden = Path(tempfile.mkdtemp(prefix=".kveil-dropped-", dir=root))
        except OSError as error:
            raise Told(f"A folder cannot be made here ({error.strerror}); start the studio elsewhere.") from None
        return cls(root, f"{stem_of(name)}/{name}", hidden)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.named.rsplit("/", 1)[1]

    @property
    def file(self) -> Path:
        """Where it is written, and where it waits."""
        return self.hidden / self.name

    def settle(self) -> Path:
        """Move it into a folder of its own, so that it can be opened there; return its path."""
        target = fresh_folder(self.root, stem_of(self.name)) / self.name
        os.replace(self.file, target)
        return target

    def take_back(self, target: Path) -> None:
        """Move it back where nobody is offered it, since it could not be opened; what was made beside it goes."""
        os.replace(target, self.file)
        with contextlib.suppress(OSError):
            target.parent.rmdir()

    def remove(self) -> None:
        """Take it away."""
        with contextlib.suppress(OSError):
            for file in self.hidden.iterdir():
                file.unlink()
            self.hidden.rmdir()
