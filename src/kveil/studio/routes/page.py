"""The page itself, what changes while it is open, and which file it is about."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from kveil.policy.keys import algorithm_names
from kveil.policy.model import json_schema
from kveil.studio import opening
from kveil.studio.answers import Told
from kveil.studio.asking import PageBody, body_of, field, studio_of, texts
from kveil.studio.files import DATABASES, TABLES, fresh_folder, list_folder, path_below, stem_of, table_name
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
    return JSONResponse(list_folder(studio_of(request).root, request.query_params.get("under", "")))


async def open_file(request: Request) -> Response:
    """Open a policy, a table or a folder."""
    studio, body = studio_of(request), await body_of(request)
    if body.get("address"):
        await opening.open_address(studio, field(body, "address", str).strip())
        return JSONResponse(studio.state())
    path = path_below(studio.root, field(body, "path", str))
    if not path.exists():
        raise Told("This file is not there any more; choose another one.", status=404)
    if body.get("table"):
        await opening.open_in_database(studio, path, field(body, "table", str))
    elif body.get("parts"):
        await opening.open_parts(studio, path)
    else:
        await opening.open_path(studio, path, said=_said(body))
    return JSONResponse(studio.state())


def _said(body: PageBody) -> opening.FileSaid:
    """Return what the page says of a table that it does not say itself."""
    skip = body.get("skip") or 0
    return opening.FileSaid(
        texts(body, "columns") if body.get("columns") else None,
        skip if isinstance(skip, int) and skip > 0 else 0,
        field(body, "encoding", str) if body.get("encoding") else None,
    )


async def confirm(request: Request) -> Response:
    """Run the query, or speak to the server, that somebody has looked at."""
    studio, body = studio_of(request), await body_of(request)
    query = field(body, "query", str) if body.get("query") is not None else None
    await studio.agree({"database": field(body, "database", str), "query": query})
    return JSONResponse(studio.state())


async def tables(request: Request) -> Response:
    """List the tables of a database in a file."""
    studio = studio_of(request)
    path = path_below(studio.root, request.query_params.get("path", ""))
    system = DATABASES.get(path.suffix.lower())
    if system is None or not path.is_file():
        raise Told("This is no database that kveil reads; choose another file.", status=404)
    return JSONResponse({"tables": await studio.reader.ask("tables", database=str(path), system=system)})


async def upload(request: Request) -> Response:
    """Take a dropped table into a folder of its own, and open it."""
    studio = studio_of(request)
    name = table_name(request.query_params.get("name", ""))
    folder = fresh_folder(studio.root, stem_of(name))
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
        await opening.open_path(studio, target)
    except Told as error:
        error.more["path"] = target.relative_to(studio.root).as_posix()
        raise
    return JSONResponse(studio.state())


async def demo(request: Request) -> Response:
    """Open a copy of the made-up hospital."""
    studio = studio_of(request)
    await opening.open_policy(studio, copy_demo(fresh_folder(studio.root, "hospital")))
    return JSONResponse(studio.state())


async def catalogue(request: Request) -> Response:
    """Send what a policy may say: the schema, and the methods with what each can do."""
    studio = studio_of(request)
    if studio.catalogue is None:
        studio.catalogue = {
            "schema": json_schema(),
            "algorithms": algorithm_names(),
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
