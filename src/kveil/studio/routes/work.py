"""Checks, jobs, and the releases they made."""

from __future__ import annotations

import asyncio
import tempfile
import zipfile
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from kveil.studio import runs
from kveil.studio.answers import Told
from kveil.studio.asking import body_of, field, studio_at, studio_of, texts, whole_number
from kveil.studio.door import report_headers


async def check(request: Request) -> Response:
    """Check now."""
    studio = studio_at(request)
    studio.place().ask_check(wanted=True)
    return JSONResponse({"check": studio.check})


async def start_job(request: Request) -> Response:
    """Make a release, compare methods, play the attacker, look for rules or for risk."""
    studio, body = studio_at(request), await body_of(request)
    kind = field(body, "do", str)
    if kind == "run":
        job = await studio.run(weaker=body.get("weaker") is True)
    elif kind == "attack":
        job = await studio.play_attacker(field(body, "run", str))
    elif kind in ("compare", "rules", "risk"):
        job = await studio.side_job(kind, algorithms=texts(body, "algorithms") if body.get("algorithms") else None)
    else:
        raise Told("The page asked for something this server does not know; load it again.", status=400)
    return JSONResponse(studio.shown_job(job))


async def finish_job(request: Request) -> Response:
    """Ask for the best so far."""
    studio = studio_of(request)
    job = studio.job(whole_number(request.path_params["number"], "number of a job"))
    studio.jobs.finish(job)
    return JSONResponse(job.shown())


async def cancel_job(request: Request) -> Response:
    """End a job."""
    studio = studio_of(request)
    job = studio.job(whole_number(request.path_params["number"], "number of a job"))
    await studio.jobs.cancel(job)
    return JSONResponse(job.shown())


async def list_runs(request: Request) -> Response:
    """List the releases."""
    studio = studio_at(request)
    return JSONResponse({"opening": studio.opening, "runs": runs.listed_releases(studio.opened())})


async def run_sample(request: Request) -> Response:
    """Send some records before and after."""
    studio = studio_at(request)
    folder = runs.run_folder(studio.opened(), request.path_params["run"])
    answer = await studio.reader.ask(
        "compared",
        text=(folder / "policy.yaml").read_text(encoding="utf-8"),
        name="policy.yaml",
        folder=str(studio.opened().folder),
        release=str(runs.run_release(folder)),
        opened=studio.opening,
    )
    return JSONResponse(answer)


async def run_file(request: Request) -> Response:
    """Send a file of a release, by a fixed list of names; reports run nothing and reach nothing."""
    studio = studio_at(request)
    folder = runs.run_folder(studio.opened(), request.path_params["run"])
    name = request.path_params["file"]
    if name == runs.PUBLIC_REPORT:
        await studio.public_report(folder.name)
    path = runs.run_file(folder, name)
    shown = request.query_params.get("show") == "1" and name.endswith(".html")
    headers = report_headers() if name.endswith(".html") else {}
    kind = "text/html" if shown else "application/octet-stream"
    disposition = "inline" if shown else "attachment"
    return FileResponse(path, media_type=kind, filename=name, content_disposition_type=disposition, headers=headers)


async def bundle(request: Request) -> Response:
    """Send what may be published as one file."""
    studio = studio_at(request)
    run = request.path_params["run"]
    folder = runs.run_folder(studio.opened(), run)
    await studio.public_report(run)
    packed = tempfile.TemporaryFile()  # noqa: SIM115 (closed when it is sent)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in runs.files(folder):
            if file["publish"]:
                await asyncio.to_thread(archive.write, folder / file["name"], file["name"])
    packed.seek(0)

    async def parts() -> AsyncIterator[bytes]:
        with packed:
            while part := await asyncio.to_thread(packed.read, 1 << 20):
                yield part

    headers = {"content-disposition": 'attachment; filename="to-publish.zip"'}
    return StreamingResponse(parts(), media_type="application/octet-stream", headers=headers)
