"""Engine `stream`: a table that stays on the disk gives, byte for byte, the release of one in memory."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kveil
from adult_data import attributes_of, needs_adult, raw_rows
from battery import cases_for
from both_engines import as_parquet, run, same_on_both
from kveil.algorithms.registry import ALGORITHMS, able, find
from kveil.datasets import hospital
from kveil.engines import choosing, stream
from kveil.errors import NotVerified
from kveil.files import read_table, sink_parquet
from kveil.flow.anonymize import Targets, anonymize_file
from kveil.flow.steps.inputs import with_algorithm
from kveil.flow.steps.request import Request
from kveil.policy.model import Policy
from places import GOLDEN, missing, place_of
from planted_rules import planted
from strategies import examples, placed, seeds
from support import make_policy, names_in, refused, run_process
from support import run as command

DIABETES = place_of("diabetes130")


def test_random_policies_give_the_same_on_both_engines() -> None:
    solved = []

    @given(data=st.data(), number=st.integers(0, len(ALGORITHMS) - 1))
    @examples(75)
    def same(data: st.DataObject, number: int) -> None:
        algorithm = ALGORITHMS[number] if not ALGORITHMS[number].needs else find("mondrian")
        with placed(data.draw(cases_for(algorithm))) as here:
            policy = with_algorithm(here.policy, algorithm.name)
            if not able(algorithm, policy):
                return
            folder = here.path.parent
            solved.append(not isinstance(same_on_both(policy, as_parquet(here.case.frame(), folder), folder), str))

    same()
    assert sum(solved) > len(solved) / 3 > 0


@pytest.mark.parametrize("individuals", [False, True], ids=["records", "individuals"])
@pytest.mark.parametrize("name", ["mondrian", "least-loss"])
def test_rules_and_individuals_give_the_same_on_both_engines(name: str, individuals: bool) -> None:
    solved = 0
    for seed in seeds(0, 15):
        with placed(planted(find(name), Random(seed), individuals=individuals)) as here:
            policy = with_algorithm(here.policy, name)
            folder = here.path.parent
            data = as_parquet(here.case.frame(), folder)
            told = {engine: run(policy, data, engine, folder) for engine in ("local", "stream")}
            assert told["stream"] == told["local"]
            solved += not isinstance(told["stream"], str)
    assert solved >= 5  # of fifteen: what is refused on both engines says little


@pytest.mark.parametrize("policy", sorted(GOLDEN.glob("*/policy*.yaml")), ids=lambda path: f"{path.parent.name}")
def test_golden_releases_are_the_same_on_both_engines(policy: Path, tmp_path: Path) -> None:
    frame = read_table(policy.parent / "input.csv").frame
    assert not isinstance(same_on_both(Policy.load(policy), as_parquet(frame, tmp_path), tmp_path), str)


@pytest.mark.parametrize("name", ["everything.yaml", "policy.yaml"])
def test_the_demonstration_is_the_same_on_both_engines(name: str, tmp_path: Path) -> None:
    policy = Policy.load(hospital() / name)
    # With types: whole numbers, dates, and what a file of another program may have.
    texts = {"zip": pl.String}
    frame = pl.read_csv(
        hospital() / str(policy.data.path), infer_schema_length=None, try_parse_dates=True, schema_overrides=texts
    )
    told = same_on_both(policy, as_parquet(frame, tmp_path), tmp_path)
    assert not isinstance(told, str), told


@needs_adult
@pytest.mark.parametrize("name", ["datafly", "mondrian"])
def test_adult_is_the_same_on_both_engines(name: str, tmp_path: Path) -> None:
    frame = raw_rows().rename({"class": "salary-class"})
    data = as_parquet(frame, tmp_path)
    attributes = {column: {"role": "insensitive"} for column in frame.columns} | attributes_of()
    policy = make_policy(attributes, k=10, limit=0.02, data={"missing": ["?"]}, algorithm=name)
    assert not isinstance(same_on_both(policy, data, tmp_path), str)


@pytest.mark.skipif(not DIABETES.exists(), reason=missing("diabetes130"))
def test_the_patients_of_diabetes130_are_the_same_on_both_engines(tmp_path: Path) -> None:
    patients = read_table(DIABETES / "patients.csv.gz").frame
    codes = read_table(DIABETES / "diagnoses.csv.gz").frame.select("patient_nbr", "icd9")
    quasi = ("race", "gender", "age", "payer_code")
    frame = patients.select("patient_nbr", *quasi).join(codes, on="patient_nbr", how="inner", maintain_order="left")
    attributes = {name: {"role": "quasi-identifier"} for name in quasi}
    attributes |= {"patient_nbr": {"role": "individual"}, "icd9": {"role": "sensitive"}}
    policy = make_policy(attributes, k=10, limit=0.05, data={"missing": ["?"]}, algorithm="mondrian")
    assert not isinstance(same_on_both(policy, as_parquet(frame, tmp_path), tmp_path), str)


# ------------------------------------------------------------------------------------------------ a small table

POLICY = """
kveil: 1
data: {path: data.parquet}
attributes:
  name: {role: identifier}
  note: {role: insensitive}
  age: {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 100, widths: [10, 20]}}}
  zip: {role: quasi-identifier, hierarchy: {mask: {keep: [4, 3]}}}
  weight: {role: quasi-identifier, hierarchy: {ranges: {within: [0, 10]}}}
  illness: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: l-diversity, sensitive: illness, l: 2}
