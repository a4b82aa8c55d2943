"""What stands out among attacks: the one that succeeds most beyond a guess, and why a guess can still be right."""

from __future__ import annotations

from dataclasses import dataclass

from kveil.attacker.attacks import Attacks, Disclosure, RatedAttack
from kveil.attacker.sentences import percent, picture_line, subject
from kveil.policy.model import Policy
from kveil.policy.privacy import LDiversity, PrivacyModel, TCloseness, distinct_values, single_sensitive
from kveil.words import ATTACKS, count

LEAST_GAIN = 0.1  # of those whom a guess gets wrong; below that it is the guess that is right


@dataclass(frozen=True)
class WorstAttack:
    """The attack that succeeds most on a release: in words, with its rates, and what a guess without rows comes to.

    ``guessed`` tells that others have a higher rate, which a guess without rows comes near to.
    """

    told: str
    before: float
    after: float
    guess: float | None
    others: int
    guessed: bool = False


def worst_attack(attacks: Attacks) -> WorstAttack | None:
    """Return the attack with the highest success on the release; of equals the first that was played.

    One that a guess without any row does nearly as well is passed over where another one gets through.
    """
    played = [attack for attack in attacks.attacks if isinstance(attack, RatedAttack) and attack.after.targets]
    if not played:
        return None
    worst = max(played, key=lambda attack: (_gets_through(attack), attack.after.rate))
    told = picture_line(worst) or f"{ATTACKS[worst.attack]} by {subject(worst)}"
    guess = worst.guess if isinstance(worst, Disclosure) else None
    if guess is not None and picture_line(worst) is None:
        told = f"{ATTACKS[worst.attack]}: {subject(worst)}"
    guessed = max(attack.after.rate for attack in played) > worst.after.rate
    return WorstAttack(told, worst.before.rate, worst.after.rate, guess, len(played) - 1, guessed)


def _gets_through(attack: RatedAttack) -> bool:
    """Tell whether an attack is right for enough of those whom a guess at the most frequent value gets wrong."""
    guess = attack.guess if isinstance(attack, Disclosure) else 0.0
    rate = attack.after.rate
    return rate > 0 and rate - guess >= LEAST_GAIN * (1 - guess)


def why_guesses_succeed(policy: Policy, attacks: Attacks) -> list[str]:
    """Say, for every sensitive column that a model asks to be diverse, why guesses at it are still right that often."""
    told = []
    for name in policy.with_role("sensitive"):
        guesses = [
            attack
            for attack in attacks.attacks
            if isinstance(attack, Disclosure) and attack.attack == "best guess" and attack.sensitive == name
            if attack.after.targets
        ]
        limits = [limit for model in policy.privacy if (limit := _limit(model, name)) is not None]
        if guesses and limits:
            worst = max(guesses, key=lambda attack: attack.after.rate)
            told.append(
                f"A guess at {name} is right for {percent(worst.after.rate)}, though it is protected: {limits[0]} "
                f"Without any row, naming its most frequent value is right for {percent(worst.guess)} already; what "
                "the release adds to that is what it tells."
            )
    return told


def _limit(model: PrivacyModel, name: str) -> str | None:
    """Return what a model of a sensitive attribute leaves possible; None where it is about another one."""
    if single_sensitive(model) != name:
        return None
    least = distinct_values(model)
    if least is not None:
        return (
            f"{count(least, 'different value')} in every group may be nearly all the same one. To bound the most "
            "frequent one, ask for `variant: frequency`, or for t-closeness."
        )
    if isinstance(model, LDiversity):
        return (
            f"`variant: {model.variant}` bounds how uneven the values of a group are, and in a group that is as uneven "
            "as that the most frequent one is still a good guess."
        )
    if isinstance(model, TCloseness):
        return f"t-closeness keeps groups near to the whole table, up to {model.t}: what is frequent there stays so."
    return None
