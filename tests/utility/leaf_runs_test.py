"""Released values as runs of leaves, beside looking labels up one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from kveil.algorithms.registry import find
from kveil.engines.solver import solve
from kveil.frames import from_frame
from kveil.policy.numbers import parse_span
from kveil.progress import silent
from kveil.table.encode import encode
from kveil.utility.leaf_runs import spans_of_solution
from support import QUASI, make_policy

TREE = {"role": QUASI, "hierarchy": {"tree": {"*": {"A": ["a", "b"], "B": ["c", "d"]}}}}
SPAN = {"role": QUASI, "hierarchy": {"ranges": {"within": [0, 99]}}}
FRAME = pl.DataFrame({"q": list("abcdabcd"), "n": ["1", "2", "50", "60", "3", "4", "55", ""]})


@pytest.mark.parametrize("show", ["drop", "star"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_run_has_exactly_the_leaves_that_a_label_stands_for(k: int, show: str) -> None:
    policy = make_policy({"q": TREE, "n": SPAN}, k=k, algorithm="mondrian", suppression={"limit": 0.5, "show": show})
    table = encode(from_frame(FRAME), policy)
    solution = solve(find("mondrian"), table, {}, progress=silent).solution
    runs = spans_of_solution(table, solution)
    gone = solution.suppressed_anywhere
    assert runs.rows.tolist() == (np.flatnonzero(~gone).tolist() if show == "drop" else list(range(8)))
    letters = {"A": "ab", "B": "cd", "*": "abcd", **{letter: letter for letter in "abcd"}}
    numbers = sorted(int(text) for text in FRAME["n"] if text)
    for at, row in enumerate(runs.rows.tolist()):
        first, last = runs.first[:, at], runs.last[:, at]
        if gone[row]:
            assert (first.tolist(), last.tolist()) == ([0, 0], [leaves - 1 for leaves in runs.leaves])
            continue
        label = solution.shown[0].labels[int(solution.shown[0].codes[row])]
        assert "abcd"[int(first[0]) : int(last[0]) + 1] == letters[label]
        text = solution.shown[1].labels[int(solution.shown[1].codes[row])]
        span = parse_span(text)
        if span is not None:
            inside = [number for number in numbers if span[0] <= number <= span[1]]
            assert numbers[int(first[1]) : int(last[1]) + 1] == inside


def test_what_no_tree_knows_stands_for_every_leaf_and_missing_for_itself() -> None:
    policy = make_policy({"q": TREE, "n": SPAN}, k=1, algorithm="mondrian")
    table = encode(from_frame(FRAME), policy)
    runs = spans_of_solution(table, solve(find("mondrian"), table, {}, progress=silent).solution)
    assert runs.first[1, 7] == runs.last[1, 7] == runs.leaves[1] - 1  # the empty number has a leaf of its own
    assert runs.leaves == (4, 8)
