"""Hierarchies: what files, trees and builders mean, and the numbers that algorithms read off them."""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kveil
from kveil.frames import from_frame
from kveil.policy.builders import build_lines
from kveil.policy.hierarchy import read_hierarchy_file
from kveil.policy.model import Policy
from kveil.table.encode import encode
from kveil.table.scale import Scale
from kveil.table.tree import Tree, depths_of, heights_of
from naive import release as naive
from strategies import Drawn, boundaries, examples, hierarchies, placed, single, trees


def policy_of(text: str, folder: Path = Path()) -> kveil.Policy:
    return Policy.parse(text, "policy.yaml", folder)


def tree_of(hierarchy: str, values: list[str], more: str = "", missing: str = '[""]', folder: Path = Path()) -> Tree:
    text = f"""
kveil: 1
data: {{missing: {missing}}}
attributes: {{a: {{role: quasi-identifier, hierarchy: {hierarchy}{more}}}}}
privacy: [{{model: k-anonymity, k: 1}}]
"""
    tree = encode(from_frame(pl.DataFrame({"a": values}, schema={"a": pl.String})), policy_of(text, folder)).trees[0]
    assert isinstance(tree, Tree)
    return tree


def ways_of(tree: Tree) -> list[tuple[str, ...]]:
    """Every leaf's way to the root, in leaf order."""
    found = []
    for leaf in tree.leaf_nodes.tolist():
        way = [leaf]
        while way[-1]:
            way.append(int(tree.parent[way[-1]]))
        found.append(tuple(tree.labels[node] for node in way))
    return found


# ---------------------------------------------------------------------------------------------- golden labels


@pytest.mark.parametrize(
    ("hierarchy", "value", "way"),
    [
        ("{mask: {keep: [4, 3]}}", "02138", "02138 0213* 021** *"),
        ("{mask: {keep: [4, 3]}}", "0213", "0213 021* *"),
        ("{mask: {keep: [4, 3]}}", "021", "021 *"),
        ("{mask: {keep: [1, 0]}}", "ab", "ab a* ** *"),
        ("{mask: {keep: [0]}}", "a", "a *"),
        ("{mask: {keep: [2]}}", "Zürich", "Zürich Zü**** *"),
        ("{intervals: {from: 1, to: 100, widths: [5, 10]}}", "18", "18 16-20 11-20 *"),
        ("{intervals: {from: 0, to: 100, widths: [5, 10, 20]}}", "25", "25 25-29 20-29 20-39 *"),
        ("{intervals: {from: 0, to: 100, widths: [5, 10, 20]}}", "100", "100 *"),
        ("{intervals: {from: 0, to: 12, widths: [5, 10]}}", "11", "11 10-12 *"),
        ("{intervals: {from: 0, to: 9, widths: [1, 5]}}", "7", "7 5-9 *"),
        ("{intervals: {from: -10, to: 9, widths: [5, 10]}}", "-3", "-3 [-5,-1] [-10,-1] *"),
        ("{intervals: {from: -10, to: 9, widths: [5, 15]}}", "2", "2 0-4 [-10,4] *"),
        ("{intervals: {from: 10001, to: 30000, widths: [5000, 10000]}}", "12000", "12000 10001-15000 10001-20000 *"),
        ("{intervals: {from: 0.5, to: 4, widths: [1]}}", "1.5", "1.5 [1.5,2.5) *"),
        ("{intervals: {from: 0.5, to: 4, widths: [1]}}", "3.9", "3.9 [3.5,4) *"),
        ("{intervals: {from: 0, to: 100, widths: [5]}}", "24.9", "24.9 [20,25) *"),
        ("{intervals: {from: -1, to: 1, widths: [0.1]}}", "-0.35", "-0.35 [-0.4,-0.3) *"),
        ("{dates: [month, year, decade]}", "1965-08-25", "1965-08-25 1965-08 1965 196* *"),
        ("{dates: [quarter, century]}", "2001-10-01", "2001-10-01 2001-Q4 20** *"),
        ("{tree: {'*': {Asia: [Japan, Korea], Europe: [France]}}}", "Korea", "Korea Asia *"),
        ("{tree: {All: {A: {B: [x]}, y: []}}}", "x", "x B A All"),
        ("{tree: {All: {A: {B: [x]}, y: []}}}", "y", "y All"),
    ],
)
def test_labels_are_exactly_these(hierarchy: str, value: str, way: str) -> None:
    assert tuple(way.split()) in ways_of(tree_of(hierarchy, [value]))


