"""A verdict holds as long as nothing was found."""

from __future__ import annotations

import json

from kveil.verifier.verdict import TogetherCheck, Verdict

GOOD = Verdict([], [], {"records": 0, "starred": 0, "of": 4, "limit": 0.0, "holds": True}, None, None, None)


def test_a_verdict_is_true_until_something_is_found() -> None:
    assert GOOD.holds
    assert bool(GOOD)
    assert GOOD.with_findings([]) is GOOD
    worse = GOOD.with_findings(["a.", "b."]).with_findings(["c."])
    assert not worse
    assert worse.findings == ["a.", "b.", "c."]
    assert GOOD.findings == []


def test_what_earlier_releases_show_is_part_of_the_verdict() -> None:
    check: TogetherCheck = {
        "releases": 2, "people": 3, "newcomers": 0, "leavers": 1, "guarantees": [], "promised": [],
        "weaker": False, "below": 0, "unjudged": [], "possible": [],
    }  # fmt: skip
    assert "previous" not in GOOD.as_json()
    both = GOOD.with_previous(check, ["together."], ["for the owner."])
    assert both.private_warnings[-1] == both.warnings[-1] == "for the owner."
    assert both.as_json()["previous"] == check
    assert not both.holds


def test_plain_data_leaves_out_what_only_the_original_tells() -> None:
    private = Verdict(
        [],
        [],
        GOOD.suppression,
        {"violations": 0},
        None,
        None,
        findings=[],
        warnings=["public."],
        private_warnings=["private."],
    )
    told = json.dumps(private.as_json())
    assert "public." in told
    assert "private." not in told
    assert private.holds
