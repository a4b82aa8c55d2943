"""Faults: kills, full disks, folders that are none. Either the whole release is there, or nothing is."""

import contextlib
import errno
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kveil.errors import FileError
from kveil.files import Outputs, read_table
from support import (
    ROLES,
    ROWS,
    Outcome,
    command,
    csv_text,
    names_in,
    refused,
    run,
    run_process,
    write_policy,
    write_rows,
)

INPUTS = {"policy.yaml", "t.csv"}
OUTPUTS = {"r.csv", "receipt.json", "owner.json"}


def outputs_of(folder: Path, name: str = "r.csv") -> list[object]:
    return ["--output", folder / name, "--receipt", folder / "receipt.json", "--owner", folder / "owner.json"]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    write_rows(tmp_path / "t.csv")
    write_policy(tmp_path, data={"path": "t.csv"})
    return tmp_path


def big_rows(number: int) -> list[list[str]]:
    rng = random.Random(1)
    return [
        [f"n{i}", str(rng.randrange(100)), rng.choice("MF"), f"d{rng.randrange(50)}", f"w{rng.randrange(9)}"]
        for i in range(number)
    ]


# ---------------------------------------------------------------------------------------------- kills


def test_a_kill_at_any_moment_leaves_all_or_nothing(tmp_path: Path) -> None:
    source, results = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    write_rows(source / "t.csv", big_rows(100_000))
    policy = write_policy(source, k=5, data={"path": "t.csv"})
    results.mkdir()
    assert run_process("anonymize", policy, *outputs_of(results)).code == 0  # the first run may compile
    started = time.monotonic()
    assert run_process("anonymize", policy, *outputs_of(results)).code == 0
    whole = min(time.monotonic() - started, 3)
    reference = (results / "r.csv").read_bytes()
    assert names_in(results) == OUTPUTS
    killed = 0
    rng = random.Random()
    for turn in range(15):
        shutil.rmtree(results)
        results.mkdir()
        arguments = command("anonymize", policy, *outputs_of(results))
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            begun = time.monotonic()
            try:
                process.wait((turn + rng.random()) / 15 * whole)
            except subprocess.TimeoutExpired:
                process.kill()
            else:  # the machine is less busy than it was
                whole = min(whole, time.monotonic() - begun)
            killed += process.wait() == -signal.SIGKILL
        found = names_in(results)
        assert found <= OUTPUTS  # no temporary file, under whatever name
        if "r.csv" in found:
            assert found == OUTPUTS
            assert (results / "r.csv").read_bytes() == reference
        for name in found - {"r.csv"}:
            assert json.loads((results / name).read_bytes())["kveil"]
        assert names_in(source) == INPUTS
    assert killed >= 5


STOPS = {
    "reading": "import kveil.engines.memory as p; p.read_table = lambda *a, **k: STOP()",
    "solving": "import kveil.flow.steps.table_search as c; c.attempt = lambda *a, **k: STOP()",
    "verifying": "import kveil.flow.steps.make_release as p; p.verify_rows = lambda *a, **k: STOP()",
    "writing": "import kveil.flow.steps.outputs as p; w = p.write_table; "
    "p.write_table = lambda *a, **k: (w(*a, **k), STOP())",
    "naming": "import kveil.files as f; f.Outputs.commit = lambda *a, **k: STOP()",
    "syncing": "import os; os.fsync = lambda *a: STOP()",
}
KILL = "import os, signal\nSTOP = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
# A shell starts what it puts into the background deaf to interrupts; these tests are about processes that hear them.
HEAR = "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
INTERRUPT = HEAR + "STOP = lambda: os.kill(os.getpid(), signal.SIGINT)\n"


@pytest.mark.parametrize("moment", STOPS)
def test_a_kill_while(small: Path, moment: str) -> None:
    (small / "r.csv").write_text("an older release")
    outcome = run_process("anonymize", small / "policy.yaml", *outputs_of(small), before=KILL + STOPS[moment])
    assert outcome.code == -signal.SIGKILL
    assert names_in(small) == INPUTS | {"r.csv"}
    assert (small / "r.csv").read_text() == "an older release"