def test_no_hierarchy_is_value_and_star() -> None:
    text = "{kveil: 1, attributes: {a: {role: quasi-identifier}}, privacy: [{model: k-anonymity, k: 1}]}"
    tree = encode(from_frame(pl.DataFrame({"a": ["x", "", "02138"]})), policy_of(text)).trees[0]
    assert isinstance(tree, Tree)
    assert ways_of(tree) == [("02138", "*"), ("x", "*"), ("", "*")]


def test_one_fraction_makes_a_column_real() -> None:
    hierarchy = "{intervals: {from: 0, to: 100, widths: [5]}}"
    assert ways_of(tree_of(hierarchy, ["25", "24.5"])) == [("24.5", "[20,25)", "*"), ("25", "[25,30)", "*")]
    assert ways_of(tree_of(hierarchy, ["25", "24"])) == [("24", "20-24", "*"), ("25", "25-29", "*")]


@pytest.mark.parametrize(
    ("hierarchy", "good", "bad"),
    [
        ("{intervals: {from: 0, to: 10, widths: [5]}}", "10", "11"),
        ("{intervals: {from: 0, to: 10, widths: [5]}}", "0", "-1"),
        ("{intervals: {from: 0, to: 10, widths: [5]}}", "9.5", "10.0001"),
        ("{intervals: {from: 0, to: 10, widths: [5]}}", "3", "three"),
        ("{dates: [year]}", "2020-02-29", "2021-02-29"),
        ("{dates: [year]}", "2020-01-01", "2020-1-1"),
        ("{dates: [year]}", "2020-01-01", "01.01.2020"),
        ("{tree: {'*': [a, b]}}", "a", "c"),
        ("{tree: {'*': {g: [a, b]}}}", "a", "g"),
        ("{ranges: {within: [0, 10]}}", "10", "10.5"),
        ("{ranges: {within: [0, 10]}}", "0", "x"),
    ],
)
def test_values_a_hierarchy_does_not_know_are_named_and_counted(hierarchy: str, good: str, bad: str) -> None:
    text = f"""
kveil: 1
attributes: {{a: {{role: quasi-identifier, hierarchy: {hierarchy}}}}}
privacy: [{{model: k-anonymity, k: 1}}]
"""
    encode(from_frame(pl.DataFrame({"a": [good]})), policy_of(text))
    with pytest.raises(kveil.DataError) as caught:
        encode(from_frame(pl.DataFrame({"a": [good, bad, bad]})), policy_of(text))
    for said in ("hierarchy of a", "1 value", repr(bad), "2 records"):
        assert said in str(caught.value)


@pytest.mark.parametrize(
    "hierarchy",
    ["{intervals: {from: 0, to: 1e30, widths: [1, 1000]}}", "{intervals: {from: 0, to: 1e40, widths: [1, 1e30]}}"],
)
def test_long_numbers_are_reckoned_or_refused_in_a_sentence(hierarchy: str) -> None:
    # More digits than a decimal context has; whoever cannot place them says so, without a traceback.
    values = ["5", "123456789012345678901234567890"]
    try:
        found = [way[0] for way in ways_of(tree_of(hierarchy, values))]
    except kveil.KveilError as refused:
        found = [str(refused)]
    assert found == values or "hierarchy" in found[0]


