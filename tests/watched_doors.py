"""Run random policies with every algorithm, and tell which loops they called; a program of `ending_test`.

    python tests/watched_doors.py FIRST LAST

Prints every policy's number and algorithm before it runs, so that one that never ends can be named, then a JSON object:
how often each door of the loops was called with something to do.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import kveil
from joint_policies import joint_case
from kveil.algorithms.registry import ALGORITHMS, able
from kveil.policy.keys import AlgorithmChoice

KERNELS = Path(kveil.__file__).parent / "kernels"
OPTIONS: dict[str, dict[str, Any]] = {"k-member": {"blocks": 10}, "greedy-cka": {"blocks": 10}}


def is_work(value: object) -> bool:
    """Tell whether an argument has more in it than what loops are compiled with."""
    if isinstance(value, np.ndarray):
        return value.size >= 4
    return isinstance(value, tuple) and any(map(is_work, value))


def watch(module: ModuleType, name: str, called: dict[str, int]) -> None:
    door = getattr(module, name)
    key = f"{module.__name__.rpartition('.')[2]}.{name}"
    called[key] = 0

    def call(*arguments: object) -> object:
        called[key] += any(map(is_work, arguments))
        return door(*arguments)

    setattr(module, name, call)


def watch_all() -> dict[str, int]:
    """Count the calls of every door: doors are imported where they are called, and so are their watchers."""
    called: dict[str, int] = {}
    for path in sorted(KERNELS.rglob("*_loops.py")):
        functions = [node for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)]
        doors = [own.name for own in functions if any(getattr(d, "id", "") == "door" for d in own.decorator_list)]
        if doors:
            place = ".".join(path.relative_to(KERNELS.parent).with_suffix("").parts)
            module = importlib.import_module(f"kveil.{place}")
            for name in doors:
                watch(module, name, called)
    return called


def run(number: int) -> None:
    case = joint_case(number, 40)
    policy = case.policy()
    for algorithm in ALGORITHMS:
        if not able(algorithm, policy):
            continue
        for options in ({}, OPTIONS.get(algorithm.name)):
            if options is None:
                continue
            print(number, algorithm.name, *options, flush=True)
            asked = policy.model_copy(update={"algorithm": AlgorithmChoice(name=algorithm.name, options=options)})
            try:
                kveil.anonymize(case.frame, asked)
            except kveil.KveilError:
                continue
    print(number, "bound", flush=True)
    try:
        kveil.bound(case.frame, policy)
    except kveil.KveilError:
        return


def main() -> None:
    called = watch_all()
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        run(number)
    print(json.dumps(called))


if __name__ == "__main__":
    main()
