"""Every `while` of the compiled loops has an end that can be read off it, or one that is listed here with its reason.

What can be read off: it hears the flag that stops a run; or every turn moves a variable of its condition by a step
towards what the condition compares it with. A compiled loop that runs for ever hears neither Ctrl-C nor a deadline.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kveil

KERNELS = Path(kveil.__file__).parent / "kernels"
UP = "a way up a tree, which ends at the root"
ALONG = "along a list in which everything stands once, and which nobody lengthens meanwhile"
HALVES = "every turn halves what is left between the two"
GROWS = "every turn makes it larger by a factor"

# The ends that a reader has to think about: module, function and condition, and why there is one.
REASONS = {
    "aim_loops.first_from: low < high": HALVES,
    "aim_loops.lowest_over: not covers(trees, a, node, other)": UP,
    "bins_loops.assign_bins: left < right": HALVES,
    "bins_loops.lowest_ancestor: trees.last[node] < high and node != base": UP,
    "bound_loops.end_of_best: top - bar > cost >> NARROWED": HALVES,
    "bound_loops.first_not_above: begin < end": HALVES,
    "boxes_loops.cover: low < costs.nodes.first[node] or high > costs.nodes.last[node]": UP,
    "boxes_loops.widened_cost: from_ < costs.nodes.first[node] or to > costs.nodes.last[node]": UP,
    "boxes_loops.cost_at_least: from_ > costs.nodes.last[node] and costs.nodes.parent[node] != node": UP,
    "boxes_loops.cost_at_least: to < costs.nodes.first[node] and costs.nodes.parent[node] != node": UP,
    "boxes_loops.fill_reach: above and costs.nodes.parent[node] != node": UP,
    "boxes_loops.span_cost: costs.nodes.last[node] < high and costs.nodes.parent[node] != node": UP,
    "by_children_loops.compare_children: i < mine and j < yours": "the two equal items are passed, in both lists",
    "by_children_loops.first_below: low < high": HALVES,
    "combinations_loops.merge_clusters: into[into[c]] != into[c]": "a cluster goes into one with a lower number",
    "descent_loops.any_may_enter: changed and left": "a turn with a change takes a mover out, once each",
    "descent_loops.propose: left and (not models_allow(state, constraints, models, work, movers))": (
        "whatever is not allowed has refused a mover, once each"
    ),
    "descent_loops.propose: most >> shift >= 1 << 31": "a number has 64 bits",
    "descent_loops.refuse_movers: changed and left": "a turn with a change refuses a mover, once each",
    "diverse_loops.plan_needs: low < high": HALVES,
    "equal_rows_loops.group_hashed: group >= 0 and (not (words[slot] == h and (exact or same_row(columns, "
    "chosen, row, first[group]))))": "half of the slots are empty, which is looked at before rows come in",
    "hash_slots_loops.empty_slots: used < 2 * entries": GROWS,
    "join_loops.join: codes.ints[first + u] > codes.ints[first + v] or codes.ints[last + u] < codes.ints[last + v]": UP,
    "set_join_loops.join_sets: b > a or d > c": "every turn passes the last run of one of the two sets, or of both",
    "set_join_loops.join_sets: top > 0": "what is put on the stack lies below what was taken off it",
    "k_msd_loops.find_ancestor: depth[value] - depth[at] < least": UP,
    "k_msd_loops.find_ancestor: left >= 0 and node[left] >= at": ALONG,
    "k_msd_loops.find_ancestor: right >= 0 and node[right] <= end[at]": ALONG,
    "k_msd_loops.move_after: before[right] >= 0": ALONG,
    "k_msd_loops.partners: at >= 0 and node[at] <= end[to]": ALONG,
    "k_msd_loops.partners: at >= 0 and node[at] >= to": ALONG,
    "k_msd_loops.repair_groups: following >= 0 and into[following] != following": ALONG,
    "k_msd_loops.repair_groups: i >= 0": "a turn goes on to the next value, or raises one or makes two of them one",
    "k_msd_loops.repair_groups: into[at] != root": "the way that the loop before has gone to its end",
    "k_msd_loops.repair_groups: into[root] != root": "a value goes into one that stands, and never back",
    "k_msd_loops.repair_groups: left >= 0 and node[left] >= to": ALONG,
    "mend_loops.mend_class: row >= 0": ALONG,
    "mend_loops.cheapest_way_up: may_rise(state, trees, row, a, vector[a])": UP,
    "mondrian_loops.split_parts: height > 0": "hears the flag in its first line; two parts or more come of one",
    "neighbourhood_loops.gather: give > 0": "a group has as many rows as it gives, and one at most is passed over",
    "neighbours_loops.tighten: row >= 0": ALONG,
    "rebuild_loops.merge_pair: ints[field.LINK, at] >= 0": ALONG,
    "rebuild_loops.merge_units: opened > 1": "every turn closes a unit or two",
    "rebuild_loops.rebuild: at >= 0": ALONG,
    "rebuild_loops.unit_allowed: at >= 0": ALONG,
    "repair_loops.lower_row: not found and trees.ints[field.DEPTH, trees.at[a] + node] > shown_depth": UP,
    "search._groups_below: len(node)": "every turn drops the roots and takes the parents of the others",
    "search_loops.keep: place >= 0": ALONG,
    "search_loops.list_near: tree.parent[node] >= 0 and (higher > 0 or WALKS * (search.below_start[node + 1] "
    "- search.below_start[node]) < CANDIDATES)": UP,
    "search_loops.move_best: place >= 0": ALONG,
    "search_loops.put_together: place >= 0": ALONG,
    "search_loops.take_apart: p >= 0": ALONG,
    "search_loops.unite: pool.after[last] >= 0": ALONG,
    "search_tree_loops.cut_of: costs.nodes.first[top] > low or costs.nodes.last[top] < high": UP,
    "search_tree_loops.cut_of: least < most": HALVES,
    "search_tree_loops.drop_first: child < size": GROWS,
    "search_tree_loops.forget: node >= 0": UP,
    "search_tree_loops.next_tuple: size > 0": "an entry is renewed once, a node of the tree gives way to what is below",
    "search_tree_loops.node_after: node > 0 and node != link.left[link.up[node]]": UP,
    "search_tree_loops.push: at > 0": "every turn halves the place",
    "shown_loops.class_holds: row >= 0": ALONG,
    "sorting_loops.sort_pairs: at >= gap and (keys[at - gap] > key or (keys[at - gap] == key "
    "and others[at - gap] > other))": "every turn goes back by the gap, which is above nothing",
    "sorting_loops.sort_pairs: gap * 9 // 4 < number": GROWS,
    "sorting_loops.sort_pairs: gap > 0": "every turn divides the gap by more than two",
    "start_loops.bins_of: v != node and v != 0": UP,
    "start_loops.plan: 0 < rest < k": "a turn fills the rest, or closes a part; with none left it breaks off",
    "width_cells_loops.best_ends: leaf[furthest - 1] > reach[leaf[i]]": "a leaf reaches itself",
    "width_cells_loops.choose_all: at < end - begin": "a cell ends behind the place where it begins",
}


def step_of(statement: ast.stmt) -> tuple[str, int] | None:
    """Return the variable that a statement moves by a step, and whether up or down."""
    if (
        isinstance(statement, ast.AugAssign)
        and isinstance(statement.target, ast.Name)
        and isinstance(statement.op, ast.Add | ast.Sub)
        and isinstance(statement.value, ast.Constant)
        and statement.value.value > 0
    ):
        return statement.target.id, 1 if isinstance(statement.op, ast.Add) else -1
    return None


def written(statements: list[ast.stmt]) -> set[str]:
    nodes = [node for statement in statements for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}


def counts(loop: ast.While) -> bool:
    """Tell whether every turn moves a variable by a step towards what the condition compares it with."""
    both = isinstance(loop.test, ast.BoolOp) and isinstance(loop.test.op, ast.And)
    parts = loop.test.values if both and isinstance(loop.test, ast.BoolOp) else [loop.test]
    for statement in loop.body:
        if any(isinstance(node, ast.Continue) for node in ast.walk(statement)):
            return False
        step = step_of(statement)
        changed = written([other for other in loop.body if other is not statement])
        if step is None or step[0] in changed:
            continue
        for part in parts:
            if not isinstance(part, ast.Compare) or not isinstance(part.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                continue
            direction = 1 if isinstance(part.ops[0], ast.Lt | ast.LtE) else -1
            left, right = part.left, part.comparators[0]
            for own, other, way in ((left, right, direction), (right, left, -direction)):
                fixed = {node.id for node in ast.walk(other) if isinstance(node, ast.Name)}
                if ast.unparse(own) == step[0] and way == step[1] and not fixed & changed:
                    return True
    return False


def is_seen_to_end(loop: ast.While) -> bool:
    return "halt[0]" in ast.unparse(loop.test) or counts(loop)


def loops_of(text: str) -> Iterator[tuple[str, ast.While]]:
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.While):
                    yield f"{function.name}: {ast.unparse(node.test)}", node


def test_every_loop_has_an_end_that_is_seen_or_a_reason() -> None:
    open_ends = {
        f"{path.stem}.{name}"
        for path in KERNELS.rglob("*.py")
        for name, loop in loops_of(path.read_text("utf-8"))
        if not is_seen_to_end(loop)
    }
    assert open_ends == set(REASONS)


def test_no_loop_goes_on_until_something_inside_ends_it() -> None:
    for path in KERNELS.rglob("*.py"):
        for name, loop in loops_of(path.read_text("utf-8")):
            assert not isinstance(loop.test, ast.Constant), f"{path.name}: {name}"


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("while i < n and a[i] == b:\n  i += 1", True),
        ("while at > 0:\n  at -= 1", True),
        ("while last > first and a[first] > b:\n  first += 1", True),
        ("while a >= 0 and not room.halt[0]:\n  a = b(a)", True),
        ("while i < n:\n  i -= 1", False),
        ("while i < n:\n  n += 1\n  i += 1", False),
        ("while i < n:\n  if a[i]:\n    i += 1", False),
        ("while i < n:\n  if a[i]:\n    continue\n  i += 1", False),
        ("while i < n:\n  i += 1\n  i = a[i]", False),
        ("while i < n or b:\n  i += 1", False),
        ("while True:\n  i += 1", False),
    ],
)
def test_the_end_of_a_loop_is_seen_only_where_there_is_one(text: str, seen: bool) -> None:
    (loop,) = ast.parse(text).body
    assert isinstance(loop, ast.While)
    assert is_seen_to_end(loop) == seen
