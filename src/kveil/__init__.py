"""kveil makes microdata safe to publish: one policy in, one verified release out.

    import kveil
    policy = kveil.Policy.load("policy.yaml")
    result = kveil.anonymize(frame, policy)

Everything but the errors is imported on first use, so that the command line answers at once: `__getattr__` asks the
functions below, one per module of public names.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kveil.errors import Cancelled, DataError, KveilError, NotVerified, PolicyError, Refused, Unmeetable
from kveil.platforms import check_platform as _check_platform
from kveil.version import __version__

if TYPE_CHECKING:
    from kveil.attacker.attacks import Attacks
    from kveil.attacker.risk import RawRisk
    from kveil.discover.offending import multiset_dependency
    from kveil.flow.anonymize import anonymize
    from kveil.flow.attack import attack
    from kveil.flow.bound import bound
    from kveil.flow.check import Check, check, risk
    from kveil.flow.compare import compare
    from kveil.flow.init import SuggestedPolicy
    from kveil.flow.init import suggest_policy as suggest
    from kveil.flow.measure import Measured, measure
    from kveil.flow.steps.result import Group, Result
    from kveil.flow.subsets import maximal_anonymous_attributes, maximal_anonymous_subset
    from kveil.flow.verify import verify
    from kveil.policy.attributes import (
        Attribute,
        Dates,
        HierarchyFile,
        Intervals,
        Level,
        Marked,
        Mask,
        MaxWidth,
        Ranges,
        Tree,
    )
    from kveil.policy.dependencies import Dependency
    from kveil.policy.keys import AlgorithmChoice, Data, Individual, ReleaseForm, Suppression
    from kveil.policy.model import Policy
    from kveil.policy.privacy import AlphaK, KAnonymity, KKmAnonymity, KLDiversity, LDiversity, PSensitive, TCloseness
    from kveil.report.account import Account
    from kveil.report.comparison import Comparison
    from kveil.report.owner import Owner
    from kveil.report.receipt import Receipt
    from kveil.stopping import Stop, under
    from kveil.verifier import Verdict

__all__ = [
    "Account",
    "AlgorithmChoice",
    "AlphaK",
    "Attacks",
    "Attribute",
    "Cancelled",
    "Check",
    "Comparison",
    "Data",
    "DataError",
    "Dates",
    "Dependency",
    "Group",
    "HierarchyFile",
    "Individual",
    "Intervals",
    "KAnonymity",
    "KKmAnonymity",
    "KLDiversity",
    "KveilError",
    "LDiversity",
    "Level",
    "Marked",
    "Mask",
    "MaxWidth",
    "Measured",
    "NotVerified",
    "Owner",
    "PSensitive",
    "Policy",
    "PolicyError",
    "Ranges",
    "RawRisk",
    "Receipt",
    "Refused",
    "ReleaseForm",
    "Result",
    "Stop",
    "SuggestedPolicy",
    "Suppression",
    "TCloseness",
    "Tree",
    "Unmeetable",
    "Verdict",
    "__version__",
    "anonymize",
    "attack",
    "bound",
    "check",
    "compare",
    "maximal_anonymous_attributes",
    "maximal_anonymous_subset",
    "measure",
    "multiset_dependency",
    "risk",
    "suggest",
    "under",
    "verify",
]


def _anonymize() -> ModuleType:
    from kveil.flow import anonymize

    return anonymize


def _bound() -> ModuleType:
    from kveil.flow import bound

    return bound


def _compare() -> ModuleType:
    from kveil.flow import compare

    return compare


def _comparison() -> ModuleType:
    from kveil.report import comparison

    return comparison


def _attack() -> ModuleType:
    from kveil.flow import attack

    return attack


def _check() -> ModuleType:
    from kveil.flow import check

    return check


def _init() -> ModuleType:
    from kveil.flow import init

    return init


def _measure() -> ModuleType:
    from kveil.flow import measure

    return measure


def _attacks() -> ModuleType:
    from kveil.attacker import attacks

    return attacks


def _risk() -> ModuleType:
    from kveil.attacker import risk

    return risk


def _stopping() -> ModuleType:
    from kveil import stopping

    return stopping


def _result() -> ModuleType:
    from kveil.flow.steps import result

    return result


def _subsets() -> ModuleType:
    from kveil.flow import subsets

    return subsets


def _verify() -> ModuleType:
    from kveil.flow import verify

    return verify


def _offending() -> ModuleType:
    from kveil.discover import offending

    return offending


def _attributes() -> ModuleType:
    from kveil.policy import attributes

    return attributes


def _dependencies() -> ModuleType:
    from kveil.policy import dependencies

    return dependencies


def _keys() -> ModuleType:
    from kveil.policy import keys

    return keys


def _model() -> ModuleType:
    from kveil.policy import model

    return model


def _privacy() -> ModuleType:
    from kveil.policy import privacy

    return privacy


def _account() -> ModuleType:
    from kveil.report import account

    return account


def _owner() -> ModuleType:
    from kveil.report import owner

    return owner


def _receipt() -> ModuleType:
    from kveil.report import receipt

    return receipt


def _verifier() -> ModuleType:
    from kveil import verifier

    return verifier


# Which function imports the module that a public name stands in.
_HOMES: dict[str, Callable[[], ModuleType]] = {
    "anonymize": _anonymize,
    "bound": _bound,
    "compare": _compare,
    "Comparison": _comparison,
    "attack": _attack,
    "Attacks": _attacks,
    "RawRisk": _risk,
    **dict.fromkeys(("Check", "check", "risk"), _check),
    **dict.fromkeys(("SuggestedPolicy", "suggest"), _init),
    **dict.fromkeys(("Measured", "measure"), _measure),
    **dict.fromkeys(("Stop", "under"), _stopping),
    **dict.fromkeys(("Group", "Result"), _result),
    **dict.fromkeys(("maximal_anonymous_attributes", "maximal_anonymous_subset"), _subsets),
    "verify": _verify,
    "multiset_dependency": _offending,
    **dict.fromkeys(
        ("Attribute", "Dates", "HierarchyFile", "Intervals", "Level", "Marked", "Mask", "MaxWidth", "Ranges", "Tree"),
        _attributes,
    ),
    "Dependency": _dependencies,
    **dict.fromkeys(("AlgorithmChoice", "Data", "Individual", "ReleaseForm", "Suppression"), _keys),
    "Policy": _model,
    **dict.fromkeys(
        ("AlphaK", "KAnonymity", "KKmAnonymity", "KLDiversity", "LDiversity", "PSensitive", "TCloseness"), _privacy
    ),
    "Account": _account,
    "Owner": _owner,
    "Receipt": _receipt,
    "Verdict": _verifier,
}


_CALLED = {"suggest": "suggest_policy"}  # where a module has a name of its own for it


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kveil' has no attribute {name!r}")
    _check_platform()
    value = getattr(_HOMES[name](), _CALLED.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
