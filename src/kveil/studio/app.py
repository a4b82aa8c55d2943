"""The application: its routes, what its refusals look like, and who watches the policy's file."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from time import monotonic

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from kveil.errors import KveilError
from kveil.studio.answers import Stale, Told, answer_defect, answer_refusal
from kveil.studio.routes import page, policy, steps, work
from kveil.studio.studio import Studio


def make_app(studio: Studio, nonce: str, stop_server: Callable[[], None]) -> Starlette:
    """Return the application, without its door."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(_watch(studio, stop_server))
        yield
        watching.cancel()
        await studio.stop()

    routes = [
        Route("/", page.page),
        Route("/api/state", page.state),
        Route("/api/events", page.events),
        Route("/api/catalogue", page.catalogue),
        Route("/api/methods", page.methods),
        Route("/api/files", page.files),
        Route("/api/tables", page.tables),
        Route("/api/sheets", page.sheets),
        Route("/api/open", page.open_file, methods=["POST"]),
        Route("/api/confirm", page.confirm, methods=["POST"]),
        Route("/api/upload", page.upload, methods=["PUT"]),
        Route("/api/demo", page.demo, methods=["POST"]),
        Route("/api/policy/edit", policy.edit, methods=["POST"]),
        Route("/api/policy/text", policy.put_text, methods=["PUT"]),
        Route("/api/policy/undo", policy.undo, methods=["POST"]),
        Route("/api/policy/redo", policy.redo, methods=["POST"]),
        Route("/api/policy/roles", policy.roles, methods=["POST"]),
        Route("/api/policy/looks-right", policy.looks_right, methods=["POST"]),
        Route("/api/values", steps.values),
        Route("/api/sample", steps.sample),
        Route("/api/bins", steps.bins),
        Route("/api/tree", steps.tree),
        Route("/api/tree", steps.change_tree, methods=["POST"]),
        Route("/api/preview", steps.preview, methods=["POST"]),
        Route("/api/proposal", steps.proposal, methods=["POST"]),
        Route("/api/check", work.check, methods=["POST"]),
        Route("/api/jobs", work.start_job, methods=["POST"]),
        Route("/api/jobs/{number}", work.cancel_job, methods=["DELETE"]),
        Route("/api/jobs/{number}/finish", work.finish_job, methods=["POST"]),
        Route("/api/runs", work.list_runs),
        Route("/api/runs/{run}/sample", work.run_sample),
        Route("/api/runs/{run}/bundle.zip", work.bundle),
        Route("/api/runs/{run}/{file}", work.run_file),
        Route("/api/stop", page.stop, methods=["POST"]),
        Mount("/static", StaticFiles(directory=page.STATIC)),
    ]
    handlers = {Told: answer_refusal, Stale: answer_refusal, KveilError: answer_refusal, Exception: answer_defect}
    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)
    app.state.studio, app.state.nonce, app.state.stop = studio, nonce, stop_server
    return app


async def _watch(studio: Studio, stop_server: Callable[[], None], *, idle: float = 3600.0) -> None:
    """Take up what editors change, and stop after an hour without a page and a job."""
    while True:
        await asyncio.sleep(2)
        studio.take_up()
        if studio.listeners or studio.jobs.running:
            studio.used = monotonic()
        elif monotonic() - studio.used > idle:
            stop_server()
