"""Who must not be shown: people whose company of earlier releases is not complete any more.

Of those who looked alike before, some are not shown now: they left, or were suppressed. They are a class of their own,
and whoever has all releases can tell what they had from what the others have. So they must be as many, and as diverse,
as the models ask, or none; where they are too few, others of the same look are withheld with them. Withheld is whoever
comes first by quasi-identifiers, or a whole group, never somebody for their own sensitive value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kveil.arrays import Bools, Ints, Longs
from kveil.kernels.grouping.members import members_by_group
from kveil.policy.privacy import TCloseness, named_k, single_sensitive
from kveil.previous.earlier_looks import NEVER, Past

MOST_STARTS = 40  # runs of one length that are tried
MOST_LENGTHS = 60  # the longest run that is tried


def broken_looks(past: Past, position: int, people: Bools) -> list[int]:
    """Return the looks, as a model sees them, whose members among some people break the model as a class."""
    looks = past.looks[position]
    inside = people & (looks != NEVER) & ~past.free[position]
    different, codes = np.unique(looks[inside], return_inverse=True)
    group = np.full(past.people, -1, dtype=np.int32)
    group[inside] = codes.reshape(-1)
    return [int(look) for look in different[~past.good(position, group, len(different))]]


def already_broken(past: Past, *, positions: Sequence[int] | None = None) -> Bools:
    """Return the people for whom earlier releases alone break some demands, by default all of them."""
    everyone = np.ones(past.people, dtype=bool)
    broken = np.zeros(past.people, dtype=bool)
    for position in range(len(past.looks)) if positions is None else positions:
        broken |= np.isin(past.looks[position], broken_looks(past, position, everyone))
    return broken


def withhold_company(past: Past, order: Longs, hidden: Bools) -> Bools:
    """Return who is not shown once everybody is withheld whose company asks for it; ``hidden`` are not shown anyway.

    Of every look as few as possible, so that those left can still be a group, taken in the given order of rows. Every
    round withholds more, so it ends.
    """
    hidden = hidden.copy()
    together = _models_by_look(past)
    while True:
        before = int(hidden.sum())
        for positions in together:
            looks = past.looks[positions[0]]
            broken = sorted({look for position in positions for look in broken_looks(past, position, hidden)})
            rows = _rows_by_look(looks, order, broken)
            for look in broken:
                members = np.flatnonzero(hidden & (looks == look))
                hidden[_as_few_as_possible(past, positions, members, rows[look][~hidden[rows[look]]])] = True
        if int(hidden.sum()) == before:
            return hidden


def _models_by_look(past: Past) -> list[list[int]]:
    """Return the models, by position, that see the same looks."""
    found: dict[bytes, list[int]] = {}
    for position, looks in enumerate(past.looks):
        found.setdefault(looks.tobytes(), []).append(position)
    return list(found.values())


def _rows_by_look(looks: Longs, order: Longs, wanted: Sequence[int]) -> dict[int, Longs]:
    """Return the rows of some looks, each in the given order."""
    by_look = members_by_group(looks[order], int(looks.max(initial=-1)) + 1)
    return {look: order[by_look.of(look)] for look in wanted}


def _as_few_as_possible(past: Past, positions: Sequence[int], members: Longs, rows: Longs) -> Longs:
    """Return a run of some rows that, with the members that are hidden, satisfies some models; the rest must, too.

    The shortest, of these the first: neighbours by quasi-identifiers, whoever has what. All rows where there is no such
    run: the whole look satisfied the models before.
    """
    models = [past.demands[position].model for position in positions]
    alone = not any(isinstance(model, TCloseness) for model in models)  # whose groups are compared with everybody
    judge = past.among(np.append(members, rows)) if alone else past
    inside, these = (np.arange(len(members)), len(members) + np.arange(len(rows))) if alone else (members, rows)
    group = np.full(judge.people, -1, dtype=np.int32)
    k = max(named_k(model) or 1 for model in models)
    for number in range(max(k - len(members), 1), min(len(rows) - k, MOST_LENGTHS) + 1):
        for start in range(min(len(rows) - number + 1, MOST_STARTS)):
            group[inside], group[these] = 0, 1
            group[these[start : start + number]] = 0
            if all(judge.good(position, group, 2).all() for position in positions):
                return rows[start : start + number]
    return rows


def hide_groups(past: Past, groups: Sequence[Ints], hidden: Bools) -> Bools:
    """Return who is not shown once no group of a release, and nobody who is hidden, breaks a model by earlier values.

    ``groups`` has, per model, the group of every row within those who looked alike before. Whole groups are hidden:
    those that break the model, and, where those hidden are too few, the smallest group of the same look.
    """
    hidden = hidden.copy()
    while True:
        before = int(hidden.sum())
        for position, own in enumerate(groups):
            hidden[: past.rows] |= np.isin(own, _bad_groups(past, position, own, hidden))
            looks = past.looks[position]
            for look in broken_looks(past, position, hidden):
                shown = np.flatnonzero(~hidden[: past.rows] & (looks[: past.rows] == look))
                if len(shown):
                    numbers, sizes = np.unique(own[shown], return_counts=True)
                    smallest = numbers[np.lexsort((numbers, sizes))[0]]
                    hidden[shown[own[shown] == smallest]] = True
        if int(hidden.sum()) == before:
            return hidden


def _bad_groups(past: Past, position: int, own: Ints, hidden: Bools) -> Ints:
    """Return the groups of shown rows that break a model by their size, or by the values they had before."""
    shown = ~hidden[: past.rows] & ~past.free[position][: past.rows]
    different, codes = np.unique(own[shown], return_inverse=True)
    group = np.full(past.people, -1, dtype=np.int32)
    group[: past.rows][shown] = codes.reshape(-1)
    bad = ~past.good(position, group, len(different))
    bad |= _few_that_stayed(past, position, group, len(different))
    return np.asarray(different[bad])


def _few_that_stayed(past: Past, position: int, group: Ints, number: int) -> Bools:
    """Return groups in which those whose value did not change have too few values, though others hide that now.

    Whoever takes values for lasting rules out those that only one of the releases shows.
    """
    model = past.demands[position].model
    name = single_sensitive(model)
    changed = None if name is None else past.changed.get(name)
    few = np.zeros(number, dtype=bool)
    if changed is None or not changed.any():
        return few
    lasting = group.copy()
    lasting[: past.rows][changed] = -1
    some_changed = np.bincount(group[: past.rows][changed & (group[: past.rows] >= 0)], minlength=number) > 0
    return some_changed & ~past.good(position, lasting, number)
