"""Words that sentences are made of: counts with their noun, listings, hints for names that are nearly right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from unicodedata import category

from kveil.guarantee import FIGURES, NamedModel

PLURALS = {"person": "people"}  # of nouns whose plural is not made by an s


def did_you_mean(found: str, allowed: Iterable[str]) -> str:
    """Return a hint that names the allowed text nearest to what was found, or nothing.

    Case is ignored in the comparison, so that ``K-Anonymity`` finds ``k-anonymity``.
    """
    by_lower = {text.lower(): text for text in allowed}
    close = get_close_matches(found.lower(), by_lower, n=1, cutoff=0.6)
    if not close and len(found) > 2:
        close = [text for text in by_lower if text.startswith(found.lower())][:1]
    return f"; did you mean {by_lower[close[0]]!r}?" if close else ""


def listing(items: Sequence[str], limit: int = 8, last: str = "and") -> str:
    """Return items as an English list, cut after ``limit`` of them."""
    if len(items) > limit:
        return ", ".join(items[:limit]) + f" {last} {len(items) - limit} more"
    if len(items) < 2:
        return "".join(items)
    return ", ".join(items[:-1]) + f" {last} {items[-1]}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun in the right form: ``1 record``, ``2,000 records``, ``2,000 people``."""
    return f"{number:,} {noun if number == 1 else plural or plural_of(noun)}"


def plural_of(noun: str) -> str:
    """Return a noun for several: ``records``, ``people``."""
    return PLURALS.get(noun, f"{noun}s")


def row_noun(*, people: bool) -> str:
    """Return what a row of a table is called in sentences: a record, or a person where the policy says whose it is.

    A policy gives that column role ``individual``, and reports have a key ``individuals``: names that stay as they are.
    """
    return "person" if people else "record"


def model_in_words(model: NamedModel) -> str:
    """Return a privacy model with its settings, ``l-diversity (sensitive diagnosis, l 3, variant distinct)``.

    The attributes it is over are left out, and so are the figures of a guarantee.
    """
    settings = {
        key: ", ".join(value) if isinstance(value, (list, tuple)) else value
        for key, value in model.items()
        if key not in FIGURES and key not in ("model", "attributes")
    }
    return f"{model['model']} ({', '.join(f'{key} {value}' for key, value in settings.items())})"


PROMISES = {
    "k-anonymity": "whoever knows {over} of somebody finds at least {k} {noun} that look alike",
    "l-diversity": "those that look alike in {over} have at least {l} {kind} values of {sensitive}",
    "p-sensitive": "those that look alike in {over} have at least {p} values of {sensitive}",
    "alpha-k": "at least {k} look alike in {over}, and no value of {sensitive} is more than {alpha} of them",
    "t-closeness": "those that look alike in {over} have {sensitive} spread as everywhere, up to a distance of {t}",
    "kl-diversity": "what somebody has of {sensitive} is shared by at least {k}, and by at most 1/{l} of those alike",
    "k-km-anonymity": "at least {k} look alike in {over}, and any {m} values of {sensitive} one has are shared by {k}",
}
ATTACKS = {
    "prosecutor": "Finding one person's row",
    "journalist": "Naming the person behind a row",
    "marketer": "Linking everybody at once",
    "homogeneity": "Reading a value off a uniform group",
    "best guess": "Guessing a value",
    "background knowledge": "Guessing, with one value ruled out",
    "inconsistency": "Putting a person's rows together",
    "fingerprint": "Recognizing a person by what they have",
    "dependencies": "Filling in what depends on what is known",
    "who is missing": "Guessing about people who are missing",
    "minimality": "Rerunning kveil on all that is possible",
    "several releases": "Laying releases side by side",
    "attacker's file": "Joining a file of the attacker's",
}
WORST = {
    "k-anonymity": "smallest group",
    "l-diversity": "least diverse group",
    "p-sensitive": "fewest values",
    "alpha-k": "largest share",
    "t-closeness": "largest distance",
    "kl-diversity": "nearest to breaking it",
    "k-km-anonymity": "nearest to breaking it",
}


def promise_in_words(guarantee: NamedModel, noun: str) -> str:
    """Return what a guarantee promises, in a sentence; ``noun`` is what it counts, ``records`` or ``people``."""
    sensitive = guarantee.get("sensitive", "")
    named = sensitive if isinstance(sensitive, str) else ", ".join(sensitive)
    kind = "different" if guarantee.get("variant", "distinct") == "distinct" else "well-represented"
    words = {**guarantee, "over": ", ".join(guarantee["attributes"]), "sensitive": named, "noun": noun, "kind": kind}
    return PROMISES[guarantee["model"]].format_map(words)


def visible(text: str) -> str:
    """Return a text whose control characters are written out, as ``\\x1b``, so that a terminal does not obey them.

    Names of columns and files come from others. Line breaks and tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode() if category(char) in {"Cc", "Cf", "Cs"} and char not in "\n\t" else char
        for char in text
    )
