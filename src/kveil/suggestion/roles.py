"""Guess what each column is, from its name, its values' forms and how unique they are; every guess has its reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kveil.policy.attributes import Role
from kveil.suggestion.hierarchy_guesses import (
    Way,
    codes,
    countries,
    dates,
    first_of,
    icd,
    mask,
    numbers,
    prefixes,
    states,
)
from kveil.suggestion.number_categories import spans
from kveil.suggestion.profile import Profile
from kveil.suggestion.value_shapes import (
    are_codes,
    are_hashes,
    are_sexes,
    clock,
    is_money,
    names_of_people,
    tells_nothing_of_years,
)
from kveil.suggestion.vocabulary import (
    AGES,
    BIRTHS,
    CODED,
    COUNTING,
    DIAGNOSES,
    HOUSEHOLDS,
    KNOWN_CATEGORIES,
    NAMING,
    NOT_A_PERSON,
    NUMBERING,
    PERSONS,
    PLACES,
    PLAIN_NAMES,
    PSEUDONYMS,
    SECRETS,
    SEXES,
    STUDIED,
    ZIPS,
    hit,
    words_of,
)
from kveil.words import count

LONG_TEXT = 40  # characters


@dataclass(frozen=True)
class Guess:
    """What a column may be, and why; ``doubtful`` asks the steward to look."""

    profile: Profile
    role: Role
    reason: str
    way: Way | None = None
    doubtful: bool = False

    @property
    def name(self) -> str:
        """The column."""
        return self.profile.name


def _names_people(profile: Profile, words: list[str]) -> str | None:
    naming = hit(words, NAMING)
    if naming in PLAIN_NAMES and set(words) & NOT_A_PERSON:
        return None
    if naming == "nombre" and profile.numbers is not None:  # a name in Spanish, a number in French
        return None
    return naming


def _numbers_things(words: list[str]) -> bool:
    """Tell whether a name is that of a number somebody was given; ``number of visits`` and ``num_visits`` count."""
    return bool(hit(words[1:] if words and words[0] in COUNTING and len(words) > 1 else words, NUMBERING))


def _form_that_names(profile: Profile) -> str | None:
    for form, told in (
        ("email", "e-mail addresses"),
        ("url", "web addresses"),
        ("uuid", "UUIDs"),
        ("ip", "IP addresses"),
    ):
        if profile.share(form) > 0.5:
            return told
    separated = [text for text in profile.some if not text.isdigit() and not text.startswith("-")]
    if len(separated) > 0.5 * len(profile.some) and profile.share("phone") > 0.8 and not _of_other_kinds(profile):
        return None if profile.numbers is not None or spans(profile) is not None else "phone numbers"
    return None


def _of_other_kinds(profile: Profile) -> bool:
    """Tell whether half of what has the form of telephone numbers are dates or fractions."""
    return _dates(profile) + profile.share("fraction") >= 0.5


def _dates(profile: Profile) -> float:
    """Return how many of the texts are dates or months, in whatever notations: ISO dates are of ``year_first``, too."""
    return sum(profile.share(form) for form in ("year_first", "day_first", "month"))


def _is_date(profile: Profile) -> bool:
    return _dates(profile) > 0.9


def hierarchy_for(profile: Profile) -> Way:
    """Return how a quasi-identifier's values become coarser."""
    words = words_of(profile.name)
    if hit(words, ZIPS) or (
        profile.share("digits") == 1 and any(text.startswith("0") and len(text) > 1 for text in profile.texts[:50])
    ):
        return first_of(profile, mask)
    if hit(words, AGES):
        return first_of(profile, lambda p: numbers(p, age=True), spans)
    if profile.whole and (hit(words, CODED) or are_codes(profile)):
        return first_of(profile, states, codes)
    trees = [dates, clock, spans]
    if set(words) & {"country", "nation", "nationality", "citizenship", "native"}:
        trees += [countries]
    elif set(words) & {"state", "province", "region"}:
        trees += [states, countries]
    else:
        trees += [states, countries] if profile.distinct > 12 else []
    return first_of(profile, *trees, _numbers_if_many, prefixes)


