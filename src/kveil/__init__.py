"""kveil makes microdata safe to publish: one policy in, one verified release out.

    import kveil
    policy = kveil.Policy.load("policy.yaml")
    result = kveil.anonymize(frame, policy)

Everything is imported on first use, so that the command line answers at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from kveil.errors import DataError, KveilError, NotVerified, PolicyError, Refused, Unmeetable
from kveil.version import __version__

if TYPE_CHECKING:
    from kveil.comparison import Comparison, compare
    from kveil.pipeline import Result, anonymize, bound, verify
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
    from kveil.policy.model import AlgorithmChoice, Data, Individual, Policy, ReleaseForm, Suppression
    from kveil.policy.privacy import AlphaK, KAnonymity, KKmAnonymity, KLDiversity, LDiversity, PSensitive, TCloseness
    from kveil.report.owner import Owner
    from kveil.rules import multiset_dependency
    from kveil.subsets import maximal_anonymous_attributes, maximal_anonymous_subset
    from kveil.verify import Verdict

_HOMES = {
    "Comparison": "kveil.comparison",
    "Dependency": "kveil.policy.dependencies",
    "Owner": "kveil.report.owner",
    "Result": "kveil.pipeline",
    "Verdict": "kveil.verify",
    "anonymize": "kveil.pipeline",
    "bound": "kveil.pipeline",
    "compare": "kveil.comparison",
    "maximal_anonymous_attributes": "kveil.subsets",
    "maximal_anonymous_subset": "kveil.subsets",
    "multiset_dependency": "kveil.rules",
    "verify": "kveil.pipeline",
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


class _Package(ModuleType):
    """Keeps `kveil.verify` the function it is for users, whoever imports the room of that name."""

    @property
    def verify(self) -> Any:
        """The function that checks a release."""
        return import_module("kveil.pipeline").verify

    @verify.setter
    def verify(self, room: ModuleType) -> None:
        """Ignore the import system, which would put the room here."""


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'kveil' has no attribute {name!r}")
    found = getattr(import_module(_HOMES.get(name, "kveil.policy.model")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
