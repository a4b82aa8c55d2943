"""Playing the attacker on a release made by anyone."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kveil
from kveil.attacker.attacks import FileJoin, Linking, Rerun, SeveralReleases
from kveil.errors import DataError
from kveil.flow.attack import attack
from small_archives import KEYED, archived
from support import columns_of, make_policy, write_policy, write_rows

ORIGINAL = pl.DataFrame(columns_of())
POLICY = make_policy(k=4, algorithm="mondrian")


def test_every_attack_is_told_before_and_after() -> None:
    result = kveil.anonymize(ORIGINAL, POLICY)
    played = attack(result.data, POLICY, ORIGINAL, result.owner)
    (prosecutor,) = [one for one in played.attacks if isinstance(one, Linking) and one.attack == "prosecutor"
                     and one.attributes == ("age", "sex")]  # fmt: skip
    assert prosecutor.before.rate > prosecutor.after.rate
    assert prosecutor.after.worst <= 1 / 4
    assert (played.original, played.released) == (9, result.account["records"]["released"])
    assert not [one for one in played.attacks if isinstance(one, (FileJoin, SeveralReleases))]


def test_a_table_of_the_attackers_own_is_joined() -> None:
    result = kveil.anonymize(ORIGINAL, POLICY)
    own = ORIGINAL.select("name", "age", "sex")[:5]
    played = attack(result.data, POLICY, ORIGINAL, result.owner, attacker=own)
    (join,) = [one for one in played.attacks if isinstance(one, FileJoin)]
    assert (join.rows, join.judged_by) == (5, ("name",))


def test_earlier_releases_are_laid_beside(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv")
    policy = kveil.Policy.load(write_policy(tmp_path, data=KEYED))
    kept = archived(tmp_path)
    result = kveil.anonymize(ORIGINAL, policy, "mondrian")
    played = attack(result.data, policy, ORIGINAL, result.owner, previous=[kept])
    several = [one for one in played.attacks if isinstance(one, SeveralReleases)]
    assert {one.releases for one in several} == {2}


def test_what_lacks_a_column_is_refused_by_name() -> None:
    result = kveil.anonymize(ORIGINAL, POLICY)
    with pytest.raises(DataError, match="sex"):
        attack(result.data.drop("sex"), POLICY, ORIGINAL, result.owner)
    with pytest.raises(DataError, match="ward"):
        attack(result.data, POLICY, ORIGINAL.drop("ward"), result.owner)


def test_kveil_is_rerun_on_small_tables_alone() -> None:
    policy = make_policy({"sex": "quasi-identifier", "d": "sensitive"}, k=2, algorithm="mondrian",
                         privacy=[{"model": "l-diversity", "sensitive": "d", "l": 2}])  # fmt: skip
    small = pl.DataFrame({"sex": list("ffmm"), "d": list("abab")})
    result = kveil.anonymize(small, policy)
    played = attack(result.data, policy, small, result.owner)
    (rerun,) = [one for one in played.attacks if isinstance(one, Rerun)]
    assert 1 <= rerun.left <= rerun.worlds
