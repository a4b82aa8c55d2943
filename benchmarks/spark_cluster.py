"""A real cluster of several processes on this machine, one of which is killed in the middle of a run.

    python benchmarks/spark_cluster.py [--rows N] [--keep] [--parts]

It starts a master and two workers of Spark standalone, makes a release in memory and one on the cluster, and kills one
worker with all it started as soon as the second run writes; ``--keep`` kills nobody. With ``--parts`` the executors
solve the table, and the worker is killed while they do. The run must end with the same rows, or with one sentence and
nothing written. Exit 0 if it does.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pyspark

from bench_stream import as_parquet
from made_up_data import floor_file, floor_policy
from measuring import KVEIL

HOME = Path(pyspark.__file__).parent
HOST = "127.0.0.1"


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def started(exits: ExitStack, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a part of the cluster in a group of its own, which ends with the script."""
    log = exits.enter_context((folder / f"{arguments[0].rsplit('.', 1)[1]}-{time.monotonic_ns()}.log").open("wb"))
    process = subprocess.Popen(
        [str(HOME / "bin" / "spark-class"), *arguments],
        stdout=log,
        stderr=log,
        env={**os.environ, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": HOST},
        start_new_session=True,
    )
    exits.callback(kill, process)
    return process


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with everything that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(port: int) -> None:
    """Wait until somebody listens on a port."""
    for _ in range(240):
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.5)
    raise SystemExit("the master of the cluster did not start")


def on_cluster(
    policy: Path, data: Path, out: Path, port: int, victim: subprocess.Popen[bytes] | None, *, parts: bool
) -> tuple[int, str]:
    """Make a release on the cluster, and kill a worker in the middle; return the exit code and the last sentence."""
    settings = f"--master spark://{HOST}:{port} --driver-memory 1g --executor-memory 512m --conf spark.ui.enabled=false"
    more = "--conf spark.sql.shuffle.partitions=4 --conf spark.ui.showConsoleProgress=false pyspark-shell"
    if parts:
        more = f"--conf spark.kveil.most_tuples=0 --conf spark.kveil.part_tuples=20000 {more}"
    files = ("--input", str(data), "--output", str(out))
    run = subprocess.Popen(
        [*KVEIL, "anonymize", str(policy), "--engine", "spark", *files, "--progress", "json", "--json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYSPARK_SUBMIT_ARGS": f"{settings} {more}", "SPARK_LOCAL_IP": HOST},
    )
    assert run.stderr is not None
    last = ""
    for line in run.stderr:
        last = line.strip() or last
        if victim is not None and line.startswith("{") and ("solving" if parts else "writing") in line:
            time.sleep(1)  # into the middle of it
            kill(victim)
            print("killed a worker")
            victim = None
    return run.wait(), last


def main() -> int:
    """Run the cluster and say how the run ended."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--keep", action="store_true", help="kill nobody")
    parser.add_argument("--parts", action="store_true", help="let the executors solve the table in parts")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ExitStack() as exits:
        folder, port = Path(temporary), free_port()
        floor_file(folder / "floor.csv", chosen.rows)
        data = as_parquet(folder / "floor.csv")
        policy = floor_policy(folder, data, "mondrian")
        local = [*KVEIL, "anonymize", str(policy), "--input", str(data), "--output", str(folder / "local.parquet")]
        subprocess.run([*local, "--quiet"], check=True)
        deploy = "org.apache.spark.deploy"
        started(
            exits,
            folder,
            f"{deploy}.master.Master",
            "--host",
            HOST,
            "--port",
            str(port),
            "--webui-port",
            str(free_port()),
        )
        wait_for(port)
        to = (f"spark://{HOST}:{port}", "-c", "1", "-m", "1g", "--host", HOST, "--webui-port")
        workers = [started(exits, folder, f"{deploy}.worker.Worker", *to, str(free_port())) for _ in range(2)]
        victim = None if chosen.keep else workers[0]
        code, last = on_cluster(policy, data, folder / "release", port, victim, parts=chosen.parts)
        left = [path.name for path in folder.iterdir() if path.name.startswith(".kveil") or path.name == "release"]
        if code:
            print(f"the run ended with {code}: {last}")
            return 1 if left else 0
        both = [
            pl.scan_parquet(path).group_by(pl.all()).len().collect().sort(pl.all())
            for path in (folder / "local.parquet", folder / "release" / "*.parquet")
        ]
        same = both[0].equals(both[1])
        print(f"the run ended, {'with the same rows' if same else 'WITH OTHER ROWS'}; beside it: {left}")
        return 0 if same and left == ["release"] else 1


if __name__ == "__main__":
    sys.exit(main())