def test_ranges_show_their_bounds_rounded_outward() -> None:
    def scale(within: str, values: list[str], more: str = "") -> Scale:
        text = f"""
kveil: 1
attributes: {{a: {{role: quasi-identifier, hierarchy: {{ranges: {{within: {within}{more}}}}}}}}}
privacy: [{{model: k-anonymity, k: 1}}]
"""
        found = encode(from_frame(pl.DataFrame({"a": values})), policy_of(text)).trees[0]
        assert isinstance(found, Scale)
        return found

    plain = scale("[-10, 200]", ["-5", "-2", "3", "61", "63.5", ""])
    assert plain.shown(0, 1)[0] == "[-5,-2]"
    assert plain.shown(1, 2)[0] == "[-2,3]"
    assert plain.shown(2, 4)[0] == "3-63.5"
    assert plain.shown(3, 3) == ("61", 0.0)
    assert plain.shown(5, 5) == ("", 0.0)
    assert plain.shown(3, 5) == ("*", 1.0)
    assert plain.shown(3, 4)[1] == pytest.approx(2.5 / 210)
    rounded = scale("[0, 200]", ["61", "63", "70"], ", round: 5")
    assert rounded.shown(0, 1) == ("60-65", 5 / 200)
    assert rounded.shown(0, 2) == ("60-70", 10 / 200)
    assert rounded.shown(0, 0) == ("61", 0.0)


# ---------------------------------------------------------------------------------------------- files


def lines_of(tmp_path: Path, content: str | bytes) -> list[tuple[str, ...]]:
    path = tmp_path / "h.any"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_hierarchy_file(path).lines)


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("a;g;*\nb;g;*\n", ["a g *", "b g *"]),
        ("a,g,*\nb,g,*", ["a g *", "b g *"]),
        ("a;a;g;g;*\nb;g;*;*\n", ["a g *", "b g *"]),  # a label next to itself is one node
        ("a;g;*\nb;*\n", ["a g *", "b *"]),  # lines may differ in length
        ("a;g;*;;\nb;*;;;\n", ["a g *", "b *"]),
        (b"\xef\xbb\xbfa;g;*\r\nb;g;*\r\n\r\n", ["a g *", "b g *"]),
        ("a;g;*\na;g;*\n", ["a g *"]),  # a leaf listed twice with the same line
        ("02138;0213*;*\n2138;0213*;*\n", ["02138 0213* *", "2138 0213* *"]),  # nothing is a number
    ],
)
def test_files_are_read_as_their_texts(tmp_path: Path, content: str | bytes, lines: list[str]) -> None:
    assert lines_of(tmp_path, content) == [tuple(line.split()) for line in lines]


