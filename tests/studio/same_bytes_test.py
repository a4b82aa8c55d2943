"""What the page makes and what its shown command makes are the same bytes, for policies that use everything."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml

from kveil.datasets import hospital
from running_studio import Running
from support import run as run_here

POLICIES = Path(__file__).parent / "policies"
ROWS = {"patients.csv": 150, "visits.csv": 300}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the first records of the made-up hospital, its trees, and the five policies."""
    for file in hospital().glob("*.csv"):
        lines = file.read_text().splitlines(keepends=True)
        (tmp_path / file.name).write_text("".join(lines[: ROWS.get(file.name, len(lines)) + 1]))
    pl.read_csv(tmp_path / "patients.csv", infer_schema=False).write_parquet(tmp_path / "patients.parquet")
    for file in POLICIES.glob("*.yaml"):
        shutil.copyfile(file, tmp_path / file.name)
    return tmp_path


def test_the_five_policies_use_every_model_and_every_kind_of_steps_and_limits() -> None:
    said = [yaml.safe_load(file.read_text()) for file in POLICIES.glob("*.yaml")]
    assert len(said) == 5
    models = {model["model"] for policy in said for model in policy["privacy"]}
    assert models == {
        "k-anonymity", "l-diversity", "p-sensitive", "alpha-k", "t-closeness", "kl-diversity", "k-km-anonymity"
    }  # fmt: skip
    columns = [column for policy in said for column in policy["attributes"].values()]
    roles = {column["role"] for column in columns}
    assert roles == {"identifier", "individual", "quasi-identifier", "sensitive", "insensitive"}
    steps = [column["hierarchy"] for column in columns if "hierarchy" in column]
    kinds = {next(iter(step)) if isinstance(step, dict) else "file" for step in steps}
    assert kinds == {"file", "tree", "mask", "intervals", "dates", "ranges"}
    assert any("bounds" in step.get("ranges", {}) for step in steps if isinstance(step, dict))
    limits = [column["boundary"] for column in columns if "boundary" in column]
    assert {next(iter(limit)) if isinstance(limit, dict) else "nodes" for limit in limits} == {
        "nodes", "level", "max_width"
    }  # fmt: skip
    assert {len(policy["privacy"]) > 1 and "dependencies" in policy for policy in said} == {True, False}


@pytest.mark.parametrize("name", ["constraints", "sets", "rules", "midpoints", "items"])
def test_the_page_and_the_shown_command_give_the_same_bytes(
    folder: Path, studio_in: Callable[..., Running], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)  # where somebody who copies the command stands
    studio = studio_in(folder)
    studio.enter()
    state = studio.ask("POST", "open", {"path": f"{name}.yaml"})
    assert state["project"]["error"] is None
    job = studio.job(studio.ask("POST", "jobs", {"do": "run"})["number"])
    assert job["state"] == "done", job
    assert all(guarantee["holds"] for guarantee in job["result"]["guarantees"])
    (run,) = studio.ask("GET", "runs")["runs"]
    assert run["same_policy"]
    made = folder / "releases" / run["run"]
    (release,) = made.glob("release.*")
    assert release.suffix == Path(state["project"]["content"]["data"]["path"]).suffix
    bytes_of_the_page = release.read_bytes()
    release.unlink()
    for command, target in ((run["command"], release), (state["command"], folder / release.name)):
        program, *arguments = shlex.split(command)
        assert program == "kveil"
        assert run_here(*arguments).code == 0
        assert target.read_bytes() == bytes_of_the_page
    studio.edit({"path": ["seed"], "value": 99})
    assert not studio.ask("GET", "runs")["runs"][0]["same_policy"]


def test_a_release_may_keep_less_than_earlier_ones_promised_where_that_is_said(
    tmp_path: Path, studio_in: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"p{i},{'xy'[i // 4]},{'uv'[i % 2]},{'stwz'[i % 4]}" for i in range(8)]
    Path("t.csv").write_text("\n".join(["id,a,b,d", *rows, ""]))
    for name, other, k in (("a", "b", 4), ("b", "a", 1)):
        Path(f"{name}.yaml").write_text(
            "kveil: 1\ndata: {path: t.csv, key: id}\nattributes:\n  id: {role: identifier}\n"
            f"  {name}: {{role: quasi-identifier}}\n  {other}: {{role: identifier}}\n  d: {{role: sensitive}}\n"
            f"privacy: [{{model: k-anonymity, k: {k}}}]\nalgorithm: mondrian\n"
            + ("previous: [kept]\n" if name == "b" else "")
        )
    assert run_here("anonymize", "a.yaml", "-o", "a.csv", "--archive", "kept", "-q").code == 0
    studio = studio_in(tmp_path)
    studio.enter()
    studio.ask("POST", "open", {"path": "b.yaml"})
    refused = studio.job(studio.ask("POST", "jobs", {"do": "run"})["number"])
    assert refused["state"] == "refused", refused
    assert "--weaker" in refused["told"]
    job = studio.job(studio.ask("POST", "jobs", {"do": "run", "weaker": True})["number"])
    assert job["state"] == "done", job
    assert job["result"]["previous"]["below"] == 8
    (run,) = studio.ask("GET", "runs")["runs"]
    assert run["command"].endswith(" --weaker")
    made = tmp_path / "releases" / run["run"] / "release.csv"
    shown = made.read_bytes()
    made.unlink()
    assert run_here(*shlex.split(run["command"])[1:]).code == 0
    assert made.read_bytes() == shown
