"""Joins that are judged by the groups that change, beside the slow way: every group counted anew."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from kveil.algorithms.classfly.aside_groups import AsideGroups
from kveil.algorithms.classfly.classfly_component import only
from kveil.algorithms.registry import find
from kveil.arrays import Ints
from kveil.engines.solver import run
from kveil.errors import Unmeetable
from kveil.frames import from_frame
from kveil.kernels.grouping.equal_rows import group_rows
from kveil.models.groups import Groups
from kveil.table.encode import encode
from small_people import people, policy_of

MODELS = {
    "frequency": "[{model: k-anonymity, attributes: [age, city], k: 4}, "
    "{model: l-diversity, variant: frequency, attributes: [city, sex], sensitive: illness, l: 2}]",
    "recursive": "[{model: k-anonymity, attributes: [city, sex], k: 6}, "
    "{model: l-diversity, variant: recursive, attributes: [age, city], sensitive: illness, c: 2, l: 2}]",
    "close": "[{model: k-anonymity, attributes: [age, sex], k: 3}, "
    "{model: t-closeness, attributes: [city, sex], sensitive: illness, t: 0.3}]",
}


def everything_holds(groups: AsideGroups, at: int, moved: list[int], shown: Ints, *, but_own: bool, gone: bool) -> bool:
    """Tell whether every constraint holds once a tuple and groups show the same, or for all others than these."""
    nodes = np.concatenate([groups.shown, shown[:, None]], axis=1)
    nodes[:, moved] = shown[:, None]
    weights = np.append(groups.sizes, groups.part.weights[at])
    if gone:
        weights[[*moved, -1]] = 0
    number = groups.of.copy()
    number[at] = len(groups.sizes)
    pairs = {name: only(own, number) for name, own in groups.part.pairs.items()}
    for constraint in groups.part.constraints:
        group, first = group_rows(nodes[constraint.over])
        good = constraint.model.good(Groups(group, len(first), weights, pairs))
        good[group[-1]] |= but_own
        if not good.all():
            return False
    return True


@pytest.mark.parametrize("models", MODELS)
def test_a_join_is_judged_as_when_every_group_is_counted_anew(models: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts: Counter[tuple[str, bool]] = Counter()
    hold, spare = AsideGroups.hold, AsideGroups.spare

    def both_hold(self: AsideGroups, at: int, groups: list[int], shown: Ints) -> bool:
        verdict = hold(self, at, groups, shown)
        assert verdict == everything_holds(self, at, groups, shown, but_own=False, gone=False)
        verdicts["hold", verdict] += 1
        return verdict

    def both_spare(self: AsideGroups, at: int, groups: list[int], shown: Ints, *, for_good: bool) -> bool:
        verdict = spare(self, at, groups, shown, for_good=for_good)
        assert verdict == everything_holds(self, at, groups, shown, but_own=True, gone=for_good)
        verdicts["spare", verdict] += 1
        return verdict

    monkeypatch.setattr(AsideGroups, "hold", both_hold)
    monkeypatch.setattr(AsideGroups, "spare", both_spare)
    for seed in range(6):
        policy = policy_of(MODELS[models], "suppression: {limit: 0.02}", "classfly+complete")
        for name in ("classfly+complete", "classfly+naive"):
            try:
                run(find(name), encode(from_frame(people(40 + 10 * seed, seed)), policy), {"join": True})
            except Unmeetable:
                continue
    assert set(verdicts) >= {("hold", True), ("hold", False), ("spare", True)}
