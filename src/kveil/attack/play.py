"""Play every attack that a policy and its tables allow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from kveil.arrays import Longs
from kveil.attack.disclose import disclosure
from kveil.attack.fingerprints import fingerprints, inconsistency
from kveil.attack.link import attackers_file, linking, refinement
from kveil.attack.words import knowing, sentence
from kveil.attack.world import World, world_of
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.policy.privacy import sensitive_of

Game = Callable[[], list[dict[str, Any]]]
MOST_OTHERS = 3
ASSUMPTION = (
    "The attacker knows who is in the table, knows the named attributes of a person exactly, and has the release; "
    "the owner's file stays with the owner."
)


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


def _games(world: World, original: Source, release: Source, attacker: Source | None) -> list[Game]:
    """Return everything that is played, in order, each giving its entries."""
    policy = world.policy
    asked = _disclosures(world)
    games: list[Game] = [partial(linking, world, names) for names in _known(policy)]
    games += [partial(disclosure, world, sensitive, names, len(asked)) for sensitive, names in asked]
    if world.persons:
        if policy.quasi_identifiers:
            games.append(lambda: [inconsistency(world, release)])
        games += [partial(fingerprints, world, name, (None, 1, 2)) for name in _telling(world)]
    if policy.dependencies:
        games += [partial(refinement, world, names) for names in _known(policy)]
    if attacker is not None:
        games.append(lambda: [attackers_file(world, original, attacker)])
    return games


def play(
    policy: Policy,
    original: Source,
    release: Source,
    places: Longs,
    attacker: Source | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> dict[str, Any]:
    """Return every attack with its success before and after, as plain data without a value of the tables.

    ``places`` gives every released row's row in the original. Before: the attacker has the original itself,
    without its identifiers. After: the attacker has the release.
    """
    world = world_of(policy, original, release, places)
    games = _games(world, original, release, attacker)
    found: list[dict[str, Any]] = []
    for number, game in enumerate(games, 1):
        progress(f"playing the attacker ({number} of {len(games)})")
        found += game()
    covered = [set(policy.attributes_of(model)) for model in policy.privacy]
    for entry in found:
        if entry["attack"] in {"prosecutor", "journalist", "marketer", "dependencies"}:
            entry["promised"] = any(set(entry["attributes"]) <= names for names in covered)
        entry["knowing"] = knowing(entry["attributes"], policy.quasi_identifiers)
        entry["sentence"] = sentence(entry, world.noun, world.people)
    return {
        "assumption": ASSUMPTION,
        "counts": "persons" if world.persons else "records",
        "original": world.people,
        "released": world.after.height,
        "attacks": found,
    }
