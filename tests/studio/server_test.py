"""What the page asks of the server: the policy, columns, trees, jobs; a small server, sentences for everything."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kveil.datasets import hospital
from running_studio import Running, url

SMALL = """\
kveil: 1
data: {path: patients.csv}
attributes:
  patient_id: {role: identifier}
  name: {role: identifier}
  birth: {role: quasi-identifier, hierarchy: {dates: [year, decade]}}
  sex: {role: quasi-identifier}
  zip: {role: quasi-identifier, hierarchy: zip.csv}
  city: {role: identifier}
  state: {role: identifier}
  weight: {role: identifier}
  department: {role: identifier}
  phone: {role: identifier}
  diagnosis: {role: sensitive}
  insurance: {role: insensitive}
privacy:
  - {model: k-anonymity, k: 5}   # agreed
suppression: {limit: 0.05}
algorithm: mondrian
"""


def test_the_server_stays_small_and_never_loads_the_table(own_studio: Running) -> None:
    status = Path(f"/proc/{own_studio.process.pid}/status").read_text()
    memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    assert memory < 150_000
    code = (
        "import sys, kveil.studio.server; "
        "print([name for name in ('polars', 'numpy', 'numba', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_click_changes_its_characters_on_the_disk_and_undo_gives_the_bytes_back(studio: Running) -> None:
    file = studio.folder / "policy.yaml"
    before = file.read_bytes()
    studio.edit({"path": ["attributes", "zip", "boundary"], "value": ["New England"]})
    assert file.read_text().count("hierarchy: zip.csv, boundary: [New England]}") == 1
    assert len(file.read_text().splitlines()) == len(before.decode().splitlines())
    state = studio.ask("POST", "policy/undo")
    assert file.read_bytes() == before
    assert state["project"]["redo"] == "test"
    studio.ask("POST", "policy/redo")
    assert b"boundary: [New England]" in file.read_bytes()


def test_a_change_based_on_an_old_state_is_refused(studio: Running) -> None:
    number = studio.number
    studio.edit({"path": ["seed"], "value": 1})
    late = {"number": number, "changes": [{"path": ["seed"], "value": 2}], "words": ""}
    assert "changed elsewhere" in studio.ask("POST", "policy/edit", late, 409)["told"]
    assert "seed: 1" in (studio.folder / "policy.yaml").read_text()


def test_a_text_that_is_no_yaml_is_told_with_its_line_and_not_saved(studio: Running) -> None:
    before = (studio.folder / "policy.yaml").read_bytes()
    answer = studio.ask("PUT", "policy/text", {"number": studio.number, "text": "kveil: 1\nattributes: {a: [}\n"}, 422)
    assert answer["line"] == 2
    assert (studio.folder / "policy.yaml").read_bytes() == before


def test_a_text_that_is_no_policy_is_saved_with_a_sentence(studio: Running) -> None:
    text = (studio.folder / "policy.yaml").read_text().replace("suppression:", "supression:")
    state = studio.ask("PUT", "policy/text", {"number": studio.number, "text": text})
    assert "did you mean 'suppression'" in state["project"]["error"]["told"]
    assert (studio.folder / "policy.yaml").read_text() == text


def test_a_change_by_an_editor_is_taken_up(studio: Running) -> None:
    file = studio.folder / "policy.yaml"
    number = studio.number
    file.write_text(file.read_text().replace("k: 10", "k: 11"))
    state = studio.ask("GET", "state")
    assert state["project"]["number"] == number + 1
    assert "k: 11" in state["project"]["text"]
    assert state["project"]["undo"] == "changed outside this page"


def test_values_of_people_are_not_sent_unless_asked_for(studio: Running) -> None:
    names = {line.split(",")[1] for line in (studio.folder / "patients.csv").read_text().splitlines()[1:]}
    sent = json.dumps(
        [studio.ask("GET", "sample"), studio.ask("GET", "values?column=name"), studio.ask("GET", "state")]
    )
    assert not any(f'"{name}"' in sent for name in names)
    assert studio.ask("GET", "values?column=name")["hidden"]
    assert studio.ask("GET", "values?column=name&show=1")["values"][0][0] in names
    assert studio.ask("GET", "sample?show=1")["rows"][0][1] in names


def test_a_role_for_many_columns_is_one_step_and_brings_steps(studio: Running) -> None:
    names = ["city", "state", "phone"]
    answer = studio.ask("POST", "policy/roles", {"number": studio.number, "names": names, "role": "quasi-identifier"})
    attributes = answer["project"]["content"]["attributes"]
    assert all(attributes[name]["role"] == "quasi-identifier" for name in names)
    assert attributes["state"]["hierarchy"]
    assert studio.ask("POST", "policy/undo")["project"]["content"]["attributes"]["city"] == {"role": "identifier"}


def test_a_tree_is_changed_by_clicks_and_limits_follow(studio: Running) -> None:
    studio.edit({"path": ["attributes", "zip", "boundary"], "value": ["New England", "Ohio"]})
    before = (studio.folder / "zip.csv").read_bytes()

    def plant(**wish: Any) -> Any:
        return studio.ask("POST", "tree", {"number": studio.number, "column": "zip", **wish})

    state = plant(do="rename", label="New England", name="North East")
    assert state["project"]["content"]["attributes"]["zip"]["boundary"] == ["North East", "Ohio"]
    assert "North East" in (studio.folder / "zip.csv").read_text()
    plant(do="group", labels=["Massachusetts", "Rhode Island"], name="Both")
    plant(do="move", labels=["Ohio"], under="Mid-Atlantic")
    state = plant(do="dissolve", label="Ohio")
    assert state["project"]["content"]["attributes"]["zip"]["boundary"] == ["North East"]
    tree = studio.ask("GET", "tree?column=zip")
    assert "Both" in tree["labels"]
    assert tree["unknown_values"] == 0
    assert sum(n for n, parent in zip(tree["records_below"], tree["parents"], strict=True) if parent < 0) == 2000
    for _ in range(4):
        studio.ask("POST", "policy/undo")
    assert (studio.folder / "zip.csv").read_bytes() == before


def test_values_that_a_tree_does_not_know_are_listed_and_placed(studio: Running) -> None:
    lines = (studio.folder / "zip.csv").read_text().splitlines(keepends=True)
    (studio.folder / "zip.csv").write_text("".join(lines[3:]))
    tree = studio.ask("GET", "tree?column=zip")
    assert tree["unknown_values"] == 3
    wish = {"column": "zip", "do": "place", "labels": [v for v, _ in tree["unknown"]], "under": "Midwest"}
    studio.ask("POST", "tree", {"number": studio.number, **wish})
    assert studio.ask("GET", "tree?column=zip")["unknown_values"] == 0


def test_pasted_rows_become_a_tree(studio: Running) -> None:
    wish = {"column": "sex", "do": "paste", "text": "F\tAll\nM\tAll\n"}
    state = studio.ask("POST", "tree", {"number": studio.number, **wish})
    assert state["project"]["content"]["attributes"]["sex"]["hierarchy"] == {"tree": {"All": ["F", "M"]}}


def test_the_live_check_says_whose_fault_it_is(studio: Running) -> None:
    (studio.folder / "policy.yaml").write_text(
        SMALL.replace("zip.csv}", "zip.csv, boundary: {level: 0}}")
        .replace("limit: 0.05", "limit: 0")
        .replace("k: 5", "k: 30")
    )
    studio.ask("GET", "state")
    for _ in range(600):
        check = studio.ask("GET", "state")["check"]
        if check.get("whole"):
            break
        time.sleep(0.2)
    assert check["possible"] is False
    fault = next(entry for entry in check["attributes"] if entry["attribute"] == "zip")
    assert fault["saves"] > 0


def _run(studio: Running) -> dict[str, Any]:
    _shortened(studio.folder)
    return studio.job(studio.ask("POST", "jobs", {"do": "run"})["number"])


def test_a_release_is_listed_with_what_holds_and_its_records_before_and_after(studio: Running) -> None:
    (studio.folder / "policy.yaml").write_text(SMALL)
    studio.ask("GET", "state")
    job = _run(studio)
    assert job["state"] == "done", job
    made = studio.folder / "releases" / job["run"]
    assert made.stat().st_mode & 0o777 == 0o700
    for name in ("owner.json", "account.json", "report.html", "policy.yaml"):
        assert (made / name).stat().st_mode & 0o777 == 0o600, name
    run = studio.ask("GET", "runs")["runs"][0]
    assert run["account"]["guarantees"][0]["holds"] is True
    assert {file["name"] for file in run["files"] if file["publish"]} == {"release.csv", "receipt.json"}
    before = studio.ask("GET", f"runs/{url(job['run'])}/sample")
    assert before["columns"] == ["birth", "sex", "zip"]
    assert len(before["rows"]) == 8


def test_compared_methods_are_told_one_by_one(studio: Running) -> None:
    (studio.folder / "policy.yaml").write_text(SMALL)
    studio.ask("GET", "state")
    job = studio.job(studio.ask("POST", "jobs", {"do": "compare", "algorithms": ["datafly", "least-loss"]})["number"])
    assert [row["algorithm"] for row in job["compared"]] == ["datafly", "least-loss"]
    assert {row["algorithm"] for row in job["result"]["algorithms"]} == {"datafly", "least-loss"}
    curves = {row["algorithm"]: row["losses"] for row in job["compared"]}
    assert curves["datafly"] == []
    assert len(curves["least-loss"]) > 1
    assert job["losses"] == []


def test_a_report_may_run_nothing_and_only_known_files_are_sent(studio: Running) -> None:
    (studio.folder / "policy.yaml").write_text(SMALL)
    studio.ask("GET", "state")
    job = _run(studio)
    base = f"/api/runs/{url(job['run'])}"
    (studio.folder / "releases" / job["run"] / "secret.txt").write_text("no")
    for name in ("report.html?show=1", "report-public.html?show=1"):
        status, headers, content = studio.raw("GET", f"{base}/{name}", studio.own())
        assert status == 200
        assert "sandbox" in headers["content-security-policy"]
        assert "script-src" not in headers["content-security-policy"]
        assert b"<h1" in content
    for name in ("secret.txt", "..%2fpolicy.yaml", "release.exe", "%2e%2e"):
        assert studio.raw("GET", f"{base}/{name}", studio.own())[0] == 404
    assert studio.raw("GET", "/api/runs/..%2f../policy.yaml", studio.own())[0] == 404
    status, _, packed = studio.raw("GET", f"{base}/bundle.zip", studio.own())
    assert status == 200
    import io
    import zipfile

    assert sorted(zipfile.ZipFile(io.BytesIO(packed)).namelist()) == [
        "receipt.json",
        "release.csv",
        "report-public.html",
    ]


def _children(process: int) -> dict[int, str]:
    """Return the processes that a process has started, each with its command."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    split = [line.split(maxsplit=2) for line in listed.splitlines()]
    return {int(pid): " ".join(command) for pid, parent, *command in split if int(parent) == process}


