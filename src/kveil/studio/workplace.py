"""An open table and everything that is known of it: its policy, what the table is, and the live check.

Each opening has a workplace of its own. What was asked for one table is written here and nowhere else, so an answer
that comes after another table was opened reaches nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from kveil.free_form import Content
from kveil.studio.answers import Told
from kveil.studio.basis import data_of, table_stamp
from kveil.studio.children import Reader
from kveil.studio.consent import Consents
from kveil.studio.page_data import (
    CheckSoon,
    CheckWhole,
    LimitCosts,
    LiveCheck,
    NeverKept,
    OpenTable,
    ReadTable,
    TableAsked,
    TableNumbers,
    ToConfirm,
    UnreadTable,
)
from kveil.studio.project import Project

WAIT = 0.15  # seconds after a change before the table is asked
SLOW = 3.0  # seconds; a check that takes longer waits for a click


class Workplace:
    """One opening of a table: the policy, the table, the check; ``tell`` hears of every change of them."""

    def __init__(
        self,
        project: Project,
        opening: int,
        *,
        reader: Reader,
        checker: Reader,
        consents: Consents,
        tell: Callable[[str, Any], None],
    ) -> None:
        self.project = project
        self.opening = opening
        self.reader, self.checker, self.consents, self.tell = reader, checker, consents, tell
        self.table: OpenTable | None = None
        self.check: LiveCheck = {"state": "running", "seconds": 0.0}
        self.seen: tuple[Content, str] | None = None  # the table as it was named, and its file, at the last look
        self.trees = project.stamps()  # the files of trees as they were when pages were last told of the policy
        self.checking: asyncio.Task[None] | None = None
        self.took = {"never_kept": 0.0, "limits": 0.0}  # seconds that the last check took, without reading the table

    # ------------------------------------------------------------------------------------------ the table

    def data(self) -> Content:
        """Return what the policy says about its table; say what to do where it names none."""
        data = data_of(self.project.content)
        if not isinstance(data.get("path"), str) or not data["path"]:
            raise Told("The policy names no table; choose one on File, or write data.path.", status=409)
        return data

    def reading(self) -> TableAsked:
        """Return where the table is and how its texts are read, as the process that holds it asks for it."""
        project = self.project
        return {
            "data": self.data(),
            "folder": str(project.folder),
            "names": list(project.attributes),
            "opened": self.opening,
        }

    def _sight(self) -> tuple[Content, str]:
        return data_of(self.project.content), table_stamp(self.project)

    def has_other_table(self) -> bool:
        """Tell whether the policy names another table than was looked at, or the table's file has changed since."""
        return self.seen is not None and self.seen != self._sight()

    def has_other_trees(self) -> bool:
        """Tell whether files of trees have changed since pages were told of the policy."""
        return self.trees != self.project.stamps()

    async def look_at_table(self) -> None:
        """Ask what the table is; the answer, or why there is none, is told to every page."""
        given: Content | None = None
        self.seen = self._sight()
        try:
            asked = self.reading()
            given = asked["data"]
            found: TableNumbers = await self.reader.ask("table", table=asked)
            self.table = ReadTable(**found, error=None, given=given)
        except Told as error:
            encoding = error.more.get("encoding")
            self.table = UnreadTable(
                columns=[], rows=0, name="", given=given, error=error.told, encoding=encoding, confirm=self._wanted()
            )
        self.tell("table", self.table)

    def named_path(self) -> str | None:
        """Return where the policy says that its table is, None where it says nothing."""
        with contextlib.suppress(Told):
            return str(self.data()["path"])
        return None

    def _wanted(self) -> ToConfirm | None:
        """Return what somebody must agree to before the table is read."""
        named = self.named_path()
        return None if named is None else self.consents.wanted(named, self.project.folder)

    # ------------------------------------------------------------------------------------------ the live check

    def ask_check(self, *, wanted: bool = False) -> None:
        """Check the policy against its table soon; what takes long only where somebody asks for it."""
        self.leave_check()
        if self.took["never_kept"] > SLOW and not wanted:
            self.tell_check({"state": "stale", "seconds": self.took["never_kept"]})
            return
        self.tell_check({"state": "running", "seconds": self.took["never_kept"]})
        self.checking = asyncio.ensure_future(self._check(wanted=wanted))

    def leave_check(self) -> None:
        """Ask no longer for a check that is under way."""
        if self.checking is not None:
            self.checking.cancel()

    def tell_check(self, check: LiveCheck) -> None:
        """Take note of how the check stands, and tell it."""
        self.check = check
        self.tell("check", check)

    async def _check(self, *, wanted: bool) -> None:
        """Ask who can never be kept and tell it at once; then whose fault it is, which takes longer."""
        await asyncio.sleep(0 if wanted else WAIT)
        number = self.project.number
        try:
            never_kept: NeverKept = await self._asked_to_check("never_kept")
            whole = wanted or self.took["limits"] <= SLOW
            soon: CheckSoon = {
                "state": "done",
                "number": number,
                "whole": False,
                "looking": whole,
                "attributes": [],
                **never_kept,
                "seconds_of_limits": self.took["limits"],
            }
            self.tell_check(soon)
            if whole:
                limits: LimitCosts = await self._asked_to_check("limits")
                done = CheckWhole(state="done", number=number, whole=True, looking=False, **never_kept, **limits)
                self.tell_check(done)
        except Told as error:
            self.tell_check({"state": "refused", "number": number, "told": error.told, **error.more})

    async def _asked_to_check(self, question: str) -> Any:
        """Ask the process that checks; a change of the policy cancels this, so that no old answer is told."""
        answer = await self.checker.ask(
            question,
            text=self.project.text,
            name=self.project.path.name,
            folder=str(self.project.folder),
            opened=self.opening,
        )
        self.took[question] = answer["seconds" if question == "never_kept" else "seconds_of_limits"]
        return answer
