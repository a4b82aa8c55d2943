"""What goes wrong, as the page shows it: sentences, and no word of data."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.responses import JSONResponse

from kveil import words
from kveil.errors import DataError, PolicyError
from kveil.studio.answers import Stale, Told, answer_defect, answer_error, answer_refusal, defect_of


def answer(response: Any) -> tuple[int, dict[str, Any]]:
    made = asyncio.run(response)
    assert isinstance(made, JSONResponse)
    return made.status_code, json.loads(bytes(made.body))


def test_an_error_is_told_with_the_line_and_the_encoding_it_names() -> None:
    assert answer_error(PolicyError("p.yaml, line 12: no.")) == {
        "told": "p.yaml, line 12: no.",
        "kind": "PolicyError",
        "line": 12,
        "encoding": None,
    }
    assert answer_error(DataError("it looks like cp1252: say so."))["encoding"] == "cp1252"


def test_refusals_have_their_status() -> None:
    assert answer(answer_refusal(None, Told("No.", status=403, more=1))) == (403, {"told": "No.", "more": 1})  # type: ignore[arg-type]
    assert answer(answer_refusal(None, Stale()))[0] == 409  # type: ignore[arg-type]
    assert answer(answer_refusal(None, DataError("x.")))[0] == 422  # type: ignore[arg-type]


def test_a_defect_names_its_place_and_quotes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TypeError) as caught:
        words.count(None, None)  # type: ignore[arg-type]
    assert "(TypeError in words.py, line " in defect_of(caught.value)
    status, told = answer(answer_defect(None, KeyError("a planted value")))  # type: ignore[arg-type]
    assert (status, told["kind"]) == (500, "defect")
    assert "planted" not in told["told"] + capsys.readouterr().err
    assert "KeyError in kveil" in told["told"]