def test_quoted_labels_keep_what_is_inside(tmp_path: Path) -> None:
    assert lines_of(tmp_path, '"x, y","g; h","*"\n"say ""no""",*\n') == [("x, y", "g; h", "*"), ('say "no"', "*")]
    assert lines_of(tmp_path, 'x, y;"g; h";*\n') == [("x, y", "g; h", "*")]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a;g;*\nb;h;*\nc;g;h;*\n", "two parents"),
        ("a;g;*\na;h;*\n", "listed twice"),
        ("a;g;*\ng;*\n", "both a leaf and an inner node"),
        ("a;*\nb;a;*\n", "both a leaf and an inner node"),
        ("a;g;*\nb;g;All\n", "two "),
        ("a;*\nb;All\n", "two roots"),
        ("a;g;h;g;*\n", "twice|two parents"),
        ("", "no leaf"),
        ('"a;g;*\n', "quote"),
    ],
)
def test_files_that_are_no_tree_are_errors(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(kveil.PolicyError, match=said):
        lines_of(tmp_path, content)


def test_a_file_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(kveil.PolicyError, match="line 2"):
        lines_of(tmp_path, b"a;*\n\xff;*\n")


@pytest.mark.parametrize(
    "tree",
    [
        "{'*': {g: [a], h: [a]}}",
        "{'*': {g: [a], a: []}}",
        "{'*': {g: [a], h: [g]}}",
        "{'*': {g: [a]}, x: []}",
        "{a: [], b: []}",
        "[a, b]",
    ],
)
def test_trees_that_are_no_tree_are_errors(tree: str) -> None:
    with pytest.raises(kveil.PolicyError):
        tree_of(f"{{tree: {tree}}}", ["a"])


# ---------------------------------------------------------------------------------------------- texts as written


def test_texts_in_a_policy_are_taken_as_written() -> None:
    text = """
kveil: 1
data: {missing: [NO, 02137, 2020-01-01, 1:30, ~, 1e3]}
attributes:
  NO:
    role: quasi-identifier
    hierarchy: {tree: {yes: {off: [02138, 1:31], 0x1F: [2020-01-02, null, on]}}}
    boundary: [off, 0x1F]
  2020-01-01: {role: quasi-identifier, boundary: [007, 1_000]}
  1:30: {role: insensitive}
privacy: [{model: k-anonymity, k: 1}]
release: {order: keep}
"""
    policy = policy_of(text)
    assert list(policy.attributes) == ["NO", "2020-01-01", "1:30"]
    assert policy.data.missing == ("NO", "02137", "2020-01-01", "1:30", "~", "1e3")
    first = ["02138", "1:31", "2020-01-02", "null", "on", "02137"]
    frame = pl.DataFrame({"NO": first, "2020-01-01": ["007"] * 5 + ["1:30"], "1:30": ["x"] * 6})
    table = encode(from_frame(frame), policy)
    tree, other = table.trees
    assert isinstance(tree, Tree)
    assert isinstance(other, Tree)
    assert ways_of(tree) == [
        ("02138", "off", "yes"),
        ("1:31", "off", "yes"),
        ("2020-01-02", "0x1F", "yes"),
        ("null", "0x1F", "yes"),
        ("on", "0x1F", "yes"),
        ("NO", "yes"),
    ]
    assert [tree.labels[node] for node in tree.limit_of] == ["off", "off", "0x1F", "0x1F", "0x1F", "yes"]
    assert [other.labels[node] for node in other.limit_of] == ["007", "*"]
    # Missing is written as the first text of `missing`.
    release = kveil.anonymize(frame, policy, algorithm="datafly").data
    assert release["NO"].to_list() == ["02138", "1:31", "2020-01-02", "null", "on", "NO"]
    assert release["2020-01-01"].to_list() == ["007"] * 5 + ["NO"]


def test_a_zip_code_is_never_a_number(tmp_path: Path) -> None:
    (tmp_path / "zip.csv").write_text("02138;0213*;*\n2138;213*;*\n")
    tree = tree_of("zip.csv", ["02138", "2138"], folder=tmp_path)
    assert ways_of(tree) == [("02138", "0213*", "*"), ("2138", "213*", "*")]
    with pytest.raises(kveil.DataError, match=r"'2138\.0'"):
        tree_of("zip.csv", ["2138.0"], folder=tmp_path)


# ---------------------------------------------------------------------------------------------- missing


def test_missing_hangs_under_the_root_and_comes_last() -> None:
    tree = tree_of("{tree: {All: {g: [a, b]}}}", ["a", "?", ""], missing='["?", ""]')
    assert ways_of(tree) == [("a", "g", "All"), ("b", "g", "All"), ("?", "All")]
    assert tree.missing == 2
    assert tree_of("{tree: {All: {g: [a, b]}}}", ["a"], missing='["?", ""]').missing is None


def test_missing_wins_over_a_leaf_of_the_same_text() -> None:
    # The hierarchy puts ? under g; it means missing, so it hangs under the root, and is a leaf seen or not.
    for values in (["a", "?"], ["a"]):
        tree = tree_of("{tree: {All: {g: [a, '?'], h: [b]}}}", values, missing='["?"]')
        assert ways_of(tree) == [("a", "g", "All"), ("b", "h", "All"), ("?", "All")]
    # Shown by the first text, whichever of them the hierarchy lists.
    tree = tree_of("{tree: {All: {g: [a, '?'], h: [b]}}}", ["a", "?"], missing='["NA", "?"]')
    assert ways_of(tree)[-1] == ("NA", "All")


def test_a_text_for_missing_that_is_an_inner_node_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        "{kveil: 1, data: {missing: [g]}, privacy: [{model: k-anonymity, k: 1}],"
        " attributes: {a: {role: quasi-identifier, hierarchy: {tree: {'*': {g: [a]}}}}}}"
    )
    with pytest.raises(kveil.PolicyError, match="inner node"):
        kveil.Policy.load(path)


def test_a_column_of_nothing_but_missing() -> None:
    for hierarchy in ("{mask: {keep: [1]}}", "{tree: {'*': [a, b]}}", "{intervals: {from: 0, to: 9, widths: [3]}}"):
        tree = tree_of(hierarchy, ["", ""])
        assert ways_of(tree)[-1] == ("", "*")
        assert tree.missing == len(tree.leaf_nodes) - 1


