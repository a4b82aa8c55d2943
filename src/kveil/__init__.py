"""kveil makes microdata safe to publish: one policy in, one verified release out.

    import kveil
    policy = kveil.Policy.load("policy.yaml")
    result = kveil.anonymize(frame, policy)

Everything is imported on first use, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kveil.errors import DataError, KveilError, NotVerified, PolicyError, Refused, Unmeetable
from kveil.version import __version__

if TYPE_CHECKING:
    from kveil.discover import multiset_dependency
    from kveil.flow.anonymize import Result, anonymize, bound, verify
    from kveil.flow.compare import Comparison, compare
    from kveil.flow.subsets import maximal_anonymous_attributes, maximal_anonymous_subset
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
    from kveil.report.owner import Owner
    from kveil.verifier import Verdict

_HOMES = {
    "Comparison": "kveil.flow.compare",
    "Dependency": "kveil.policy.dependencies",
    "Owner": "kveil.report.owner",
    "Result": "kveil.flow.anonymize",
    "Verdict": "kveil.verifier",
    "anonymize": "kveil.flow.anonymize",
    "bound": "kveil.flow.anonymize",
    "compare": "kveil.flow.compare",
    "maximal_anonymous_attributes": "kveil.flow.subsets",
    "maximal_anonymous_subset": "kveil.flow.subsets",
    "multiset_dependency": "kveil.discover",
    "verify": "kveil.flow.anonymize",
    **dict.fromkeys(("AlgorithmChoice", "Data", "Individual", "ReleaseForm", "Suppression"), "kveil.policy.keys"),
    **dict.fromkeys(
        ("Attribute", "Dates", "HierarchyFile", "Intervals", "Level", "Marked", "Mask", "MaxWidth", "Ranges", "Tree"),
        "kveil.policy.attributes",
    ),
    **dict.fromkeys(
        ("AlphaK", "KAnonymity", "KKmAnonymity", "KLDiversity", "LDiversity", "PSensitive", "TCloseness"),
        "kveil.policy.privacy",
    ),
}

__all__ = [
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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kveil' has no attribute {name!r}")
    found = getattr(import_module(_HOMES.get(name, "kveil.policy.model")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
