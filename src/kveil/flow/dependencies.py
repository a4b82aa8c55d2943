"""`kveil dependencies`: the rules that hold in a table, and how those that a policy declares stand."""

from __future__ import annotations

from collections.abc import Sequence

from kveil.databases import Place
from kveil.discover.describe import TableRules, describe_rules
from kveil.flow.steps.inputs import read, read_any
from kveil.flow.steps.places import input_path
from kveil.policy.model import Policy
from kveil.progress import Progress, silent


def dependencies_of_file(
    place: Place, *, columns: Sequence[str] | None = None, progress: Progress = silent
) -> TableRules:
    """Return the rules that hold in a table by itself."""
    progress("reading")
    return describe_rules(read_any(place), None, chosen=columns, progress=progress)


def dependencies_of_policy(
    policy: Policy, *, path: Place | None = None, columns: Sequence[str] | None = None, progress: Progress = silent
) -> TableRules:
    """Return the rules that hold in a policy's table, or in another one, and how the declared ones stand."""
    progress("reading")
    return describe_rules(read(policy, input_path(policy, path)), policy, chosen=columns, progress=progress)
