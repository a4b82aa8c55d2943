"""The studio's state: the open table's workplace, jobs of all tables, and whoever listens to what changes."""

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
from kveil.studio.basis import basis_of, own_table
from kveil.studio.children import Job, Jobs, Reader
from kveil.studio.consent import Consents
from kveil.studio.dropped import DroppedTable
from kveil.studio.edit import Change
from kveil.studio.files import release_suffix
from kveil.studio.page_data import (
    Catalogue,
    JobElsewhere,
    LiveCheck,
    OpenTable,
    ShownJob,
    StudioState,
    TableAsked,
    ToConfirm,
)
from kveil.studio.project import Project, save
from kveil.studio.workplace import Workplace

MOST_JOBS = 24  # of one table that a page is told of


class Studio:
    """One server's state; everything the routes do is a method here."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.workplace: Workplace | None = None
        self.consents = Consents()
        self.reader = Reader(self.consents.given)
        self.checker = Reader(self.consents.given)  # a process of its own: while it reckons, the other one answers
        self.jobs = Jobs(self._tell_job)
        self.listeners: set[asyncio.Queue[str]] = set()
        self.openings = 0  # how often something was opened; a server's table is read again each time
        self.told = 0  # changes that pages were told of
        self.used = monotonic()
        self.catalogue: Catalogue | None = None
        self.waiting: DroppedTable | None = None  # for an answer without which it cannot be opened

    # ------------------------------------------------------------------------------------------ the open table

    @property
    def project(self) -> Project | None:
        """The open policy."""
        return None if self.workplace is None else self.workplace.project

    @property
    def table(self) -> OpenTable | None:
        """What the open table is."""
        return None if self.workplace is None else self.workplace.table

    @property
    def check(self) -> LiveCheck:
        """How the live check of the open table stands."""
        return {"state": "none"} if self.workplace is None else self.workplace.check

    @property
    def opening(self) -> int:
        """The number of the opening that pages show; 0 before the first one."""
        return 0 if self.workplace is None else self.workplace.opening

    def place(self) -> Workplace:
        """Return the open table's workplace; say what to do where no table is open."""
        if self.workplace is None:
            raise Told("No table is open yet; choose one on File.", status=409)
        return self.workplace

    def opened(self) -> Project:
        """Return the open project; say what to do where there is none."""
        return self.place().project

    def data(self) -> Content:
        """Return what the policy says about its table; say what to do where it names none."""
        return self.place().data()

    def reading(self) -> TableAsked:
        """Return where the table is and how its texts are read, as the process that holds it asks for it."""
        return self.place().reading()

    # ------------------------------------------------------------------------------------------ telling

    def tell(self, kind: str, what: Any) -> None:
        """Tell every open page that something changed; numbers say which of two states that a page got is newer."""
        self.told += 1
        message = f"id: {self.told}\nevent: {kind}\ndata: {json.dumps(what)}\n\n"
        for queue in self.listeners:
            queue.put_nowait(message)

    def _tell_job(self, job: Job) -> None:
        """Tell how a job stands: whole to pages that show its table, else only that it is there."""
        if self._is_here(job):
            self.tell("job", self.shown_job(job))
        else:
            self.tell("elsewhere", self.elsewhere())

    async def events(self) -> AsyncIterator[str]:
        """Give one page the present state and then every change."""
        queue: asyncio.Queue[str] = asyncio.Queue()
        self.listeners.add(queue)
        try:
            yield f"id: {self.told}\nevent: hello\ndata: {json.dumps(self.state())}\n\n"
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
        """Return everything a page needs to start with: what belongs to the open table, and nothing of another one."""
        return {
            "root": str(self.root),
            "told": self.told,
            "opening": self.opening,
            "project": None if self.project is None else self.project.state(),
            "table": self.table,
            "check": self.check,
            "jobs": self.shown_jobs(),
            "elsewhere": self.elsewhere(),
            "command": self.command(),
        }

    # ------------------------------------------------------------------------------------------ the project

    async def begin(self, project: Project) -> None:
        """Take up a project, and look at its table; the check comes after it, since columns are wanted first."""
        self.openings += 1
        self.leave_dropped()
        if self.workplace is not None:
            self.workplace.leave_check()
            project.number = self.workplace.project.number + 1  # a change based on another table's policy is refused
        place = Workplace(
            project,
            self.openings,
            reader=self.reader,
            checker=self.checker,
            consents=self.consents,
            tell=lambda kind, what: self._tell_of(place, kind, what),
        )
        self.workplace = place
        self.used = monotonic()
        with contextlib.suppress(Told):
            self.place_table(str(place.data()["path"]), project.folder)
        self.tell("hello", self.state())
        await place.look_at_table()
        if self.workplace is place:
            place.ask_check()

    def _tell_of(self, place: Workplace, kind: str, what: Any) -> None:
        """Tell what became known of a table, while it is the open one."""
        if place is self.workplace:
            self.tell(kind, what)

    def leave_dropped(self) -> None:
        """Take away a dropped table that could not be opened, and that nobody said more about."""
        if self.waiting is not None:
            self.waiting.remove()
            self.waiting = None

    def place_table(self, named: str, folder: Path) -> None:
        """Take note where the table is: only for a server that somebody agreed to are children told its password."""
        server = self.consents.covers_server(named, folder)
        self.reader.server = self.checker.server = self.jobs.server = server

    # ------------------------------------------------------------------------------------------ consent

    def named_path(self) -> str | None:
        """Return where the policy says that its table is, None where it says nothing."""
        return None if self.workplace is None else self.workplace.named_path()

    def agree_to_typed(self, before: str | None) -> None:
        """Take it that somebody agrees to where the table is now, if they have just typed that."""
        named = self.named_path()
        if named is not None and named != before:
            with contextlib.suppress(KveilError):  # it is asked for on File then, which tells why
                self.consents.give(named, self.opened().folder)

    async def agree(self, seen: ToConfirm) -> None:
        """Take it that somebody agrees to what the policy names now, if that is what they saw, and read the table."""
        place = self.place()
        named, folder = str(place.data()["path"]), place.project.folder
        if seen != self.consents.wanted(named, folder):
            raise Told("The policy names something else meanwhile; look at it again.", status=409)
        self.consents.give(named, folder)
        self.place_table(named, folder)
        await place.look_at_table()
        place.ask_check()

    def agreed_input(self) -> list[str]:
        """Return what a command is told so that it reads what was agreed to, whatever the policy says by then."""
        named, folder = str(self.data()["path"]), self.opened().folder
        if self.consents.wanted(named, folder) is not None:
            raise Told("Nobody has agreed yet to what the policy reads; look at it on File.", status=409)
        return ["--input", named] if self.consents.covers(named, folder) else []

    # ------------------------------------------------------------------------------------------ changes

    def changed(self) -> None:
        """Tell every page the new state, and have it checked soon."""
        place = self.place()
        self.used = monotonic()
        more = {"opening": place.opening, "command": self.command(), "jobs": self.shown_jobs()}
        self.tell("project", {**place.project.state(), **more})
        with contextlib.suppress(Told):
            self.place_table(str(place.data()["path"]), place.project.folder)
        place.trees = place.project.stamps()
        if place.has_other_table():
            self.start_task(place.look_at_table())
        place.ask_check()

    def take_up(self) -> None:
        """Take up what editors changed: the policy's text, its trees, or the table itself."""
        place = self.workplace
        if place is not None and (place.project.look() or place.has_other_trees() or place.has_other_table()):
            self.changed()

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

    # ------------------------------------------------------------------------------------------ runs

    def command(self) -> str | None:
        """Return the command that makes the same release as a run would now."""
        return None if self.project is None else runs.command(self.project, f"release{self._suffix()}")

    def _is_here(self, job: Job) -> bool:
        """Tell whether a job is about the open table."""
        project = self.project
        return project is not None and (job.basis.policy, job.basis.table) == (project.path, own_table(project))

    def shown_job(self, job: Job) -> ShownJob:
        """Return a job of the open table as the page shows it, and whether it was about the policy as it is now."""
        return {**job.shown(), "current": job.basis == basis_of(self.opened(), job.kind)}

    def shown_jobs(self) -> list[ShownJob]:
        """Return the jobs of the open table."""
        here = [job for job in self.jobs.all.values() if self._is_here(job)]
        return [self.shown_job(job) for job in here[-MOST_JOBS:]]

    def elsewhere(self) -> list[JobElsewhere]:
        """Return the jobs that are under way for other tables, with what opens these."""
        found: list[JobElsewhere] = []
        for job in self.jobs.running:
            if not self._is_here(job):
                policy = job.basis.policy
                inside = policy.relative_to(self.root).as_posix() if policy.is_relative_to(self.root) else None
                found.append({"kind": job.kind, "shown": f"{policy.parent.name}/{policy.name}", "path": inside})
        return found

    def _suffix(self) -> str:
        with contextlib.suppress(Told):
            return release_suffix(str(self.data()["path"]))
        return ".csv"

    async def run(self, *, weaker: bool = False) -> Job:
        """Make a release with the policy as it is; a ``weaker`` one may keep less than earlier ones promised."""
        project = self.opened()
        if any(job.kind == "run" and self._is_here(job) for job in self.jobs.running):
            raise Told("A release is being made; finish or cancel it first.", status=409)
        given = self.agreed_input()
        name = datetime.now().strftime("%Y-%m-%d %H.%M.%S")
        folder = runs.new_releases(project) / name
        try:
            folder.parent.mkdir(mode=0o700, exist_ok=True)
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise Told(f"A folder for the release cannot be made ({error.strerror}); check the disk.") from None
        save(folder / "policy.yaml", project.text.encode())
        inside = f"{folder.parent.name}/{name}"
        arguments = [
            "anonymize", project.path.name, *given, "--output", f"{inside}/release{self._suffix()}",
            "--receipt", f"{inside}/receipt.json", "--account", f"{inside}/account.json",
            "--owner", f"{inside}/owner.json", "--report", f"{inside}/report.html", "--json", "--progress", "json",
            *(["--weaker"] if weaker else []),
        ]  # fmt: skip
        return await self.jobs.start("run", arguments, basis_of(project, "run"), made=folder)

    async def play_attacker(self, run: str) -> Job:
        """Play the attacker against a release, knowing what its promises say somebody may know."""
        project = self.opened()
        folder = runs.run_folder(project, run)
        self.agreed_input()
        arguments = [
            "attack", project.path.name, "--original", str(self.data()["path"]), "--json",
            "--release", str(runs.run_release(folder)), "--owner", str(folder / "owner.json"),
        ]  # fmt: skip
        return await self.jobs.start("attack", arguments, basis_of(project, "attack"), about=run)

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
        return await self.jobs.start(kind, arguments, basis_of(project, kind))

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
        if self.workplace is not None:
            self.workplace.leave_check()
        self.leave_dropped()
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