suppression: {limit: 0.1}
algorithm: mondrian
"""


def typed_rows(rows: int = 300) -> pl.DataFrame:
    random = Random(3)
    return pl.DataFrame(
        {
            "name": [f"n{i}" for i in range(rows)],
            "note": [random.random() for _ in range(rows)],
            "age": [random.choice([None, 21, 34, 35, 52]) for _ in range(rows)],
            "zip": [f"0{random.randrange(2100, 2140)}" for _ in range(rows)],
            "weight": [random.choice([1.5, 2.0, float("nan"), 7.25]) for _ in range(rows)],
            "illness": pl.Series([random.choice("abc") for _ in range(rows)], dtype=pl.Categorical),
        }
    )


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(POLICY)
    as_parquet(typed_rows(), tmp_path)
    return tmp_path


def changed(policy: Path, **keys: Any) -> Policy:
    return Policy.load(policy).model_copy(update=keys)


@pytest.mark.parametrize("show", ["drop", "star"])
@pytest.mark.parametrize("order", ["sorted", "keep"])
def test_typed_columns_are_the_same_on_both_engines(here: Path, show: str, order: str) -> None:
    text = POLICY.replace("{limit: 0.1}", f"{{limit: 0.1, show: {show}}}") + f"release: {{order: {order}}}\n"
    (here / "policy.yaml").write_text(text)
    assert not isinstance(same_on_both(Policy.load(here / "policy.yaml"), here / "data.parquet", here), str)


def test_a_shuffled_release_has_the_rows_of_a_sorted_one(here: Path) -> None:
    (here / "policy.yaml").write_text(POLICY + "release: {order: shuffle}\n")
    assert not isinstance(run(Policy.load(here / "policy.yaml"), here / "data.parquet", "stream", here), str)
    (here / "policy.yaml").write_text(POLICY)
    assert not isinstance(run(Policy.load(here / "policy.yaml"), here / "data.parquet", "local", here), str)
    both = [pl.read_parquet(here / f"{engine}.parquet").sort(pl.all()) for engine in ("stream", "local")]
    assert both[0].equals(both[1])


def test_a_folder_of_files_is_one_table_on_both_engines(here: Path) -> None:
    frame = typed_rows()
    for year, part in (("2023", frame[:100]), ("2024", frame[100:])):
        (here / "parts" / f"year={year}").mkdir(parents=True)
        part.write_parquet(here / "parts" / f"year={year}" / "a.parquet")
    text = POLICY.replace("attributes:\n", "attributes:\n  year: {role: quasi-identifier}\n")
    (here / "policy.yaml").write_text(text)
    policy = Policy.load(here / "policy.yaml")
    assert not isinstance(same_on_both(policy, here / "parts", here), str)
    assert not isinstance(same_on_both(policy.model_copy(), here / "parts" / "*" / "*.parquet", here), str)


def test_values_that_a_hierarchy_does_not_know_are_told_as_in_memory(here: Path) -> None:
    frame = typed_rows().with_columns(pl.when(pl.int_range(pl.len()) == 7).then(999).otherwise("age").alias("age"))
    told = same_on_both(Policy.load(here / "policy.yaml"), as_parquet(frame, here), here)
    assert isinstance(told, str)
    assert "999" in told
    stars = typed_rows().with_columns(illness=pl.lit("*").cast(pl.Categorical))
    assert "`*`" in same_on_both(Policy.load(here / "policy.yaml"), as_parquet(stars, here), here)


# ------------------------------------------------------------------------------------------------ commands


def test_verify_measure_and_check_say_the_same_on_both_engines(here: Path) -> None:
    policy, data, release, owner = (here / name for name in ("policy.yaml", "data.parquet", "r.parquet", "o.json"))
    made = command("anonymize", policy, "--engine", "stream", "--output", release, "--owner", owner, "--quiet")
    assert made.code == 0
    both = ("--original", data, "--release", release, "--owner", owner, "--json")
    for arguments in (("verify", policy, *both), ("measure", policy, *both), ("check", policy, "--json")):
        told = [command(*arguments, "--engine", engine) for engine in ("local", "stream")]
        assert told[0] == told[1]
        assert told[0].code == 0
    shown = pl.read_parquet(release).with_columns(zip=pl.lit("0211*"))
    shown.write_parquet(release, statistics=False)
    told = [command("verify", policy, *both, "--engine", engine) for engine in ("local", "stream")]
    assert told[0] == told[1]
    assert told[0].code == 1


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--input", "data.csv"), "engine stream reads Parquet files"),
        (("--output", "r.csv"), "engine stream writes Parquet files"),
        (("--report", "r.html"), "engine stream has no --report"),
        (("--archive", "kept"), "engine stream has no --archive"),
        (("--output", "p.parquet"), "engine stream reads its release back"),
    ],
)
def test_what_the_engine_cannot_do_is_refused_before_the_table_is_read(
    here: Path, more: tuple[str, str], told: str
) -> None:
    typed_rows().write_csv(here / "data.csv")
    os.mkfifo(here / "p.parquet")
    (here / "data.parquet").write_bytes(b"this is no Parquet file, and nobody finds out")
    before = sorted(path.name for path in here.iterdir())
    asked = ("--engine", "stream", "--output", here / "o.parquet", more[0], here / more[1])
    refused(command("anonymize", here / "policy.yaml", *asked), told)
    assert sorted(path.name for path in here.iterdir()) == before


def test_a_table_too_large_for_memory_streams_by_itself(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy, targets = Policy.load(here / "policy.yaml"), Targets(here / "r.parquet", receipt=here / "r.json")
    assert anonymize_file(Request.of(policy), here / "data.parquet", targets)["engine"] == "local"
    monkeypatch.setattr(choosing, "free_memory", lambda: 1000)
    account = anonymize_file(Request.of(policy), here / "data.parquet", targets)
    assert account["engine"] == "stream"
    assert any("engine stream was taken, since" in warning for warning in account["warnings"])
    assert "GB" not in (here / "r.json").read_text()  # how large the machine is concerns nobody
    insisted = changed(here / "policy.yaml", engine="local")
    assert anonymize_file(Request.of(insisted), here / "data.parquet", targets)["engine"] == "local"


# ------------------------------------------------------------------------------------------------ trust nobody


@pytest.mark.parametrize(
    "harm",
    [
        lambda frame: frame.with_columns(illness=frame["illness"].shift(1, fill_value=frame["illness"][-1])),
        lambda frame: pl.concat([frame, frame[:4]]),
        lambda frame: frame[1:],
        lambda frame: frame.with_columns(
            zip=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("02101")).otherwise("zip")
        ),
        lambda frame: frame.with_columns(note=frame["note"].reverse()),
    ],
    ids=["values of others", "rows twice", "a row less", "a cell changed", "notes of others"],
)
def test_what_stands_in_the_file_is_judged_and_nothing_appears(
    here: Path, monkeypatch: pytest.MonkeyPatch, harm: Any
) -> None:
    def spoil(columns: Any, rows: int, file: Any, target: Path) -> str:
        digest = sink_parquet(columns, rows, file, target)
        file.seek(0)
        frame = harm(pl.read_parquet(file.read()))
        file.seek(0)
        file.truncate()
        frame.write_parquet(file)
        file.flush()
        return digest

    monkeypatch.setattr(stream, "sink_parquet", spoil)
    before = sorted(path.name for path in here.iterdir())
    with pytest.raises(NotVerified):
        anonymize_file(
            Request.of(changed(here / "policy.yaml", engine="stream")),
            here / "data.parquet",
            Targets(here / "r.parquet"),
        )
    assert sorted(path.name for path in here.iterdir()) == before


def test_a_run_that_is_killed_leaves_nothing(here: Path) -> None:
    killed = "\n".join(
        (
            "import os",
            "from kveil.engines import stream",
            "write = stream.sink_parquet",
            "stream.sink_parquet = lambda *given: (write(*given), os.kill(os.getpid(), 9))",
        )
    )
    before = names_in(here)
    told = ("--engine", "stream", "--output", here / "r.parquet", "--owner", here / "o.json")
    assert run_process("anonymize", here / "policy.yaml", *told, before=killed).code == -9
    assert names_in(here) == before


def test_an_input_that_changes_meanwhile_is_an_error(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stream.StreamStore.lay_out

    def meddled(self: stream.StreamStore, *arguments: Any) -> Any:
        typed_rows(301).write_parquet(here / "data.parquet")
        return whole(self, *arguments)

    monkeypatch.setattr(stream.StreamStore, "lay_out", meddled)
    with pytest.raises(kveil.DataError, match="changed while kveil read it"):
        anonymize_file(
            Request.of(changed(here / "policy.yaml", engine="stream")),
            here / "data.parquet",
            Targets(here / "r.parquet"),
        )
    assert not (here / "r.parquet").exists()
