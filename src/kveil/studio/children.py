"""Child processes of the server: the reader that holds the table, and jobs, which are runs of the command line."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from time import monotonic, time
from typing import Any

from kveil.free_form import JsonObject
from kveil.progress import ProgressLine
from kveil.studio.answers import Told, tell_again
from kveil.studio.basis import Basis
from kveil.studio.page_data import ReaderAnswer, TellingJob

PATIENCE = 3.0  # seconds between asking a process to end and ending it
PASSWORD = "PGPASSWORD"  # what PostgreSQL's library reads
SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|CREDENTIAL|PRIVATE|(?:^|_)(?:API|ACCESS|AUTH|SSH)(?:_|$)|_KEY$|_PWD$", re.IGNORECASE
)
MOST_LOSSES = 400  # of one search that are kept
LINE = 64_000_000  # bytes that one answer of the reader may have


def environment(given: Mapping[str, str], *, server: bool = False) -> dict[str, str]:
    """Return the surroundings that a child is told: all but what is called a secret.

    Only where the table is on a ``server`` of PostgreSQL is its password among them.
    """
    return {name: value for name, value in given.items() if not SECRET.search(name) or (server and name == PASSWORD)}


async def _end(process: Process) -> None:
    """End a process and all it started: first it is asked to, then it is made to."""
    for number, wait in ((signal.SIGTERM, PATIENCE), (signal.SIGKILL, None)):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), wait)


class Reader:
    """Asks the process that holds the table, which is started when it is needed; one question at a time."""

    def __init__(self, agreed: Collection[str]) -> None:
        self.process: Process | None = None
        self.agreed = agreed  # queries and servers that somebody agreed to
        self.turn = asyncio.Lock()
        self.number = 0
        self.server = False  # whether the table is on one, whose password the process then needs
        self._knows_server = False

    async def ask(self, question: str, **given: Any) -> Any:
        """Return the answer to a question; raise Told where it is refused."""
        async with self.turn:
            for again in (True, False):
                answer = await self._asked(question, **given)
                if answer is not None:
                    break
                await self.stop()
                if not again:
                    raise Told(
                        "The process that reads the table has stopped, perhaps for want of memory. Your policy is "
                        "saved; try again, or take a smaller table.",
                        status=503,
                    )
        assert answer is not None
        if "refused" in answer:
            raise tell_again(answer["refused"])
        if "defect" in answer:
            sys.stderr.write(f"kveil: {answer['defect']}\n")
            raise Told(answer["defect"], status=500, kind="defect")
        return answer["answer"]

    async def _asked(self, question: str, **given: Any) -> ReaderAnswer | None:
        if self._knows_server != self.server:
            await self.stop()
        if self.process is None or self.process.returncode is not None:
            self._knows_server = self.server
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "kveil.studio.reader", stdin=PIPE, stdout=PIPE, start_new_session=True,
                limit=LINE, env=environment(os.environ, server=self.server),
            )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.number += 1
        asked = {"id": self.number, "ask": question, "with": given, "agreed": sorted(self.agreed)}
        try:
            self.process.stdin.write(json.dumps(asked).encode() + b"\n")
            await self.process.stdin.drain()
            while line := await self.process.stdout.readline():
                answer: ReaderAnswer = json.loads(line)
                if answer["id"] == self.number:  # others answer questions that nobody waits for any more
                    return answer
        except (OSError, ValueError):
            return None
        return None

    async def stop(self) -> None:
        """End the process; the next question starts another one."""
        if self.process is not None:
            await _end(self.process)
            self.process = None


@dataclass
class Job:
    """One run of the command line: what it does, how far it is, how it ended."""

    number: int
    kind: str
    arguments: list[str]
    basis: Basis
    _: KW_ONLY
    made: Path | None = None  # the folder of a release, which goes again where there is none
    about: str | None = None  # the release that it looks at
    process: Process | None = None
    state: str = "running"  # running | finishing | done | refused | cancelled
    stage: str = "starting"
    done: float = 0.0
    losses: list[tuple[float, float]] = field(default_factory=list)  # (seconds, share lost), of one search
    compared: list[JsonObject] = field(default_factory=list)  # methods that are done, each with its losses
    told: str = ""
    result: Any = None
    code: int | None = None
    started: float = field(default_factory=monotonic)
    ended: float | None = None
    began: float = field(default_factory=time)

    def shown(self) -> TellingJob:
        """Return the job as it tells of itself."""
        return {
            "number": self.number,
            "kind": self.kind,
            "state": self.state,
            "stage": self.stage,
            "done": self.done,
            "losses": self.losses,
            "compared": self.compared,
            "told": self.told,
            "result": self.result,
            "code": self.code,
            "run": self.made.name if self.made is not None else self.about,
            "seconds": (self.ended or monotonic()) - self.started,
        }


class Jobs:
    """Starts jobs, follows them, and ends them; ``tell`` hears of every change."""

    def __init__(self, tell: Callable[[Job], None]) -> None:
        self.tell = tell
        self.server = False  # whether the table is on one, whose password a job then needs
        self.all: dict[int, Job] = {}
        self.tasks: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> list[Job]:
        """The jobs that are not over."""
        return [job for job in self.all.values() if job.state in ("running", "finishing")]

    async def start(
        self, kind: str, arguments: list[str], basis: Basis, *, made: Path | None = None, about: str | None = None
    ) -> Job:
        """Start a command in the folder of a policy; its standard output is JSON."""
        job = Job(len(self.all) + 1, kind, arguments, basis, made=made, about=about)
        self.all[job.number] = job
        job.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "kveil.cli.child", *arguments,
            stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=basis.policy.parent, start_new_session=True, limit=LINE,
            env=environment(os.environ, server=self.server),
        )  # fmt: skip
        task = asyncio.create_task(self._follow(job))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        self.tell(job)
        return job

    async def _follow(self, job: Job) -> None:
        process = job.process
        assert process is not None
        assert process.stdout is not None
        output = asyncio.create_task(process.stdout.read())
        await self._progress(job)
        text = await output
        job.code = await process.wait()
        job.ended = monotonic()
        if job.state == "cancelled":
            job.told = "Cancelled. Nothing was written."
        elif job.code in (0, 1) and text.strip():
            job.state, job.done = "done", 1.0
            with contextlib.suppress(ValueError):
                job.result = json.loads(text)
        else:
            job.state = "refused"
            job.told = job.told or "The run was ended by the system, perhaps for want of memory. Nothing was written."
        if job.made is not None and job.state != "done":
            _take_away(job.made)
        self.tell(job)

    async def _progress(self, job: Job) -> None:
        assert job.process is not None
        assert job.process.stderr is not None
        while line := await job.process.stderr.readline():
            text = line.decode(errors="replace").strip()
            if text.startswith("{"):
                try:
                    told = json.loads(text)
                except ValueError:
                    continue
                _take_note(job, told)
                self.tell(job)
            elif text.startswith("kveil: "):
                job.told = text.removeprefix("kveil: ")

    def finish(self, job: Job) -> None:
        """Ask for a release of the best so far."""
        if job.state == "running" and job.process is not None:
            job.state = "finishing"
            assert job.process.stdin is not None
            with contextlib.suppress(OSError):  # it has ended meanwhile
                job.process.stdin.write(b"\n")
            self.tell(job)

    async def cancel(self, job: Job) -> None:
        """End a job; nothing of it is left."""
        if job in self.running and job.process is not None:
            job.state = "cancelled"
            await _end(job.process)

    async def stop(self) -> None:
        """End all jobs."""
        for job in self.running:
            await self.cancel(job)
        for task in list(self.tasks):
            await task


def _take_note(job: Job, told: ProgressLine) -> None:
    """Take note of one line that a command tells about its progress."""
    job.stage = str(told.get("stage", job.stage))
    if told.get("done") is not None:
        job.done = max(job.done, float(told["done"]))
    if told.get("loss") is not None:
        job.losses.append((monotonic() - job.started, float(told["loss"])))
        if len(job.losses) > MOST_LOSSES:
            del job.losses[1::2]
    if told.get("compared") is not None:
        job.compared.append({**told["compared"], "losses": job.losses})
        job.losses = []


def _take_away(folder: Path) -> None:
    """Remove the folder of a release that was not made; it holds nothing but a copy of the policy."""
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        folder.parent.rmdir()  # only where it is empty
