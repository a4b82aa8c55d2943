"""Earlier releases: which archives are meant, in which order, and who is who in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kveil
from kveil.errors import Refused
from kveil.files import read_table
from kveil.flow.previous import EarlierReleases, archives_of, as_linked, earlier_releases, link_release, who_is_who
from small_archives import KEYED, archived
from support import ROWS, write_policy, write_rows


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write_rows(tmp_path / "t.csv")
    write_policy(tmp_path, data=KEYED)
    archived(tmp_path)
    archived(tmp_path)
    return tmp_path


def test_archives_are_those_of_the_policy_from_its_folder_and_those_given(here: Path) -> None:
    policy = kveil.Policy.load(here / "policy.yaml")
    assert EarlierReleases.of(policy, []) is None
    assert [archive.folder for archive in archives_of(policy, [here / "kept"])] == [here / "kept"]
    named = kveil.Policy.load(write_policy(here, data=KEYED, previous=["kept"]))
    assert [archive.folder.resolve() for archive in archives_of(named, [])] == [(here / "kept").resolve()]
    assert len(archives_of(named, [here / "kept"])) == 1  # named twice, it is one


def test_releases_come_in_the_order_in_which_they_were_made(here: Path) -> None:
    policy = kveil.Policy.load(here / "policy.yaml")
    archives = archives_of(policy, [here / "kept"])
    made = [release.made for release in earlier_releases([*archives, *archives])]
    assert len(made) == 4
    assert made == sorted(made)


def test_people_are_known_by_the_archives_key(here: Path) -> None:
    policy = kveil.Policy.load(here / "policy.yaml")
    earlier = EarlierReleases.of(policy, [here / "kept"])
    assert earlier is not None
    people = earlier.people_of(read_table(here / "t.csv"), policy)
    assert people.to_list() == earlier.archive.hashes(read_table(here / "t.csv").texts("name")).to_list()
    assert set(earlier.releases[0].people) < set(people)
    assert not {row[0] for row in ROWS} & set(people)
    known = who_is_who(read_table(here / "t.csv"), policy, earlier.archive)
    assert known.people.to_list() == people.to_list()


def test_a_release_with_its_way_back_is_linked_to_its_people(here: Path) -> None:
    policy = kveil.Policy.load(here / "policy.yaml")
    archives = archives_of(policy, [here / "kept"])
    earlier = earlier_releases(archives)
    original = read_table(here / "t.csv")
    places = np.array([2, 0])
    linked, others = link_release(earlier[0].release, policy, archives[0], earlier, (original, places, None))
    known = archives[0].hashes(original.texts("name"))
    assert linked.people.to_list() == known.gather(places.tolist()).to_list()
    assert [other.people.to_list() for other in others] == [as_linked(one).people.to_list() for one in earlier]
    same, rest = link_release(earlier[0].release, policy, archives[0], earlier, (None, None, earlier[0].release_sha256))
    assert same.people.to_list() == earlier[-1].people.to_list()  # both have the same bytes
    assert rest == []


def test_an_algorithm_that_knows_no_boundaries_is_refused_by_name(here: Path) -> None:
    policy = kveil.Policy.load(write_policy(here, data=KEYED, algorithm="k-member"))
    earlier = EarlierReleases.of(policy, [here / "kept"])
    assert earlier is not None
    with pytest.raises(Refused, match="k-member knows no boundaries"):
        earlier.able(policy)
    able = earlier.able(kveil.Policy.load(write_policy(here, data=KEYED, algorithm="mondrian")))
    assert [algorithm.name for algorithm in able] == ["mondrian"]
