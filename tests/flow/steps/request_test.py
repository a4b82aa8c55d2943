"""What a run is asked for is known, and refused, before a table is read."""

from __future__ import annotations

from pathlib import Path

import pytest

import kveil
from kveil.flow.steps.outputs import Targets
from kveil.flow.steps.request import Request
from support import QUASI, make_policy


def test_a_request_names_the_algorithms_that_the_choice_stands_for() -> None:
    asked = Request.of(make_policy(algorithm="mondrian"), bounded=True, previous=[])
    assert ([algorithm.name for algorithm in asked.able], asked.bounded, asked.earlier) == (["mondrian"], True, None)
    every = Request.of(make_policy(algorithm="auto"), bounded=False, previous=[])
    assert {"datafly", "least-loss"} < {algorithm.name for algorithm in every.able}


def test_what_no_algorithm_honours_is_refused_by_name() -> None:
    bounded = make_policy({"age": {"role": QUASI, "boundary": {"level": 0}}}, algorithm="k-member")
    with pytest.raises(kveil.Refused, match=r"^k-member does not honour boundaries"):
        Request.of(bounded, bounded=False, previous=[])


def test_archives_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(kveil.DataError, match="earlier"):
        Request.of(make_policy(), bounded=False, previous=[tmp_path / "earlier"])


@pytest.mark.parametrize(
    ("given", "told"),
    [({}, ""), ({"report": Path("r.html")}, "--report"), ({"archive": Path("a")}, "--archive"),
     ({"report": Path("r.html"), "archive": Path("a")}, "--report"), ({"receipt": Path("r.json")}, "")],
)  # fmt: skip
def test_what_only_the_local_engine_can_do_is_named(given: dict[str, Path], told: str) -> None:
    asked = Request.of(make_policy(), bounded=False, previous=[])
    assert asked.only_local(Targets(Path("release.csv"), **given)) == told
