"""Play every attack that a policy and its tables allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kveil.arrays import Longs
from kveil.attacker.attacks import Attack, Attacks, Recognition
from kveil.attacker.dependencies import refinement
from kveil.attacker.disclose import disclosure
from kveil.attacker.file_join import attackers_file
from kveil.attacker.fingerprints import play_fingerprints
from kveil.attacker.link import linking
from kveil.attacker.minimality import Remake, minimality
from kveil.attacker.missing import who_is_missing
from kveil.attacker.person_rows import inconsistency
from kveil.attacker.sentences import knowledge_in_words, names_in_words, sentence
from kveil.attacker.several import SideBySide, several_releases
from kveil.attacker.world import World, world_of
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.policy.privacy import sensitive_of
from kveil.progress import Progress, Stage, silent
from kveil.stopping import check_cancelled
from kveil.words import ATTACKS, plural_of

PlayAttack = Callable[[], Sequence[Attack]]
MOST_OTHERS = 3
ASSUMPTION = (
    "The attacker knows who is in the table, knows the named attributes of a person exactly, and has the release; "
    "the owner's file stays with the owner."
)


@dataclass(frozen=True)
class Means:
    """What an attacker has beside a release: a table with people in it, and kveil itself.

    ``remake`` makes the release of the table with other values of a sensitive attribute; ``releases`` are earlier ones
    beside the newest.
    """

    table: Source | None = None
    remake: Remake | None = None
    releases: SideBySide | None = None


def _known(policy: Policy) -> list[tuple[str, ...]]:
    """Return what an attacker may know: each model's attributes, and all quasi-identifiers together."""
    sets = [policy.attributes_of(model) for model in policy.privacy]
    return [names for names in dict.fromkeys([*sets, tuple(policy.quasi_identifiers)]) if names]


def _disclosures(world: World) -> list[tuple[str, tuple[str, ...]]]:
    """Return which sensitive attribute is looked for with which knowledge."""
    policy = world.policy
    pairs = [(name, policy.attributes_of(model)) for model in policy.privacy for name in sensitive_of(model)]
    pairs += [(name, tuple(world.policy.quasi_identifiers)) for name in _telling(world)]
    return [pair for pair in dict.fromkeys(pairs) if pair[1]]


def _telling(world: World) -> list[str]:
    """Return the sensitive attributes that are played on: those that models count, and a few that have most values."""
    counted = [name for model in world.policy.privacy for name in sensitive_of(model)]
    values = {name: items["item"].n_unique() for name, items in world.items_before.items()}
    others = sorted((name for name in values if name not in counted), key=lambda name: -values[name])
    return list(dict.fromkeys([*counted, *others[:MOST_OTHERS]]))


def _games(world: World, original: Source, release: Source, means: Means) -> list[PlayAttack]:
    """Return everything that is played, in order, each giving its entries."""
    policy = world.policy
    asked = _disclosures(world)
    games: list[PlayAttack] = [partial(linking, world, names) for names in _known(policy)]
    games += [partial(disclosure, world, sensitive, names, share=len(asked)) for sensitive, names in asked]
    games += [partial(who_is_missing, world, sensitive, names) for sensitive, names in asked]
    if means.remake is not None:
        games += [partial(minimality, world, sensitive, means.remake) for sensitive in _telling(world)]
    if means.releases is not None:
        games += [partial(several_releases, world, sensitive, means.releases) for sensitive in _telling(world)]
    if world.persons:
        if policy.quasi_identifiers:
            games.append(lambda: [inconsistency(world, release)])
        games += [partial(play_fingerprints, world, name, (None, 1, 2)) for name in _telling(world)]
    if policy.dependencies:
        games += [partial(refinement, world, names) for names in _known(policy)]
    if means.table is not None:
        games.append(partial(_joined, world, original, means.table))
    return games


def _joined(world: World, original: Source, table: Source) -> list[Attack]:
    return [attackers_file(world, original, table)]


def play(
    policy: Policy,
    original: Source,
    release: Source,
    places: Longs,
    *,
    means: Means = Means(),  # noqa: B008 (frozen)
    progress: Progress = silent,
) -> Attacks:
    """Return every attack with its success before and after, without a value of the tables.

    ``places`` gives every released row's row in the original. Before: the attacker has the original itself,
    without its identifiers. After: the attacker has the release, and ``means``.
    """
    world = world_of(policy, original, release, places)
    games = _games(world, original, release, means)
    attacks: list[Attack] = []
    for number, game in enumerate(games, 1):
        check_cancelled()
        progress(Stage.one_of("playing the attacker", number, len(games)))
        attacks += [_in_words(attack, world) for attack in game()]
    return Attacks(
        assumption=ASSUMPTION,
        counts=plural_of(world.noun),
        original=world.people,
        released=world.after.height,
        attacks=tuple(attacks),
    )


def _in_words(attack: Attack, world: World) -> Attack:
    if isinstance(attack, Recognition):
        knowing = knowledge_in_words(attack.items)
    else:
        knowing = names_in_words(attack.attributes, world.policy.quasi_identifiers)
    known = replace(attack, title=ATTACKS[attack.attack], knowing=knowing)
    return replace(known, sentence=sentence(known, world.noun, world.people))