def _long_policy() -> str:
    return SMALL.replace("algorithm: mondrian", "algorithm: {name: least-loss, refine_seconds: 3600}")


def _shortened(folder: Path) -> None:
    """Leave the first records of a table alone, so that its report is soon drawn."""
    lines = (hospital() / "patients.csv").read_text().splitlines(keepends=True)
    (folder / "patients.csv").write_text("".join(lines[:201]))


def _searches(studio: Running, number: int) -> None:
    """Wait until a job is in the middle of its search."""
    until = time.monotonic() + 240
    while time.monotonic() < until:
        job = next(j for j in studio.ask("GET", "state")["jobs"] if j["number"] == number)
        if job["losses"]:
            return
        assert job["state"] == "running", job["told"]
        time.sleep(0.05)
    raise AssertionError("the search never began")


def test_cancel_leaves_no_file_and_no_process(studio: Running) -> None:
    (studio.folder / "policy.yaml").write_text(_long_policy())
    studio.ask("GET", "state")
    job = studio.ask("POST", "jobs", {"do": "run"})
    _searches(studio, job["number"])
    studio.ask("DELETE", f"jobs/{job['number']}")
    for _ in range(2_400):  # it is told once its process is gone, long before the hour of its search is over
        ended = studio.job(job["number"])
        if ended["told"] == "Cancelled. Nothing was written.":
            break
        time.sleep(0.05)
    assert ended["state"] == "cancelled"
    assert not any("kveil.cli.child" in command for command in _children(studio.process.pid).values())
    assert not (studio.folder / "releases").exists()
    assert not any(path.name.startswith(".kveil") for path in studio.folder.iterdir())


