"""Algorithms and measures of other packages: the one of the documentation, installed and run, and broken ones."""

import importlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.algorithms.entry_points import plugged_algorithm
from kveil.measures import plugged_measures
from kveil.platforms import hide_unused
from kveil.plugins import BOUNDARIES, GROUP_MODELS, MANY, RANGES, Algorithm, Measure, NoOptions, Search, of_groups
from kveil.policy.entry_points import MEASURE_GROUP, entry_points_of, load_plugged
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.testing import check_algorithm, check_measure
from places import ROOT
from support import QUASI, columns_of, make_policy, refused, run, write_policy, write_rows

FRAME = pl.DataFrame(columns_of())


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package of docs/plugins.md into a folder and return it."""
    text = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL))
    assert len(files["kveil_in_a_row.py"].splitlines()) <= 40
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    for name, content in files.items():
        (source / name).write_text(content, encoding="utf-8")
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run(
        [*install, "--disable-pip-version-check", "--target", target, source],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def in_a_row(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Algorithm:
    monkeypatch.syspath_prepend(str(installed))
    found = plugged_algorithm("in-a-row")
    assert found is not None
    return found


def test_the_documented_package_is_run_by_name_and_verified(tmp_path: Path, in_a_row: Algorithm) -> None:
    policy = write_policy(tmp_path, algorithm="in-a-row", limit=0.5)
    write_rows(tmp_path / "t.csv")
    options = ("--input", tmp_path / "t.csv", "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    done = run("anonymize", policy, *options, "--json")
    assert (done.code, done.err, done.json["algorithm"]) == (0, "", "in-a-row")
    compared = ("--original", tmp_path / "t.csv", "--release", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    assert run("verify", policy, *compared).code == 0
    measured = run("measure", policy, *compared, "--json").json
    assert 0 <= measured["others"]["stars"] <= 1
    assert re.search(r"^stars: ", run("measure", policy, *compared).out, flags=re.MULTILINE)
    listed = {entry["name"]: entry for entry in run("algorithms", "--json").json}
    assert listed["in-a-row"]["package"] == "the package kveil-in-a-row"
    assert listed["mondrian"]["package"] is None
    entries = run("compare", policy, "--input", tmp_path / "t.csv", "--algorithms", "in-a-row,datafly", "--json").json
    assert {entry["algorithm"] for entry in entries["algorithms"]} == {"in-a-row", "datafly"}
    assert all(0 <= entry["others"]["stars"] <= 1 for entry in entries["algorithms"])
    assert "stars" in run("compare", policy, "--input", tmp_path / "t.csv", "--algorithms", "in-a-row,datafly").out


def test_what_the_command_line_hides_from_numba_other_packages_may_import(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(installed))
    for load in (lambda: plugged_algorithm("in-a-row"), lambda: load_plugged(entry_points_of(MEASURE_GROUP)["stars"])):
        monkeypatch.delitem(sys.modules, "scipy", raising=False)
        hide_unused()
        with pytest.raises(ImportError):
            import scipy  # noqa: F401
        load()
        assert sys.modules.get("scipy", sys) is not None
        importlib.import_module("scipy")


def test_it_passes_the_battery_and_refuses_by_name(in_a_row: Algorithm) -> None:
    check_algorithm(in_a_row)
    bounded = make_policy({"age": {"role": QUASI, "boundary": {"level": 0}}}, algorithm="in-a-row")
    with pytest.raises(kveil.Refused, match=r"^in-a-row does not honour boundaries, which the policy asks for; "):
        kveil.anonymize(FRAME.select("age"), bounded)


def test_auto_does_not_depend_on_what_is_installed(in_a_row: Algorithm) -> None:
    result = kveil.anonymize(FRAME, make_policy(algorithm="auto"))
    assert in_a_row.name not in {tried["algorithm"] for tried in result.account["tried"]}


def test_the_battery_takes_ours_and_finds_what_is_wrong() -> None:
    def in_input_order(table: Table, options: NoOptions, rng: np.random.Generator) -> Solution:
        return of_groups(table, np.minimum(np.arange(table.rows) // 6, max(table.rows // 6 - 1, 0)), "in-input-order")

    def by_chance(table: Table, options: NoOptions, rng: np.random.Generator) -> Solution:
        order = np.random.default_rng().permutation(table.rows)
        return of_groups(table, np.minimum(order // 6, max(table.rows // 6 - 1, 0)), "by-chance")

    def nothing(table: Table, options: NoOptions, rng: np.random.Generator) -> Solution:
        solution = of_groups(table, np.zeros(table.rows, dtype=np.int32), "nothing")
        return replace(solution, suppressed=np.zeros_like(solution.suppressed))

    def rarely(table: Table, options: NoOptions, rng: np.random.Generator) -> Solution:
        if table.rows > 21:
            raise kveil.Unmeetable("seldom gives up.")
        mondrian = find("mondrian")
        return mondrian.solve(table, mondrian.options(), rng)

    def algorithm(name: str, solve: object, honours: tuple[str, ...] = (RANGES,)) -> Algorithm:
        search = Search(solve, NoOptions)  # type: ignore[arg-type]
        return Algorithm(name, lambda: search, frozenset(honours), "", "")

    from kveil.algorithms.registry import find

    check_algorithm(find("mondrian"), examples=20)
    with pytest.raises(AssertionError, match=r"in-input-order (depends on the order|meets this policy only sometimes)"):
        check_algorithm(algorithm("in-input-order", in_input_order))
    with pytest.raises(AssertionError, match=r"by-chance (gives another release|meets this policy only sometimes)"):
        check_algorithm(algorithm("by-chance", by_chance))
    with pytest.raises(AssertionError, match="overpromising breaks"):
        check_algorithm(algorithm("overpromising", nothing, (RANGES, BOUNDARIES, MANY, *GROUP_MODELS)))
    seldom = algorithm("seldom", rarely, (RANGES, BOUNDARIES, MANY, *GROUP_MODELS))
    with pytest.raises(AssertionError, match="seldom met 19 of 60 policies that it honours"):
        check_algorithm(seldom)
    with pytest.raises(AssertionError, match="first depends on the order"):
        check_measure(Measure("first", lambda table, solution: float(table.leaves[0][0]), ""))
    with pytest.raises(AssertionError, match="endless is inf"):
        check_measure(Measure("endless", lambda table, solution: float("inf"), ""))


BROKEN = """
import numpy as np
from kveil.plugins import Algorithm, Measure, NoOptions, Search, Shown, Solution