@pytest.mark.parametrize("moment", ["reading", "writing", "syncing"])
def test_an_interrupt_while(small: Path, moment: str) -> None:
    outcome = run_process("anonymize", small / "policy.yaml", *outputs_of(small), before=INTERRUPT + STOPS[moment])
    refused(outcome, "stopped", code=130)
    assert names_in(small) == INPUTS


def interrupted(policy: Path, before: str) -> Outcome:
    """What comes of a run that is interrupted as soon as it says `now`."""
    arguments = command("anonymize", policy, *outputs_of(policy.parent), before=HEAR + before)
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    return Outcome(process.returncode, out, err)


def test_an_interrupt_from_outside(tmp_path: Path) -> None:
    write_rows(tmp_path / "t.csv", big_rows(20_000))
    policy = write_policy(tmp_path, k=5, data={"path": "t.csv"})
    # Says when it starts to work and then takes its time, so that the signal comes in the middle.
    slow = (
        "import kveil.flow.steps.table_search as c, time; a = c.attempt\n"
        "def slow(*x):\n    print('now', flush=True); time.sleep(30); return a(*x)\nc.attempt = slow"
    )
    refused(interrupted(policy, slow), "stopped", code=130)
    assert names_in(tmp_path) == INPUTS


def test_an_interrupt_ends_a_compiled_loop(tmp_path: Path) -> None:
    rng = random.Random(1)
    numbers = [f"{rng.randrange(1000)},{rng.randrange(1000)},{rng.randrange(1000)}\n" for _ in range(300_000)]
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(numbers))
    span = "{role: quasi-identifier, hierarchy: {ranges: {within: [0, 1000]}}}"
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        f"kveil: 1\ndata: {{path: t.csv}}\nattributes:\n  a: {span}\n  b: {span}\n  c: {span}\n"
        "privacy:\n  - {model: k-anonymity, k: 50}\nalgorithm: k-member\n"
    )
    # Says when the loop begins, and when it has come back, how many it had not come to.
    told = """
import kveil.kernels.clustering.greedy_loops as loops
compiled = loops.cluster_groups
def told(*given):
    if not len(given[4].label):
        return compiled(*given)  # nothing to cluster: it is only made ready
    try:
        print('now', flush=True)
        compiled(*given)
    finally:
        print(int((given[4].label == -1).sum()), flush=True)
loops.cluster_groups = told
"""
    outcome = interrupted(policy, told)
    refused(replace(outcome, out=""), "stopped", code=130)
    assert int(outcome.out) > 0
    assert names_in(tmp_path) == INPUTS


def test_a_termination_leaves_nothing(small: Path) -> None:
    before = KILL.replace("SIGKILL", "SIGTERM") + STOPS["writing"]
    assert run_process("anonymize", small / "policy.yaml", *outputs_of(small), before=before).code == -signal.SIGTERM
    assert names_in(small) == INPUTS


# ---------------------------------------------------------------------------------------------- space


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Let no file grow beyond a size; Python is told instead of killed."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def noisy_rows(number: int) -> list[list[str]]:
    """Return rows that no compression makes small."""
    rng = random.Random(2)
    return [[*row[:3], f"{rng.getrandbits(128):x}", row[4]] for row in big_rows(number)]


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.arrow"])
@pytest.mark.parametrize("limit", [0, 1000, 100_000])
def test_a_file_that_may_not_grow(tmp_path: Path, name: str, limit: int) -> None:
    write_rows(tmp_path / "t.csv", noisy_rows(20_000))
    policy = write_policy(tmp_path, k=5, data={"path": "t.csv"})
    older = tmp_path / name
    older.write_text("an older release")
    with files_up_to(limit):
        outcome = run("anonymize", policy, "--output", older)
    refused(outcome, name, "File too large", "nothing was written")
    assert names_in(tmp_path) == INPUTS | {name}
    assert older.read_text() == "an older release"


