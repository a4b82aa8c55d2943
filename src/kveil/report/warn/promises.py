"""Promises that protect less than they seem to: by their parameters, by what is counted, by what a class shares."""

from __future__ import annotations

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.policy.model import Policy
from kveil.policy.privacy import KLDiversity, PrivacyModel, TCloseness, distinct_values, named_k, sensitive_of
from kveil.report.warn.evidence import Evidence
from kveil.table.columns import codes_among
from kveil.words import count, row_noun

FEW = 50  # different values that make an identifier one of people, whatever the number of records
SHARE = 0.05  # of different values among the records that does, too


def _empty(model: PrivacyModel) -> str | None:
    """Return the parameters of a model, in words, where every table meets each of them; else None."""
    told = []
    for name in ("k", "l", "p", "t", "alpha"):
        value = getattr(model, name, None)
        if value is None:
            continue
        if (value < 1) if name in {"t", "alpha"} else (value > 1):
            return None
        told.append(f"{name} {float(value):g}")
    return " and ".join(told)


def empty_promises(policy: Policy) -> list[str]:
    """Warn of models that every table meets, and of t-closeness alone, which asks for no size of a group."""
    warnings = [
        f"{model.model} with {parameters} promises nothing: every table meets it; ask for more, or take the model out."
        for model in policy.privacy
        if (parameters := _empty(model)) is not None
    ]
    if policy.privacy and all(isinstance(model, TCloseness) for model in policy.privacy):
        warnings.append("t-closeness alone does not say how many share a group, it may be one: add k-anonymity.")
    return warnings


def one_persons_rows(evidence: Evidence) -> list[str]:
    """Warn where records of few people fill a group: an identifier repeats, and k counts records."""
    policy, warnings = evidence.policy, []
    sizes = [(k, policy.attributes_of(model)) for model in policy.privacy if (k := named_k(model) or 1) > 1]
    if policy.individual_column is not None or not sizes:
        return []
    for name in policy.with_role("identifier"):
        if name not in evidence.original.columns:
            continue
        texts = evidence.original.texts(name)
        distinct = texts.n_unique()
        if distinct in {1, len(texts)} or (distinct < FEW and distinct < SHARE * len(texts)):
            continue
        few = max(_records_of_few(evidence, names, texts, int(k)) for k, names in sizes)
        if few:
            warnings.append(
                f"{name} repeats, and {count(few, 'released record')} stand in groups that have fewer than k different "
                f"values of it: k counts records. Give {name} role individual if it says whose record it is."
            )
    return warnings


def _records_of_few(evidence: Evidence, names: tuple[str, ...], whose: pl.Series, k: int) -> int:
    """Return how many rows stand in groups of fewer than k people.

    A group's people are all who have a record with the quasi-identifiers of one of its rows: nobody can tell such
    records apart, and which of them a group got is chance.
    """
    member = evidence.groups(names).member
    records = pl.DataFrame({name: evidence.original.texts(name) for name in names}).select(
        pl.struct(pl.all()).rank("dense").alias("tuple"), whose.alias("whose")
    )
    tuples = pl.DataFrame({"group": member, "tuple": records["tuple"].gather(evidence.records)}).unique()
    people = tuples.join(records.unique(), on="tuple").select("group", "whose").unique()["group"].to_numpy()
    number = np.bincount(people, minlength=int(member.max(initial=-1)) + 1)
    return int((number[member] < k).sum())


def uniform_groups(evidence: Evidence) -> list[str]:
    """Warn of sensitive columns that no model names where everybody of some group has one and the same value.

    Groups are those of the models: what they are over is taken to be known.
    """
    policy, warnings = evidence.policy, []
    named = {name for model in policy.privacy for name in sensitive_of(model)}
    for name in policy.with_role("sensitive"):
        if name in named:
            continue
        items = evidence.items(name)
        if items["value"].n_unique() < 2:
            continue
        sets = dict.fromkeys(policy.attributes_of(model) for model in policy.privacy)
        groups, rows = max((_shared_by_all(evidence, names, items) for names in sets if names), default=(0, 0))
        if groups:
            noun = row_noun(people=bool(evidence.rows.persons))
            warnings.append(
                f"no model names {name}, and in {count(groups, 'group')} ({count(rows, noun)}) all have one value of "
                "it: whoever finds somebody's group knows the value. Add a model for it, such as l-diversity."
            )
    return warnings


def values_of_everybody(evidence: Evidence) -> list[str]:
    """Warn of values that everybody of a class has, though distinct l or kl-diversity holds: people have several."""
    if not evidence.rows.persons:
        return []
    policy, warnings = evidence.policy, []
    for model in policy.privacy:
        distinct = isinstance(model, KLDiversity) or distinct_values(model) is not None
        for name in sensitive_of(model) if distinct else ():
            items = evidence.items(name)
            if items["value"].n_unique() < 2:
                continue
            groups, rows = _shared_by_all(evidence, policy.attributes_of(model), items)
            if groups:
                warnings.append(
                    f"{model.model} holds for {name}, yet in {count(groups, 'class', 'classes')} "
                    f"({count(rows, 'person')}) everybody has one value in common: whoever finds somebody's class "
                    "knows that they have it. l-diversity with variant frequency does not allow this."
                )
    return list(dict.fromkeys(warnings))


def _shared_by_all(evidence: Evidence, names: tuple[str, ...], items: pl.DataFrame) -> tuple[int, int]:
    """Return how many groups have a value that all of their rows have, and how many rows these groups have."""
    groups = evidence.groups(names)
    row = items["row"].to_numpy()
    values = items["value"].unique().to_list()
    width = max(len(values), 1)
    key = groups.member[row] * width + codes_among(items["value"], values).astype(np.int64)
    if evidence.times is None:
        key.sort()  # in place: of millions of pairs, a table of them would take several times their room
        begins = _begins(key)
        rows = np.diff(np.append(begins, len(key)))
    else:
        order = np.argsort(key)
        key, times = key[order], evidence.times[row[order]]
        begins = _begins(key)
        rows = np.add.reduceat(times, begins) if len(begins) else times
    most: Longs = np.zeros(len(groups.sizes), dtype=np.int64)
    np.maximum.at(most, key[begins] // width, rows)
    shared = most == groups.sizes
    return int(shared.sum()), int(groups.sizes[shared].sum())


def _begins(ordered: Longs) -> Longs:
    """Return where runs of equal numbers begin."""
    return np.flatnonzero(np.append(np.ones(min(len(ordered), 1), dtype=bool), ordered[1:] != ordered[:-1]))
