"""Packs models and the sensitive values that they count into the arrays that compiled loops take."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kveil.arrays import Bools, Floats, Ints, Longs
from kveil.kernels.grouping.members import members_by_group
from kveil.kernels.models import layout as kinds
from kveil.kernels.models.layout import Needs, SensitiveCodes
from kveil.models.distributions import AlphaShare, Close, DistinctValues, EntropyL, FrequencyL, RecursiveCL
from kveil.models.groups import AtLeastK, GroupModel, Pairs
from kveil.table.sensitive import Sensitive
from kveil.table.table import Table


def needs_of(models: list[GroupModel], names: list[str]) -> Needs:
    """Return the models as the loops read them: kind, attribute, k, a fraction, a bound."""
    found: list[tuple[int, int, int, int, int, float]] = []
    for model in models:
        at = -1 if model.sensitive is None else names.index(model.sensitive)
        if isinstance(model, AtLeastK):
            found.append((kinds.AT_LEAST_K, at, model.k, 0, 1, 0.0))
        elif isinstance(model, DistinctValues):
            found.append((kinds.DISTINCT, at, 1, model.least, 1, 0.0))
        elif isinstance(model, EntropyL):
            found.append((kinds.ENTROPY, at, 1, 0, 1, float(np.log(model.l))))
        elif isinstance(model, RecursiveCL):
            found.append((kinds.RECURSIVE, at, 1, model.c.numerator, model.c.denominator, float(model.l)))
        elif isinstance(model, FrequencyL):
            found.append((kinds.FREQUENCY, at, 1, model.l.numerator, model.l.denominator, 0.0))
        elif isinstance(model, AlphaShare):
            found.append((kinds.ALPHA, at, model.k, model.alpha.numerator, model.alpha.denominator, 0.0))
        else:
            assert isinstance(model, Close)
            kind = {"equal": kinds.EQUAL, "ordered": kinds.ORDERED, "hierarchical": kinds.HIERARCHICAL}[model.distance]
            found.append((kind, at, 1, 0, 1, model.t))
    columns = list(zip(*found, strict=True))
    return Needs(
        np.array(columns[0], dtype=np.int32),
        np.array(columns[1], dtype=np.int32),
        np.array(columns[2], dtype=np.int64),
        np.array(columns[3], dtype=np.int64),
        np.array(columns[4], dtype=np.int64),
        np.array(columns[5], dtype=np.float64),
    )


def values_of(
    table: Table, pairs: Mapping[str, Pairs], models: list[GroupModel], alive: Longs, *,
    whole_table: Mapping[str, Longs] | None = None,
) -> SensitiveCodes:  # fmt: skip
    """Return the sensitive values that models count, in CSR form, and the distribution of all that are alive.

    ``whole_table`` has how many of the whole table have each code, where the tuples are only a part of it.
    """
    names = sorted({model.sensitive for model in models if model.sensitive is not None})
    trees = {model.sensitive for model in models if isinstance(model, Close) and model.distance == "hierarchical"}
    tuples = len(alive)
    codes = max((pairs[name].known + 1 for name in names), default=1)
    start = np.zeros((len(names), tuples + 1), dtype=np.int64)
    whole = np.zeros((len(names), codes))
    known = np.array([pairs[name].known for name in names], dtype=np.int32)
    all_codes, all_counts, above, edges, masses = [], [], [], [], []
    offset = 0
    for s, name in enumerate(names):
        own = pairs[name]
        share = _shares(own, alive, codes) if whole_table is None else _filled(whole_table[name], codes)
        place = _places(table.sensitive[name], share > 0)
        by_tuple, starts = members_by_group(own.tuples, tuples)
        all_codes.append(place[own.codes[by_tuple]])
        all_counts.append(own.counts[by_tuple])
        start[s] = offset + starts
        offset += len(own.codes)
        whole[s][place] = share[: len(place)] / max(share.sum(), 1)
        if name in trees:
            ways, weight = table.sensitive[name].ways(share[: len(place)] > 0)
            above.append(ways[np.argsort(place)])
            edges.append(weight)
        else:
            above.append(np.full((own.known + 1, 1), -1, dtype=np.int32))
            edges.append(np.zeros(1))
        mass = np.zeros(len(edges[-1]))
        for level in above[-1].T:
            has = level >= 0
            mass += np.bincount(level[has], weights=whole[s][: len(level)][has], minlength=len(mass))
        masses.append(mass)
    depth = max((a.shape[1] for a in above), default=1)
    nodes = max((len(e) for e in edges), default=1)
    ancestor = np.full((len(names), codes, depth), -1, dtype=np.int32)
    edge, mass_of = np.zeros((len(names), nodes)), np.zeros((len(names), nodes))
    for s in range(len(names)):
        ancestor[s, : above[s].shape[0], : above[s].shape[1]] = above[s]
        edge[s, : len(edges[s])] = edges[s]
        mass_of[s, : len(masses[s])] = masses[s]
    return SensitiveCodes(
        start,
        np.concatenate(all_codes).astype(np.int32) if names else np.zeros(0, dtype=np.int32),
        np.concatenate(all_counts).astype(np.int64) if names else np.zeros(0, dtype=np.int64),
        known,
        whole,
        ancestor,
        edge,
        mass_of,
    )


def cut_to_rows(values: SensitiveCodes, rows: Ints) -> SensitiveCodes:
    """Return the sensitive values of some rows, in the order of these; the distribution of all stays what it was."""
    starts, chosen = [], []
    offset = 0
    for begins in values.start:
        begin, lengths = begins[rows], begins[rows + 1] - begins[rows]
        ends = np.cumsum(lengths)
        chosen.append(np.repeat(begin - (ends - lengths), lengths) + np.arange(int(lengths.sum())))
        starts.append(offset + np.append(0, ends))
        offset += len(chosen[-1])
    at = np.concatenate([np.zeros(0, dtype=np.int64), *chosen])
    start = np.array(starts, dtype=np.int64).reshape(len(values.start), len(rows) + 1)
    return values._replace(start=start, code=values.code[at], times=values.times[at])


def _shares(pairs: Pairs, alive: Longs, codes: int) -> Floats:
    """Return how many of the tuples that are alive have each code."""
    counted = np.where(alive[pairs.tuples] > 0, pairs.counts, 0)
    return np.bincount(pairs.codes, weights=counted, minlength=codes).astype(np.float64)


def _filled(counts: Longs, codes: int) -> Floats:
    """Return counts of codes for so many codes."""
    share = np.zeros(codes)
    share[: len(counts)] = counts
    return share


def _places(sensitive: Sensitive, present: Bools) -> Ints:
    """Return where every code stands when the present ones are in the order that distances need."""
    known = sensitive.known
    ordered = sensitive.order(present[: known + 1])
    ordered = np.concatenate([ordered[ordered < known], np.flatnonzero(~present[:known]), [known]])
    place = np.empty(known + 1, dtype=np.int32)
    place[ordered] = np.arange(known + 1)
    return place