def test_a_literal_star_is_an_error() -> None:
    with pytest.raises(kveil.DataError, match=r"`\*` in 2 records"):
        tree_of("{mask: {keep: [1]}}", ["*", "a", "*"])


# ---------------------------------------------------------------------------------------------- numbers of a tree


@st.composite
def bounded(draw: st.DrawFn) -> tuple[Drawn, dict[str, Any], list[str]]:
    """A hierarchy, a boundary or none, and a column that may have missing values."""
    drawn = draw(hierarchies("a"))
    more = {"boundary": draw(boundaries(drawn, [""]))} if draw(st.booleans()) else {}
    few = draw(st.lists(st.sampled_from((*drawn.values, "")), min_size=1, max_size=6))
    return drawn, more, few


@given(bounded())
@examples(120)
def test_every_number_of_a_tree_is_as_defined(drawn: tuple[Drawn, dict[str, Any], list[str]]) -> None:
    hierarchy_of, more, values = drawn
    case = single(hierarchy_of, values, **more)
    with placed(case) as here:
        table = encode(from_frame(case.frame()), here.policy)
        tree, twin = table.trees[0], here.twin.hierarchy("a", values)
        assert isinstance(tree, Tree)
        assert isinstance(twin, naive.Hierarchy)
        assert {way[0]: way for way in ways_of(tree)} == twin.ways
        assert [tree.labels[tree.leaf_nodes[leaf]] for leaf in table.leaves[0]] == values
        for node, label in enumerate(tree.labels):
            below = {tree.labels[leaf] for leaf in tree.leaf_nodes[tree.first[node] : tree.last[node] + 1]}
            assert below == twin.leaves(label)
            assert tree.depth[node] == twin.depth(label)
            assert tree.height[node] == twin.height(label)
            assert tree.il[node] == pytest.approx(float(twin.il(label)), abs=1e-15)
            assert tree.ncp[node] == pytest.approx(float(twin.ncp(label)), abs=1e-15)
            assert tree.is_star[node] == (label == "*")
        for leaf, node in enumerate(tree.limit_of):
            assert tree.labels[node] == twin.limit(tree.labels[tree.leaf_nodes[leaf]])


@given(trees("a", most=10))
@examples(40)
def test_the_lca_of_leaves_is_that_of_the_first_and_the_last(drawn: Drawn) -> None:
    case = single(drawn, [*drawn.values, ""])
    with placed(case) as here:
        tree = encode(from_frame(case.frame()), here.policy).trees[0]
        twin = here.twin.hierarchy("a", [*drawn.values, ""])
        assert isinstance(tree, Tree)
        assert isinstance(twin, naive.Hierarchy)
        names = [tree.labels[node] for node in tree.leaf_nodes]
        low, high = np.triu_indices(len(names))
        found = tree.lca(low.astype(np.int32), high.astype(np.int32))
        for i, j, node in zip(low, high, found, strict=True):
            # Depth-first numbers: everything between two leaves lies below their lowest common ancestor.
            assert tree.labels[node] == twin.lca([names[i], names[j]]) == twin.lca(names[i : j + 1])


def test_a_level_marks_every_node_with_a_leaf_so_far_below() -> None:
    # x is three edges deep, z two, w one: level 1 marks B, C and the root, level 2 marks A and the root.
    tree = "{tree: {'*': {A: {B: [x], v: []}, C: [z], w: []}}}"

    def limits(level: int) -> dict[str, str]:
        found = tree_of(tree, ["x"], f", boundary: {{level: {level}}}")
        return {found.labels[n]: found.labels[m] for n, m in zip(found.leaf_nodes, found.limit_of, strict=True)}

    assert limits(0) == {leaf: leaf for leaf in "xvzw"}
    assert limits(1) == {"x": "B", "v": "A", "z": "C", "w": "*"}
    assert limits(2) == {"x": "A", "v": "A", "z": "*", "w": "*"}
    assert limits(3) == limits(9) == dict.fromkeys("xvzw", "*")


