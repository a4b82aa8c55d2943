"""Which table a use reads. Nothing heavy is imported here: the command line begins to read it before all else is."""

from __future__ import annotations

from kveil.databases.address import Place, parse_place
from kveil.errors import DataError
from kveil.policy.model import Policy


def input_path(policy: Policy, given: Place | None) -> Place:
    """Return the table to read: what the command line gives, else what the policy names."""
    if given is not None:
        return given
    if policy.data.path is None:
        raise DataError("the policy names no data.path; add it, or give --input.")
    return parse_place(policy.data.path, folder=policy.folder)
