"""What values alone say of a column, whatever its name: sexes, names of people, hashes, money, codes, times of day."""

from __future__ import annotations

import re
from decimal import Decimal

from kveil.policy.attributes import STAR
from kveil.suggestion.hierarchy_guesses import Way, known_table, tree_of
from kveil.suggestion.profile import Profile
from kveil.suggestion.vocabulary import without_accents

MEN = {
    "male", "man", "men", "males", "boy", "mann", "mannlich", "homme", "masculin", "hombre", "masculino", "uomo",
    "maschio", "homem", "varon",
}  # fmt: skip
WOMEN = {
    "female", "woman", "women", "females", "girl", "frau", "weiblich", "femme", "feminin", "mujer", "femenino",
    "feminino", "donna", "femmina", "mulher", "vrouw",
}  # fmt: skip
LETTERS = [set(pair) for pair in ("mf", "mw", "hf", "hm", "mv", "mk")]  # a man and a woman, or a woman and a man
NEITHER = {"x", "d", "other", "diverse", "divers", "nonbinary", "non-binary", "unknown", "u"}
SENTINELS = {Decimal(text) for text in ("8", "9", "88", "98", "99", "998", "999", "9999", "-1", "-9", "-99", "-999")}
_MONEY = re.compile(r"[-(]?(?:[$€£¥]|USD|EUR|GBP|CHF)\s?\d[\d., ']*\)?|\d[\d., ']*\s?(?:[€£¥$]|USD|EUR|GBP|CHF)")
_HASH = re.compile(r"(?=.*[a-f])(?=.*\d)[0-9a-f]{8,128}", re.IGNORECASE | re.ASCII)
_CLOCK = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?", re.ASCII)


def are_sexes(profile: Profile) -> bool:
    """Tell whether the values are sexes: one for men and one for women, and hardly anything else."""
    texts = {without_accents(text.strip().lower()) for text in profile.texts}
    either = texts - NEITHER
    in_words = either <= MEN | WOMEN and bool(either & MEN) and bool(either & WOMEN)
    return len(texts) <= 5 and (in_words or either in LETTERS)


def names_of_people(profile: Profile) -> str | None:
    """Return ``first names`` or ``last names`` where many of the records have a common one, of many different ones.

    The lists hold the most common ones of some languages: a column of names has a good part of its records there,
    and one of towns or products has not.
    """
    if profile.distinct < 10 or profile.numbers is not None:
        return None
    for kind in ("first", "last"):
        common = {without_accents(row["name"]) for row in known_table("names") if row["kind"] == kind}
        hits = [number for text, number in profile.counts if without_accents(text.strip().lower()) in common]
        if len(hits) >= 8 and sum(hits) >= 0.25 * profile.known:
            return f"{kind} names"
    return None


def are_hashes(profile: Profile) -> bool:
    """Tell whether the values are hexadecimal digests: pseudonyms, and of use only to link records."""
    return profile.distinct > 5 and _share(profile, _HASH) > 0.9


def is_money(profile: Profile) -> bool:
    """Tell whether the values are amounts with a currency."""
    return _share(profile, _MONEY) > 0.9


def _share(profile: Profile, pattern: re.Pattern[str]) -> float:
    return sum(pattern.fullmatch(text.strip()) is not None for text in profile.some) / max(len(profile.some), 1)


def are_codes(profile: Profile) -> bool:
    """Tell whether few whole numbers stand for something: the last of them, such as 9 or 99, is far off the others."""
    values = profile.numbers
    if values is None or not profile.whole or not 3 <= len(values) <= 30:
        return False
    if values[0] in SENTINELS and values[0] < 0 <= values[1]:
        return True
    return values[-1] in SENTINELS and values[-1] - values[-2] > 1 and values[-2] - values[0] <= 2 * len(values)


def clock(profile: Profile) -> Way | None:
    """Return times of day under their hour and a quarter of the day."""
    if _share(profile, _CLOCK) < 1:
        return None
    lines = []
    for text in sorted(profile.texts):
        hour = int(text.strip().split(":")[0])
        part = hour // 6 * 6
        # `14:00-14:59` would name 14:00, a time that somebody may have who is left out.
        lines.append((text, f"{hour:02d}h", f"{part:02d}h to before {part + 6:02d}h", STAR))
    tree = tree_of(lines)
    return Way("times of day: hour, quarter of the day", lines=tree) if tree else None


def tells_nothing_of_years(profile: Profile) -> bool:
    """Tell whether values cannot be years or dates, whatever the name says: yes or no, or a few small numbers."""
    numbers = profile.numbers
    small = numbers is not None and numbers[-1] < 100 and profile.distinct <= 2
    return small or (numbers is None and profile.distinct <= 2)