def test_the_first_marked_node_is_the_limit() -> None:
    tree = tree_of(
        "{tree: {United States: {West Coast: {California: [San Diego, Los Angeles]}, "
        "Midwest: {Kansas: [Wichita, Kansas City], Nebraska: [Lincoln]}}}}",
        ["Wichita"],
        ", boundary: [California, Kansas, Midwest]",
    )
    limits = {tree.labels[n]: tree.labels[m] for n, m in zip(tree.leaf_nodes, tree.limit_of, strict=True)}
    kansas, california = ["Wichita", "Kansas City"], ["San Diego", "Los Angeles"]
    assert limits == dict.fromkeys(kansas, "Kansas") | dict.fromkeys(california, "California") | {"Lincoln": "Midwest"}


def test_a_boundary_at_a_node_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        "{kveil: 1, privacy: [{model: k-anonymity, k: 1}],"
        " attributes: {a: {role: quasi-identifier, hierarchy: {tree: {'*': {Kansas: [x]}}}, boundary: [Kansos]}}}"
    )
    with pytest.raises(kveil.PolicyError, match="Kansas"):
        kveil.Policy.load(path)


# ---------------------------------------------------------------------------------------------- size


@pytest.mark.parametrize("form", ["file", "mask", "intervals", "dates", "none"])
def test_a_hundred_thousand_leaves_take_seconds(form: str, tmp_path: Path) -> None:
    leaves = 100_000
    values = [f"{number:06}" for number in range(leaves)]
    days = np.datetime64("1700-01-01") + np.arange(leaves)
    attribute = "{role: quasi-identifier, boundary: {level: 1}, hierarchy: %s}"
    hierarchy = {"mask": "{mask: {keep: [5, 4, 3]}}", "file": "h.csv"}.get(form)
    if form == "file":
        (tmp_path / "h.csv").write_text("".join(f"{v};{v[:5]};{v[:3]};{v[:2]}x;*\n" for v in values))
    elif form == "intervals":
        hierarchy = f"{{intervals: {{from: 0, to: {leaves}, widths: [10, 100, 1000]}}}}"
        values = [str(number) for number in range(leaves)]
    elif form == "dates":
        hierarchy = "{dates: [month, year, decade]}"
        values = [str(day) for day in days]
    spec = attribute % hierarchy if hierarchy else "{role: quasi-identifier}"
    path = tmp_path / "policy.yaml"
    path.write_text(f"{{kveil: 1, attributes: {{a: {spec}}}, privacy: [{{model: k-anonymity, k: 1}}]}}")
    frame = pl.DataFrame({"a": values})
    started = process_time()
    table = encode(from_frame(frame), kveil.Policy.load(path))
    tree = table.trees[0]
    assert isinstance(tree, Tree)
    assert tree.leaves == leaves
    assert len(np.unique(tree.limit_of)) == {"none": 1, "dates": len(np.unique(days.astype("M8[M]")))}.get(form, 10_000)
    assert tree.lca(np.array([0], dtype=np.int32), np.array([leaves - 1], dtype=np.int32)).tolist() == [0]
    # Two to three seconds of work; a quadratic step would take minutes.
    assert process_time() - started < 30


def test_builders_order_their_leaves() -> None:
    spec = kveil.Intervals(**{"from": 0, "to": 20, "widths": [5]})
    lines, unknown = build_lines(spec, ["10", "9", "x", "2"], "here")
    assert [line[0] for line in lines.lines] == ["2", "9", "10"]
    assert unknown == ["x"]
    lines, _ = build_lines(None, ["b", "a", "10", "9"], "here")
    assert [line[0] for line in lines.lines] == ["10", "9", "a", "b"]


@pytest.mark.parametrize("seed", range(5))
def test_depths_and_heights_are_those_of_walking_edge_by_edge(seed: int) -> None:
    random = np.random.default_rng(seed)
    parent = np.array([0, *(int(random.integers(0, node)) for node in range(1, 30))], dtype=np.int32)
    parent[7] = 7  # a second root
    depth = depths_of(parent)
    below: dict[int, int] = dict.fromkeys(range(30), 0)
    for node in range(30):
        at, steps = node, 0
        while parent[at] != at:
            at, steps = int(parent[at]), steps + 1
            below[at] = max(below[at], steps)
        assert depth[node] == steps
    assert heights_of(parent, depth).tolist() == list(below.values())
