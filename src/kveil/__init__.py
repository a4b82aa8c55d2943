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

from kveil.errors import DataError, KveilError, NotVerified, PolicyError, Refused, Unmeetable
from kveil.version import __version__

if TYPE_CHECKING:
    from kveil.discover.offending import multiset_dependency
    from kveil.flow.anonymize import anonymize
    from kveil.flow.bound import bound
    from kveil.flow.compare import Comparison, compare
    from kveil.flow.result import Result
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
    from kveil.report.owner import Owner
    from kveil.report.receipt import Receipt
    from kveil.verifier import Verdict

__all__ = [
    "Account",
    "AlgorithmChoice",
    "AlphaK",
    "Attribute",
    "Comparison",
    "Data",
    "DataError",
    "Dates",
    "Dependency",
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
    "NotVerified",
    "Owner",
    "PSensitive",
    "Policy",
    "PolicyError",
    "Ranges",
    "Receipt",
    "Refused",
    "ReleaseForm",
    "Result",
    "Suppression",
    "TCloseness",
    "Tree",
    "Unmeetable",
    "Verdict",
    "__version__",
    "anonymize",
    "bound",
    "compare",
    "maximal_anonymous_attributes",
    "maximal_anonymous_subset",
    "multiset_dependency",
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


def _result() -> ModuleType:
    from kveil.flow import result

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
    **dict.fromkeys(("Comparison", "compare"), _compare),
    "Result": _result,
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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kveil' has no attribute {name!r}")
    value = getattr(_HOMES[name](), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
