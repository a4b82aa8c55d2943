"""Runs of texts, named by what they begin with."""

from __future__ import annotations

import random

from kveil.policy.text_runs import LONGEST_NAME, TALLEST, reads_one_of, text_lines


def labels_of(counts: dict[str, int], least: int, fan_out: int = 2) -> set[str]:
    return {label for line in text_lines(counts, fan_out, least) for label in line[1:-1]}


def above(counts: dict[str, int], value: str, least: int = 2, fan_out: int = 2) -> tuple[str, ...]:
    return next(line[1:] for line in text_lines(counts, fan_out, least) if line[0] == value)


def test_runs_go_from_letter_to_letter_and_their_ends_are_nobodys() -> None:
    counts = {"Ankle": 5, "Arm": 1, "Back": 5, "Knee": 5, "Neck": 5, "Wrist": 5}
    assert labels_of(counts, 2) == {"A… to K…", "A… to B…", "A…", "L… to Z…"}


def test_a_rare_value_at_the_end_of_a_run_does_not_name_it() -> None:
    counts = {f"{letter}a": 9 for letter in "BCDFGH"} | {"Ny-Alesund": 1}
    assert not any("Ny" in label for label in labels_of(counts, 2))
    assert above(counts, "Ny-Alesund")[-2] == "G… to Z…"


def test_no_label_has_a_rare_value_as_a_word() -> None:
    counts = {"Plastic": 1, **{f"Plastic {letter}": 9 for letter in "ABCDEFG"}}
    assert not any("Plastic" in label for label in labels_of(counts, 2))
    assert any("Plastic" in label for label in labels_of(counts, 1))
    assert reads_one_of("Surgery-Plastic", {"Plastic"})
    assert not reads_one_of("Surgery-Plastics", {"Plastic"})


def test_a_letter_that_is_a_value_ends_no_run() -> None:
    letters = dict.fromkeys("ABCDEFGH", 9)
    assert labels_of(letters, 2, 4) == {f"part {number} of 4" for number in (1, 2, 3, 4)}
    # E is a value: the run of D ends at no letter beside it.
    counts = {**{f"{letter}x": 9 for letter in "ABCDFGHI"}, "E": 9}
    ends = {end.strip("…") for label in labels_of(counts, 2) for end in label.split(" to ")}
    assert "E" not in ends


def test_capitals_and_small_letters_are_told_apart_and_stand_together() -> None:
    counts = dict.fromkeys(("apple", "Anis", "berry", "Banana", "citrus", "date", "Elder"), 9)
    assert above(counts, "apple", fan_out=3)[-2] == "A… to B…, a… to b…"


def test_signs_of_no_alphabet_are_listed_and_not_spanned() -> None:
    counts = {f"{sign}{letter}": 9 for sign in "東西" for letter in "ab"} | {"南a": 1, "北a": 1}
    assert labels_of(counts, 2, 4) >= {"西…"}
    assert not any("南" in label or "北" in label for label in labels_of(counts, 2, 4))


def test_accents_belong_to_what_they_stand_on() -> None:
    counts = {"e\u0301lan": 9, "e\u0301tat": 9, "ebbe": 9, "edel": 9, "fach": 9}
    assert above(counts, "ebbe", fan_out=3) == above(counts, "edel", fan_out=3)
    assert above(counts, "e\u0301lan", fan_out=3) != above(counts, "ebbe", fan_out=3)


def test_signs_with_a_meaning_stand_in_no_label() -> None:
    counts = {f"{sign}{letter}": 9 for sign in "|*…\n" for letter in "abc"}
    assert all(label.startswith("part ") for label in labels_of(counts, 2))


def test_values_that_begin_alike_to_the_end_of_a_label_are_not_cut_apart() -> None:
    counts = {"x" * (LONGEST_NAME + 1) + letter: 9 for letter in "abcdef"}
    assert labels_of(counts, 2) == set()


def test_a_tree_is_of_bounded_height() -> None:
    lines = text_lines({"a" * number + "b": 9 for number in range(1, 75)}, 2, 2)
    assert max(map(len, lines)) <= TALLEST + 2


def test_parts_of_one_beginning_under_two_labels_are_numbered_after_these() -> None:
    rng = random.Random(7)
    labels = labels_of({str(rng.randint(10**30, 10**31)): 1 for _ in range(300)}, 5)
    parts = [label.rsplit(", part ", 1) for label in labels if ", part " in label]
    assert parts
    assert all(number in {"1 of 2", "2 of 2"} for _, number in parts)  # none "1 of 2, again"
    assert {head for head, _ in parts if " to " in head} <= labels
