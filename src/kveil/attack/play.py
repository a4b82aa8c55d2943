"""Play every attack that a policy and its tables allow."""

from __future__ import annotations

from typing import Any

from kveil.attack.disclose import disclosure
from kveil.attack.fingerprints import fingerprints, inconsistency
from kveil.attack.link import attackers_file, linking, refinement
from kveil.attack.match import Ints
from kveil.attack.words import knowing, sentence
from kveil.attack.world import World, world_of
from kveil.files import Source
from kveil.policy.model import Policy, sensitive_of

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


def _individuals(world: World, release: Source) -> list[dict[str, Any]]:
    found = [inconsistency(world, release)] if world.policy.quasi_identifiers else []
    for name in _telling(world):
        found += fingerprints(world, name, (None, 1, 2))
    return found


def play(
    policy: Policy, original: Source, release: Source, places: Ints, attacker: Source | None = None
) -> dict[str, Any]:
    """Return every attack with its success before and after, as plain data without a value of the tables.

    ``places`` gives every released row's row in the original. Before: the attacker has the original itself,
    without its identifiers. After: the attacker has the release.
    """
    world = world_of(policy, original, release, places)
    found: list[dict[str, Any]] = []
    for names in _known(policy):
        found += linking(world, names)
    asked = _disclosures(world)
    for sensitive, names in asked:
        found += disclosure(world, sensitive, names, len(asked))
    if world.persons:
        found += _individuals(world, release)
    if policy.dependencies:
        played = [refinement(world, names) for names in _known(policy)]
        found += [entry for entry in played if entry is not None]
    if attacker is not None:
        found.append(attackers_file(world, original, attacker))
    covered = [set(policy.attributes_of(model)) for model in policy.privacy]
    for entry in found:
        if entry["attack"] in {"prosecutor", "journalist", "marketer", "dependencies"}:
            entry["promised"] = any(set(entry["attributes"]) <= names for names in covered)
        entry["knowing"] = knowing(entry["attributes"], policy.quasi_identifiers)
        entry["sentence"] = sentence(entry, world.noun)
    return {
        "assumption": ASSUMPTION,
        "counts": "persons" if world.persons else "records",
        "original": world.people,
        "released": world.after.height,
        "attacks": found,
    }
