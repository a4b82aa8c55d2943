"""From guesses about columns to a whole policy: who has several records, what must hold, what follows from what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace

import polars as pl

from kveil.discover.coded_columns import Columns
from kveil.errors import DataError
from kveil.files import Source
from kveil.policy.numbers import parse_number
from kveil.suggestion.column_labels import guess_with_notes
from kveil.suggestion.hierarchy_guesses import Order, balanced_runs, runs_of_people
from kveil.suggestion.profile import Profile, count_texts, missing_in, profile_of, usual_k
from kveil.suggestion.roles import Guess, find_individual, hierarchy_for
from kveil.words import count, row_noun

Correct = Callable[[list[Guess]], list[Guess]]
_K_REASONS = {
    1: " nothing can be hidden: with one there is nobody to hide among",
    2: "; a table this small allows no more",
    3: "; 5 or more is usual for larger tables",
    5: "; the least one usually finds recommended",
    10: "; a table this large can afford it, 5 is the least one finds recommended",
}


@dataclass(frozen=True)
class SensitiveModel:
    """The model that is suggested for a sensitive attribute, with its settings, or, without one, the reason."""

    name: str
    model: str | None
    settings: tuple[tuple[str, str], ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Suggestion:
    """A policy to be: the guesses, and what follows from them together."""

    source: Source
    missing: list[str]
    guesses: list[Guess]
    conflicts: bool  # records of one person disagree on a quasi-identifier
    k: int
    k_reason: str
    _: KW_ONLY
    models: tuple[SensitiveModel, ...]  # what is suggested for each sensitive attribute, or why nothing is
    follows: tuple[tuple[str, str], ...]  # (left, right): right follows from left in this table
    limit: str = "0.05"  # of suppression
    most: int | None = None  # sensitive attributes that models are kept for, where the table cannot keep all

    def with_role(self, role: str) -> list[str]:
        """Return the columns of a role."""
        return [guess.name for guess in self.guesses if guess.role == role]


def _columns(source: Source) -> dict[str, pl.Series | None]:
    """Return every column as texts, None for one that cannot be read as such."""
    found: dict[str, pl.Series | None] = {}
    for name in source.frame.columns:
        try:
            found[name] = source.texts(name)
        except DataError:
            found[name] = None
    return found


def _looks_like_data(source: Source) -> bool:
    """Tell whether a CSV's names look like a record: a number, a date or a missing mark among them.

    A first column without a name is none: other programs number the rows so.
    """
    if source.kind != "csv":
        return False
    names = [name.strip() for name in source.frame.columns]
    if any(parse_number(name) is not None or name in {"?", "NA"} for name in names):
        return True
    return "" in names[1:]


def suggest(source: Source, correct: Correct | None = None) -> Suggestion:
    """Return a policy for a table; ``correct`` may change the guesses before anything is built on them."""
    if not source.frame.width:
        raise DataError(f"{source.name} has no columns; give a table.")
    if _looks_like_data(source):
        raise DataError(
            f"{source.name}: the first line looks like a record, not like names of columns; name "
            "the columns with --columns, or add a line of names first."
        )
    if source.rows == 0:
        raise DataError(f"{source.name} has no records, so there is nothing to look at; give a table with some.")
    columns = _columns(source)
    texts = {name: column for name, column in columns.items() if column is not None}
    counted = {name: count_texts(column) for name, column in texts.items()}
    missing = missing_in(counted.values())
    if any((own["text"] == "*").any() for own in counted.values()):
        missing = [*(missing or [""]), "*"]
    guesses = []
    for name in columns:
        if name not in counted:
            guesses.append(Guess(Profile(name, source.rows, [], 0), "identifier", "kveil cannot read its type as text"))
        else:
            profile = profile_of(name, counted[name], frozenset(missing))
            guesses.append(guess_with_notes(profile, source.codebook.of(name)))
    coded = Columns(pl.DataFrame(texts))
    individual = find_individual(guesses, lambda name: _something_follows(name, guesses, coded))
    if individual is not None:
        guesses = [individual if guess.name == individual.name else guess for guess in guesses]
    if correct is not None:
        guesses = correct(guesses)
    guesses = _some_quasi(guesses)
    guesses, follows = _following(guesses, coded)
    guesses, conflicts = _of_several_records(guesses, texts, missing)
    guesses = [_named_by_people(guess, guesses, texts) for guess in guesses]
    k, reason = _suggest_k(guesses, source.rows, texts)
    sensitive = sorted((guess for guess in guesses if guess.role == "sensitive"), key=lambda guess: guess.doubtful)
    sets = any(guess.role == "individual" for guess in guesses)
    models = tuple(_model_for(guess.profile, sets=sets) for guess in sensitive)  # what is surely sensitive first
    return Suggestion(source, missing, guesses, conflicts, k, reason, models=models, follows=follows)


def _something_follows(left: str, guesses: list[Guess], columns: Columns) -> bool:
    """Tell whether some column with several values, but fewer, is always the same where this one is."""
    place = {name: i for i, name in enumerate(columns.names)}
    most = columns.groups((place[left],))
    return any(
        columns.follows(place[left], place[guess.name])
        for guess in guesses
        if guess.name != left and guess.name in place and 1 < guess.profile.distinct <= most / 2
    )


def _some_quasi(guesses: list[Guess]) -> list[Guess]:
    """Make the likeliest columns quasi-identifiers where there is none: a policy protects something."""
    if any(guess.role == "quasi-identifier" for guess in guesses):
        return guesses
    usable = [g for g in guesses if g.role in {"insensitive", "sensitive"} and g.profile.distinct > 1]
    usable = usable or [g for g in guesses if g.role != "individual"] or guesses
    chosen = {g.name for g in usable if g.role == "insensitive"} or {usable[0].name}
    return [
        replace(
            guess,
            role="quasi-identifier",
            reason="nothing else can be protected, so this is",
            way=hierarchy_for(guess.profile),
            doubtful=True,
        )
        if guess.name in chosen
        else guess
        for guess in guesses
    ]


def _following(guesses: list[Guess], columns: Columns) -> tuple[list[Guess], tuple[tuple[str, str], ...]]:
    """Return which columns follow from a quasi-identifier; one that is released as is would give it back.

    So would one that nearly follows, such as a precinct beside its neighbourhood, and one that a quasi-identifier
    follows from: all of these become quasi-identifiers too.
    """
    place = {name: i for i, name in enumerate(columns.names)}
    quasi = [
        g
        for g in guesses
        if g.role == "quasi-identifier" and g.name in place and 2 < g.profile.distinct < 0.2 * g.profile.rows
    ]
    rules: list[tuple[str, str]] = []
    changed = {guess.name: guess for guess in guesses}
    for left in quasi:
        for right in guesses:
            if right.name == left.name or right.name not in place or right.profile.distinct < 2:
                continue
            if right.role not in {"quasi-identifier", "insensitive"}:
                continue
            pair = place[left.name], place[right.name]
            exact = 2 < right.profile.distinct <= left.profile.distinct and columns.follows(*pair)
            if exact:
                rules.append((left.name, right.name))
            told = f"it follows from {left.name}" if exact else _telling(columns, left.name, *pair)
            if told and changed[right.name].role == "insensitive":
                reason = f"{told}, and would give back what is hidden there"
                way = hierarchy_for(right.profile)
                changed[right.name] = replace(right, role="quasi-identifier", reason=reason, way=way)
    return [_in_order(changed[guess.name], changed, rules, columns.texts) for guess in guesses], tuple(rules)


def _telling(columns: Columns, name: str, quasi: int, other: int) -> str | None:
    """Say how a column tells a quasi-identifier of this name, or is told by it; None where it does neither."""
    if columns.nearly_follows(quasi, other):
        return f"it {'' if columns.follows(quasi, other) else 'nearly '}follows from {name}"
    if columns.nearly_follows(other, quasi):
        return f"{name} {'' if columns.follows(other, quasi) else 'nearly '}follows from it"
    return None


def _in_order(guess: Guess, guesses: dict[str, Guess], rules: list[tuple[str, str]], frame: pl.DataFrame) -> Guess:
    """Put values that have a number each, in another column, into the order of these numbers where nothing is known."""
    if guess.way is None or not guess.way.doubtful or guess.way.lines is None or guess.profile.numbers is not None:
        return guess
    for left, right in rules:
        other = guesses[right].profile
        if left == guess.name and other.numbers is not None and other.distinct == guess.profile.distinct:
            pairs = frame.select(left, right).unique().drop_nulls()
            numbers = {text: parse_number(number) for text, number in pairs.iter_rows()}
            order = {text: number for text, number in numbers.items() if number is not None}
            if all(text in order for text in guess.profile.texts):
                way = balanced_runs(guess.profile, order=Order(order, right), told=f"by {right}")
                way = replace(way, doubtful=False)
                return replace(guess, way=way)
    return guess


def _of_several_records(
    guesses: list[Guess], texts: dict[str, pl.Series], missing: list[str]
) -> tuple[list[Guess], bool]:
    """Fit the roles to people with several records: what varies within a person cannot be released as is."""
    individual = next((guess.name for guess in guesses if guess.role == "individual"), None)
    if individual is None:
        return guesses, False
    frame = pl.DataFrame(texts)
    frame = frame.with_columns(pl.when(pl.all().is_in(missing)).then(None).otherwise(pl.all()).name.keep())
    varies = frame.group_by(individual).agg(pl.exclude(individual).n_unique()).select(pl.exclude(individual).max() > 1)
    fitted = []
    conflicts = False
    for guess in guesses:
        if guess.name == individual or guess.name not in texts:
            fitted.append(guess)
            continue
        differs = bool(varies[guess.name].item())
        if guess.role == "quasi-identifier" and differs:
            conflicts = True
        if guess.role == "insensitive" and differs:
            guess = replace(
                guess, role="sensitive", reason=f"{guess.reason}; it varies within a person: released as a set"
            )
        if guess.role == "sensitive" and any("|" in text for text in guess.profile.texts):
            reason = "its values contain `|`, which separates the items of a set; rename them to release it"
            guess = replace(guess, role="identifier", reason=reason, way=None, doubtful=True)
        fitted.append(guess)
    return fitted, conflicts


def _named_by_people(guess: Guess, guesses: list[Guess], texts: dict[str, pl.Series]) -> Guess:
    """Name runs of values by how many people have each, where people have several records."""
    individual = next((other.name for other in guesses if other.role == "individual"), None)
    if individual is None or guess.way is None or guess.way.runs is None or guess.name not in texts:
        return guess
    pairs = pl.DataFrame({"person": texts[individual], "value": texts[guess.name]}).unique()
    people = dict(pairs.drop_nulls().group_by("value").len().iter_rows())
    return replace(guess, way=runs_of_people(guess.way, people, usual_k(texts[individual].n_unique())))


def _suggest_k(guesses: list[Guess], rows: int, texts: dict[str, pl.Series]) -> tuple[int, str]:
    individual = next((guess.name for guess in guesses if guess.role == "individual"), None)
    people = rows if individual is None else texts[individual].n_unique()
    noun = row_noun(people=individual is not None)
    k = usual_k(people)
    return k, f"for {count(people, noun)}{_K_REASONS[k]}"


MANY_NUMBERS = 10  # of which near ones tell nearly the same, so that different ones protect little


def _model_for(profile: Profile, *, sets: bool) -> SensitiveModel:
    """Return a model for a sensitive attribute, or why none makes sense; ``sets``: people have several values."""
    if profile.distinct < 2:
        return SensitiveModel(profile.name, None, reason="it has one value only, which everybody has")
    if profile.missing >= 0.5 * profile.rows:
        share = f"{profile.missing / profile.rows:.0%}"
        return SensitiveModel(
            profile.name, None, reason=f"{share} of the records have no value: decide what that tells"
        )
    most = profile.counts[0][1]
    if most > 0.95 * profile.known:
        reason = f"{most / profile.known:.1%} have one value, so that no group can be asked to have another beside it"
        return SensitiveModel(profile.name, None, reason=reason)
    if profile.numbers is not None and profile.distinct > MANY_NUMBERS and not sets:
        return SensitiveModel(profile.name, "t-closeness", (("t", "0.3"), ("distance", "ordered")))
    return SensitiveModel(profile.name, "l-diversity", (("l", "2"),))
