"""Engine `local`: a table whose texts are shared as categories gives what one of texts gives, byte for byte."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kveil
from battery import cases_for
from kveil.algorithms.algorithm import GROUP_MODELS
from kveil.algorithms.registry import ALGORITHMS, able, find
from kveil.engines import memory
from kveil.engines.store import ReleaseFile
from kveil.errors import FileError, NotVerified
from kveil.files import Outputs, RepeatedSource, SharedSource
from kveil.files.repeated_lines import FEW
from kveil.flow.anonymize import Targets, anonymize_file
from kveil.flow.steps import make_release as flow
from kveil.flow.steps import outputs
from kveil.flow.steps.inputs import with_algorithm
from kveil.flow.steps.request import Request
from kveil.flow.verify import VerifyTerms, verify_sources
from kveil.policy.model import Policy
from kveil.verifier import alignment
from made_releases import frame_of, released_columns, some_release
from places import GOLDEN
from planted_rules import planted
from strategies import Case, cases, examples, placed, seeds

MANY = 1_000_000_000
OF_SMALL = Policy.model_validate(
    {
        "kveil": 1,
        "attributes": {"a": {"role": "quasi-identifier"}, "b": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "algorithm": "mondrian",
    }
)
Told = tuple[bytes, list[dict[str, Any]]] | str


def run(policy: Policy, data: Path, folder: Path, worth: int) -> Told:
    """What a run writes where so many rows are worth a thread; or what it says instead."""
    beside = {name: folder / f"{name[0]}.json" for name in ("receipt", "account", "owner")}
    targets = Targets(folder / "out.csv", **beside)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "ROWS_WORTH_A_THREAD", worth)
        patch.setattr(outputs, "ROWS_WORTH_A_THREAD", worth)
        try:
            anonymize_file(Request.of(policy), data, targets)
        except kveil.KveilError as error:
            return f"{type(error).__name__}: {error}"
    told = [json.loads(path.read_bytes()) for path in (targets.receipt, targets.account, targets.owner) if path]
    for content in told:
        content.pop("seconds", None)
    return targets.release.read_bytes(), told


def same_on_both(policy: Policy, data: Path, folder: Path) -> bool:
    """Tell whether there is a release, which must not depend on how its table is held."""
    told = run(policy, data, folder, 0)
    assert told == run(policy, data, folder, MANY)
    return not isinstance(told, str)


@pytest.mark.parametrize("most", [alignment.MOST_COUNTS, 0], ids=["counted", "looked for"])
def test_random_policies_give_the_same_however_their_texts_are_held(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment, "MOST_COUNTS", most)
    solved = []

    @given(data=st.data(), number=st.integers(0, len(ALGORITHMS) - 1))
    @examples(100)
    def same(data: st.DataObject, number: int) -> None:
        algorithm = ALGORITHMS[number] if not ALGORITHMS[number].needs else find("mondrian")
        with placed(data.draw(cases_for(algorithm))) as here:
            policy = with_algorithm(here.policy, algorithm.name)
            if able(algorithm, policy):
                solved.append(same_on_both(policy, here.path.parent / "data.csv", here.path.parent))

    same()
    assert sum(solved) > len(solved) / 3 > 0


@pytest.mark.parametrize("individuals", [False, True], ids=["records", "individuals"])
@pytest.mark.parametrize("name", ["mondrian", "least-loss"])
def test_rules_and_individuals_give_the_same_however_their_texts_are_held(name: str, individuals: bool) -> None:
    solved = 0
    for seed in seeds(0, 15):
        with placed(planted(find(name), Random(seed), individuals=individuals)) as here:
            policy = with_algorithm(here.policy, name)
            data, folder = here.path.parent / "data.csv", here.path.parent
            few, many = run(policy, data, folder, 0), run(policy, data, folder, MANY)
            assert few == many
            solved += not isinstance(few, str)
    assert solved >= 5  # of fifteen: what is refused either way says little


@pytest.mark.parametrize("policy", sorted(GOLDEN.glob("*/policy*.yaml")), ids=lambda path: f"{path.parent.name}")
def test_golden_releases_are_the_same_however_their_texts_are_held(policy: Path, tmp_path: Path) -> None:
    assert same_on_both(Policy.load(policy), policy.parent / "input.csv", tmp_path)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".arrow", ".xlsx", ".sav"])
def test_every_kind_of_file_holds_texts_whatever_they_were_held_as(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = next(iter(sorted(GOLDEN.glob("*/policy*.yaml")))).parent
    policy = Policy.load(next(iter(sorted(folder.glob("policy*.yaml")))))
    frames, pages = [], []
    for worth in (0, MANY):
        monkeypatch.setattr(memory, "ROWS_WORTH_A_THREAD", worth)
        monkeypatch.setattr(outputs, "ROWS_WORTH_A_THREAD", worth)
        own = tmp_path / str(worth)
        own.mkdir()
        targets = Targets(own / f"release{suffix}", report=own / "report.html", public=True)
        anonymize_file(Request.of(policy), folder / "input.csv", targets)
        frames.append(memory.MemoryStore().read_release(policy, targets.release).frame)
        pages.append(re.sub(rb"clip\d+", b"clip", (own / "report.html").read_bytes()))  # which are numbered as made
        assert all(frames[-1].schema[name] == pl.String for name in policy.quasi_identifiers)
    assert frames[0].equals(frames[1])
    assert suffix not in (".csv", ".parquet", ".arrow") or pages[0] == pages[1]  # others hold the time


def test_texts_are_shared_and_columns_stay_what_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "ROWS_WORTH_A_THREAD", 0)
    data = tmp_path / "data.csv"
    data.write_text("a,b\nx,1\n,2\nx,3\n")
    store = memory.MemoryStore()
    held = store.hold(OF_SMALL, store.open(OF_SMALL, data))
    assert isinstance(held, SharedSource)
    assert held.held("a") is held.held("a")
    assert held.held("a").cast(pl.String).to_list() == held.column("a").to_list() == ["x", "", "x"]
    assert held.held("b").dtype == held.column("a").dtype == pl.String


# ------------------------------------------------------------------------------------------------ written meanwhile


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, where every release is written while it is judged."""
    monkeypatch.setattr(outputs, "ROWS_WORTH_A_THREAD", 0)
    (tmp_path / "data.csv").write_text("a,b\n" + "x,1\ny,2\n" * 4)
    return tmp_path


