"""kveil from Python: the same answers as the command line, typed, in any thread, cancelled from another."""

import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import kveil
from kveil.datasets import hospital
from kveil.flow.steps.cancelling import cancellable
from places import ROOT
from support import HEADER, QUASI, ROWS, columns_of, make_policy, run, write_policy, write_rows

FRAME = pl.DataFrame(columns_of())


def test_functions_answer_what_commands_answer(tmp_path: Path) -> None:
    policy_file = write_policy(tmp_path)
    write_rows(tmp_path / "t.csv")
    options = ("--input", tmp_path / "t.csv")
    done = run("anonymize", policy_file, *options, "-o", tmp_path / "r.csv", "--owner", tmp_path / "o.json", "--json")
    assert done.code == 0
    policy = kveil.Policy.load(policy_file)
    result = kveil.anonymize(FRAME, policy)
    assert result.data.write_csv() == (tmp_path / "r.csv").read_text()
    compared = ("--original", tmp_path / "t.csv", "--release", tmp_path / "r.csv", "--owner", tmp_path / "o.json")
    measured = kveil.measure(result.data, policy, FRAME, result.owner)
    assert measured.as_json() == run("measure", policy_file, *compared, "--json").json
    attacks = kveil.attack(result.data, policy, FRAME, result.owner)
    assert json.loads(json.dumps(attacks.as_json())) == run("attack", policy_file, *compared, "--json").json
    checked = kveil.check(FRAME, policy)
    assert checked == run("check", policy_file, *options, "--json").json
    assert kveil.risk(FRAME, policy) == checked["risk"]


def test_a_suggested_policy_runs() -> None:
    frame = pl.read_csv(hospital() / "patients.csv", infer_schema=False)
    suggested = kveil.suggest(frame)
    assert suggested.policy.data.path is None
    assert kveil.Policy.parse(suggested.text, "again", Path()).attributes == suggested.policy.attributes
    assert kveil.anonymize(frame, suggested.policy, "mondrian")
    assert {guess["column"] for guess in suggested.as_json()["columns"]} == set(frame.columns)


def test_public_names_are_there_whatever_was_imported_before() -> None:
    # A room of the same name as a function would take the function's place once it is imported.
    import kveil.attacker
    import kveil.suggestion

    for name in kveil.__all__:
        assert getattr(kveil, name) is not None
    for name in ("suggest", "check", "attack", "measure", "risk", "anonymize", "verify", "compare", "bound"):
        assert callable(getattr(kveil, name))


def test_lazy_frames_come_back_lazy() -> None:
    policy = make_policy()
    result = kveil.anonymize(FRAME.lazy(), policy)
    assert isinstance(result.data, pl.LazyFrame)
    assert result.data.collect().equals(kveil.anonymize(FRAME, policy).data)
    assert kveil.verify(result.data, policy, FRAME.lazy(), result.owner)
    assert len(result.groups) == 2


def test_groups_have_their_members_and_what_they_show() -> None:
    result = kveil.anonymize(FRAME, make_policy())
    assert [(group.shown, group.size) for group in result.groups] == [
        ({"age": "30-39", "sex": "F"}, 4),
        ({"age": "60-69", "sex": "M"}, 4),
    ]
    for group in result.groups:
        shown = result.data[group.rows.tolist()].select(list(group.shown)).unique()
        assert shown.row(0, named=True) == group.shown
    assert sorted(np.concatenate([group.rows for group in result.groups])) == list(range(8))
    nothing = kveil.anonymize(FRAME, make_policy(k=9, limit=1))
    assert sum(group.size for group in nothing.groups) == nothing.data.height


def test_groups_of_people_are_counted_in_rows_of_the_release() -> None:
    roles = {"who": {"role": "individual"}, "sex": {"role": QUASI}, "ill": {"role": "sensitive"}}
    frame = pl.DataFrame({"who": list("aabbcd"), "sex": list("FFFFMM"), "ill": list("xyxzxy")})
    for shape, rows in (("sets", [2, 2]), ("long", [4, 2])):
        policy = make_policy(roles, release={"shape": shape})
        groups = kveil.anonymize(frame, policy).groups
        assert [group.size for group in groups] == rows


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_a_result_is_pickled_without_the_original(kind: str) -> None:
    frame = {"polars": FRAME, "pandas": FRAME.to_pandas(), "pyarrow": FRAME.to_arrow()}[kind]
    result = kveil.anonymize(frame, make_policy())
    assert result.groups
    raw = pickle.dumps(result)
    assert b"Ivy" not in raw
    assert b"Ann" not in raw
    again = pickle.loads(raw)
    assert again.account == result.account
    assert [group.shown for group in again.groups] == [group.shown for group in result.groups]


