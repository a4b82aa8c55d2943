"""What the privacy models of a policy come to together: components, implied constraints, the largest k, the limit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kveil.policy.keys import PolicyKeys
from kveil.policy.privacy import KAnonymity, named_k, sensitive_of


@dataclass(frozen=True)
class Component:
    """An independent constraint subset: models that share attributes, transitively, and those attributes.

    Each component owns its columns alone; suppression is decided per component (Yang et al. 2006, definition 4).
    """

    attributes: tuple[str, ...]
    models: tuple[int, ...]


def components(policy: PolicyKeys) -> tuple[Component, ...]:
    """Return the components of a policy, in the order of their first attribute.

    ``models`` are positions in ``policy.privacy``. Without quasi-identifiers, as for plain sets of items, all models
    are about the one class of all individuals.
    """
    names = policy.quasi_identifiers
    if not names:
        return (Component((), tuple(range(len(policy.privacy)))),)
    order = {name: position for position, name in enumerate(names)}
    over = [[order[name] for name in policy.attributes_of(model)] for model in policy.privacy]
    leader = list(range(len(names)))

    def find(place: int) -> int:
        while leader[place] != place:
            leader[place] = leader[leader[place]]  # paths are halved: a table may have a thousand columns
            place = leader[place]
        return place

    for first, *others in over:
        for other in others:
            low, high = sorted((find(first), find(other)))
            leader[high] = low
    attributes: dict[int, list[str]] = {}  # by the first attribute of each component
    for place, name in enumerate(names):
        attributes.setdefault(find(place), []).append(name)
    models: dict[int, list[int]] = {top: [] for top in attributes}
    for i, places in enumerate(over):
        models[find(places[0])].append(i)
    return tuple(Component(tuple(own), tuple(models[top])) for top, own in attributes.items())


def implications(policy: PolicyKeys) -> dict[int, int]:
    """Return the k-anonymity constraints that another one implies, as position → position of the other.

    ``C1 ≼ C2`` where C1's attributes are a subset of C2's and its k is no larger (Yang et al. 2006, definition 3);
    of two equal ones the later is implied.
    """
    plain = [
        (i, frozenset(policy.attributes_of(model)), model.k)
        for i, model in enumerate(policy.privacy)
        if isinstance(model, KAnonymity)
    ]
    found: dict[int, int] = {}
    for i, attributes, k in plain:
        for j, larger, other in plain:
            same = attributes == larger and k == other
            if i != j and attributes <= larger and k <= other and (not same or j < i):
                found[i] = j
                break
    return found


def binding(policy: PolicyKeys) -> tuple[int, ...]:
    """Return the places in `privacy` of the models that no other one implies."""
    skip = implications(policy)
    return tuple(i for i in range(len(policy.privacy)) if i not in skip)


def binding_sets(policy: PolicyKeys) -> frozenset[tuple[str, ...]]:
    """Return the sets of attributes that models are over, without models that another one implies."""
    return frozenset(policy.attributes_of(policy.privacy[i]) for i in binding(policy))


def components_suppressed_with(policy: PolicyKeys) -> tuple[frozenset[int], ...]:
    """Return, per component, the components that a record suppressed in it is suppressed in, itself included.

    A dropped record is gone from all, and so is a person as a whole. A starred record must not publish the sensitive
    value that it could not be given a group for: it is also suppressed in every component whose models name one of the
    same sensitive attributes, and so on from there.
    """
    parts = components(policy)
    everyone = frozenset(range(len(parts)))
    if policy.suppression.show == "drop" or policy.individual_column is not None:
        return tuple(everyone for _ in parts)
    named = [sensitive_in(policy, part) for part in parts]
    together = [{c} for c in range(len(parts))]
    for reached in together:
        while True:
            sensitive = frozenset[str]().union(*(named[c] for c in reached))
            more = {c for c in everyone - reached if named[c] & sensitive}
            if not more:
                break
            reached |= more
    return tuple(frozenset(reached) for reached in together)


def sensitive_in(policy: PolicyKeys, part: Component) -> frozenset[str]:
    """Return the sensitive attributes that the models of a component name."""
    return frozenset(name for i in part.models for name in sensitive_of(policy.privacy[i]))


def sensitive_starred_with(policy: PolicyKeys) -> tuple[frozenset[str], ...]:
    """Return, per component, the sensitive attributes whose cells show `*` where a record is starred in it.

    Those that a model of the components it is suppressed in names, and those that no model names at all.
    """
    parts = components(policy)
    named = [sensitive_in(policy, part) for part in parts]
    unnamed = frozenset(policy.with_role("sensitive")).difference(*named)
    return tuple(unnamed.union(*(named[c] for c in together)) for together in components_suppressed_with(policy))


def largest_k(policy: PolicyKeys) -> int:
    """Return the largest k that any model of a policy asks for, 1 where none has a k."""
    return max((named_k(model) or 1 for model in policy.privacy), default=1)


def most_suppressed(policy: PolicyKeys, records: int) -> int:
    """Return how many records may be suppressed: the limit is a fraction, reckoned exactly."""
    return int(Fraction(policy.suppression.limit) * records)