def _numbers_if_many(profile: Profile) -> Way | None:
    return numbers(profile) if profile.distinct > 4 else None


def guess_column(profile: Profile) -> Guess:
    """Return what one column may be, looking at nothing but itself."""
    words = words_of(profile.name)
    if profile.distinct == 0:
        return Guess(profile, "insensitive", "it has no values")
    if profile.distinct == 1 and profile.missing == 0:
        return Guess(profile, "insensitive", "all records have the same value")
    named = _names_somebody(profile, words)
    if named is not None:
        return named
    if profile.length > LONG_TEXT or (profile.words > 5 and profile.uniqueness > 0.2):
        return Guess(profile, "identifier", "free text can name anybody; it is left out", doubtful=True)
    if are_sexes(profile):
        return _quasi(profile, "its values are sexes: others can know it of a person")
    if hit(words, SECRETS) and not hit(words, BIRTHS) and not _is_date(profile):
        coded = hit(words, DIAGNOSES) and not set(words) & COUNTING
        hierarchy = icd(profile) if coded else None
        return Guess(profile, "sensitive", f"{hit(words, SECRETS)!r} in its name: what people want kept", hierarchy)
    told = _known_of_people(profile, words)
    if told is not None:
        return _quasi(profile, f"{told!r} in its name: others can know it of a person")
    if hit(words, STUDIED) and profile.distinct <= FEW_NAMES:
        return Guess(profile, "sensitive", "it may be what the table is for: released, and protected", doubtful=True)
    if is_money(profile):
        return Guess(profile, "sensitive", "its values are amounts of money: what people want kept", doubtful=True)
    if clock(profile) is not None:
        return _quasi(profile, "times of day: others can know when something happened")
    if _is_date(profile):
        return _quasi(profile, "dates: others can know when something happened")
    if profile.distinct > 2 and profile.share("year") == 1:
        return _quasi(profile, "its values look like years: others can know when something happened", doubtful=True)
    return _by_values(profile, unique=profile.distinct == profile.known and profile.known > 1)


def _names_somebody(profile: Profile, words: list[str]) -> Guess | None:
    """Return the guess that a column names or numbers people or what is theirs, by its name or by its values."""
    form = _form_that_names(profile)
    if form is not None:
        return Guess(profile, "identifier", f"most values are {form}")
    naming = _names_people(profile, words)
    if naming is not None:
        few = profile.distinct <= FEW_NAMES and profile.uniqueness < 0.05
        return Guess(profile, "identifier", f"{naming!r} in its name says that it names somebody", doubtful=few)
    if not hit(words, PLACES | NOT_A_PERSON):
        people = names_of_people(profile)
        if people is not None:
            return Guess(profile, "identifier", f"many of its values are {people}")
    if are_hashes(profile):
        return Guess(profile, "identifier", "its values are hashes: they say nothing, and link records", doubtful=True)
    if hit(words, HOUSEHOLDS) and (_numbers_things(words) or set(words) <= HOUSEHOLDS) and profile.distinct > 20:
        reason = "it numbers households: whoever finds one member finds the others"
        return Guess(profile, "identifier", reason, doubtful=True)
    if _numbers_things(words) and not hit(words, AGES) and profile.uniqueness > 0.5:
        return Guess(profile, "identifier", f"its name numbers things, and {_told_unique(profile)}")
    return None


def _known_of_people(profile: Profile, words: list[str]) -> str | None:
    """Return the word of a name that says others can know it; a `year` in it only where the values can be years."""
    vocabulary = BIRTHS | AGES | SEXES | PLACES | KNOWN_CATEGORIES
    return hit(words, vocabulary - {"year", "date"} if tells_nothing_of_years(profile) else vocabulary)


FEW_NAMES = 50