def test_progress_is_told_in_words() -> None:
    told: list[str] = []
    kveil.anonymize(FRAME, make_policy(), progress=told.append)
    assert told[0] == "encoding"
    assert "verifying" in told


def test_a_run_is_cancelled_from_another_thread() -> None:
    stop, begun = kveil.Stop(), threading.Event()
    told: list[BaseException] = []

    def progress(stage: str) -> None:
        begun.set()
        assert cancelled.wait(60)

    def work() -> None:
        try:
            with kveil.under(stop):
                kveil.anonymize(FRAME, make_policy(algorithm="least-loss"), progress=progress)
        except BaseException as error:
            told.append(error)

    cancelled = threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    assert begun.wait(60)
    stop.cancel()
    cancelled.set()
    thread.join(60)
    (error,) = told
    assert isinstance(error, kveil.Cancelled)
    assert str(error) == "the run was cancelled; nothing was released."


def test_a_run_whose_time_is_over_says_so() -> None:
    with pytest.raises(kveil.Cancelled, match="the time was over before there was a release"), cancellable():
        kveil.Stop(0.0).check()
    stop = kveil.Stop()
    stop.cancel()
    for algorithm in ("datafly", "mondrian", "auto"):
        with pytest.raises(kveil.Cancelled), kveil.under(stop):
            kveil.anonymize(FRAME, make_policy(algorithm=algorithm))


AFTER_FORK = """
import os, sys
import polars as pl
import kveil
frame, policy = pl.DataFrame({"a": ["x", "x"]}), kveil.Policy(
    attributes={"a": {"role": "quasi-identifier"}}, privacy=[{"model": "k-anonymity", "k": 2}], algorithm="datafly")
kveil.anonymize(frame, policy)
child = os.fork()
if child == 0:
    try:
        kveil.anonymize(frame, policy)
    except kveil.KveilError as error:
        print(error, flush=True)
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_after_use_is_told_instead_of_hanging() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AFTER_FORK],
        capture_output=True, text=True, timeout=300, check=True, env={**os.environ},
    )  # fmt: skip
    sentence, code = done.stdout.splitlines()
    assert sentence.startswith("kveil was used before this process was forked")
    assert sentence.endswith("or use kveil in the new process only.")
    assert code == "7"


SCRIPT = """
import polars as pl

import kveil


def main() -> None:
    frame = pl.DataFrame({"age": ["31", "35"], "ill": ["flu", "gout"]})
    policy: kveil.Policy = kveil.suggest(frame).policy
    told: list[str] = []
    result: kveil.Result = kveil.anonymize(frame, policy, progress=told.append)
    verdict: kveil.Verdict = kveil.verify(result.data, policy, original=frame, owner=result.owner)
    checked: kveil.Check = kveil.check(frame, policy)
    risk: kveil.RawRisk = kveil.risk(frame, policy)
    unique: int = risk["unique"]["rows"]
    loss: float = kveil.measure(result.data, policy, frame, result.owner).losses.ncp
    attacks: kveil.Attacks = kveil.attack(result.data, policy, frame, result.owner)
    sizes: list[int] = [group.size for group in result.groups]
    stop = kveil.Stop(seconds=5.0)
    with kveil.under(stop):
        released: int = result.account["records"]["released"]
    print(bool(verdict), checked["possible"], unique, loss, attacks.as_json(), sizes, released)
"""


def test_a_users_script_is_typed(tmp_path: Path) -> None:
    assert (Path(kveil.__file__).parent / "py.typed").exists()
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", tmp_path / "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout
    wrongly = SCRIPT.replace("released: int", "released: bytes")  # of another size, which mypy sees within a second
    (tmp_path / "script.py").write_text(wrongly)
    wrong = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert wrong.returncode == 1  # types are looked at, not taken for anything


def test_every_file_and_frame_of_one_table_gives_one_release(tmp_path: Path) -> None:
    policy = make_policy()
    typed = FRAME.with_columns(pl.col("age").cast(pl.Int64))
    frames = [FRAME, FRAME.lazy(), FRAME.to_pandas(), FRAME.to_arrow(), typed, typed.to_pandas(), typed.to_arrow()]
    write_policy(tmp_path)
    write_rows(tmp_path / "t.csv")
    assert run("anonymize", tmp_path / "policy.yaml", "--input", tmp_path / "t.csv", "-o", tmp_path / "r.csv").code == 0
    for frame in frames:
        data = kveil.anonymize(frame, policy).data
        shown = data.collect() if isinstance(data, pl.LazyFrame) else pl.DataFrame(data)
        assert shown.columns == HEADER[1:]
        assert shown.write_csv() == (tmp_path / "r.csv").read_text()
    assert len(ROWS) == 9
