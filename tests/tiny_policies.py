"""Tables of at most seven records under random joint policies, small enough that every release can be tried."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import polars as pl
import yaml

import kveil
from naive.every_release import EveryRelease, OutOfSteps, fewest_missing
from naive.release import Policy as NaivePolicy

Spec = dict[str, Any]
CITY = {"tree": {"*": {"North": ["Oslo", "Bergen"], "South": ["Rome", "Pisa"]}}}
JOB = {"tree": {"*": {"desk": ["clerk", "judge"], "cook": []}}}
QUASI: dict[str, list[Spec]] = {
    "city": [
        {"hierarchy": CITY},
        {"hierarchy": CITY, "boundary": ["North", "South"]},
        {"hierarchy": CITY, "weight": 3},
    ],
    "sex": [{}, {}, {"boundary": {"level": 0}}],
    "job": [{"hierarchy": JOB}, {"hierarchy": JOB, "boundary": {"level": 1}}],
    "age": [
        {"hierarchy": {"intervals": {"from": 0, "to": 39, "widths": [10, 20]}}},
        {"hierarchy": {"ranges": {"within": [0, 40]}}},
        {"hierarchy": {"ranges": {"within": [0, 40], "round": 5}}, "boundary": {"max_width": 20}},
    ],
    "nation": [{}],
}
ILLNESS = {"tree": {"*": {"viral": ["flu", "cold"], "other": ["gout", "rash"]}}}
VALUES = ("flu", "cold", "gout", "rash")


class TinyCase(NamedTuple):
    """A policy and its table, by the number they were drawn from."""

    seed: int
    text: str
    rows: list[dict[str, str]]

    def policy(self) -> kveil.Policy:
        return kveil.Policy.parse(self.text, f"tiny {self.seed}", Path())

    @property
    def frame(self) -> pl.DataFrame:
        return pl.DataFrame(self.rows, schema=dict.fromkeys(self.rows[0], pl.String))


class Compared(NamedTuple):
    """What kveil found for a case, None for nothing, and the least loss of any release, None where there is none.

    Of all releases those count that leave out as few records as can be, and nobody for what that one has. kveil may
    make another one: where a search leaves out more for their sizes, its release can lose less (`beyond`).
    """

    found: Fraction | None
    proved: bool  # kveil said that there is none, and that this is proved
    least: Fraction | None

    @property
    def missed(self) -> bool:
        return self.found is None and self.least is not None

    @property
    def optimal(self) -> bool:
        return self.found is not None and self.least is not None and self.found <= self.least + Fraction(1, 10**9)

    @property
    def beyond(self) -> bool:
        """Whether what was found is none of the releases that count, since it loses less than any of them."""
        return self.found is not None and (self.least is None or self.found < self.least - Fraction(1, 10**9))


class Missing(NamedTuple):
    """Who is missing from what kveil released of a case, by number, and who of them is known for certain.

    That is what somebody comes to who knows the policy, the release, and all but the sensitive values of everybody, and
    reruns kveil on every way to give the released values to those who are kept, and any values to those who are not.
    """

    who: list[int]
    certain: list[int]


def tiny_case(seed: int) -> TinyCase:
    """Draw a policy with two or three quasi-identifiers, and at most seven records that obey its rules."""
    draw = Random(seed)
    names = draw.sample(sorted(QUASI), draw.choice([2, 2, 3]))
    attributes: dict[str, Spec] = {name: {"role": "quasi-identifier", **draw.choice(QUASI[name])} for name in names}
    attributes["illness"] = {"role": "sensitive", "hierarchy": ILLNESS}
    models = [_model(draw) for _ in range(draw.choice([1, 2, 2, 3]))]
    for model in models:
        if draw.random() < 0.6:
            model["attributes"] = draw.sample(names, draw.randint(1, len(names)))
    covered = {name for model in models for name in model.get("attributes", names)}
    left = [name for name in names if name not in covered]
    if left:
        models.append(
            {"model": "k-anonymity", "k": 2, "attributes": left + [draw.choice(names)] * (draw.random() < 0.5)}
        )
        models[-1]["attributes"] = list(dict.fromkeys(models[-1]["attributes"]))
    policy: Spec = {
        "kveil": 1,
        "attributes": attributes,
        "privacy": models,
        "suppression": {"limit": draw.choice([0, 0, "0.2", "0.3"])},
    }
    if {"city", "nation"} <= set(names) and draw.random() < 0.7:
        policy["dependencies"] = ["city -> nation"]
    rows = []
    spread = draw.choice([2, 3, 4])
    for _ in range(draw.randint(4, 7)):
        city = draw.choice(["Oslo", "Bergen", "Rome", "Pisa"][:spread])
        row = {
            "city": city,
            "sex": draw.choice("fm"),
            "job": draw.choice(["clerk", "judge", "cook"][:spread]),
            "age": draw.choice(["3", "8", "14", "22", "37"][: spread + 1]),
            "nation": "N" if city in ("Oslo", "Bergen") else "I",
            "illness": draw.choice(VALUES[:spread]),
        }
        rows.append({name: row[name] for name in attributes})
    return TinyCase(seed, yaml.safe_dump(policy, sort_keys=False), rows)


def _model(draw: Random) -> Spec:
    name = draw.choice(
        ["k-anonymity", "k-anonymity", "k-anonymity", "l-diversity", "p-sensitive", "alpha-k", "t-closeness"]
    )
    if name == "k-anonymity":
        return {"model": name, "k": draw.choice([2, 2, 3])}
    if name == "l-diversity":
        variant = draw.choice(["distinct", "entropy", "recursive", "frequency"])
        model = {"model": name, "sensitive": "illness", "variant": variant, "l": 2}
        return {**model, "c": draw.choice([2, 4])} if variant == "recursive" else model
    if name == "p-sensitive":
        return {"model": name, "sensitive": "illness", "p": 2}
    if name == "alpha-k":
        return {"model": name, "sensitive": "illness", "alpha": draw.choice(["0.5", "0.7"]), "k": 2}
    distance = draw.choice(["equal", "ordered", "hierarchical"])
    return {"model": name, "sensitive": "illness", "t": draw.choice(["0.3", "0.5", "0.7"]), "distance": distance}


def released(case: TinyCase, values: Sequence[str]) -> kveil.Result[pl.DataFrame] | None:
    """Return kveil's release of a case in which people have other values, None where none is found."""
    frame = case.frame.with_columns(illness=pl.Series(values, dtype=pl.String))
    try:
        return kveil.anonymize(frame, case.policy())
    except kveil.Unmeetable:
        return None


