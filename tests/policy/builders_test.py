"""Hierarchies that are built over values."""

from __future__ import annotations

from kveil.policy.builders import LONGEST_NAME, balanced_lines


def labels_of(counts: dict[str, int], least: int) -> set[str]:
    return {label for line in balanced_lines(counts.items(), 2, least=least) for label in line[1:-1]}


def test_runs_are_named_by_their_first_and_last_frequent_value() -> None:
    counts = {"Ankle": 5, "Arm": 1, "Back": 5, "Knee": 5, "Neck": 5, "Wrist": 5}
    assert labels_of(counts, 2) == {"Ankle … Knee", "Ankle … Back", "run 3", "Neck … Wrist"}


def test_a_value_in_which_a_rare_one_can_be_read_names_no_run() -> None:
    counts = {"Cardiology": 9, "Plastic": 1, "Surgery": 9, "Surgery-Plastic": 9, "Urology": 9, "Virology": 9}
    assert any("Surgery-Plastic" in label for label in labels_of(counts, 1))
    assert not any("Plastic" in label for label in labels_of(counts, 2))
    # A rare value that is a part of a word cannot be read there.
    assert any("Surgery-Plastics" in label for label in labels_of({**counts, "Surgery-Plastics": 9}, 2))


def test_a_very_long_value_names_no_run() -> None:
    counts = {letter * (LONGEST_NAME + 1): 9 for letter in "abcdef"}
    assert all(label.startswith("run ") for label in labels_of(counts, 2))
