"""Trees changed by clicks, compared with a naive tree of parents; what would be no tree is refused with a sentence."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from kveil.errors import PolicyError
from kveil.policy.lines import check_lines
from kveil.policy.yaml_text import hierarchy_csv
from kveil.studio.replant import dissolve_group, move_nodes, paste_rows, place_values, rename_node, with_group

LINES = (
    ("02138", "Cambridge", "Massachusetts", "*"),
    ("02139", "Cambridge", "Massachusetts", "*"),
    ("02115", "Boston", "Massachusetts", "*"),
    ("05401", "Vermont", "*"),
)


def _parents(lines: tuple[tuple[str, ...], ...]) -> dict[str, str]:
    return {child: parent for line in lines for child, parent in pairwise(line)}


def test_each_change_is_what_it_says() -> None:
    assert _parents(rename_node(LINES, "Cambridge", "Camb."))["02138"] == "Camb."
    assert _parents(move_nodes(LINES, ["Boston"], "Vermont"))["Boston"] == "Vermont"
    assert _parents(with_group(LINES, ["Cambridge", "Boston"], "Cities"))["Boston"] == "Cities"
    assert _parents(with_group(LINES, ["Cambridge", "Boston"], "Cities"))["Cities"] == "Massachusetts"
    assert _parents(dissolve_group(LINES, "Cambridge"))["02139"] == "Massachusetts"
    assert _parents(place_values(LINES, ["99999"], "Vermont"))["99999"] == "Vermont"
    assert paste_rows(hierarchy_csv(LINES), "rows") == LINES


@pytest.mark.parametrize(
    "change",
    [
        lambda: rename_node(LINES, "02138", "x"),
        lambda: rename_node(LINES, "Boston", "Vermont"),
        lambda: rename_node(LINES, "Boston", " "),
        lambda: move_nodes(LINES, ["Massachusetts"], "Boston"),
        lambda: move_nodes(LINES, ["*"], "Boston"),
        lambda: move_nodes(LINES, ["Boston"], "05401"),
        lambda: with_group(LINES, ["Boston", "Vermont"], "x"),
        lambda: dissolve_group(LINES, "*"),
        lambda: dissolve_group(LINES, "02138"),
        lambda: place_values(LINES, ["x"], "02138"),
        lambda: paste_rows('a;"b', "rows"),
        lambda: paste_rows("a;b\na;c", "rows"),
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
                lambda lines=lines, pick=pick, step=step: rename_node(lines, pick, f"r{step}"),
                lambda lines=lines, pick=pick, labels=labels: move_nodes(lines, [pick], rng.choice(labels)),
                lambda lines=lines, pick=pick, step=step: with_group(lines, [pick], f"g{step}"),
                lambda lines=lines, pick=pick: dissolve_group(lines, pick),
            ]
            try:
                lines = rng.choice(ways)()
            except PolicyError:
                continue
            assert check_lines(lines, "tree") == lines
            assert {line[0] for line in lines} == {line[0] for line in LINES}
            assert lines[0][-1] == "*"