def missing(case: TinyCase) -> Missing:
    """Return who is missing from a case's release, and whose value follows from that for somebody who reruns kveil."""
    truth = [row["illness"] for row in case.rows]
    result = released(case, truth)
    if result is None or result.owner is None:
        return Missing([], [])
    who = sorted({int(row) for rows in result.owner.suppressed.values() for row in rows})
    kept = [i for i in range(len(truth)) if i not in who]
    seen: dict[int, set[str]] = {i: set() for i in who}
    orders = dict.fromkeys(permutations([truth[i] for i in kept]))  # the true one first, which mostly settles it
    for order, guess in product(orders, product(VALUES, repeat=len(who))):
        if all(len(values) > 1 for values in seen.values()):
            break
        values = dict(zip(kept, order, strict=True)) | dict(zip(who, guess, strict=True))
        again = released(case, [values[i] for i in range(len(truth))])
        if again is not None and again.data.equals(result.data):
            for i, value in zip(who, guess, strict=True):
                seen[i].add(value)
    return Missing(who, [i for i, values in seen.items() if len(values) == 1])


def compare(case: TinyCase, steps: int = 500_000) -> Compared | None:
    """Return what kveil finds beside what there is, None where trying everything would take too long."""
    found: Fraction | None = None
    proved = False
    try:
        found = Fraction(kveil.anonymize(case.frame, case.policy()).account["loss"]["ncp"])
    except kveil.Unmeetable as error:
        proved = error.proved
    policy = NaivePolicy(yaml.load(case.text, Loader=yaml.BaseLoader), Path())
    least: Fraction | None = None
    try:
        by_size = fewest_missing(policy, case.rows, steps)
        for allowed in range(int(policy.limit * len(case.rows)) + 1 if by_size is not None else 0):
            for loss, _ in EveryRelease(policy, case.rows, allowed, by_size or 0, steps).cheaper_than(None):
                least = loss
            if least is not None:
                break
    except OutOfSteps:
        return None
    return Compared(found, proved, least)
