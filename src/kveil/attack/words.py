"""Attacks in sentences that a steward can repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kveil.words import count, listing

TITLES = {
    "prosecutor": "Finding one person's row",
    "journalist": "Naming the person behind a row",
    "marketer": "Linking everybody at once",
    "homogeneity": "Reading a value off a uniform group",
    "best guess": "Guessing a value",
    "background knowledge": "Guessing, with one value ruled out",
    "inconsistency": "Putting a person's rows together",
    "fingerprint": "Recognizing a person by what they have",
    "dependencies": "Filling in what depends on what is known",
    "attacker's file": "Joining a file of the attacker's",
}


def percent(share: float) -> str:
    """Return a share for people: ``3.1 %``, never 0 or 100 where it is not."""
    if 0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1:
        return "over 99.99 %"
    shown = f"{share * 100:.2f}" if share < 0.01 or share > 0.99 else f"{share * 100:.1f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown) + " %"


def between(rate: dict[str, Any]) -> str:
    """Return a rate's interval in words."""
    low, high = rate["interval"]
    return f"95 % sure between {percent(low)} and {percent(high)}"


def _odds(chance: float) -> str:
    if chance >= 1:
        return "certain"
    return f"1 in {1 / chance:,.0f}" if chance > 0 else "none"


def _worst(before: dict[str, Any], after: dict[str, Any], noun: str, everyone: int) -> str:
    """Tell how exposed the most exposed are, before and after; of a sample, how many it has."""
    if before["certain"] or after["certain"]:
        now = count(after["certain"], noun) if after["certain"] else "nobody"
        rest = "" if after["certain"] else f"; the best chance is {_odds(after['worst'])}"
        looked = before["targets"]
        sampled = f" of {looked:,} drawn by lot" if looked < everyone and after["targets"] < everyone else ""
        return (
            f" Found for certain{sampled}: {count(before['certain'], noun)} in the original, {now} in the "
            f"release{rest}."
        )
    return f" The best chance was {_odds(before['worst'])} and is {_odds(after['worst'])}."


def known_items(number: int | None) -> str:
    """Return in words how much somebody knows of what a person has."""
    if number is None:
        return "everything"
    return "only the rarest value" if number == 1 else f"only the {number} rarest values"


def knowing(names: Sequence[str], everything: Sequence[str]) -> str:
    """Return what an attacker knows, in words; all quasi-identifiers are not listed one by one."""
    if len(names) > 4 and len(names) == len(everything):
        return f"all {len(names)} quasi-identifiers"
    return listing(list(names), 12)


def sentence(entry: dict[str, Any], noun: str, everyone: int) -> str:
    """Return one attack on a table of so many records or persons as a few sentences."""
    kind, before, after = entry["attack"], entry["before"], entry["after"]
    if kind == "attacker's file":
        return _file(entry)
    known = entry["knowing"]
    if not after["targets"]:
        return f"No released row shows anything of {known or entry['sensitive']}: there is nothing to start from."
    was, now, sure = percent(before["rate"]), percent(after["rate"]), between(after)
    cases = f"in {now} of cases ({sure}); in the original it was {was}."
    people = f"for {now} of {noun}s ({sure}); in the original for {was}."
    if kind == "prosecutor":
        told = f"Somebody who knows {known} of one released {noun} and picks one of the rows that fit is right {cases}"
        told += _worst(before, after, noun, everyone)
    elif kind == "journalist":
        told = f"Somebody who picks a released row and names one of all who fit it by {known} is right {cases}"
        told += _worst(before, after, noun, everyone)
    elif kind == "marketer":
        told = f"Somebody who knows {known} of everybody and links everybody to a row is right {cases}"
    elif kind == "homogeneity":
        told = f"All rows that fit {known} show one and the same {entry['sensitive']}, and it is the true one, {people}"
    elif kind == "best guess":
        told = (
            f"Somebody who knows {known} and guesses the {entry['sensitive']} that most of the rows that fit have is "
            f"right {people} Without any rows, guessing the most frequent value is right for {percent(entry['guess'])}."
        )
    elif kind == "background knowledge":
        told = f"Somebody who can also rule out the most frequent wrong {entry['sensitive']} is right {people}"
    elif kind == "inconsistency":
        told = (
            f"The rows of {count(entry['differing'], 'released person')} show different values; put together, "
            if entry["differing"]
            else "Every released person shows one value an attribute, so no rows can be put together; "
        ) + f"somebody who knows {known} finds the right person {cases}"
    elif kind == "fingerprint":
        items = known_items(entry["items"])
        told = f"Somebody who knows {items} that a person has of {entry['sensitive']} finds the person {cases}"
        told += _worst(before, after, noun, everyone)
    else:
        rules = listing([f"`{rule}`" for rule in entry["rules"]])
        told = (
            f"Somebody who knows {known} and the {'rule' if len(entry['rules']) == 1 else 'rules'} {rules} finds the "
            f"row {cases} Without the rules: {percent(entry['without']['rate'])}."
        )
    if not entry.get("promised", True):
        told += " No model of the policy covers these attributes together: it promises nothing against this."
    return told


def _file(entry: dict[str, Any]) -> str:
    matched = entry["matched"]
    start = (
        f"The attacker's file has {count(entry['rows'], 'row')} with {entry['knowing']}. "
        f"Exactly one row fits {matched['before']['one']:,} of them in the original and "
        f"{matched['after']['one']:,} in the release."
    )
    if entry["judged_by"] is None:
        return start + " It shares no identifier with the original, so nobody can say which links are right."
    before, after = entry["before"], entry["after"]
    return (
        f"{start} Judged by {listing(entry['judged_by'])}, of the {before['targets']:,} rows about people in the table "
        f"the attacker links {percent(after['rate'])} rightly ({between(after)}); in the original "
        f"{percent(before['rate'])}."
    )


def sentences(content: dict[str, Any]) -> list[str]:
    """Return the whole game as sentences, the assumption first."""
    return [content["assumption"], *(entry["sentence"] for entry in content["attacks"])]
