"""What several releases have promised: the models of every policy, and what somebody knows against whom each protects.

A promise does not end with the release that gave it. Whoever has all releases judges it anew, on people who look alike
in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kveil.errors import Refused
from kveil.policy.components import components
from kveil.policy.model import Policy
from kveil.policy.privacy import GENERALIZING, PrivacyModel, TCloseness
from kveil.words import listing

if TYPE_CHECKING:
    from kveil.verifier.links import LinkedRelease


@dataclass(frozen=True)
class GivenPromise:
    """A model with the policy that asks for it.

    ``given`` are the releases that gave it, by position, the newest one's being None: its promise is the policy's own.
    """

    model: PrivacyModel
    policy: Policy
    given: tuple[int, ...] | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        """The quasi-identifiers the model is over."""
        return self.policy.attributes_of(self.model)

    def known_in(self, other: Policy) -> tuple[str, ...]:
        """Return the columns of another release that somebody knows against whom the model protects.

        All its quasi-identifiers, except those that the promise's policy has, too, and that the model leaves out; and
        whatever the model names that the other release shows in another role, where it stands as it is.
        """
        named = set(self.attributes)
        left_out = set(self.policy.quasi_identifiers) - named
        quasi = set(other.quasi_identifiers)
        return tuple(name for name in other.released if (name in quasi - left_out) or (name in named - quasi))

    def component_in(self, other: Policy) -> tuple[str, ...] | None:
        """Return the attributes of the model's component in the policy that gave it, None where it has but one.

        A row that shows `*` in all of these counts as suppressed there, though others of its cells are shown.
        """
        parts = components(other)
        if len(parts) < 2 or other.suppression.show == "drop":
            return None
        return next(part.attributes for part in parts if set(self.attributes) <= set(part.attributes))

    def _key(self) -> tuple[object, ...]:
        """Return what two promises have in common that say the same of every release."""
        over = frozenset(self.attributes), frozenset(self.policy.quasi_identifiers)
        model = self.model.model_copy(update={"attributes": None})
        if not isinstance(model, TCloseness) or model.distance == "equal":
            return model, over
        lines = self.policy.fixed_lines(model.sensitive)
        spec = self.policy.attributes.get(model.sensitive)
        return model, over, None if spec is None else spec.hierarchy, None if lines is None else tuple(lines.lines)


def given_promises(policy: Policy, releases: Sequence[LinkedRelease]) -> list[GivenPromise]:
    """Return the promises of a policy and of all earlier releases, each once.

    What the policy asks for, too, is its own. ``releases`` has the newest one last.
    """
    own = [GivenPromise(model, policy) for model in policy.privacy]
    told = {promise._key() for promise in own}
    earlier: dict[tuple[object, ...], GivenPromise] = {}
    for number, one in enumerate(releases[:-1]):
        for model in one.policy.privacy:
            if model.model in GENERALIZING:
                continue
            promise = GivenPromise(model, one.policy, (number,))
            key = promise._key()
            if key in told:
                continue
            before = earlier.get(key)
            if before is None:
                earlier[key] = promise
            elif before.given is not None and number not in before.given:
                earlier[key] = replace(before, given=(*before.given, number))
    return [*own, *earlier.values()]


def check_several(policy: Policy, earlier: Sequence[tuple[str, Policy]], *, weaker: bool) -> list[str]:
    """Raise Refused for models that are about sets of items as shown, which differ from release to release.

    ``earlier`` are releases by name, with their policies. Returns, where a ``weaker`` release is allowed, which of
    their promises cannot be judged.
    """
    sets = sorted({model.model for model in policy.privacy if model.model in GENERALIZING})
    if sets:
        raise Refused(
            f"{sets[0]} generalizes sets of items, which this version of kveil cannot hold against earlier releases; "
            "leave previous out, or ask for l-diversity."
        )
    beyond = {name: sorted({m.model for m in own.privacy if m.model in GENERALIZING}) for name, own in earlier}
    told = [f"{listing(models)} of {name}" for name, models in beyond.items() if models]
    if told and not weaker:
        raise Refused(
            f"{listing(told)} generalizes sets of items, which this version of kveil cannot hold against a new "
            "release; leave that archive out, or give --weaker to go on without that promise."
        )
    return told
