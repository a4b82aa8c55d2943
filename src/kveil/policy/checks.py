"""Checks across the keys of a policy: names, roles, what covers what, what hierarchies and rules allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kveil.errors import PolicyError, Refused
from kveil.policy.attributes import Attribute, HierarchyFile, Ranges, Tree
from kveil.policy.builders import label_test, shows_for_others
from kveil.policy.hierarchy import marked_nodes
from kveil.policy.keys import PolicyKeys
from kveil.policy.lines import Lines
from kveil.policy.privacy import GENERALIZING, PrivacyModel, TCloseness, sensitive_of
from kveil.words import did_you_mean, listing


def _names_exist(policy: PolicyKeys, names: tuple[str, ...], where: str) -> None:
    for name in names:
        if name not in policy.attributes:
            hint = did_you_mean(name, policy.attributes)
            raise PolicyError(f"{where} names {name!r}, which is not under attributes{hint or '.'}")
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        raise PolicyError(f"{where} names {listing(repeated)} twice; name each attribute once.")


def _check_model(policy: PolicyKeys, model: PrivacyModel, where: str) -> None:
    if model.attributes is not None:
        _names_exist(policy, model.attributes, f"{where}.attributes")
        for name in model.attributes:
            role = policy.attributes[name].role
            if role != "quasi-identifier":
                raise PolicyError(
                    f"{where}.attributes names {name!r}, which has role {role}; "
                    "only quasi-identifiers can be grouped by."
                )
    names = sensitive_of(model)
    _names_exist(policy, names, f"{where}.sensitive")
    for name in names:
        attribute = policy.attributes[name]
        if attribute.role != "sensitive":
            raise PolicyError(
                f"{where}.sensitive names {name!r}, which has role {attribute.role}; give it role sensitive."
            )
        distance = model.distance if isinstance(model, TCloseness) else None
        if attribute.hierarchy is None and distance == "hierarchical":
            raise PolicyError(
                f"{where} measures {distance} distances, but attributes.{name} has no hierarchy; "
                "give it one, or use distance: equal."
            )
        fixed = isinstance(attribute.hierarchy, (HierarchyFile, Tree))
        if distance in {"ordered", "hierarchical"} and name in policy.generalized and not fixed:
            raise PolicyError(
                f"{where} measures {distance} distances between items of {name}, which another model generalizes, but "
                "a hierarchy that is built from the data does not say how far apart its labels lie; write it as a tree "
                "or a file, or use distance: equal."
            )
    if model.model not in GENERALIZING:
        return
    if policy.individual_column is None:
        raise PolicyError(
            f"{where} asks for {model.model}, which is about people; give the column that says whose "
            "record it is role individual."
        )
    for name in names:
        if policy.attributes[name].hierarchy is None:
            raise PolicyError(
                f"{where} asks for {model.model}, which generalizes {name}, but attributes.{name} has no hierarchy; "
                "give it one."
            )


def check_policy(policy: PolicyKeys) -> None:
    """Raise PolicyError for what single keys cannot show: names, roles and what covers what."""
    if not policy.attributes:
        raise PolicyError("attributes is empty; list every column with its role.")
    individuals = policy.with_role("individual")
    if len(individuals) > 1:
        raise PolicyError(
            f"attributes gives role individual to {listing(individuals)}; only one column can say whose record it is."
        )
    _check_key(policy)
    about_items = all(model.model in GENERALIZING for model in policy.privacy)
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
    _check_shape(policy)
    for position, rule in enumerate(policy.dependencies):
        where = f"dependencies[{position}]"
        _names_exist(policy, rule.left + rule.right, where)
        for name in rule.left + rule.right:
            role = policy.attributes[name].role
            if role in {"identifier", "individual"}:
                raise PolicyError(
                    f"{where} names {name!r}, which has role {role} and is never released; take the rule out."
                )


def _check_key(policy: PolicyKeys) -> None:
    """Raise PolicyError where `data.key` names a column that is released, or none at all."""
    key = policy.data.key
    if key is None:
        return
    _names_exist(policy, (key,), "data.key")
    role = policy.attributes[key].role
    if role not in {"identifier", "individual"}:
        raise PolicyError(
            f"data.key names {key!r}, which has role {role}; a column that says who somebody is has role identifier "
            "or individual and is never released."
        )


def _check_shape(policy: PolicyKeys) -> None:
    """Raise PolicyError where rows that join several sensitive attributes would tell more than a model promises."""
    for position, model in enumerate(policy.privacy):
        if model.model in GENERALIZING and policy.shows_records:
            raise PolicyError(
                f"privacy[{position}] asks for {model.model}, which promises something about sets of items, but a "
                f"release in long shape shows {listing(policy.with_role('sensitive'))} of a record in one row, which "
                "tells more than sets; use release: {shape: sets}, or keep one sensitive attribute."
            )


def check_labels(name: str, attribute: Attribute, lines: Lines | None, missing: Sequence[str], *, quoted: bool) -> None:
    """Raise PolicyError where texts for missing or marked nodes do not fit an attribute's hierarchy.

    In trees that are built from data a marked node may be one that this data does not have; only what no data could
    have is an error there. Errors name labels of the hierarchy only where it may be ``quoted``.
    """
    spec = attribute.hierarchy
    both = [text for text in missing if lines is None and shows_for_others(spec, text)]
    if both and spec is not None:
        raise PolicyError(
            f"data.missing lists {both[0]!r}, which the `{spec.form}` of {name} can also show for values that "
            "are there; write another text for missing."
        )
    if isinstance(spec, Ranges) or (lines is None and not marked_nodes(attribute)):
        return
    labels = {label for line in lines.lines for label in line} if lines is not None else set()
    inner = {label for line in lines.lines for label in line[1:]} if lines is not None else set()
    for text in missing:
        if text in inner:
            raise PolicyError(
                f"data.missing lists {text!r}, which is an inner node of the hierarchy of {name}; "
                "rename one of the two."
            )
    known = label_test(attribute.hierarchy, lines)
    for node in marked_nodes(attribute):
        if not known(node) and node not in missing:
            hint = did_you_mean(node, labels) if quoted else ""
            raise PolicyError(
                f"attributes.{name}.boundary marks {node!r}, which its hierarchy does not have"
                f"{hint or '; mark one of its nodes.'}"
            )


def check_rule_shapes(policy: PolicyKeys) -> None:
    """Raise Refused for rules that the release's shape has no place for."""
    for rule in policy.dependencies:
        inside = [name for name in rule.left + rule.right if name in policy.generalized]
        if inside:
            raise Refused(
                f"the dependency {rule.rule} names {inside[0]}, whose items a model asks to generalize as sets; no "
                "rule over single items can be kept then: take it out."
            )
    if policy.individual_column is None or policy.release.shape != "long":
        return
    for rule in policy.dependencies:
        inside = [name for name in rule.left + rule.right if policy.attributes[name].role == "sensitive"]
        if inside and not rule.multivalued:
            raise Refused(
                f"the dependency {rule.rule} names {inside[0]}, and rules over a person's items are kept on sets, "
                "which a release in long shape does not show; use release: {shape: sets}, or take the rule out."
            )