def test_an_owners_file_that_may_not_grow_keeps_the_release_back(tmp_path: Path) -> None:
    # The release fits, the owner's file with a number per row does not.
    write_rows(tmp_path / "t.csv", [["n", "31", "F", "d", "w"]] * 30_000)
    policy = write_policy(tmp_path, data={"path": "t.csv"})
    with files_up_to(100_000):
        outcome = run("anonymize", policy, *outputs_of(tmp_path, "r.parquet"))
    refused(outcome, "owner.json", "File too large", "nothing was written")
    assert names_in(tmp_path) == INPUTS


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Any:
    """Mount a file system of 256 KB."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("nobody here may mount a tmpfs, a disk to fill: run as root on a machine that lets you")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.arrow"])
def test_a_disk_that_fills(tmp_path: Path, tiny_disk: Path, name: str) -> None:
    write_rows(tmp_path / "t.csv", noisy_rows(20_000))
    policy = write_policy(tmp_path, k=5, data={"path": "t.csv"})
    refused(run("anonymize", policy, *outputs_of(tiny_disk, name)), name, "No space left", "nothing was written")
    assert names_in(tiny_disk) == set()
    (tiny_disk / "fits").write_bytes(b"x" * 200_000)  # what was given up takes no space any more


def test_standard_output_that_is_full_is_not_blamed_on_the_release(small: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command("anonymize", small / "policy.yaml", *outputs_of(small)),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert "nothing was written" not in done.stderr
    assert names_in(small) == INPUTS | OUTPUTS


# ---------------------------------------------------------------------------------------------- folders and names


@pytest.mark.parametrize("which", ["--output", "--receipt", "--owner"])
@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nowhere/x.csv", "No such file or directory"),
        ("t.csv/x.csv", "Not a directory"),
        ("folder.csv", "folder"),
        ("x" * 300 + ".csv", "File name too long"),
        ("/proc/x.csv", "cannot be written"),
    ],
)
def test_a_place_that_cannot_be_written_to(small: Path, which: str, place: str, says: str) -> None:
    (small / "folder.csv").mkdir()
    (small / "r.csv").write_text("an older release")
    before = names_in(small)
    paths = {"--output": "r.csv", "--receipt": "receipt.json", "--owner": "owner.json"} | {which: place}
    arguments = [part for flag, path in paths.items() for part in (flag, small / path)]
    refused(run("anonymize", small / "policy.yaml", *arguments), says)
    assert names_in(small) == before
    assert (small / "r.csv").read_text() == "an older release"
    assert names_in(small / "folder.csv") == set()


def test_a_folder_without_the_right_to_write(small: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere: run as another user")
    place = small / "closed"
    place.mkdir(mode=0o555)
    refused(run("anonymize", small / "policy.yaml", *outputs_of(place)), "Permission denied")
    assert names_in(place) == set()


def test_an_input_without_the_right_to_read(small: Path) -> None:
    refused(run("anonymize", small / "policy.yaml", "--input", small), "there is no Parquet file in the folder")
    folder = small / "folder.csv"
    folder.mkdir()
    refused(run("anonymize", small / "policy.yaml", "--input", folder), "folder.csv", "there is no Parquet file")
    refused(run("anonymize", small / "policy.yaml", "--input", small / "no.csv"), "no.csv", "No such file")


@pytest.mark.parametrize("which", ["--output", "--receipt", "--owner"])
@pytest.mark.parametrize("name", ["t.csv", "./t.csv", "link.csv", "sub/../t.csv"])
def test_the_input_is_never_written_over(small: Path, which: str, name: str) -> None:
    (small / "link.csv").symlink_to("t.csv")
    (small / "sub").mkdir()
    before = names_in(small)
    paths = {"--output": "r.csv"} | {which: name}
    arguments = [part for flag, path in paths.items() for part in (flag, f"{small}/{path}")]
    refused(run("anonymize", small / "policy.yaml", *arguments), "must be different files")
    assert (small / "t.csv").read_text() == csv_text(ROWS)
    assert names_in(small) == before


def test_two_outputs_of_one_name_are_refused(small: Path) -> None:
    for pair in (["--receipt", "--owner"], ["--receipt", "--output"], ["--owner", "--output"]):
        names = {"--output": "r.csv"} | dict.fromkeys(pair, "same.csv")
        arguments = [part for flag, name in names.items() for part in (flag, small / name)]
        refused(run("anonymize", small / "policy.yaml", *arguments), "must be different files")
        assert names_in(small) == INPUTS


@pytest.mark.parametrize("name", ["policy.yaml", "sex.csv"])
def test_the_policy_and_its_hierarchies_are_never_written_over(tmp_path: Path, name: str) -> None:
    write_rows(tmp_path / "t.csv")
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
    roles = {**ROLES, "sex": {"role": "quasi-identifier", "hierarchy": "sex.csv"}}
    policy = write_policy(tmp_path, roles, data={"path": "t.csv"})
    before = (tmp_path / name).read_bytes()
    outcome = run("anonymize", policy, "--output", tmp_path / "r.csv", "--receipt", tmp_path / name)
    assert (tmp_path / name).read_bytes() == before
    refused(outcome, "must be different files")


def test_an_older_release_is_replaced_as_a_whole(small: Path) -> None:
    target = small / "r.csv"
    target.write_text("older " * 10_000)
    target.chmod(0o640)
    reader = target.open()
    assert run("anonymize", small / "policy.yaml", *outputs_of(small), "--quiet") == Outcome(0, "", "")
    assert reader.read() == "older " * 10_000  # whoever reads the old one reads all of it
    reader.close()
    assert read_table(target).rows == 8
    assert names_in(small) == INPUTS | OUTPUTS
    again = target.read_bytes()
    assert run("anonymize", small / "policy.yaml", *outputs_of(small), "--quiet").code == 0
    assert target.read_bytes() == again


@pytest.mark.parametrize("rows", [[["n", "31", "F", "d"]], [["n", "131", "F", "d", "w"]], [["n", "31", "F", "d", "w"]]])
def test_an_older_release_stays_when_a_run_fails(small: Path, rows: list[list[str]]) -> None:
    for name in OUTPUTS:
        (small / name).write_text("older")
    write_rows(small / "t.csv", rows)
    assert run("anonymize", small / "policy.yaml", *outputs_of(small)).code in (1, 2)
    assert {(small / name).read_text() for name in OUTPUTS} == {"older"}
    assert names_in(small) == INPUTS | OUTPUTS


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_is_written_through(small: Path, there: bool) -> None:
    place = small / "elsewhere"
    place.mkdir()
    if there:
        (place / "real.csv").write_text("older")
    link = small / "r.csv"
    link.symlink_to(place / "real.csv")
    assert run("anonymize", small / "policy.yaml", "--output", link, "--quiet") == Outcome(0, "", "")
    assert link.is_symlink()
    assert names_in(place) == {"real.csv"}
    assert read_table(place / "real.csv").rows == 8


def test_a_link_that_leads_in_a_circle_leaves_nothing(small: Path) -> None:
    (small / "r.csv").symlink_to("r.csv")
    outcome = run("anonymize", small / "policy.yaml", *outputs_of(small))
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert names_in(small) == INPUTS | {"r.csv"}


# ---------------------------------------------------------------------------------------------- inside Outputs


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_name_that_cannot_be_given_takes_the_others_back(
    small: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    link, calls = os.link, iter(range(1, 10))

    def fail(*arguments: Any, **named: Any) -> None:
        if next(calls) == failing:
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        link(*arguments, **named)

    monkeypatch.setattr(os, "link", fail)
    refused(run("anonymize", small / "policy.yaml", *outputs_of(small)), "Disk quota exceeded", "nothing was written")
    assert names_in(small) == INPUTS


@pytest.fixture
def without_nameless_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a file system that has no O_TMPFILE, as some network file systems are."""
    opened = os.open

    def refuse(path: Any, flags: int, *others: Any, **named: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")
        return opened(path, flags, *others, **named)

    monkeypatch.setattr(os, "open", refuse)


@pytest.mark.usefixtures("without_nameless_files")
def test_other_file_systems_get_all_or_nothing_too(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("anonymize", small / "policy.yaml", *outputs_of(small), "--quiet") == Outcome(0, "", "")
    assert names_in(small) == INPUTS | OUTPUTS
    assert (small / "owner.json").stat().st_mode & 0o777 == 0o600
    first = (small / "r.csv").read_bytes()
    monkeypatch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error")))
    refused(run("anonymize", small / "policy.yaml", *outputs_of(small)), "Input/output error")
    assert names_in(small) == INPUTS | OUTPUTS
    assert (small / "r.csv").read_bytes() == first


@pytest.mark.usefixtures("without_nameless_files")
def test_temporary_files_are_hidden_and_go(tmp_path: Path) -> None:
    with Outputs() as outputs:
        outputs.open(tmp_path / "r.csv").write(b"x")
        (name,) = names_in(tmp_path)
        assert name.startswith(".kveil-")
    assert names_in(tmp_path) == set()


def test_a_device_may_be_an_output(small: Path) -> None:
    assert run("anonymize", small / "policy.yaml", "--output", small / "r.csv", "--receipt", "/dev/null").code == 0
    assert names_in(small) == INPUTS | {"r.csv"}


@pytest.mark.parametrize("which", ["--owner", "--account", "--report"])
@pytest.mark.parametrize("place", ["/dev/null", "pipe"])
def test_what_is_private_is_never_written_to_a_pipe_or_a_device(small: Path, which: str, place: str) -> None:
    os.mkfifo(small / "pipe")
    # A pipe that somebody reads: opening it for writing would not wait, and would hand everything over.
    reader = os.open(small / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        arguments = ["--output", small / "r.csv", which, small / place]
        refused(run("anonymize", small / "policy.yaml", *arguments), "pipe or a device", "name a regular file")
        with contextlib.suppress(BlockingIOError):
            assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
    assert names_in(small) == INPUTS | {"pipe"}


@pytest.mark.parametrize("nameless", [True, False])
def test_what_was_replaced_comes_back_where_a_later_file_cannot_get_its_name(
    small: Path, nameless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not nameless:
        monkeypatch.delattr(os, "O_TMPFILE")
    before = {}
    for name in ("receipt.json", "r.csv"):
        (small / name).write_text(f"an older {name}")
        before[name] = (small / name).stat().st_ino
    replace = os.replace

    def fail_at_the_release(source: str, target: Path) -> None:
        if Path(target).name == "r.csv" and Path(source).read_bytes() != b"an older r.csv":
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_at_the_release)
    refused(run("anonymize", small / "policy.yaml", *outputs_of(small)), "Input/output error")
    assert names_in(small) == INPUTS | {"receipt.json", "r.csv"}
    for name, node in before.items():
        assert (small / name).read_text() == f"an older {name}"
        assert (small / name).stat().st_ino == node


def test_an_interrupt_between_two_names_takes_the_first_one_back(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (small / "receipt.json").write_text("an older receipt")
    link = os.link

    def interrupted(source: object, target: str, **options: object) -> None:
        if Path(target).name == "r.csv":
            raise KeyboardInterrupt
        link(source, target, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "link", interrupted)
    with Outputs() as outputs:
        for name in ("receipt.json", "r.csv"):
            outputs.write(outputs.open(small / name), b"new")
        with pytest.raises(KeyboardInterrupt):
            outputs.commit()
    assert names_in(small) == INPUTS | {"receipt.json"}
    assert (small / "receipt.json").read_text() == "an older receipt"


def test_writing_leaves_the_umask_of_the_process_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(mask: int) -> int:
        raise AssertionError("the umask belongs to the whole process")

    monkeypatch.setattr(os, "umask", touched)
    with Outputs() as outputs:
        outputs.write(outputs.open(tmp_path / "a"), b"a")
        outputs.write(outputs.open(tmp_path / "b", private=True), b"b")
        outputs.commit()
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o600


def test_a_folder_is_no_output() -> None:
    with tempfile.TemporaryDirectory() as folder, Outputs() as outputs, pytest.raises(FileError, match="is a folder"):
        outputs.open(Path(folder))
