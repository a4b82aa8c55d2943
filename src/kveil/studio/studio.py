"""The studio's state: an open project, its table, the live check, jobs, and whoever listens to what changes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

from kveil.errors import KveilError
from kveil.free_form import Content
from kveil.studio import runs
from kveil.studio.answers import Told
from kveil.studio.children import Job, Jobs, Reader
from kveil.studio.consent import Consents
from kveil.studio.edit import Change, content
from kveil.studio.files import release_suffix
from kveil.studio.page_data import (
    Catalogue,
    CheckSoon,
    CheckWhole,
    LimitCosts,
    LiveCheck,
    NeverKept,
    OpenTable,
    ReadTable,
    StudioState,
    TableAsked,
    TableNumbers,
    ToConfirm,
    UnreadTable,
)
from kveil.studio.project import Project, save

WAIT = 0.15  # seconds after a change before the table is asked
SLOW = 3.0  # seconds; a check that takes longer waits for a click


class Studio:
    """One server's state; everything the routes do is a method here."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.project: Project | None = None
        self.consents = Consents()
        self.reader = Reader(self.consents.given)
        self.checker = Reader(self.consents.given)  # a process of its own: while it reckons, the other one answers
        self.jobs = Jobs(lambda job: self.tell("job", job.shown()))
        self.listeners: set[asyncio.Queue[str]] = set()
        self.table: OpenTable | None = None
        self.check: LiveCheck = {"state": "none"}
        self.checking: asyncio.Task[None] | None = None
        self.took = {"never_kept": 0.0, "limits": 0.0}  # seconds that the last check took, without reading the table
        self.openings = 0  # how often something was opened; a server's table is read again each time
        self.used = monotonic()
        self.catalogue: Catalogue | None = None

    # ------------------------------------------------------------------------------------------ telling

    def tell(self, kind: str, what: Any) -> None:
        """Tell every open page that something changed."""
        message = f"event: {kind}\ndata: {json.dumps(what)}\n\n"
        for queue in self.listeners:
            queue.put_nowait(message)

    async def events(self) -> AsyncIterator[str]:
        """Give one page the present state and then every change."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self.listeners.add(queue)
        try:
            yield f"event: hello\ndata: {json.dumps(self.state())}\n\n"
            while True:
                try:
                    message = await asyncio.wait_for(queue.get(), 10)
                except TimeoutError:
                    message = ": still here\n\n"
                if not message:
                    return
                yield message
        finally:
            self.listeners.discard(queue)
            self.used = monotonic()

    def end_events(self) -> None:
        """End every page's stream of events, so that the server can stop."""
        for queue in self.listeners:
            queue.put_nowait("")

    def state(self) -> StudioState:
        """Return everything a page needs to start with."""
        return {
            "root": str(self.root),
            "project": None if self.project is None else self.project.state(),
            "table": self.table,
            "check": self.check,
            "jobs": [job.shown() for job in self.jobs.all.values()][-8:],
            "command": self.command(),
        }

    # ------------------------------------------------------------------------------------------ the project

    def opened(self) -> Project:
        """Return the open project; say what to do where there is none."""
        if self.project is None:
            raise Told("No table is open yet; choose one on File.", status=409)
        return self.project

    async def begin(self, project: Project) -> None:
        """Take up a project, and look at its table; the check comes after it, since columns are wanted first."""
        self.openings += 1
        self.project = project
        self.table = None
        self.took = dict.fromkeys(self.took, 0.0)
        self.changed(checked=False)
        await self.look_at_table()
        self.ask_check()

    def data(self) -> Content:
        """Return what the policy says about its table; say what to do where it names none."""
        data = content(self.opened().text).get("data")
        if not isinstance(data, dict) or not data.get("path"):
            raise Told("The policy names no table; choose one on File, or write data.path.", status=409)
        return data

    def place_table(self, named: str, folder: Path) -> None:
        """Take note where the table is: only for a server that somebody agreed to are children told its password."""
        server = self.consents.covers_server(named, folder)
        self.reader.server = self.checker.server = self.jobs.server = server

    def named_path(self) -> str | None:
        """Return where the policy says that its table is, None where it says nothing."""
        with contextlib.suppress(Told):
            return str(self.data()["path"])
        return None

    def agree_to_typed(self, before: str | None) -> None:
        """Take it that somebody agrees to where the table is now, if they have just typed that."""
        named = self.named_path()
        if named is not None and named != before:
            with contextlib.suppress(KveilError):  # it is asked for on File then, which tells why
                self.consents.give(named, self.opened().folder)

    async def agree(self, seen: ToConfirm) -> None:
        """Take it that somebody agrees to what the policy names now, if that is what they saw, and read the table."""
        named, folder = str(self.data()["path"]), self.opened().folder
        if seen != self.consents.wanted(named, folder):
            raise Told("The policy names something else meanwhile; look at it again.", status=409)
        self.consents.give(named, folder)
        self.place_table(named, folder)
        await self.look_at_table()
        self.ask_check()

    def agreed_input(self) -> list[str]:
        """Return what a command is told so that it reads what was agreed to, whatever the policy says by then."""
        named, folder = str(self.data()["path"]), self.opened().folder
        if self.consents.wanted(named, folder) is not None:
            raise Told("Nobody has agreed yet to what the policy reads; look at it on File.", status=409)
        return ["--input", named] if self.consents.covers(named, folder) else []

    def reading(self) -> TableAsked:
        """Return where the table is and how its texts are read, as the process that holds it asks for it."""
        project = self.opened()
        names = list(content(project.text).get("attributes") or {})
        return {"data": self.data(), "folder": str(project.folder), "names": names, "opened": self.openings}

    async def look_at_table(self) -> None:
        """Ask what the table is; the answer, or why there is none, is told to every page."""
        given: Content | None = None
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

    def _wanted(self) -> ToConfirm | None:
        named = self.named_path()
        return None if named is None else self.consents.wanted(named, self.opened().folder)

    # ------------------------------------------------------------------------------------------ changes

    def changed(self, *, checked: bool = True) -> None:
        """Tell every page the new state, and have it checked soon."""
        project = self.opened()
        self.used = monotonic()
        self.tell("project", {**project.state(), "command": self.command()})
        with contextlib.suppress(Told):
            self.place_table(str(self.data()["path"]), project.folder)
        if self.table is not None:
            with contextlib.suppress(Told):
                if self.data() != self.table["given"]:
                    self.start_task(self.look_at_table())
        if checked:
            self.ask_check()
            return
        if self.checking is not None:  # it is about what was open before
            self.checking.cancel()
        self._checked({"state": "running", "seconds": 0.0})

    def start_task(self, work: Any) -> None:
        """Start work that goes on beside what asked for it, and keep it from being collected until it ends."""
        task = asyncio.ensure_future(work)
        self.jobs.tasks.add(task)
        task.add_done_callback(self.jobs.tasks.discard)

    def edit(self, number: int, changes: list[Change], words: str) -> None:
        """Change the policy where a click asks for it."""
        project = self.opened()
        project.expect(number)
        before = self.named_path()
        project.change(changes, words)
        self.agree_to_typed(before)
        self.changed()

    # ------------------------------------------------------------------------------------------ the live check

    def ask_check(self, *, wanted: bool = False) -> None:
        """Check the policy against its table soon; what takes long only where somebody asks for it."""
        if self.checking is not None and not self.checking.done():
            self.checking.cancel()
        if self.took["never_kept"] > SLOW and not wanted:
            self._checked({"state": "stale", "seconds": self.took["never_kept"]})
            return
        self._checked({"state": "running", "seconds": self.took["never_kept"]})
        self.checking = asyncio.ensure_future(self._check(wanted=wanted))

    def _checked(self, check: LiveCheck) -> None:
        self.check = check
        self.tell("check", check)

    async def _check(self, *, wanted: bool) -> None:
        """Ask who can never be kept and tell it at once; then whose fault it is, which takes longer."""
        await asyncio.sleep(0 if wanted else WAIT)
        number = self.opened().number
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
            self._checked(soon)
            if whole:
                limits: LimitCosts = await self._asked_to_check("limits")
                done = CheckWhole(state="done", number=number, whole=True, looking=False, **never_kept, **limits)
                self._checked(done)
        except Told as error:
            self._checked({"state": "refused", "number": number, "told": error.told, **error.more})

    async def _asked_to_check(self, question: str) -> Any:
        """Ask the process that checks; a change of the policy cancels this, so that no old answer is told."""
        project = self.opened()
        answer = await self.checker.ask(
            question,
            text=project.text,
            name=project.path.name,
            folder=str(project.folder),
            opened=self.openings,
        )
        self.took[question] = answer["seconds" if question == "never_kept" else "seconds_of_limits"]
        return answer

    # ------------------------------------------------------------------------------------------ runs

    def command(self) -> str | None:
        """Return the command that makes the same release as a run would now."""
        return None if self.project is None else runs.command(self.project, f"release{self._suffix()}")

    def _suffix(self) -> str:
        with contextlib.suppress(Told):
            return release_suffix(str(self.data()["path"]))
        return ".csv"

    async def run(self, *, weaker: bool = False) -> Job:
        """Make a release with the policy as it is; a ``weaker`` one may keep less than earlier ones promised."""
        project = self.opened()
        if any(job.kind == "run" for job in self.jobs.running):
            raise Told("A release is being made; finish or cancel it first.", status=409)
        given = self.agreed_input()
        name = datetime.now().strftime("%Y-%m-%d %H.%M.%S")
        folder = runs.releases(project) / name
        try:
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise Told(f"A folder for the release cannot be made ({error.strerror}); check the disk.") from None
        save(folder / "policy.yaml", project.text.encode())
        inside = f"releases/{name}"
        arguments = [
            "anonymize", project.path.name, *given, "--output", f"{inside}/release{self._suffix()}",
            "--receipt", f"{inside}/receipt.json", "--account", f"{inside}/account.json",
            "--owner", f"{inside}/owner.json", "--report", f"{inside}/report.html", "--json", "--progress", "json",
            *(["--weaker"] if weaker else []),
        ]  # fmt: skip
        return await self.jobs.start("run", arguments, project.folder, made=folder)

    async def play_attacker(self, run: str) -> Job:
        """Play the attacker against a release, knowing what its promises say somebody may know."""
        project = self.opened()
        folder = runs.run_folder(project, run)
        self.agreed_input()
        arguments = [
            "attack", project.path.name, "--original", str(self.data()["path"]), "--json",
            "--release", str(runs.run_release(folder)), "--owner", str(folder / "owner.json"),
        ]  # fmt: skip
        return await self.jobs.start("attack", arguments, project.folder, about=run)

    async def side_job(self, kind: str, *, algorithms: list[str] | None = None) -> Job:
        """Compare methods, look for rules, or look deeper at the raw table's risk."""
        project = self.opened()
        commands = {
            "compare": ["compare", project.path.name, "--json", "--progress", "json", "--seconds", "120"],
            "rules": ["dependencies", project.path.name, "--json"],
            "risk": ["check", project.path.name, "--json"],
        }
        arguments = [*commands[kind], *self.agreed_input()]
        if kind == "compare" and algorithms:
            arguments += ["--algorithms", ",".join(algorithms)]
        return await self.jobs.start(kind, arguments, project.folder)

    def job(self, number: int) -> Job:
        """Return a job by its number."""
        job = self.jobs.all.get(number)
        if job is None:
            raise Told("This job is not known any more.", status=404)
        return job

    async def public_report(self, run: str) -> Path:
        """Return the report for everybody, made when it is first asked for."""
        folder = runs.run_folder(self.opened(), run)
        target = folder / runs.PUBLIC_REPORT
        if not target.exists():
            page = await self.reader.ask(
                "public_report",
                text=(folder / "policy.yaml").read_text(),
                name="policy.yaml",
                folder=str(self.opened().folder),
                receipt=json.loads((folder / "receipt.json").read_bytes()),
                release=str(runs.run_release(folder)),
            )
            save(target, page.encode(), mode=0o644)
        return target

    async def stop(self) -> None:
        """End everything that was started."""
        if self.checking is not None:
            self.checking.cancel()
        await self.jobs.stop()
        await self.reader.stop()
        await self.checker.stop()


def copy_demo(folder: Path) -> Path:
    """Copy the made-up hospital into a folder and return its policy."""
    from kveil.datasets import hospital

    for file in hospital().iterdir():
        if file.is_file():
            shutil.copyfile(file, folder / file.name)
    return folder / "policy.yaml"
