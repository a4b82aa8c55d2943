"""Guarantees as plain data: a privacy model with its settings, and with the figures of a verification.

Verifier, accounts, receipts, pages, terminal and archives speak of guarantees, so their form stands below all of them.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class NamedModel(TypedDict):
    """A privacy model of a policy: what it is called, the attributes it is over, and its settings."""

    model: str
    attributes: list[str]
    sensitive: NotRequired[str | list[str]]
    k: NotRequired[int]
    l: NotRequired[float | int]  # noqa: E741
    p: NotRequired[int]
    c: NotRequired[float | int]
    t: NotRequired[float | int]
    m: NotRequired[int]
    alpha: NotRequired[float | int]
    variant: NotRequired[str]
    distance: NotRequired[str]


class SetFigures(TypedDict, total=False):
    """What is counted besides where a model is over sets of items: the smallest group, how many sets there are, and
    how many share the rarest one.
    """

    smallest: int | None
    fingerprints: int
    shared: int | None


class Guarantee(NamedModel, SetFigures):
    """A model of the policy with its settings, whether it holds, how near it is to breaking, in how many groups."""

    holds: bool
    worst: float | int | None
    groups: int


class EarlierGuarantee(Guarantee):
    """A promise of earlier releases, judged on all releases together.

    ``releases`` are those that gave it, ``below`` how many of the people they show get less than it now.
    """

    releases: list[str]
    below: int


FIGURES = (EarlierGuarantee.__required_keys__ | EarlierGuarantee.__optional_keys__) - (
    NamedModel.__required_keys__ | NamedModel.__optional_keys__
)
