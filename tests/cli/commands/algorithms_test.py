"""The list of algorithms is the registry's."""

from __future__ import annotations

from support import (
    run,
)


def test_the_list_of_algorithms_says_which_honours_kl_diversity_for_l_1_alone() -> None:
    rows = {line.split()[0]: line.split()[1:] for line in run("algorithms").out.splitlines() if " x " in line}
    place = 8  # of k,l among the columns
    assert rows["partition"][place] == "1"
    assert rows["1m-generalization"][place] == rows["least-loss"][place] == "x"
    assert rows["datafly"][place] == "·"


def test_algorithms_lists_what_the_registry_has() -> None:
    listed = run("algorithms", "--json")
    assert (listed.code, listed.err) == (0, "")
    names = [algorithm["name"] for algorithm in listed.json]
    assert "datafly" in names
    shown = run("algorithms")
    for algorithm in listed.json:
        assert {"name", "honours", "options", "summary", "paper"} <= set(algorithm)
        assert algorithm["name"] in shown.out
    assert {"several constraints", "boundaries"} <= set(listed.json[names.index("datafly")]["honours"])
    assert "auto" in shown.out
