"""The page itself, what changes while it is open, and which file it is about."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from kveil.policy.keys import ALGORITHM_NAMES
from kveil.policy.model import json_schema
from kveil.studio.answers import Told
from kveil.studio.asking import body_of, field, studio_of, texts
from kveil.studio.files import TABLES, below, fresh_folder, listed, table_name
from kveil.studio.studio import copy_demo
from kveil.words import PROMISES, WORST

STATIC = Path(__file__).parents[1] / "static"


async def page(request: Request) -> Response:
    """Send the page, with the word its style sheets are known by."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    return HTMLResponse(text.replace("{{nonce}}", request.app.state.nonce))


async def state(request: Request) -> Response:
    """Send everything there is to show."""
    studio = studio_of(request)
    if studio.project is not None and studio.project.look():
        studio.changed()
    return JSONResponse(studio.state())


async def events(request: Request) -> Response:
    """Send what changes, as it changes."""
    return StreamingResponse(studio_of(request).events(), media_type="text/event-stream")


async def files(request: Request) -> Response:
    """List a folder."""
    return JSONResponse(listed(studio_of(request).root, request.query_params.get("under", "")))


async def open_file(request: Request) -> Response:
    """Open a policy, a table or a folder."""
    studio, body = studio_of(request), await body_of(request)
    path = below(studio.root, field(body, "path", str))
    if not path.exists():
        raise Told("This file is not there any more; choose another one.", 404)
    if body.get("columns"):
        await studio.open_table(path, texts(body, "columns"), int(body.get("skip") or 0))
    else:
        await studio.open(path)
    return JSONResponse(studio.state())


async def upload(request: Request) -> Response:
    """Take a dropped table into a folder of its own, and open it."""
    studio = studio_of(request)
    name = table_name(request.query_params.get("name", ""))
    folder = fresh_folder(studio.root, Path(name).stem)
    target = folder / name
    descriptor, part = tempfile.mkstemp(prefix=".kveil-", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            async for chunk in request.stream():
                await asyncio.to_thread(file.write, chunk)
        os.replace(part, target)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        folder.rmdir()
        raise
    try:
        await studio.open_table(target)
    except Told as error:
        error.more["path"] = target.relative_to(studio.root).as_posix()
        raise
    return JSONResponse(studio.state())


async def demo(request: Request) -> Response:
    """Open a copy of the made-up hospital."""
    studio = studio_of(request)
    await studio.open_policy(copy_demo(fresh_folder(studio.root, "hospital")))
    return JSONResponse(studio.state())


async def catalogue(request: Request) -> Response:
    """Send what a policy may say: the schema, and the methods with what each can do."""
    studio = studio_of(request)
    if not studio.catalogue:
        studio.catalogue = {
            "schema": json_schema(),
            "algorithms": list(ALGORITHM_NAMES),
            "tables": list(TABLES),
            "promises": PROMISES,
            "worst": WORST,
        }
    return JSONResponse(studio.catalogue)


async def methods(request: Request) -> Response:
    """Send the methods, with what each is and which options it has."""
    return JSONResponse(await studio_of(request).reader.ask("methods"))


async def stop(request: Request) -> Response:
    """Stop the server; the policy is saved."""
    request.app.state.stop()
    return JSONResponse({"told": "stopped"})