def test_finish_now_gives_a_verified_release(studio: Running) -> None:
    _shortened(studio.folder)
    (studio.folder / "policy.yaml").write_text(_long_policy())
    studio.ask("GET", "state")
    job = studio.ask("POST", "jobs", {"do": "run"})
    _searches(studio, job["number"])
    studio.ask("POST", f"jobs/{job['number']}/finish")
    ended = studio.job(job["number"])
    assert ended["state"] == "done", ended["told"]
    assert all(guarantee["holds"] for guarantee in ended["result"]["guarantees"])
    assert (studio.folder / "releases" / ended["run"] / "release.csv").exists()


@pytest.mark.parametrize("moment", ["", "encoding", "verifying", "playing"])
def test_finish_now_at_any_moment_gives_a_verified_release(tmp_path: Path, moment: str) -> None:
    """The command that a job is, asked for the best so far as it tells a stage: before, in and after its search."""
    shutil.copyfile(hospital() / "zip.csv", tmp_path / "zip.csv")
    _shortened(tmp_path)
    (tmp_path / "policy.yaml").write_text(_long_policy())
    report = ["--report", "r.html"] if moment == "playing" else []  # which takes a while to draw
    arguments = ["anonymize", "policy.yaml", "--output", "r.csv", *report, "--json", "--progress", "json"]
    command = [sys.executable, "-m", "kveil.cli.child", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stdin is not None
        asked = False
        for line in process.stderr:
            if not asked and line.startswith("{") and json.loads(line)["stage"].startswith(moment):
                process.stdin.write("\n")
                process.stdin.flush()
                asked = True
        answer = process.stdout.read()
        assert process.wait() == 0, line
    assert asked
    assert all(guarantee["holds"] for guarantee in json.loads(answer)["guarantees"])
    assert (tmp_path / "r.csv").exists()


def test_a_killed_server_takes_its_children_along_and_nothing_is_half_written(own_studio: Running) -> None:
    (own_studio.folder / "policy.yaml").write_text(_long_policy())
    own_studio.ask("GET", "state")
    _searches(own_studio, own_studio.ask("POST", "jobs", {"do": "run"})["number"])
    children = _children(own_studio.process.pid)
    assert children
    os.kill(own_studio.process.pid, signal.SIGKILL)
    own_studio.process.wait()
    until = time.monotonic() + 120
    while time.monotonic() < until and any(Path(f"/proc/{pid}").exists() for pid in children):
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)
    assert (own_studio.folder / "policy.yaml").read_text() == _long_policy()
    assert [path.name for path in own_studio.folder.rglob("release.*")] == []