@pytest.mark.parametrize("unseen", [True, False])
def test_a_release_that_is_refused_was_written_where_nobody_sees_it(
    unseen: bool, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not unseen:
        monkeypatch.delattr(os, "O_TMPFILE")
    written = []
    write, verify = outputs.write_release, flow.verify_rows

    def noted(*given: Any, **options: Any) -> str:
        written.append(given[-1])
        return write(*given, **options)

    monkeypatch.setattr(outputs, "write_release", noted)
    monkeypatch.setattr(
        flow, "verify_rows", lambda *given, **named: verify(*given, **named).with_findings(["this is wrong."])
    )
    with pytest.raises(NotVerified):
        anonymize_file(Request.of(OF_SMALL), small / "data.csv", Targets(small / "r.csv"))
    assert written == [small / "r.csv"] * unseen
    assert [path.name for path in small.iterdir()] == ["data.csv"]


def test_a_release_that_cannot_be_written_leaves_nothing(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"r\.csv cannot be written \(No space left on device\)"):
        anonymize_file(Request.of(OF_SMALL), small / "data.csv", Targets(small / "r.csv"))
    assert [path.name for path in small.iterdir()] == ["data.csv"]


def test_only_a_regular_file_without_a_name_is_unseen(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(small / "pipe")
    reader = os.open(small / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with Outputs() as staged:
        assert ReleaseFile(staged.open(small / "r.csv"), small / "r.csv").unseen
        assert not ReleaseFile(staged.open(small / "pipe"), small / "pipe").unseen
        monkeypatch.delattr(os, "O_TMPFILE")
        assert not ReleaseFile(staged.open(small / "s.csv"), small / "s.csv").unseen
    os.close(reader)


@given(case=cases(with_ranges=True, max_width=True, models=GROUP_MODELS), seed=st.integers(0, 9999))
@examples(100)
def test_a_release_is_judged_by_its_different_lines_as_by_all(case: Case, seed: int) -> None:
    with placed(case) as here, TemporaryDirectory() as folder:
        random = Random(seed)
        rows = some_release(here, random)[0] * FEW
        random.shuffle(rows)
        path = Path(folder) / "release.csv"
        frame_of(rows, released_columns(here)).write_csv(path)
        store = memory.MemoryStore()
        counted, whole = (read(here.policy, path, hashed=True) for read in (store.count_release, store.read_release))
        event("counted" if isinstance(counted, RepeatedSource) else "not counted")
        assert counted.sha256 == whole.sha256
        told = [verify_sources(source, here.policy, None, None, terms=VerifyTerms(path)) for source in (counted, whole)]
        assert told[0] == told[1]
        if isinstance(counted, RepeatedSource):
            with pytest.raises(ValueError, match="one by one"):
                verify_sources(counted, here.policy, whole, None)
