"""What kveil's policy is in ARX and for pyCANON: hierarchies as ARX wants them, calls that check a release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kveil.policy.lines import Line
from kveil.policy.model import Policy
from kveil.policy.privacy import AlphaK, KAnonymity, LDiversity, PrivacyModel, PSensitive, TCloseness, sensitive_of

ROLES = {
    "identifier": "identifying",
    "individual": "identifying",
    "quasi-identifier": "quasi-identifying",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}


def as_rectangle(lines: Sequence[Line]) -> list[Line]:
    """Return lines of one length, as ARX wants them: where a way up is short, the label below the root is repeated."""
    longest = max(map(len, lines), default=0)
    return [(*line[:-1], *[line[-2]] * (longest - len(line)), line[-1]) if len(line) > 1 else line for line in lines]


@dataclass(frozen=True)
class ForArx:
    """What to set in ARX: a role and a file for each column, the models, and what ARX has nothing for."""

    roles: dict[str, str]
    hierarchies: dict[str, list[Line]]
    models: tuple[str, ...]
    limit: str
    left_out: tuple[str, ...]


def for_arx(policy: Policy, values_of: Callable[[str], Iterable[str]]) -> ForArx:
    """Return a policy in ARX's words; ``values_of`` gives the distinct texts of a column of the table."""
    hierarchies: dict[str, list[Line]] = {}
    left_out = []
    for name, attribute in policy.attributes.items():
        if attribute.hierarchy is None and attribute.role != "quasi-identifier":
            continue
        if attribute.role in {"identifier", "individual"}:
            continue
        if attribute.hierarchy is not None and attribute.hierarchy.form == "ranges":
            left_out.append(f"{name}: `ranges` has no tree; use microaggregation or intervals in ARX.")
            continue
        ways = policy.ways_up(name, sorted(values_of(name)))
        gone = sorted(set(values_of(name)) & ways.missing)
        hierarchies[name] = as_rectangle([ways.of(leaf) for leaf in (*ways.leaves, *gone)])
        if attribute.boundary is not None:
            left_out.append(f"{name}: its boundary; ARX limits levels, not nodes: set the highest level there.")
    models = []
    for model in policy.privacy:
        told = _arx_model(model)
        if told is None or model.attributes is not None:
            left_out.append(f"{model.model}{' over some attributes only' if told else ''}: ARX has no such model.")
        else:
            models.append(told)
    if policy.dependencies:
        left_out.append("`dependencies`: ARX keeps none.")
    if any(attribute.role == "individual" for attribute in policy.attributes.values()):
        left_out.append("`individual`: ARX counts records, not people. Its k is weaker where people have several.")
    roles = {name: ROLES[attribute.role] for name, attribute in policy.attributes.items()}
    return ForArx(roles, hierarchies, tuple(models), str(policy.suppression.limit), tuple(left_out))


def _arx_model(model: PrivacyModel) -> str | None:
    if isinstance(model, KAnonymity):
        return f"{model.k}-anonymity"
    if isinstance(model, LDiversity) and model.variant == "distinct":
        return f"distinct-{model.l}-diversity for attribute '{model.sensitive}'"
    if isinstance(model, PSensitive):
        return f"distinct-{model.p}-diversity for attribute '{model.sensitive}'"
    if isinstance(model, LDiversity) and model.variant == "entropy":
        return f"shannon-entropy-{model.l}-diversity for attribute '{model.sensitive}'"
    if isinstance(model, LDiversity) and model.variant == "recursive":
        return f"recursive-({model.c},{model.l})-diversity for attribute '{model.sensitive}'"
    if isinstance(model, TCloseness):
        distance = {"ordered": "ordered distance"}.get(model.distance, f"{model.distance} ground-distance")
        return f"{model.t}-closeness with {distance} for attribute '{model.sensitive}'"
    return None


def for_pycanon(policy: Policy, release: str) -> tuple[str, list[str]]:
    """Return a script that asks pyCANON whether a release keeps a policy, and what pyCANON cannot be asked."""
    separator = policy.data.separator or ","
    lines = [
        "import pandas as pd",
        "from pycanon import anonymity",
        "",
        f"data = pd.read_csv({json.dumps(release)}, sep={json.dumps(separator)}, dtype=str, keep_default_na=False)",
    ]
    left_out = []
    for model in policy.privacy:
        quasi = json.dumps(list(model.attributes or policy.quasi_identifiers), ensure_ascii=False)
        asked = _pycanon_question(model, quasi)
        if asked is None:
            left_out.append(f"{model.model}: pyCANON has no function that answers it rightly.")
            continue
        if isinstance(model, TCloseness) and model.distance == "ordered":
            column = json.dumps(model.sensitive, ensure_ascii=False)
            lines.append(f"data[{column}] = pd.to_numeric(data[{column}])")
        lines.append(f"assert {asked}")
    return "\n".join([*lines, ""]), left_out


def _pycanon_question(model: PrivacyModel, quasi: str) -> str | None:
    """Return a condition in pyCANON's calls; None where it has none, or reckons something else under the name.

    Its recursive (c, l)-diversity sorts counts upward; its entropy is cut down to a whole number.
    """
    if isinstance(model, KAnonymity):
        return f"anonymity.k_anonymity(data, {quasi}) >= {model.k}"
    about = json.dumps(list(sensitive_of(model)), ensure_ascii=False)
    if isinstance(model, LDiversity) and model.variant == "distinct":
        return f"anonymity.l_diversity(data, {quasi}, {about}) >= {model.l}"
    if isinstance(model, PSensitive):
        return f"anonymity.l_diversity(data, {quasi}, {about}) >= {model.p}"
    if isinstance(model, AlphaK):
        call = f"anonymity.alpha_k_anonymity(data, {quasi}, {about})"
        return f"{call}[0] <= {model.alpha} and {call}[1] >= {model.k}"
    if isinstance(model, TCloseness) and model.distance in {"equal", "ordered"}:
        return f"anonymity.t_closeness(data, {quasi}, {about}) <= {model.t} + 1e-9"
    return None
