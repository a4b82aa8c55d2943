"""What the parts of a policy mean together: checks across keys, components, implied constraints."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from kveil.errors import PolicyError
from kveil.words import did_you_mean, listing

if TYPE_CHECKING:
    from kveil.policy.model import Policy
    from kveil.policy.privacy import PrivacyModel


@dataclass(frozen=True)
class Component:
    """An independent constraint subset: models that share attributes, transitively, and those attributes.

    Each component owns its columns alone; suppression is decided per component (seed 001, definition 4).
    """

    attributes: tuple[str, ...]
    models: tuple[int, ...]


def components(policy: Policy) -> tuple[Component, ...]:
    """Return the components of a policy, in the order of their first attribute.

    ``models`` are positions in ``policy.privacy``. Without quasi-identifiers, as for plain sets of items, all models
    are about the one class of all individuals.
    """
    if not policy.quasi_identifiers:
        return (Component((), tuple(range(len(policy.privacy)))),)
    leader = {name: name for name in policy.quasi_identifiers}

    def find(name: str) -> str:
        while leader[name] != name:
            name = leader[name]
        return name

    order = {name: position for position, name in enumerate(leader)}
    for model in policy.privacy:
        names = policy.attributes_of(model)
        for name in names[1:]:
            low, high = sorted((find(names[0]), find(name)), key=order.__getitem__)
            leader[high] = low
    found = []
    for top in leader:
        if leader[top] == top:
            members = tuple(name for name in leader if find(name) == top)
            models = tuple(i for i, model in enumerate(policy.privacy) if policy.attributes_of(model)[0] in members)
            found.append(Component(members, models))
    return tuple(found)


def implied(policy: Policy) -> dict[int, int]:
    """Return the k-anonymity constraints that another one implies, as position → position of the other.

    ``C1 ≼ C2`` where C1's attributes are a subset of C2's and its k is no larger (seed 001, definition 3);
    of two equal ones the later is implied.
    """
    plain = [
        (i, frozenset(policy.attributes_of(model)), model.k)
        for i, model in enumerate(policy.privacy)
        if model.model == "k-anonymity"
    ]
    found: dict[int, int] = {}
    for i, attributes, k in plain:
        for j, larger, other in plain:
            same = attributes == larger and k == other
            if i != j and attributes <= larger and k <= other and (not same or j < i):
                found[i] = j
                break
    return found


def largest_k(policy: Policy) -> int:
    """Return the largest k that any model of a policy asks for, 1 where none has a k."""
    return max((model.k for model in policy.privacy if hasattr(model, "k")), default=1)


def most_suppressed(policy: Policy, records: int) -> int:
    """Return how many records may be suppressed: the limit is a fraction, reckoned exactly."""
    return int(Fraction(policy.suppression.limit) * records)


def _names_exist(policy: Policy, names: tuple[str, ...], where: str) -> None:
    for name in names:
        if name not in policy.attributes:
            hint = did_you_mean(name, policy.attributes)
            raise PolicyError(f"{where} names {name!r}, which is not under attributes{hint or '.'}")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise PolicyError(f"{where} names {listing(repeated)} twice; name each attribute once.")


def _check_model(policy: Policy, model: PrivacyModel, where: str) -> None:
    if model.attributes is not None:
        _names_exist(policy, model.attributes, f"{where}.attributes")
        for name in model.attributes:
            role = policy.attributes[name].role
            if role != "quasi-identifier":
                raise PolicyError(
                    f"{where}.attributes names {name!r}, which has role {role}; "
                    "only quasi-identifiers can be grouped by."
                )
    named = getattr(model, "sensitive", ())
    names = (named,) if isinstance(named, str) else tuple(named)
    _names_exist(policy, names, f"{where}.sensitive")
    for name in names:
        attribute = policy.attributes[name]
        if attribute.role != "sensitive":
            raise PolicyError(
                f"{where}.sensitive names {name!r}, which has role {attribute.role}; give it role sensitive."
            )
        distance = getattr(model, "distance", None)
        if attribute.hierarchy is None and distance == "hierarchical":
            raise PolicyError(
                f"{where} measures {distance} distances, but attributes.{name} has no hierarchy; "
                "give it one, or use distance: equal."
            )
    if model.model not in {"kl-diversity", "k-km-anonymity"}:
        return
    if policy.individual_column is None:
        raise PolicyError(
            f"{where} asks for {model.model}, which is about individuals; give the column that says whose "
            "record it is role individual."
        )
    for name in names:
        if policy.attributes[name].hierarchy is None:
            raise PolicyError(
                f"{where} asks for {model.model}, which generalizes {name}, but attributes.{name} has no hierarchy; "
                "give it one."
            )


def check_policy(policy: Policy) -> None:
    """Raise PolicyError for what single keys cannot show: names, roles and what covers what."""
    if not policy.attributes:
        raise PolicyError("attributes is empty; list every column with its role.")
    individuals = policy.with_role("individual")
    if len(individuals) > 1:
        raise PolicyError(
            f"attributes gives role individual to {listing(individuals)}; only one column can say whose record it is."
        )
    about_items = {model.model for model in policy.privacy} <= {"kl-diversity", "k-km-anonymity"}
    if not policy.quasi_identifiers and not (policy.privacy and about_items):
        raise PolicyError(
            "attributes has no quasi-identifier, so there is nothing to protect; "
            "give role quasi-identifier to the columns that could be linked to a person."
        )
    for position, model in enumerate(policy.privacy):
        _check_model(policy, model, f"privacy[{position}]")
    covered = {name for model in policy.privacy for name in policy.attributes_of(model)}
    uncovered = [name for name in policy.quasi_identifiers if name not in covered]
    if uncovered:
        raise PolicyError(
            f"no privacy model covers the quasi-identifier{'s' if len(uncovered) > 1 else ''} "
            f"{listing(uncovered)}; add a model over it, or give it another role."
        )
    for position, rule in enumerate(policy.dependencies):
        where = f"dependencies[{position}]"
        _names_exist(policy, rule.left + rule.right, where)
        for name in rule.left + rule.right:
            role = policy.attributes[name].role
            if role in {"identifier", "individual"}:
                raise PolicyError(
                    f"{where} names {name!r}, which has role {role} and is never released; take the rule out."
                )
