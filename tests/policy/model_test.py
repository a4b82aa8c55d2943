"""A policy as a whole: where it was read from, and the hierarchies it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.errors import PolicyError
from kveil.policy.lines import Lines
from kveil.policy.model import Policy, json_schema
from support import make_policy

TEXT = """
kveil: 1
attributes:
  city: {role: quasi-identifier, hierarchy: cities.csv}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [2]}}}
  job: {role: quasi-identifier, hierarchy: {tree: {any: {x: [cook, maid]}}}}
privacy: [{model: k-anonymity, k: 2}]
"""
FILE = "Oslo;Norway;*\nRome;Italy;*\n"


def written(folder: Path, file: str = FILE) -> Path:
    (folder / "cities.csv").write_text(file, encoding="utf-8")
    path = folder / "policy.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_loaded_policy_knows_its_files_its_hash_and_its_text(tmp_path: Path) -> None:
    path = written(tmp_path)
    policy = Policy.load(path)
    assert policy.folder == tmp_path
    assert policy.files == [path, tmp_path / "cities.csv"]
    assert policy.content["attributes"]["city"]["hierarchy"] == "cities.csv"
    policy.content["attributes"].clear()  # a copy of its own
    assert policy.content["attributes"]
    again = Policy.load(path)
    assert (again.sha256, again) == (policy.sha256, policy)
    path.write_text(TEXT + "seed: 3\n", encoding="utf-8")
    assert Policy.load(path).sha256 != policy.sha256


def test_hierarchies_that_do_not_depend_on_data_are_read_once(tmp_path: Path) -> None:
    policy = Policy.load(written(tmp_path))
    lines = policy.fixed_lines("city")
    assert lines is not None
    assert lines.lines == (("Oslo", "Norway", "*"), ("Rome", "Italy", "*"))
    (tmp_path / "cities.csv").unlink()
    assert policy.fixed_lines("city") is lines
    assert policy.fixed_lines("zip") is None
    job = policy.fixed_lines("job")
    assert job is not None
    assert (job.root, job.lines[0]) == ("any", ("cook", "x", "any"))
    assert policy.ways_up("job", ()).of("maid") == ("maid", "x", "any")
    assert policy.ways_up("zip", ()).of("0213") == ("0213", "02**", "*")


def test_texts_of_hierarchy_files_may_be_given_and_lines_may_be_known() -> None:
    policy = Policy.parse(TEXT, "policy.yaml", Path("nowhere"), {"cities.csv": FILE})
    assert policy.ways_up("city", ()).of("Rome") == ("Rome", "Italy", "*")
    known = Policy.parse(TEXT, "policy.yaml", Path("nowhere"))
    known.know_lines({"city": Lines((("a", "*"),), "*", built=False)})
    assert known.ways_up("city", ()).of("a") == ("a", "*")
    with pytest.raises(PolicyError, match=r"cities\.csv cannot be read"):
        Policy.parse(TEXT, "policy.yaml", Path("nowhere")).fixed_lines("city")


def test_a_file_outside_of_the_folder_is_not_quoted(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.csv").write_text("hidden;a;*\nhidden;b;*\n", encoding="utf-8")
    text = TEXT.replace("cities.csv", "../secret.csv")
    with pytest.raises(PolicyError, match="not shown") as caught:
        Policy.parse(text, "policy.yaml", inside).read_hierarchies()
    assert "hidden" not in str(caught.value)
    (inside / "secret.csv").write_text("hidden;a;*\nhidden;b;*\n", encoding="utf-8")
    with pytest.raises(PolicyError, match="'hidden'"):
        Policy.parse(TEXT.replace("cities.csv", "secret.csv"), "policy.yaml", inside).read_hierarchies()


def test_paths_may_start_from_another_folder(tmp_path: Path) -> None:
    written(tmp_path)
    policy = Policy.parse(TEXT, "policy.yaml", Path("nowhere"))
    assert policy.within(tmp_path).fixed_lines("job") is not None
    assert policy.within(tmp_path).folder == tmp_path
    assert policy.folder == Path("nowhere")


def test_a_policy_made_in_python_has_a_hash_but_no_text() -> None:
    policy = make_policy()
    assert policy.sha256 == make_policy().sha256 != make_policy(k=3).sha256
    with pytest.raises(PolicyError, match="has no text to keep"):
        _ = policy.content


def test_the_schema_names_every_key_and_asks_for_three() -> None:
    schema = json_schema()
    assert schema["required"] == ["kveil", "attributes", "privacy"]
    assert set(schema["properties"]) == set(Policy.model_fields)
