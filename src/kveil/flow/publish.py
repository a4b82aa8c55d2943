"""`kveil hierarchy publish`: a policy and its hierarchies with only what a release shows, for others to verify it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kveil.errors import NotVerified, Unmeetable
from kveil.files import Outputs, Source
from kveil.flow.steps.inputs import read_release
from kveil.flow.steps.outputs import check_new
from kveil.flow.steps.shown_policy import (
    ShownTree,
    in_whole_order,
    labels_published,
    missing_needed,
    shown_tree,
    trees_needed,
)
from kveil.free_form import Content
from kveil.guarantee import Guarantee
from kveil.policy.attributes import STAR
from kveil.policy.load import read_document
from kveil.policy.model import Policy
from kveil.policy.written import WrittenAttribute, WrittenData, WrittenSteps
from kveil.policy.yaml_text import comment, flow_text, hierarchy_csv, hierarchy_file_name
from kveil.verifier import Verdict, verify_release
from kveil.verifier.rows import release_rows

KEPT = ("privacy", "dependencies", "suppression", "release")  # of a policy's keys: what `verify` asks for


@dataclass(frozen=True)
class Published:
    """A policy for others: its text, and the hierarchy files it names."""

    text: str
    files: dict[str, str]


def publish(policy_path: Path, release: Path, output: Path, *, force: bool = False) -> Published:
    """Write what others need to verify a release, and return it.

    Raises Unmeetable where the release does not hold: there is nothing to show to others then.
    """
    policy = Policy.load(policy_path)
    source = read_release(policy, release)
    verdict = verify_release(source, policy)
    if not verdict:
        raise Unmeetable(
            f"{source.name} does not keep the policy ({verdict.findings[0].rstrip('.')}); nothing was written. Publish "
            "a policy for a release that holds."
        )
    content = read_document(policy_path).content
    published = published_policy(policy, content, source, output.stem)
    _check(published, source, verdict, output.parent)
    targets = {output.parent / name: text for name, text in published.files.items()} | {output: published.text}
    check_new(targets, [*policy.files, release], force=force)
    with Outputs() as outputs:
        for target, text in targets.items():
            outputs.write(outputs.open(target), text.encode())
        outputs.commit()
    return published


def _check(published: Published, release: Source, verdict: Verdict, folder: Path) -> None:
    """Make sure that others come to the same verdict with what they get."""
    again = verify_release(release, Policy.parse(published.text, "the published policy", folder, published.files))
    same = all(_alike(one, other) for one, other in zip(again.guarantees, verdict.guarantees, strict=True))
    if again.findings or not same or again.dependencies != verdict.dependencies:
        raise NotVerified(
            "kveil made a policy for others under which the release is judged otherwise; nothing was written. This is "
            "a defect of kveil: please report the policy."
        )


def _alike(one: Guarantee, other: Guarantee) -> bool:
    """Tell whether two guarantees are the same but for the rounding of sums."""
    was, now = one["worst"], other["worst"]
    near = was == now or (was is not None and now is not None and math.isclose(was, now, rel_tol=1e-9))
    return near and {**one, "worst": None} == {**other, "worst": None}


def published_policy(policy: Policy, content: Content, release: Source, stem: str) -> Published:
    """Return a policy for others, made of a policy's keys as written, and of a release."""
    rows = release_rows(release, policy)
    files: dict[str, str] = {}
    attributes = {}
    for name, labels in labels_published(policy, rows).items():
        entry: WrittenAttribute = {"role": policy.attributes[name].role}
        if labels is not None:
            steps = _hierarchy(policy, name, content["attributes"][name], labels, (stem, files))
            entry = {**entry, **steps}
        attributes[name] = entry
    data: WrittenData = {"missing": [*missing_needed(policy), *_missing_shown(policy, release)]}
    if policy.data.separator is not None:
        data["separator"] = policy.data.separator
    lines = comment(
        "What others need to verify the release that this policy was published with: kveil verify, this file and the "
        "release. Hierarchies list only what the release shows; identifiers and what only a run needs are left out."
    )
    lines += ["", "kveil: 1", f"data: {flow_text(data)}", "attributes:"]
    lines += [f"  {flow_text(name)}: {flow_text(entry)}" for name, entry in attributes.items()]
    for key in KEPT:
        value = content.get(key)
        if isinstance(value, list):
            lines += [f"{key}:", *(f"  - {flow_text(entry)}" for entry in value)]
        elif value is not None:
            lines.append(f"{key}: {flow_text(value)}")
    return Published("\n".join(lines) + "\n", files)


def _missing_shown(policy: Policy, release: Source) -> list[str]:
    """Return the other texts for missing that some released cell has: columns that are not changed have any."""
    others = [text for text in policy.data.missing[1:] if text != STAR]
    named = [name for name in policy.released if name in release.columns and release.dtype(name) != pl.List]
    shown = {text for name in named if others for text in release.texts(name).unique().to_list()}
    return [text for text in others if text in shown]


def _hierarchy(
    policy: Policy, name: str, written: Content, labels: set[str], files: tuple[str, dict[str, str]]
) -> WrittenSteps:
    """Return the hierarchy and the boundary of an attribute as others need them; files are added to ``files``."""
    if policy.fixed_lines(name) is None:
        steps: WrittenSteps = {}
        if written.get("hierarchy") is not None:
            steps["hierarchy"] = written["hierarchy"]
        if written.get("boundary") is not None:
            steps["boundary"] = written["boundary"]
        return steps
    tree = shown_tree(policy, name, labels)
    if tree is None and name not in trees_needed(policy):
        return {}
    tree = tree or ShownTree(((STAR,),), None)
    stem, texts = files
    path = hierarchy_file_name(stem, name, {taken.lower() for taken in texts})
    texts[path] = hierarchy_csv(in_whole_order(policy, name, tree.lines))
    return {"hierarchy": path} if tree.boundary is None else {"hierarchy": path, "boundary": tree.boundary}