def crash(table, options, rng):
    raise RuntimeError("Planted")

def liar(table, options, rng):
    shown = (Shown.nodes(tree, tree.leaf_nodes[low].astype(np.int32)) for tree, low in zip(table.trees, table.low))
    return Solution(tuple(shown), np.zeros((len(table.components), table.rows), dtype=bool))

def make(name, solve):
    return Algorithm(name, lambda: Search(solve, NoOptions), frozenset(), "", "")

CRASH, LIAR, MONDRIAN, OTHER = make("crash", crash), make("liar", liar), make("mondrian", crash), make("other", crash)
BAD = Measure("bad", lambda table, solution: 1 / 0, "")
"""
POINTS = """[kveil.algorithms]
crash = broken_plug_in:CRASH
liar = broken_plug_in:LIAR
mondrian = broken_plug_in:MONDRIAN
gone = broken_plug_in:GONE
misnamed = broken_plug_in:OTHER
[kveil.measures]
bad = broken_plug_in:BAD
"""


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a package on the path whose algorithms and measures are all wrong in some way."""
    folder = tmp_path / "site"
    described = folder / "broken_plug_in-1.0.dist-info"
    described.mkdir(parents=True)
    (folder / "broken_plug_in.py").write_text(BROKEN)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plug-in\nVersion: 1.0\n")
    (described / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "broken_plug_in", raising=False)


@pytest.mark.usefixtures("broken")
def test_what_is_broken_is_told_with_its_package(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv")
    told = {}
    for name in ("crash", "liar", "gone", "misnamed"):
        policy = write_policy(tmp_path, algorithm=name)
        done = run("anonymize", policy, "--input", tmp_path / "t.csv", "-o", tmp_path / "r.csv")
        told[name] = refused(done, "the package broken-plug-in", code=1 if name == "liar" else 2)
        assert not (tmp_path / "r.csv").exists()
    assert "the algorithm crash of the package broken-plug-in failed (RuntimeError); tell its authors" in told["crash"]
    assert "Planted" not in told["crash"]
    assert "made a release that the verifier refuses" in told["liar"]
    assert "cannot be loaded (AttributeError)" in told["gone"]
    assert "is no kveil.plugins.Algorithm of that name" in told["misnamed"]
    unknown = run("anonymize", write_policy(tmp_path, algorithm="crush"), "--input", tmp_path / "t.csv")
    assert "did you mean 'crash'?" in refused(unknown)


@pytest.mark.usefixtures("broken")
def test_a_name_of_kveils_own_is_not_taken_and_a_broken_measure_is_told() -> None:
    assert kveil.anonymize(FRAME, make_policy(algorithm="mondrian")).account["algorithm"] == "mondrian"
    with pytest.raises(kveil.PolicyError, match="brings an algorithm called mondrian, which kveil has itself"):
        plugged_algorithm("mondrian")
    with pytest.raises(kveil.PolicyError, match=r"^the measure bad of the package broken-plug-in failed"):
        plugged_measures(None, None)  # type: ignore[arg-type]
