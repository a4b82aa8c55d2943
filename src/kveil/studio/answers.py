"""What goes wrong, as sentences the page shows: the same words as on the command line, never a trace."""

from __future__ import annotations

import re
import sys
import traceback
from pathlib import Path
from typing import Unpack, cast

from starlette.requests import Request
from starlette.responses import JSONResponse

from kveil.errors import Disagreement, KveilError
from kveil.studio.page_data import MoreTold, ToldError

PACKAGE = Path(__file__).resolve().parents[1]


class Stale(Exception):
    """A change that was based on an older state of the policy than there is now."""


class Told(Exception):
    """A refusal with its own sentence and status."""

    def __init__(self, told: str, *, status: int = 422, **more: Unpack[MoreTold]) -> None:
        super().__init__(told)
        self.told = told
        self.status = status
        self.more = more


def answer_error(error: KveilError) -> ToldError:
    """Return an error of kveil's as the page takes it, with the line and the encoding that it names."""
    sentence = str(error)
    line = re.search(r"\bline (\d+)\b", sentence)
    encoding = re.search(r"\bit looks like ([\w-]+):", sentence)
    told: ToldError = {
        "told": sentence,
        "kind": type(error).__name__,
        "line": int(line[1]) if line else None,
        "encoding": encoding[1] if encoding else None,
    }
    if isinstance(error, Disagreement):
        told["disagreement"] = {"columns": list(error.columns), "generalizable": error.generalizable}
    return told


def tell_again(refused: ToldError) -> Told:
    """Return what another process refused, as what it told."""
    more = {key: value for key, value in refused.items() if key != "told"}
    return Told(refused["told"], **cast(MoreTold, more))


def defect_of(error: BaseException) -> str:
    """Return the sentence for a defect; the error's own text may quote data and is not told."""
    place = "kveil"
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).resolve().is_relative_to(PACKAGE):
            place = f"{Path(frame.filename).name}, line {frame.lineno}"
    return (
        f"This is a defect of kveil ({type(error).__name__} in {place}); your policy is saved. Please report it, and "
        "load the page again."
    )


async def answer_refusal(request: Request, error: Exception) -> JSONResponse:
    """Answer a request whose sentence is known."""
    if isinstance(error, Told):
        return JSONResponse({"told": error.told, **error.more}, error.status)
    if isinstance(error, Stale):
        return JSONResponse(
            {"told": "The policy was changed elsewhere meanwhile, in another tab or in an editor; it is shown anew."},
            409,
        )
    assert isinstance(error, KveilError)
    return JSONResponse(answer_error(error), 422)


def tell_defect(error: BaseException) -> None:
    """Tell the terminal of a defect, by its sentence alone."""
    sys.stderr.write(f"kveil: {defect_of(error)}\n")


async def answer_defect(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that met a defect; the door tells the terminal."""
    return JSONResponse({"told": defect_of(error), "kind": "defect"}, 500)
