"""All that a run writes: the release, what is asked for beside it, and what an archive keeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import polars as pl

from kveil.engines.store import ReleaseFile
from kveil.files import Outputs, Source, as_json
from kveil.flow.steps.outputs import Destination, Targets
from kveil.flow.steps.request import Request
from kveil.flow.steps.stages import Stages
from kveil.progress import Progress
from kveil.report.account import Account, make_account
from kveil.report.receipt import make_receipt
from kveil.report.run import Run

if TYPE_CHECKING:  # imported by the runs that need them, which few do
    from kveil.archive.archive import Additions


def files_beside(run: Run, account: Account, targets: Targets, progress: Progress) -> Iterator[tuple[Path, bytes]]:
    """Return what is written beside the release, file by file."""
    if targets.receipt is not None:
        yield targets.receipt, as_json(make_receipt(account, run))
    if targets.account is not None:
        yield targets.account, as_json(account)
    if targets.owner is not None:
        yield targets.owner, as_json(run.owner(account["sha256"]["release"]).as_json(), indent=None)
    if targets.report is not None:
        from kveil.report.page import owners_page, public_page

        if targets.public:
            page = public_page(run.policy, make_receipt(account, run), run.released)
        else:
            owner = run.owner(account["sha256"]["release"])
            page = owners_page(run.policy, account, run.released, run.source, owner, progress=progress)
        yield targets.report, page.encode()


class RunOutputs:
    """The release of a run with all that is written beside it, and the archive that it is added to.

    They are opened before the table is read, since a folder that cannot be written to should not cost a whole run, and
    nobody sees any of them before ``commit``.
    """

    def __init__(self, asked: Request, targets: Targets) -> None:
        self._asked = asked
        self._targets = targets
        self._exits = ExitStack()
        self._people: pl.Series | None = None

    def __enter__(self) -> Self:
        with ExitStack() as exits:
            self._additions = exits.enter_context(self._archive())
            outputs = exits.enter_context(Outputs())
            if self._additions is not None:
                self._additions.stage(outputs)
            self._files = {path: outputs.open(path, private=private) for path, private in self._targets.beside()}
            self._release = exits.enter_context(Destination(self._targets.release, outputs))  # the last to get its name
            self._outputs = outputs
            self._exits = exits.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._exits.__exit__(kind, error, trace)

    def _archive(self) -> AbstractContextManager[Additions | None]:
        """Return the archive that the release is added to, locked while it is open; None where there is none.

        A policy that does not say who is who is refused here.
        """
        folder, earlier = self._targets.archive, self._asked.earlier
        if folder is None:
            return nullcontext()
        from kveil.archive.archive import adding_to
        from kveil.archive.people import key_column_of

        key_column_of(self._asked.policy)
        return adding_to(folder, [] if earlier is None else earlier.archives)

    @property
    def release_file(self) -> ReleaseFile | None:
        """The file of the release, None where it goes to a database."""
        return self._release.file

    def look_at_people(self, source: Source) -> None:
        """Keep who the people of a table are, where an archive needs that; refuse a table that does not tell."""
        if self._additions is not None:
            self._people = self._additions.people_of(source, self._asked.policy)

    def write(self, run: Run, stages: Stages) -> Account:
        """Write all of a run; return its account."""
        stages.begin("writing")
        digest = run.release_sha256 or self._release.write(run.released, run.source, run.policy)
        stages.end("write")
        account = make_account(run, seconds=stages.seconds, release_sha256=digest)
        for path, content in files_beside(run, account, self._targets, stages.progress):
            self._outputs.write(self._files[path], content)
        if self._additions is not None and self._people is not None:
            from kveil.archive import Entry

            owner = run.owner(digest).as_json()
            content, suffix = self._release.content(run.released.frame, run.policy)
            people = self._people.gather(run.release.rows)
            entry = Entry(run.policy, content, suffix, make_receipt(account, run), account, owner, people=people)
            self._additions.write(entry, self._outputs)
        return account

    def commit(self) -> None:
        """Let everything be seen, the release last."""
        self._release.commit()
