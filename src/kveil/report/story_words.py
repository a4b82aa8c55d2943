"""Sentences of a report: steps of hierarchies, boundaries, earlier releases, and what a row stands for."""

from __future__ import annotations

from pathlib import Path

from kveil.policy.attributes import Ranges
from kveil.policy.model import Policy
from kveil.report.account import Account
from kveil.words import count


def hierarchy_in_words(policy: Policy, name: str) -> str:
    """Return the steps by which the values of a quasi-identifier become coarser."""
    attribute = policy.attributes[name]
    spec = attribute.hierarchy
    if spec is None:
        return "value → *"
    if spec.form == "file":
        return f"file {Path(spec.path).name}"  # where it lies is nobody's business
    if spec.form == "intervals":
        ends = {None: "", "both": ", open at both ends"}.get(spec.open, f", open {spec.open}")
        return "intervals " + ", ".join(f"{width:g}" for width in map(float, spec.widths)) + ends
    if spec.form == "mask":
        return "first " + ", ".join(map(str, spec.keep)) + " characters"
    if spec.form == "dates":
        return ", ".join(spec.levels)
    return (
        "ranges" + (f" rounded to {float(spec.round):g}" if isinstance(spec, Ranges) and spec.round else "")
        if (spec.form == "ranges")
        else "tree in the policy"
    )


def boundary_in_words(policy: Policy, name: str) -> str:
    """Return how far the values of a quasi-identifier may become coarser."""
    boundary = policy.attributes[name].boundary
    if boundary is None:
        return "none"
    if boundary.form == "marked":
        return "up to " + ", ".join(boundary.nodes)
    if boundary.form == "level":
        return f"up to level {boundary.level}"
    return f"at most {float(boundary.max_width):g} wide"


def together_in_words(account: Account) -> str:
    """Return what was held together with earlier releases, nothing where there were none."""
    together = account.get("previous")
    if together is None:
        return ""
    classes = max(guarantee["groups"] for guarantee in together["guarantees"])
    kept = "Every promise" if not together["below"] else "Every promise of this policy"
    less = (
        f" {count(together['below'], 'person')} of earlier releases, however, "
        f"{'gets' if together['below'] == 1 else 'get'} less than was promised then."
        if together["below"]
        else ""
    )
    return (
        f"Together with {count(together['releases'] - 1, 'earlier release')} it shows "
        f"{count(together['people'], 'person')}: {together['newcomers']:,} for the first time, and "
        f"{together['leavers']:,} of the earlier ones are shown no more. {kept} also holds on the "
        f"{count(classes, 'group')} of people who look alike in all of these releases.{less}"
    )


def shape_in_words(policy: Policy) -> str:
    """Return what the rows of a release about individuals are, and what they do not tell."""
    if policy.individual_column is None or not policy.with_role("sensitive"):
        return ""
    if policy.shows_records:
        return "A row is one record, its cells belong together; the order of a person's rows says nothing."
    sets = "the person's different values: how often somebody had one, and in which order, is not shown"
    if policy.release.shape == "long":
        return f"The rows of a person list {sets}."
    several = len(policy.with_role("sensitive")) > 1
    together = ", nor which values of different columns belong together" if several else ""
    return f"A row is one person. A sensitive cell is the set of {sets}{together}."
