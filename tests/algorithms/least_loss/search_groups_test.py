"""The search in groups, block by block: where one fails, the others end, and what failed is told."""

from __future__ import annotations

import threading
import time
from itertools import chain, repeat
from typing import Any

import pytest

from kveil.algorithms.least_loss import refine as refining
from kveil.algorithms.least_loss import search_groups
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.progress import silent
from kveil.stopping import Stop
from kveil.table.encode import encode
from small_people import POLICIES, people, policy_of


def test_a_block_that_fails_ends_the_others_before_their_tries_are_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    table = encode(from_frame(people(400)), policy_of(POLICIES["k"], algorithm="mondrian"))
    start = run(find("mondrian"), table, {})
    began, stopped = threading.Event(), []
    monkeypatch.setattr(search_groups, "BLOCK", 100)
    monkeypatch.setattr(search_groups, "threads", lambda: 2)
    first = threading.Lock()

    def block(self: search_groups.GroupSearch, *arguments: Any) -> Any:
        if first.acquire(blocking=False):  # this one goes on until it is stopped, as one with many tries does
            began.set()
            for _ in range(6_000):
                if self.watch.over():
                    stopped.append(True)
                    break
                time.sleep(0.01)
            raise RuntimeError("never reached by the caller")
        assert began.wait(60)
        raise ValueError("this block fails")

    monkeypatch.setattr(search_groups.GroupSearch, "_block", block)
    with pytest.raises(ValueError, match="this block fails"):
        refining.refine(table, start, 100, None, silent)
    assert stopped == [True]


def test_a_warm_search_goes_up_a_little_and_ends_with_the_lowest_it_was_at(monkeypatch: pytest.MonkeyPatch) -> None:
    table = encode(from_frame(people(1_500)), policy_of(POLICIES["k"], algorithm="mondrian"))
    start = run(find("mondrian"), table, {})
    told: list[tuple[float, int, int]] = []  # of each round: its warmth, the cost before and after
    ends: list[int] = []
    searches, rounds = search_groups.GroupSearch.run, search_groups.GroupSearch._round

    def search(self: search_groups.GroupSearch, tries_per_row: float) -> None:
        searches(self, tries_per_row)
        ends.append(self.grouping.cost)

    def one_round(self: search_groups.GroupSearch, *arguments: Any) -> None:
        before = self.grouping.cost
        rounds(self, *arguments)
        told.append((self.warmth, before, self.grouping.cost))

    monkeypatch.setattr(search_groups.GroupSearch, "run", search)
    monkeypatch.setattr(search_groups.GroupSearch, "_round", one_round)
    refining.refine(table, start, 30, None, silent)
    assert all(after <= before for warmth, before, after in told if not warmth)
    assert any(after > before for warmth, before, after in told if warmth)
    lowest = told[0][1]
    for _, _, after in told:
        assert after <= (1 + search_groups.EXCESS) * lowest
        lowest = min(lowest, after)
    assert ends == [lowest]


def test_a_search_that_seconds_end_has_short_rounds_and_cools_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    table = encode(from_frame(people(400)), policy_of(POLICIES["k"], algorithm="mondrian"))
    start = run(find("mondrian"), table, {})
    told: list[tuple[int, float]] = []  # of each round: how many tries it is given, and its warmth
    monkeypatch.setattr(
        search_groups.GroupSearch, "_round", lambda self, _, blocks, tries, values: told.append((tries, self.warmth))
    )
    spent = chain([0.0, 0.1, 0.3, 0.5, 0.7, 0.9], repeat(1.0))
    monkeypatch.setattr(Stop, "spent", property(lambda self: next(spent)))
    refining.refine(table, start, 100, 600.0, silent)
    assert {tries for tries, _ in told} == {500}  # half a try per row would be fewer than make a round
    assert len(told) == 80
    warm = [warmth for _, warmth in told[:6]]
    assert warm[0] == warm[1] == warm[5] == 0.0
    assert warm[2] == pytest.approx(0.5 / 0.6 * search_groups.heat_of(100 * 2 / 80 / 0.3))
    told.clear()
    refining.refine(table, start, 100, None, silent)
    assert len(told) == 25
