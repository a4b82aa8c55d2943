"""Trees changed by clicks, compared with a naive tree of parents; what would be no tree is refused with a sentence."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from kveil.errors import PolicyError
from kveil.policy.lines import check_lines
from kveil.policy.yaml_text import hierarchy_csv
from kveil.studio.replant import dissolved, moved, pasted, placed, renamed, with_group

LINES = (
    ("02138", "Cambridge", "Massachusetts", "*"),
    ("02139", "Cambridge", "Massachusetts", "*"),
    ("02115", "Boston", "Massachusetts", "*"),
    ("05401", "Vermont", "*"),
)


def _parents(lines: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    return {child: parent for line in lines for child, parent in pairwise(line)}


def test_each_change_is_what_it_says() -> None:
    assert _parents(renamed(LINES, "Cambridge", "Camb."))["02138"] == "Camb."
    assert _parents(moved(LINES, ["Boston"], "Vermont"))["Boston"] == "Vermont"
    assert _parents(with_group(LINES, ["Cambridge", "Boston"], "Cities"))["Boston"] == "Cities"
    assert _parents(with_group(LINES, ["Cambridge", "Boston"], "Cities"))["Cities"] == "Massachusetts"
    assert _parents(dissolved(LINES, "Cambridge"))["02139"] == "Massachusetts"
    assert _parents(placed(LINES, ["99999"], "Vermont"))["99999"] == "Vermont"
    assert pasted(hierarchy_csv(LINES), "rows") == LINES


@pytest.mark.parametrize(
    "change",
    [
        lambda: renamed(LINES, "02138", "x"),
        lambda: renamed(LINES, "Boston", "Vermont"),
        lambda: renamed(LINES, "Boston", " "),
        lambda: moved(LINES, ["Massachusetts"], "Boston"),
        lambda: moved(LINES, ["*"], "Boston"),
        lambda: moved(LINES, ["Boston"], "05401"),
        lambda: with_group(LINES, ["Boston", "Vermont"], "x"),
        lambda: dissolved(LINES, "*"),
        lambda: dissolved(LINES, "02138"),
        lambda: placed(LINES, ["x"], "02138"),
        lambda: pasted('a;"b', "rows"),
        lambda: pasted("a;b\na;c", "rows"),
    ],
)
def test_what_would_be_no_tree_is_refused(change: object) -> None:
    with pytest.raises(PolicyError, match=r"\.$"):
        change()  # type: ignore[operator]


def test_random_changes_always_leave_a_tree_with_the_same_values() -> None:
    rng = random.Random(4)
    for _ in range(300):
        lines = LINES
        for step in range(6):
            labels = sorted({label for line in lines for label in line})
            pick = rng.choice(labels)
            ways = [
                lambda lines=lines, pick=pick, step=step: renamed(lines, pick, f"r{step}"),
                lambda lines=lines, pick=pick, labels=labels: moved(lines, [pick], rng.choice(labels)),
                lambda lines=lines, pick=pick, step=step: with_group(lines, [pick], f"g{step}"),
                lambda lines=lines, pick=pick: dissolved(lines, pick),
            ]
            try:
                lines = rng.choice(ways)()
            except PolicyError:
                continue
            assert check_lines(lines, "tree") == lines
            assert {line[0] for line in lines} == {line[0] for line in LINES}
            assert lines[0][-1] == "*"