def test_a_dead_reader_is_started_again(own_studio: Running) -> None:
    own_studio.ask("GET", "values?column=sex")
    for pid in _children(own_studio.process.pid):
        os.kill(pid, signal.SIGKILL)
    assert own_studio.ask("GET", "values?column=sex")["of"] == 2


def test_what_cannot_be_done_is_a_sentence(studio: Running) -> None:
    wrong: list[tuple[str, str, Any, int]] = [
        ("POST", "policy/edit", {}, 400),
        ("POST", "policy/edit", {"number": "x", "changes": []}, 400),
        ("POST", "tree", {"number": studio.number, "column": "zip", "do": "fly"}, 400),
        ("GET", "tree?column=none", None, 422),
        ("GET", "values?column=none", None, 422),
        ("POST", "jobs", {"do": "anything"}, 400),
        ("DELETE", "jobs/99", None, 404),
        ("GET", "files?under=none", None, 404),
        ("POST", "open", {"path": "zip.none"}, 404),
    ]
    for method, path, body, status in wrong:
        told = studio.ask(method, path, body, status)["told"]
        assert told.endswith("."), told


def test_every_policy_that_ships_opens_and_keeps_every_byte(project: Path, studio_in: Callable[..., Running]) -> None:
    running = studio_in(project)
    running.enter()
    for file in sorted(project.glob("*.yaml")):
        before = file.read_bytes()
        state = running.ask("POST", "open", {"path": file.name})
        assert state["project"]["error"] is None
        assert state["table"]["error"] is None
        answer = running.ask("PUT", "policy/text", {"number": running.number, "text": state["project"]["text"]})
        assert answer["project"]["undo"] is None
        assert file.read_bytes() == before


def test_a_table_without_names_gets_them(tmp_path: Path, studio_in: Callable[..., Running]) -> None:
    (tmp_path / "raw.data").write_text("39, M, flu\n" * 5 + "45, F, gout\n" * 7)
    running = studio_in(tmp_path)
    running.enter()
    assert "first line" in running.ask("POST", "open", {"path": "raw.data"}, 422)["told"]
    state = running.ask("POST", "open", {"path": "raw.data", "columns": ["age", "sex", "illness"]})
    assert list(state["project"]["content"]["attributes"]) == ["age", "sex", "illness"]
    assert (tmp_path / "raw-named.csv").stat().st_mode & 0o777 == 0o600


def test_looks_right_takes_the_mark_and_a_decision_replaces_the_guess(
    tmp_path: Path, studio_in: Callable[..., Running]
) -> None:
    (tmp_path / "patients.csv").write_bytes((hospital() / "patients.csv").read_bytes())
    running = studio_in(tmp_path)
    running.enter()
    project = running.ask("POST", "open", {"path": "patients.csv"})["project"]
    guesses = project["deciding"]
    assert guesses
    project = running.ask("POST", "policy/looks-right", {"number": running.number, "names": guesses[:1]})["project"]
    assert guesses[0] not in project["deciding"]
    assert "CHECK:" not in project["notes"][guesses[0]]
    assert project["notes"][guesses[0]]
    body = {"number": running.number, "names": ["sex"], "role": "identifier"}
    assert running.ask("POST", "policy/roles", body)["project"]["notes"]["sex"] == "As decided."


@pytest.mark.parametrize("port", ["0", "1"])
def test_a_port_that_cannot_be_had_is_a_sentence(project: Path, port: str) -> None:
    if port == "0" or os.geteuid() == 0:
        from kveil.errors import FileError
        from kveil.studio.server import serve

        with pytest.raises(FileError, match="does not exist"):
            serve(project / "none.csv")
        return
    done = subprocess.run([sys.executable, "-m", "kveil", "studio", "--port", port], cwd=project, capture_output=True)
    assert done.returncode == 2
