"""The account: the owner's whole story of a run, with exact losses, everything that was tried, and times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NotRequired, TypedDict

from kveil.arrays import Bools, Longs
from kveil.choose import TriedEntry
from kveil.free_form import Details, GivenOptions
from kveil.guarantee import Guarantee
from kveil.measures import LossFigures, Shares
from kveil.policy.components import components, implications
from kveil.policy.model import Policy
from kveil.report.run import Run
from kveil.verifier.verdict import TogetherCheck, Violations
from kveil.version import __version__

if TYPE_CHECKING:  # imported by the runs that ask for a bound
    from kveil.algorithms.bound.bound import ComponentLoss


class Counts(TypedDict):
    """How many records, or individuals, came in, were released, were suppressed."""

    input: int
    released: int
    suppressed: int


class KeptRule(TypedDict):
    """A declared dependency, and whether the release keeps it."""

    rule: str
    holds: bool


class BoundFigures(TypedDict):
    """What any release of the policy loses at least, and how much more, as a share of that, this one loses."""

    loss: str
    at_least: float
    gap: float | None


class OwnersBound(BoundFigures):
    """The bound as its owner sees it: also what each component of the policy adds to it."""

    components: list[ComponentLoss]


class PolicyPartition(TypedDict):
    """Attributes that are searched together, with the places in `privacy` of the models over them."""

    attributes: list[str]
    constraints: list[int]


class Account(TypedDict):
    """All that the owner of the data may want to know about a run. It is not for publication: see `Receipt`."""

    kveil: str
    algorithm: str
    options: GivenOptions
    seed: int
    engine: str
    records: Counts
    individuals: Counts | None
    guarantees: list[Guarantee]
    dependencies: list[KeptRule]
    boundaries: Violations
    loss: LossFigures
    loss_by_attribute: dict[str, Shares]
    bound: OwnersBound | None
    components: list[PolicyPartition]
    implied: list[dict[str, int]]
    tried: list[TriedEntry]
    details: Details
    warnings: list[str]
    seconds: dict[str, float]
    sha256: dict[str, str | None]
    previous: NotRequired[TogetherCheck]


def count_suppressed(gone: Bools, *, times: Longs | None = None) -> Counts:
    """Return the counts of rows of which some are suppressed; ``times`` says how many records each stands for."""
    everyone = len(gone) if times is None else int(times.sum())
    suppressed = int(gone.sum() if times is None else times[gone].sum())
    return {"input": everyone, "released": everyone - suppressed, "suppressed": suppressed}


def _records(run: Run) -> Counts:
    """Return the counts of records, also where rows are individuals, or stand for several."""
    gone, persons = run.attempt.solution.suppressed_anywhere, run.table.persons
    if persons is None or run.records is not None:
        return count_suppressed(gone, times=run.table.times if persons is None else run.records)
    return count_suppressed(gone[persons.of_record])


def make_account(run: Run, *, seconds: Mapping[str, float], release_sha256: str | None) -> Account:
    """Return the account of a verified release, as plain data."""
    policy, attempt = run.policy, run.attempt
    gone = attempt.solution.suppressed_anywhere
    account: Account = {
        "kveil": __version__,
        "algorithm": attempt.algorithm.name,
        "options": dict(attempt.options),
        "seed": policy.seed,
        "engine": run.engine,
        "records": _records(run),
        "individuals": None if run.table.persons is None else count_suppressed(gone, times=run.table.times),
        "guarantees": run.verdict.guarantees,
        "dependencies": [{"rule": rule["rule"], "holds": rule["holds"]} for rule in run.verdict.dependencies],
        "boundaries": {"violations": run.verdict.boundaries["violations"] if run.verdict.boundaries else 0},
        "loss": attempt.losses.as_json(),
        "loss_by_attribute": attempt.losses.by_attribute(),
        "bound": _bound(run),
        "components": _components(policy),
        "implied": [{"constraint": i, "by": j} for i, j in implications(policy).items()],
        "tried": [tried.as_json() for tried in attempt.tried],
        "details": dict(attempt.solution.details),
        "warnings": run.verdict.warnings + run.warnings + run.private_warnings + attempt.warnings,
        "seconds": dict(seconds),
        "sha256": {"policy": run.policy_sha256, "release": release_sha256},
    }
    if run.verdict.previous is not None:
        account["previous"] = run.verdict.previous
    return account


def _components(policy: Policy) -> list[PolicyPartition]:
    return [{"attributes": list(part.attributes), "constraints": list(part.models)} for part in components(policy)]


def _bound(run: Run) -> OwnersBound | None:
    bound = run.bound
    if bound is None:
        return None
    gap = run.attempt.losses.of(bound.loss) / bound.at_least - 1 if bound.at_least > 0 else None
    return {"loss": bound.loss, "at_least": bound.at_least, "gap": gap, "components": list(bound.components)}
