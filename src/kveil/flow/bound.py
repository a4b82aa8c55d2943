"""What any release of a policy loses at least, proved without making one."""

from __future__ import annotations

from typing import Any

from kveil.algorithms.bound.bound import Bound, lower_bound
from kveil.flow.steps.inputs import check_input, table_of
from kveil.policy.model import Policy
from kveil.progress import silent
from kveil.table.encode import encode


def bound(frame: Any, policy: Policy) -> Bound:
    """Return a proved lower bound on the loss of any release of a table under a policy.

    It needs no release: `at_least` is in the policy's loss, a share for `ncp` and `precision` (1 − precision), a total
    for `il`.
    """
    source = table_of(frame, policy)
    table = encode(source, policy)
    check_input(source, table)
    return lower_bound(table, silent)
