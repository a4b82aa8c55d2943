"""Rules of a table by itself, and how the declared ones stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.errors import DataError
from kveil.flow.dependencies import dependencies_of_file, dependencies_of_policy
from support import make_policy

TABLE = "a,b,c\n1,x,p\n1,x,q\n2,y,p\n2,y,q\n"


def test_rules_of_a_file_and_of_a_policys_table_are_found(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    told: list[str] = []
    alone = dependencies_of_file(path, progress=told.append)
    assert told[0] == "reading"
    policy = make_policy(dict.fromkeys("abc", "quasi-identifier"), dependencies=["a -> b"], algorithm="auto")
    found = dependencies_of_policy(policy, path=path)
    assert "a -> b" in str(alone)
    assert "a -> b" in str(found)
    assert "a -> c" not in str(alone)
    with pytest.raises(DataError, match="names no data"):
        dependencies_of_policy(policy)
