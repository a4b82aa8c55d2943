"""Attacks in sentences that a steward can repeat."""

from __future__ import annotations

from collections.abc import Sequence

from kveil.attacker.attacks import (
    Attack,
    Disclosure,
    FileJoin,
    Inconsistency,
    Linking,
    LinkingByRules,
    MissingPeople,
    RatedAttack,
    Recognition,
    Rerun,
    SeveralReleases,
)
from kveil.attacker.rate import Rate
from kveil.words import count, listing, plural_of


def percent(share: float) -> str:
    """Return a share for people: ``3.1 %``, never 0 or 100 where it is not."""
    if 0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1:
        return "over 99.99 %"
    shown = f"{share * 100:.2f}" if share < 0.01 or share > 0.99 else f"{share * 100:.1f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown) + " %"


def between(rate: Rate) -> str:
    """Return a rate's interval in words."""
    low, high = rate.interval
    return f"95 % sure between {percent(low)} and {percent(high)}"


def _odds(chance: float) -> str:
    if chance >= 1:
        return "certain"
    return f"1 in {1 / chance:,.0f}" if chance > 0 else "none"


def _worst(before: Rate, after: Rate, noun: str, everyone: int) -> str:
    """Tell how exposed the most exposed are, before and after; of a sample, how many it has."""
    if before.certain or after.certain:
        now = count(after.certain, noun) if after.certain else "nobody"
        rest = "" if after.certain else f"; the best chance is {_odds(after.worst)}"
        sampled = before.targets < everyone and after.targets < everyone
        drawn = f" of {before.targets:,} drawn by lot" if sampled else ""
        return f" Found for certain{drawn}: {count(before.certain, noun)} in the original, {now} in the release{rest}."
    return f" The best chance was {_odds(before.worst)} and is {_odds(after.worst)}."


def knowledge_in_words(number: int | None) -> str:
    """Return in words how much somebody knows of what a person has."""
    if number is None:
        return "everything"
    return "only the rarest value" if number == 1 else f"only the {number} rarest values"


def names_in_words(names: Sequence[str], everything: Sequence[str]) -> str:
    """Return what an attacker knows, in words; all quasi-identifiers are not listed one by one."""
    if len(names) > 4 and len(names) == len(everything):
        return f"all {len(names)} quasi-identifiers"
    return listing(list(names), 12)


def picture_line(attack: Attack) -> str | None:
    """Return what stands beside an attack in a picture: short, and different for each; None where it is not drawn."""
    match attack:
        case Linking(attack="prosecutor"):
            return f"Finding a row by {attack.knowing}"
        case Disclosure(attack="homogeneity"):
            return f"Reading {attack.sensitive} by {attack.knowing}"
        case Disclosure(attack="best guess"):
            return f"Guessing {attack.sensitive} by {attack.knowing}"
        case SeveralReleases():
            return f"Guessing {attack.sensitive} by {count(attack.releases, 'release')}"
        case Recognition():
            return f"Recognizing by {knowledge_in_words(attack.items).removeprefix('only ')} of {attack.sensitive}"
    return None


def subject(attack: Attack) -> str:
    """Return in a few words what an attack is after, and by what."""
    if isinstance(attack, (MissingPeople, Rerun, SeveralReleases)):
        return f"{attack.sensitive} by {attack.knowing}"
    if isinstance(attack, Recognition):
        items = "all values" if attack.items is None else f"the rarest {count(attack.items, 'value')}"
        return f"{attack.sensitive} by {items}"
    return f"{attack.sensitive} by {attack.knowing}" if isinstance(attack, Disclosure) else attack.knowing


def sentence(attack: Attack, noun: str, everyone: int) -> str:
    """Return one attack on a table of so many records or people as a few sentences."""
    if isinstance(attack, FileJoin):
        return _file(attack)
    assert isinstance(attack, RatedAttack)
    before, after = attack.before, attack.after
    if not after.targets:
        if isinstance(attack, MissingPeople):
            left = count(attack.left_out, noun)
            return f"Everybody of the {left} left out fits some released row: nobody is seen to be missing."
        shown = attack.sensitive if isinstance(attack, Recognition) else attack.knowing
        return f"No released row shows anything of {shown}: there is nothing to start from."
    told = _told(attack, noun)
    if attack.attack in {"prosecutor", "journalist", "fingerprint"}:
        told += _worst(before, after, noun, everyone)
    if isinstance(attack, Linking) and not attack.promised:
        told += " No model of the policy covers these attributes together: it promises nothing against this."
    return told


