"""What files of SPSS and Stata say of a column, as evidence of what it is: its description, and labels of its codes.

Surveys call their columns `hinctnta` or `v203`: the words stand in the description. A name that says something itself
is believed first, since a description is a sentence, whose words may be about something else.
"""

from __future__ import annotations

from dataclasses import replace

from kveil.files.codebook import ColumnNotes
from kveil.suggestion.profile import Profile
from kveil.suggestion.roles import FEW_NAMES, Guess, guess_column, hierarchy_for

MOST_TOLD = 6  # labels of codes that a comment lists
BY_NAME = "in its name"  # how the reason of a guess begins that a word of the name decided


def guess_with_notes(profile: Profile, notes: ColumnNotes) -> Guess:
    """Return what a column may be, by its name and values, and where these say little, by what its file says of it."""
    guess = guess_column(profile)
    if BY_NAME in guess.reason or guess.role == "identifier" or profile.distinct == 0:
        return guess
    if notes.label:
        told = guess_column(replace(profile, name=notes.label))
        naming = told.role == "identifier" and (profile.uniqueness < 0.5 or profile.distinct <= FEW_NAMES)
        if BY_NAME in told.reason and not naming:
            reason = told.reason.replace(BY_NAME, "in its description")
            return replace(told, profile=profile, reason=reason)
    if guess.doubtful and _has_labels(profile, notes):
        labels = {str(_as_code(code)): text for code, text in notes.values.items()}
        counts = [(labels[text], number) for text, number in profile.counts if text in labels]
        told = guess_column(replace(profile, counts=counts))
        if not told.doubtful and told.role == "quasi-identifier" and told.reason != guess.reason:
            return replace(
                told, profile=profile, reason=f"by the labels of its codes, {told.reason}", way=hierarchy_for(profile)
            )
    return guess


def _has_labels(profile: Profile, notes: ColumnNotes) -> bool:
    """Tell whether most of the codes that a column shows have labels."""
    known = {str(_as_code(code)) for code in notes.values}
    return bool(profile.texts) and sum(text in known for text in profile.texts) * 2 > profile.distinct


def _as_code(code: float | str) -> float | str:
    return int(code) if isinstance(code, float) and code == int(code) else code


def column_comment(notes: ColumnNotes) -> str:
    """Return what a file says of a column, as a comment of a policy tells it; nothing where it says nothing."""
    parts = [f'"{notes.label}".'] if notes.label else []
    if notes.values:
        listed = [f"{_as_code(code)} {text}" for code, text in list(notes.values.items())[:MOST_TOLD]]
        more = len(notes.values) - len(listed)
        parts.append(f"Codes: {', '.join(listed)}{f' and {more} more' if more else ''}.")
    return " ".join(parts)
