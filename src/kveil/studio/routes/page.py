"""The page itself, what changes while it is open, and which file it is about."""

from __future__ import annotations

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from kveil.policy.keys import algorithm_names
from kveil.policy.model import json_schema
from kveil.studio import opening
from kveil.studio.answers import Told
from kveil.studio.asking import PageBody, body_of, field, studio_of, texts
from kveil.studio.dropped import DroppedTable
from kveil.studio.files import DATABASES, TABLES, fresh_folder, list_folder, path_below, table_name
from kveil.studio.studio import Studio, copy_demo
from kveil.suffixes import SUFFIXES, suffix_of
from kveil.words import ATTACKS, PROMISES, WORST

STATIC = Path(__file__).parents[1] / "static"


async def page(request: Request) -> Response:
    """Send the page, with the word its style sheets are known by."""
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    return HTMLResponse(text.replace("{{nonce}}", request.app.state.nonce))


async def state(request: Request) -> Response:
    """Send everything there is to show."""
    studio = studio_of(request)
    studio.take_up()
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
    named = field(body, "path", str)
    if studio.waiting is not None and named == studio.waiting.named:
        await _open_dropped(studio, studio.waiting, _said(body))
        return JSONResponse(studio.state())
    path = path_below(studio.root, named)
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

    def lines(name: str) -> int:
        number = body.get(name) or 0
        return number if isinstance(number, int) and number > 0 else 0

    return opening.FileSaid(
        texts(body, "columns") if body.get("columns") else None,
        lines("skip"),
        field(body, "encoding", str) if body.get("encoding") else None,
        field(body, "sheet", str) if body.get("sheet") else None,
        lines("above"),
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


async def sheets(request: Request) -> Response:
    """List the sheets of a workbook that is to be opened, or of the open table; other files have none."""
    studio, named = studio_of(request), request.query_params.get("path", "")
    if studio.waiting is not None and named == studio.waiting.named:
        path = studio.waiting.file
    elif named:
        path = path_below(studio.root, named)
    else:
        path = studio.opened().folder / str(studio.data()["path"])
    if SUFFIXES.get(suffix_of(path)) != "excel":
        return JSONResponse({"sheets": []})
    return JSONResponse({"sheets": await studio.reader.ask("sheets", file=str(path))})


async def upload(request: Request) -> Response:
    """Take a dropped table into a folder of its own, and open it; one that cannot be opened is not kept."""
    studio = studio_of(request)
    dropped = DroppedTable.empty(studio.root, table_name(request.query_params.get("name", "")))
    try:
        with dropped.file.open("xb") as file:
            dropped.file.chmod(0o600)
            async for chunk in request.stream():
                await asyncio.to_thread(file.write, chunk)
    except BaseException as error:
        dropped.remove()
        if isinstance(error, OSError):
            raise Told(f"The table cannot be written ({error.strerror}); make room on the disk.") from None
        raise
    studio.leave_dropped()
    await _open_dropped(studio, dropped, opening.FileSaid())
    return JSONResponse(studio.state())


async def _open_dropped(studio: Studio, dropped: DroppedTable, said: opening.FileSaid) -> None:
    """Open a dropped table where it belongs; where it lacks what somebody can say, let it wait for that."""
    studio.waiting = None
    target = dropped.settle()
    try:
        await opening.open_path(studio, target, said=said)
    except BaseException as error:
        dropped.take_back(target)
        if not isinstance(error, Told):
            dropped.remove()
            raise
        error.more["path"] = dropped.named
        studio.waiting = dropped
        raise
    dropped.remove()


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
            "attacks": ATTACKS,
        }
    return JSONResponse(studio.catalogue)


async def methods(request: Request) -> Response:
    """Send the methods, with what each is and which options it has."""
    return JSONResponse(await studio_of(request).reader.ask("methods"))


async def stop(request: Request) -> Response:
    """Stop the server; the policy is saved."""
    request.app.state.stop()
    return JSONResponse({"told": "stopped"})