def _told_unique(profile: Profile) -> str:
    if profile.distinct == profile.known:
        return "every record has its own value"
    return f"there are {profile.distinct:,} values for {count(profile.known, 'record')}"


def _quasi(profile: Profile, reason: str, *, doubtful: bool = False) -> Guess:
    way = hierarchy_for(profile)
    if way.builder is None and way.lines is None and profile.distinct > 0.5 * profile.known and profile.distinct > 20:
        return Guess(
            profile, "identifier", f"{reason}; but {_told_unique(profile)} and no way to group them", None, True
        )
    if way.doubtful and profile.uniqueness > 0.5 and profile.known > 20:
        return Guess(profile, "identifier", f"{reason}; but {_told_unique(profile)}, too many to group", None, True)
    return Guess(profile, "quasi-identifier", reason, way, doubtful)


def _by_values(profile: Profile, *, unique: bool) -> Guess:
    """Guess by values alone; nothing in the name helps."""
    if profile.numbers is not None:
        if unique and profile.whole and profile.known > 20:
            if _counts_through(profile):
                return Guess(profile, "identifier", "it counts the records through")
            return Guess(profile, "identifier", "every record has its own whole number: it may be an id", doubtful=True)
        if profile.distinct > 20:
            return _quasi(
                profile,
                f"{count(profile.distinct, 'different number')}: exact ones can single people out",
                doubtful=True,
            )
    elif profile.uniqueness > 0.5 and profile.known > 20:
        return Guess(profile, "identifier", f"{_told_unique(profile)}: it may name people", doubtful=True)
    elif profile.distinct > 50:
        reason = f"{count(profile.distinct, 'different value')}: rare ones can single people out"
        return _quasi(profile, reason, doubtful=True)
    return Guess(
        profile, "insensitive", f"only {count(profile.distinct, 'different value')}, nothing says who", doubtful=True
    )


def _counts_through(profile: Profile) -> bool:
    assert profile.numbers is not None
    return profile.numbers[-1] - profile.numbers[0] < 2 * profile.known


# ---------------------------------------------------------------------------------------------- several columns


Follows = Callable[[str], bool]


def find_individual(guesses: list[Guess], followed: Follows) -> Guess | None:
    """Return the column that says whose record it is, where people have several, as such a guess; else None.

    Its name numbers or names persons, and its values repeat: at least one record in fifty is not its person's
    first. Where the name is only that of a number, something must also follow from it (``followed``), as somebody's
    sex does.
    """
    best: tuple[bool, int, str] | None = None
    for guess in guesses:
        profile, words = guess.profile, words_of(guess.name)
        person = bool(hit(words, PERSONS)) and (
            len(words) == 1 or set(words) <= PERSONS | NUMBERING | PSEUDONYMS  # `subject_age` is an age
        )
        numbered = _numbers_things(words)
        repeats = profile.distinct < 0.98 * profile.known and profile.distinct > max(20, 0.02 * profile.known)
        if profile.missing or not (person or numbered) or not repeats or not profile.distinct >= 2:
            continue
        if hit(words, HOUSEHOLDS):  # several people share it
            continue
        if not person and guess.role != "identifier" and not (set(words) <= NUMBERING and followed(guess.name)):
            continue
        rank = (person, profile.distinct, guess.name)
        best = max(best, rank) if best is not None else rank
    if best is None:
        return None
    found = next(guess for guess in guesses if guess.name == best[2])
    per = found.profile.known / max(found.profile.distinct, 1)
    reason = f"it says whose record it is: {found.profile.distinct:,} of them with {per:.1f} records each"
    return replace(found, role="individual", reason=reason, way=None, doubtful=not best[0])


def as_role(guess: Guess, role: Role) -> Guess:
    """Return a guess with the role a steward gave it."""
    way = None
    if role == "quasi-identifier":
        way = guess.way or hierarchy_for(guess.profile)
    return replace(guess, role=role, reason="as you said", way=way, doubtful=False)
