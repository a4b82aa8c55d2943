"""The studio's state: an open project, its table, the live check, jobs, and whoever listens to what changes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import shutil
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any

from kveil.studio.answers import Told
from kveil.studio.children import Job, Jobs, Reader
from kveil.studio.edit import Change, content
from kveil.studio.files import POLICIES, TABLES, fresh_name
from kveil.studio.project import Project, save

WAIT = 0.3  # seconds after a change before the table is asked
SLOW = 3.0  # seconds; a check that takes longer waits for a click
RUN_FILES = {
    "release": None,
    "receipt.json": "application/json",
    "report.html": "text/html",
    "report-public.html": "text/html",
    "owner.json": "application/json",
    "account.json": "application/json",
    "policy.yaml": "text/yaml",
}


class Studio:
    """One server's state; everything the routes do is a method here."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.project: Project | None = None
        self.reader = Reader()
        self.checker = Reader()  # a process of its own: while it reckons, the other one answers
        self.jobs = Jobs(lambda job: self.tell("job", job.shown()))
        self.listeners: set[asyncio.Queue[str]] = set()
        self.table: dict[str, Any] | None = None
        self.check: dict[str, Any] = {"state": "none"}
        self.checking: asyncio.Task[None] | None = None
        self.last_check = 0.0  # seconds the last one took
        self.used = monotonic()
        self.catalogue: dict[str, Any] = {}

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

    def state(self) -> dict[str, Any]:
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
            raise Told("No table is open yet; choose one on File.", 409)
        return self.project

    async def open_policy(self, path: Path) -> None:
        """Open a policy."""
        self.project = Project.opened(path)
        self.table = None
        self.changed()
        await self.look_at_table()

    async def open_table(self, path: Path, columns: list[str] | None = None, skip: int = 0) -> None:
        """Open a table: the policy beside it that speaks of it, else a new one as kveil suggests it."""
        known = None if columns else self._policy_for(path)
        if known is not None:
            await self.open_policy(known)
            return
        folder = path.parent
        name = fresh_name(folder, "policy.yaml")
        stem = Path(name).stem
        copy = None
        if columns is not None:
            copy = str(folder / fresh_name(folder, f"{path.stem}-named.csv"))
        self.tell("working", {"told": f"Looking at the columns of {path.name}…"})
        found = await self.reader.ask(
            "suggest", path=str(path), folder=str(folder), stem=stem, columns=columns, skip=skip, copy=copy
        )
        for file, text in found["files"].items():
            if (folder / file).exists():
                raise Told(f"{file} exists already beside the table; move it away, then open the table again.")
            save(folder / file, text.encode())
        save(folder / name, found["text"].encode())
        self.project = Project.opened(folder / name)
        self.project.suggested = set(self.project.state()["notes"].values())
        self.table = None
        self.changed()
        await self.look_at_table()

    def _policy_for(self, table: Path) -> Path | None:
        """Return the policy beside a table that names it as its data."""
        for path in sorted(table.parent.iterdir()):
            if path.suffix.lower() in POLICIES and path.stat().st_size < 5_000_000:
                with contextlib.suppress(Exception):
                    named = (content(path.read_text(encoding="utf-8-sig")).get("data") or {}).get("path")
                    if named and (path.parent / named).resolve() == table.resolve():
                        return path
        return None

    async def open(self, path: Path) -> None:
        """Open a policy, a table, or a folder that has one."""
        if path.is_dir():
            found = sorted(p for p in path.iterdir() if p.suffix.lower() in POLICIES and not p.name.startswith("."))
            first = next((p for p in found if p.stem == "policy"), found[0] if len(found) == 1 else None)
            if first is not None:
                await self.open_policy(first)
        elif path.suffix.lower() in POLICIES:
            await self.open_policy(path)
        elif path.suffix.lower() in TABLES:
            await self.open_table(path)
        else:
            raise Told("This is neither a policy nor a table that kveil reads; choose another file.")

    def data_path(self) -> Path:
        """Return the table that the policy names."""
        project = self.opened()
        data = content(project.text).get("data")
        named = data.get("path") if isinstance(data, dict) else None
        if not named:
            raise Told("The policy names no table; choose one on File, or write data.path.", 409)
        return project.folder / str(named)

    def reading(self) -> dict[str, Any]:
        """Return how the table is read: where it is, its separator, and what means missing."""
        data = content(self.opened().text).get("data")
        data = data if isinstance(data, dict) else {}
        missing = data.get("missing")
        separator = data.get("separator")
        return {
            "path": str(self.data_path()),
            "separator": ("\t" if separator == "\\t" else separator) or None,
            "missing": [text or "" for text in missing] if isinstance(missing, list) and missing else [""],
        }

    async def look_at_table(self) -> None:
        """Ask what the table is; the answer, or why there is none, is told to every page."""
        try:
            given = self.reading()
            names = list(content(self.opened().text).get("attributes") or {})
            self.table = {**await self.reader.ask("table", names=names, **given), "error": None, "given": given}
        except Told as error:
            self.table = {"error": error.told, "columns": [], "rows": 0, "name": "", "given": None}
        self.tell("table", self.table)

    # ------------------------------------------------------------------------------------------ changes

    def changed(self) -> None:
        """Tell every page the new state, and check it soon."""
        project = self.opened()
        self.used = monotonic()
        self.tell("project", {**project.state(), "command": self.command()})
        if self.table is not None and self.table.get("given") is not None:
            with contextlib.suppress(Told):
                if self.reading() != self.table["given"]:
                    self._later(self.look_at_table())
        self.ask_check()

    def _later(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self.jobs.tasks.add(task)
        task.add_done_callback(self.jobs.tasks.discard)

    def edit(self, number: int, changes: list[Change], words: str) -> None:
        """Change the policy where a click asks for it."""
        project = self.opened()
        project.expect(number)
        project.change(changes, words)
        self.changed()

    # ------------------------------------------------------------------------------------------ the live check

    def ask_check(self, *, wanted: bool = False) -> None:
        """Check the policy against its table soon; a slow one only where somebody asks for it."""
        if self.checking is not None and not self.checking.done():
            self.checking.cancel()
        if self.last_check > SLOW and not wanted:
            self.check = {"state": "stale", "seconds": self.last_check}
            self.tell("check", self.check)
            return
        self.check = {"state": "running", "seconds": self.last_check}
        self.tell("check", self.check)
        self.checking = asyncio.ensure_future(self._check())

    async def _check(self) -> None:
        await asyncio.sleep(WAIT)
        project = self.opened()
        number = project.number
        started = monotonic()
        try:
            answer = await self.checker.ask(
                "check",
                text=project.text,
                name=project.path.name,
                folder=str(project.folder),
                path=str(self.data_path()),
            )
            self.check = {"state": "done", "number": number, **answer}
        except Told as error:
            self.check = {"state": "refused", "number": number, "told": error.told, **error.more}
        self.last_check = monotonic() - started
        if self.project is project and project.number == number:
            self.tell("check", self.check)

    # ------------------------------------------------------------------------------------------ runs

    @property
    def releases(self) -> Path:
        """The folder that releases are made in."""
        return self.opened().folder / "releases"

    def command(self, run: str | None = None) -> str | None:
        """Return the command that makes the same release on the command line."""
        if self.project is None:
            return None
        suffix = self._suffix()
        where = f"releases/{run or 'NAME'}"
        target = shlex.quote(f"{where}/release{suffix}") if run else f"release{suffix}"
        return f"kveil anonymize {shlex.quote(self.project.path.name)} --output {target}"

    def _suffix(self) -> str:
        with contextlib.suppress(Told):
            suffix = self.data_path().suffix.lower()
            if suffix in TABLES:
                return suffix
        return ".csv"

    async def run(self) -> Job:
        """Make a release with the policy as it is."""
        project = self.opened()
        if any(job.kind == "run" for job in self.jobs.running):
            raise Told("A release is being made; finish or cancel it first.", 409)
        self.data_path()
        self.releases.mkdir(mode=0o700, exist_ok=True)
        name = datetime.now().strftime("%Y-%m-%d %H.%M.%S")
        folder = self.releases / name
        try:
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise Told(f"A folder for the release cannot be made ({error.strerror}); check the disk.") from None
        save(folder / "policy.yaml", project.text.encode())
        inside = f"releases/{name}"
        arguments = [
            "anonymize", project.path.name, "--output", f"{inside}/release{self._suffix()}",
            "--receipt", f"{inside}/receipt.json", "--account", f"{inside}/account.json",
            "--owner", f"{inside}/owner.json", "--report", f"{inside}/report.html", "--json", "--progress", "json",
        ]  # fmt: skip
        return await self.jobs.start("run", arguments, project.folder, folder)

    async def side_job(self, kind: str, algorithms: list[str] | None = None) -> Job:
        """Compare methods, look for rules, or look deeper at the raw table's risk."""
        project = self.opened()
        commands = {
            "compare": ["compare", project.path.name, "--json", "--progress", "json", "--seconds", "120"],
            "rules": ["dependencies", project.path.name, "--json"],
            "risk": ["check", project.path.name, "--json"],
        }
        arguments = commands[kind]
        if kind == "compare" and algorithms:
            arguments += ["--algorithms", ",".join(algorithms)]
        return await self.jobs.start(kind, arguments, project.folder)

    def job(self, number: int) -> Job:
        """Return a job by its number."""
        job = self.jobs.all.get(number)
        if job is None:
            raise Told("This job is not known any more.", 404)
        return job

    def runs(self) -> list[dict[str, Any]]:
        """Return the releases there are, the newest first."""
        found = []
        folder = self.releases
        for path in sorted(folder.iterdir(), reverse=True) if folder.is_dir() else []:
            account = path / "account.json"
            receipt = account if account.exists() else path / "receipt.json"
            if not receipt.exists():
                continue
            with contextlib.suppress(ValueError, OSError):
                found.append({"run": path.name, "account": json.loads(receipt.read_bytes()), "files": _files(path)})
        return found[:60]

    def run_folder(self, run: str) -> Path:
        """Return the folder of a release; only names that the list has are known."""
        if run not in [entry["run"] for entry in self.runs()]:
            raise Told("There is no such release any more; load the page again.", 404)
        return self.releases / run

    async def public_report(self, run: str) -> Path:
        """Return the report for everybody, made when it is first asked for."""
        folder = self.run_folder(run)
        target = folder / "report-public.html"
        if not target.exists():
            page = await self.reader.ask(
                "public_report",
                text=(folder / "policy.yaml").read_text(),
                name="policy.yaml",
                folder=str(self.opened().folder),
                receipt=json.loads((folder / "receipt.json").read_bytes()),
                release=str(release_file(folder)),
            )
            save(target, page.encode(), 0o644)
        return target

    async def stop(self) -> None:
        """End everything that was started."""
        if self.checking is not None:
            self.checking.cancel()
        await self.jobs.stop()
        await self.reader.stop()
        await self.checker.stop()


def release_file(folder: Path) -> Path:
    """Return the released table of a run's folder."""
    return next(path for path in folder.iterdir() if path.stem == "release")


def _files(folder: Path) -> list[dict[str, Any]]:
    return [
        {"name": path.name, "size": path.stat().st_size}
        for path in sorted(folder.iterdir())
        if path.stem == "release" or path.name in RUN_FILES
    ]


def copy_demo(folder: Path) -> Path:
    """Copy the made-up hospital into a folder and return its policy."""
    from kveil.datasets import hospital

    for file in hospital().iterdir():
        if file.is_file():
            shutil.copyfile(file, folder / file.name)
    return folder / "policy.yaml"