def _told(attack: RatedAttack, noun: str) -> str:
    """Return what an attacker does, and how often it succeeds."""
    known = attack.knowing
    was, now, sure = percent(attack.before.rate), percent(attack.after.rate), between(attack.after)
    cases = f"in {now} of cases ({sure}); in the original it was {was}."
    people = f"for {now} of {plural_of(noun)} ({sure}); in the original for {was}."
    match attack:
        case LinkingByRules():
            rules = listing([f"`{rule}`" for rule in attack.rules])
            return (
                f"Somebody who knows {known} and the {'rule' if len(attack.rules) == 1 else 'rules'} {rules} finds the "
                f"row {cases} Without the rules: {percent(attack.without.rate)}."
            )
        case Linking(attack="prosecutor"):
            return (
                f"Somebody who knows {known} of one released {noun} and picks one of the rows that fit is right {cases}"
            )
        case Linking(attack="journalist"):
            return f"Somebody who picks a released row and names one of all who fit it by {known} is right {cases}"
        case Linking():
            return f"Somebody who knows {known} of everybody and links everybody to a row is right {cases}"
        case Disclosure(attack="homogeneity"):
            return (
                f"All rows that fit {known} show one and the same {attack.sensitive}, and it is the true one, {people}"
            )
        case Disclosure(attack="best guess"):
            return (
                f"Somebody who knows {known} and guesses the {attack.sensitive} that most of the rows that fit have is "
                f"right {people} Without any rows, guessing the most frequent value is right for "
                f"{percent(attack.guess)}."
            )
        case Disclosure():
            return f"Somebody who can also rule out the most frequent wrong {attack.sensitive} is right {people}"
        case Inconsistency(differing=0):
            start = "Every released person shows one value per attribute, so no rows can be put together; "
            return f"{start}somebody who knows {known} finds the right person {cases}"
        case Inconsistency():
            start = f"The rows of {count(attack.differing, 'released person')} show different values; put together, "
            return f"{start}somebody who knows {known} finds the right person {cases}"
        case MissingPeople():
            return _missing(attack, noun)
        case Rerun():
            return (
                f"Somebody who knows {known} of everybody and reruns kveil on the {attack.worlds:,} ways to give the "
                f"released {attack.sensitive} to people that the release allows keeps {attack.left:,} of them, and is "
                f"on average {now} sure of somebody's true value, without rerunning {percent(attack.without.rate)}; "
                f"certain of {count(attack.after.certain, noun)}, without rerunning of "
                f"{count(attack.without.certain, noun)}."
            )
        case SeveralReleases():
            return _several(attack, noun)
        case Recognition():
            items = knowledge_in_words(attack.items)
            return f"Somebody who knows {items} that a person has of {attack.sensitive} finds the person {cases}"
    raise TypeError(f"no words for {type(attack).__name__}")


def _several(attack: SeveralReleases, noun: str) -> str:
    now, alone, was = (percent(rate.rate) for rate in (attack.after, attack.one, attack.before))
    return (
        f"Somebody who knows {attack.knowing} of a person, and the quasi-identifiers of the earlier releases, keeps "
        f"the values of {attack.sensitive} that rows which fit have in all {attack.releases} releases, and guesses one "
        f"of them: right for {now} of {plural_of(noun)} ({between(attack.after)}), with the newest alone for {alone}, "
        f"in the original for {was}. Certain of {count(attack.after.certain, noun)}, with the newest alone of "
        f"{count(attack.one.certain, noun)}."
    )


def _missing(attack: MissingPeople, noun: str) -> str:
    now, was = percent(attack.after.rate), percent(attack.before.rate)
    return (
        f"Of {count(attack.left_out, noun)} left out, {attack.after.targets:,} fit no released row by "
        f"{attack.knowing}: whoever looks for them knows that they are missing. To guess that they have the "
        f"{attack.sensitive} that the release shows most often is right for {now} of them ({between(attack.after)}); "
        f"of everybody, for {was}."
    )


def _file(attack: FileJoin) -> str:
    drawn = "" if attack.drawn is None else f", of which {attack.drawn:,} were drawn by lot"
    start = (
        f"The attacker's file has {count(attack.rows, 'row')} with {attack.knowing}{drawn}. "
        f"Exactly one row fits {attack.matched['before']['one']:,} of them in the original and "
        f"{attack.matched['after']['one']:,} in the release."
    )
    if attack.judged_by is None or attack.before is None or attack.after is None:
        return start + " It shares no identifier with the original, so nobody can say which links are right."
    return (
        f"{start} Judged by {listing(list(attack.judged_by))}, of the {attack.before.targets:,} rows about people in "
        f"the table the attacker links {percent(attack.after.rate)} rightly ({between(attack.after)}); in the original "
        f"{percent(attack.before.rate)}."
    )
