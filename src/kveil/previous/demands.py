"""What is asked of a release that holds together with earlier ones: its policy's models, and those promised before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from kveil.archive import Archived
from kveil.policy.attributes import Attribute
from kveil.policy.components import components
from kveil.policy.model import Policy
from kveil.policy.privacy import (
    GENERALIZING,
    AlphaK,
    KAnonymity,
    LDiversity,
    PrivacyModel,
    PSensitive,
    TCloseness,
    single_sensitive,
)

SENSITIVE = Attribute.model_validate({"role": "sensitive"})


@dataclass(frozen=True)
class Demand:
    """A model that must hold over all releases, and the policy that asks for it.

    ``given`` are the earlier releases that promised it, by position; None where the new policy asks for it.
    """

    model: PrivacyModel
    policy: Policy
    given: tuple[int, ...] | None = None

    @property
    def over(self) -> tuple[str, ...]:
        """The quasi-identifiers the model is over."""
        return self.policy.attributes_of(self.model)

    def known_before(self, other: Policy) -> list[str]:
        """Return the columns of another release that an attacker of the model knows.

        The quasi-identifiers that the demand's policy does not have, of its own those that the model names: what it
        leaves out, it promises nothing about. And what it names that the other release shows as it is, in another role.
        The verifier has this rule a second time.
        """
        named, own = self.over, self.policy.quasi_identifiers
        quasi = other.quasi_identifiers
        known = [name for name in quasi if name in named or name not in own]
        return [name for name in other.released if name in known or (name in named and name not in quasi)]

    def generalized_in(self, policy: Policy) -> tuple[str, ...]:
        """Return what an attacker of the model knows of a new release, as far as a search may generalize it."""
        known = self.known_before(policy)
        return tuple(name for name in policy.quasi_identifiers if name in known)

    def fixed_in(self, policy: Policy) -> tuple[str, ...]:
        """Return what an attacker of the model knows of a new release that is shown as it is."""
        quasi = policy.quasi_identifiers
        return tuple(name for name in self.known_before(policy) if name not in quasi)

    def _key(self) -> tuple[object, ...]:
        over = frozenset(self.over), frozenset(self.policy.quasi_identifiers)
        model = self.model.model_copy(update={"attributes": None})
        if not isinstance(model, TCloseness) or model.distance == "equal":
            return model, over
        spec, lines = self.policy.attributes[model.sensitive].hierarchy, self.policy.fixed_lines(model.sensitive)
        return model, over, spec, None if lines is None else tuple(lines.lines)


def demands_of(policy: Policy, archived: Sequence[Archived], *, weaker: bool = False) -> tuple[Demand, ...]:
    """Return a policy's own models and then, unless a ``weaker`` release is allowed, those promised before.

    Each once: what the policy asks for as well is its own.
    """
    own = [Demand(model, policy) for model in policy.privacy]
    told = {demand._key() for demand in own}
    earlier: dict[tuple[object, ...], Demand] = {}
    for number, one in enumerate([] if weaker else archived):
        for model in one.policy.privacy:
            demand = Demand(model, one.policy, (number,))
            key = demand._key()
            if model.model in GENERALIZING or key in told:
                continue
            before = earlier.get(key)
            if before is None:
                earlier[key] = demand
            elif before.given is not None and number not in before.given:
                earlier[key] = replace(before, given=(*before.given, number))
    return (*own, *earlier.values())


def binding_demands(policy: Policy, others: Sequence[Policy], demands: Sequence[Demand]) -> list[int]:
    """Return the places of the demands that no other one implies on the classes of all releases.

    One k-anonymity implies another with a smaller k whose attacker knows no more of any release: its classes lie within
    the other's. Of two equal ones the later is implied.
    """
    known = [[frozenset(demand.known_before(one)) for one in (policy, *others)] for demand in demands]

    def implies(j: int, i: int) -> bool:
        one, other = demands[j].model, demands[i].model
        if i == j or not isinstance(one, KAnonymity) or not isinstance(other, KAnonymity):
            return False
        if one.k < other.k or not all(small <= large for small, large in zip(known[i], known[j], strict=True)):
            return False
        return j < i or one.k > other.k or known[i] != known[j]

    return [i for i in range(len(demands)) if not any(implies(j, i) for j in range(len(demands)))]


def value_name(position: int) -> str:
    """Return the name under which a search counts the values of a demand, where the new policy counts no such ones."""
    return f"\0value {position}"


def counts_apart(demand: Demand, policy: Policy) -> bool:
    """Tell whether a search counts the values of a demand apart: the policy does not, or by another hierarchy."""
    name = single_sensitive(demand.model)
    if name is None or demand.given is None or name not in policy.unchanged:
        return False
    counted = {single_sensitive(model) for model in policy.privacy}
    by_itself = isinstance(demand.model, TCloseness) and demand.model.distance != "equal"
    return name not in counted or by_itself


def searched_model(demand: Demand, policy: Policy, position: int) -> PrivacyModel | None:
    """Return the model that a search under a new policy keeps for a demand, None where it can do nothing for it.

    Where the new release does not show the values it is about, its groups must at least be large enough for them.
    """
    model, name = demand.model, single_sensitive(demand.model)
    if name is None or demand.given is None or name in policy.unchanged:
        apart = {"sensitive": value_name(position)} if counts_apart(demand, policy) else {}
        return model.model_copy(update=apart)
    if isinstance(model, TCloseness) or demand.policy.individual_column is not None:
        return None
    if isinstance(model, AlphaK):
        return KAnonymity(k=max(model.k, ceil(1 / model.alpha)))
    if isinstance(model, PSensitive):
        return KAnonymity(k=model.p)
    return KAnonymity(k=max(ceil(model.l), 1)) if isinstance(model, LDiversity) else None


def never_given(demand: Demand, policies: Sequence[Policy]) -> dict[int, tuple[str, ...]]:
    """Return, per earlier release that gave a demand, the attributes of its component, where these may be starred.

    Whoever shows `*` in all of them counted as suppressed there, and was promised nothing about them.
    """
    found: dict[int, tuple[str, ...]] = {}
    for number in demand.given or ():
        parts = components(policies[number])
        if len(parts) > 1 and policies[number].suppression.show == "star":
            found[number] = next(own.attributes for own in parts if set(demand.over) <= set(own.attributes))
    return found


def demand_in_words(demand: Demand) -> str:
    """Return a demand as sentences name it: the model with its settings, and what it is over."""
    settings = demand.model.model_dump(exclude={"model", "attributes"}, exclude_none=True)
    told = ", ".join(f"{key} {value}" for key, value in settings.items())
    return f"{demand.model.model} ({told}) over {', '.join(demand.over) or 'everyone'}"
