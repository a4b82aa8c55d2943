"""`--previous` takes several folders, wherever the policy stands."""

from __future__ import annotations

import pytest

from kveil.cli.folders import spread


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("p.yaml --previous a", "p.yaml --previous a"),
        ("p.yaml --previous a b c", "p.yaml --previous a --previous b --previous c"),
        ("p.yaml --previous a b --json", "p.yaml --previous a --previous b --json"),
        ("p.yaml --previous a --previous b c", "p.yaml --previous a --previous b --previous c"),
        ("--previous a p.yaml", "--previous a p.yaml"),
        ("--previous a b p.yaml", "--previous a --previous b p.yaml"),
        ("--previous a b --quiet p.yaml", "--previous a --previous b --quiet p.yaml"),
        ("p.yaml --output out.csv", "p.yaml --output out.csv"),
        ("p.yaml --previous", "p.yaml --previous"),
        ("", ""),
    ],
)
def test_the_option_stands_before_each_of_its_folders(written: str, meant: str) -> None:
    assert spread(written.split()) == meant.split()
