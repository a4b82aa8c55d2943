"""A battery for algorithms and measures of other packages: many small tables, each release verified.

    from kveil.testing import check_algorithm
    check_algorithm(ALGORITHM)

Each check raises AssertionError with the policy that shows what is wrong.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from kveil.algorithms.registry import able, check_honours
from kveil.engines.solver import solve
from kveil.errors import Refused, Unmeetable
from kveil.files import Source
from kveil.frames import from_frame
from kveil.free_form import Content
from kveil.plugins import GROUP_MODELS, Algorithm, Measure
from kveil.policy.model import Policy
from kveil.table.decode import decode
from kveil.table.encode import encode
from kveil.verifier import verify_release

TREE = {"*": {"north": ["a", "b"], "south": ["c", "d", "e"]}}
QUASI = "quasi-identifier"

FEWEST_SOLVED = 0.5  # the share of drawn policies that an algorithm has to meet; some are drawn that nothing can meet


def example(seed: int) -> tuple[pl.DataFrame, Content]:
    """Return a small table and a policy for it, as plain data; the same for the same seed."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(6, 40))
    frame = pl.DataFrame(
        {
            "place": rng.choice(list("abcde"), rows),
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["F", "M"], rows),
            "ill": rng.choice(["flu", "gout", "cough", "rash"], rows),
        }
    )
    ages = {"ranges": {"within": [0, 99]}} if seed % 3 == 0 else {"intervals": {"from": 0, "to": 99, "widths": [5, 20]}}
    place: Content = {"role": QUASI, "hierarchy": {"tree": TREE}}
    if seed % 4 == 1:
        place["boundary"] = {"level": 1}
    privacy: list[Content] = [{"model": "k-anonymity", "k": int(rng.integers(2, 6))}]
    if seed % 5 == 2:
        privacy[0]["attributes"] = ["place", "age"]
        privacy.append({"model": "k-anonymity", "k": 2, "attributes": ["age", "sex"]})
    elif seed % 5 == 3:
        parameters = ({"l": 2}, {"p": 2}, {"alpha": 0.75, "k": 2}, {"t": 0.5})
        model = int(rng.integers(4))
        privacy.append({"model": GROUP_MODELS[model], "sensitive": "ill", **parameters[model]})
    attributes = {
        "place": place,
        "age": {"role": QUASI, "hierarchy": ages},
        "sex": {"role": QUASI},
        "ill": {"role": "sensitive"},
    }
    content = {"attributes": attributes, "privacy": privacy, "suppression": {"limit": 0.3}, "seed": seed}
    return frame, content


def _expect(told: str, *, holds: bool) -> None:
    """Raise AssertionError where something does not hold, also where Python leaves out `assert`."""
    if not holds:
        raise AssertionError(told)


def _released(algorithm: Algorithm, frame: pl.DataFrame, policy: Policy) -> pl.DataFrame | None:
    """Return a verified release, None where the algorithm says that there is none."""
    source = from_frame(frame)
    table = encode(source, policy)
    try:
        solved = solve(algorithm, table, {})
    except Unmeetable:
        return None
    release = decode(source, table, solved.solution)
    released = Source("the release", release.frame(source), "frame")
    verdict = verify_release(released, policy, original=source, places=release.rows)
    if not verdict:
        raise AssertionError(f"{algorithm.name} breaks {policy.model_dump(mode='json')}: {verdict.findings[0]}")
    return released.frame


def _refusal(algorithm: Algorithm, policy: Policy) -> str:
    """Return the sentence in which an algorithm refuses a policy, nothing where it does not."""
    try:
        check_honours(algorithm, policy)
    except Refused as refused:
        return str(refused)
    return ""


def check_algorithm(algorithm: Algorithm, *, examples: int = 60) -> None:
    """Check an algorithm on made-up tables: what it honours holds, and what it does not honour is refused by name.

    Every release passes the verifier, is the same for the same seed, and does not depend on the order of the records.
    At least half of the policies that it honours are met.
    """
    solved = tried = 0
    for seed in range(examples):
        frame, content = example(seed)
        policy = Policy(**content)
        if not able(algorithm, policy):
            told = _refusal(algorithm, policy)
            _expect(
                f"{algorithm.name} does not refuse what it does not honour: {content}", holds=algorithm.name in told
            )
            continue
        tried += 1
        release = _released(algorithm, frame, policy)
        again = _released(algorithm, frame, policy)
        order = np.random.default_rng(seed).permutation(frame.height)
        turned = _released(algorithm, frame[order.tolist()], policy)
        if release is None or again is None or turned is None:
            _expect(
                f"{algorithm.name} meets this policy only sometimes: {content}",
                holds=release is again is turned is None,
            )
            continue
        solved += 1
        _expect(f"{algorithm.name} gives another release for the same seed: {content}", holds=release.equals(again))
        _expect(f"{algorithm.name} depends on the order of the records: {content}", holds=release.equals(turned))
    told = f"{algorithm.name} met {solved} of {tried} policies that it honours: it should meet at least half of them"
    _expect(told, holds=solved >= FEWEST_SOLVED * tried > 0)


def check_measure(measure: Measure, *, examples: int = 20) -> None:
    """Check a measure on made-up releases: a finite number, which does not depend on the order of the records."""
    from kveil.algorithms.registry import find

    mondrian = find("mondrian")
    for seed in range(examples):
        frame, content = example(seed)
        policy = Policy(**content)
        order = np.random.default_rng(seed).permutation(frame.height)
        values = []
        for rows in (frame, frame[order.tolist()]):
            table = encode(from_frame(rows), policy)
            try:
                values.append(float(measure.compute(table, solve(mondrian, table, {}).solution)))
            except Unmeetable:
                break
        for value in values:
            _expect(f"{measure.name} is {value}: {content}", holds=math.isfinite(value))
        if len(values) == 2:
            same = math.isclose(*values, rel_tol=1e-9, abs_tol=1e-12)
            _expect(f"{measure.name} depends on the order of the records: {content}", holds=same)
