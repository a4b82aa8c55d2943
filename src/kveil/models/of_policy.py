"""The models of a policy as a search checks them, and the sensitive values they count."""

from __future__ import annotations

from kveil.arrays import Bools
from kveil.models import shares
from kveil.models.distributions import FrequencyL, as_fraction, distribution_model
from kveil.models.fingerprints import fingerprint_name
from kveil.models.groups import AtLeastK, GroupModel, Pairs
from kveil.policy.model import Policy
from kveil.policy.privacy import KAnonymity, KKmAnonymity, KLDiversity, PrivacyModel
from kveil.table.table import Table


def group_model(model: PrivacyModel, table: Table) -> GroupModel:
    """Return the search-time check of a policy's model.

    Of (k,kᵐ)-anonymity only the size of classes is checked here; combinations of items are looked at apart.
    """
    if isinstance(model, (KAnonymity, KKmAnonymity)):
        return AtLeastK(model.k)
    if isinstance(model, KLDiversity):
        return FrequencyL(fingerprint_name(model), shares.at_least(as_fraction(model.l)))
    return distribution_model(model, table.sensitive[model.sensitive])


def counted_names(policy: Policy) -> set[str]:
    """Return the names under which a table holds what models count: sensitive attributes, and fingerprints."""
    names = set()
    for model in policy.privacy:
        if isinstance(model, KLDiversity):
            names.add(fingerprint_name(model))
        elif not isinstance(model, (KAnonymity, KKmAnonymity)):
            names.add(model.sensitive)
    return names


def sensitive_pairs(table: Table, *, kept: Bools | None = None) -> dict[str, Pairs]:
    """Return the values that models count, per distinct tuple of leaves; of the ``kept`` rows only, if given."""
    distinct = table.distinct
    return {
        name: Pairs(*table.pairs(name, distinct.member, len(distinct.weights), kept=kept), table.sensitive[name].known)
        for name in sorted(counted_names(table.policy))
    }


def sensitive_pairs_of_rows(table: Table) -> dict[str, Pairs]:
    """Return the values that models count, per row."""
    found = {}
    for name in sorted(counted_names(table.policy)):
        own = table.sensitive[name]
        found[name] = Pairs(own.row, own.code, table.weights[own.row], own.known)
    return found


def least_members(model: GroupModel, table: Table) -> int:
    """Return how few members a group of a table can have that satisfies a model."""
    if model.sensitive is None or model.sensitive not in table.sensitive:  # a fingerprint: everybody has one
        return model.least_members()
    values = table.sensitive[model.sensitive]
    return model.least_members(most_values=values.most_per_row, some_missing=values.some_missing)
