"""A page on the disk that leads a browser to the studio's link.

What a browser is started with, every user of the machine can read in the list of processes. So it is started with the
name of a file in a folder that only its owner can look into; the link stands in the file.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from html import escape
from pathlib import Path

FORWARD = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}">
<title>kveil studio</title>
<p>Opening <a href="{link}">the studio</a>…</p>
</html>
"""


class Doorway:
    """One such page: written at once, and gone as soon as it has been used, is too old, or the studio ends."""

    def __init__(self, link: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="kveil-studio-"))  # of mode 700
        self.page = self._folder / "open.html"
        descriptor = os.open(self.page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(FORWARD.format(link=escape(link)))

    @property
    def address(self) -> str:
        """What the browser is told to open."""
        return self.page.as_uri()

    def close(self) -> None:
        """Take the page away; it may be gone already."""
        with contextlib.suppress(OSError):
            self.page.unlink()
        with contextlib.suppress(OSError):
            self._folder.rmdir()
