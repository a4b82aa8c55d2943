"""Write a suggestion as a commented policy that runs as it is."""

from __future__ import annotations

import json
import os
from pathlib import Path

from kveil.policy.written import WrittenAttribute, WrittenTree
from kveil.policy.yaml_text import (
    MOST_LEAVES_INSIDE,
    comment,
    flow_text,
    hierarchy_csv,
    hierarchy_file_name,
    scalar,
    tree_mapping,
)
from kveil.suggestion.column_labels import column_comment
from kveil.suggestion.propose import Suggestion
from kveil.suggestion.roles import Guess
from kveil.words import count, listing, plural_of, row_noun

SECTIONS = (
    ("individual", "Whose record it is. People are counted by it, and it is never released."),
    ("identifier", "They name somebody, or may. They are never released."),
    (
        "quasi-identifier",
        "Others may know these of a person. They are released, but made coarser where too few are alike. "
        "`hierarchy` says by which steps; the last step is always `*`, anything.",
    ),
    ("sensitive", "What readers want to study and people want kept to themselves. Released unchanged."),
    ("insensitive", "Released unchanged and not protected. Nobody should be recognized by them."),
)


_LIMITS = {
    "0.05": "Unusual records would make everybody's values coarser. Up to 5 in 100 may be left out instead.",
    "0.2": "CHECK: With 5 in 100 left out this table cannot keep the policy, so that up to 20 in 100 may be left out.",
    "1": "CHECK: This table is too small or too varied for the policy: any number of records may be left out, perhaps "
    "all of them. Give better hierarchies or fewer quasi-identifiers, and then a limit.",
}


def _attribute(guess: Guess, told: str, stem: str | None, files: dict[str, str], taken: set[str]) -> list[str]:
    steps = "" if guess.way is None else f". Steps: {guess.way.reason}"
    reason = f"{guess.reason[:1].upper()}{guess.reason[1:]}{steps}"
    mark = "CHECK: " if guess.doubtful or (guess.way is not None and guess.way.doubtful) else ""
    lines = comment(f"{mark}{told}{' ' if told else ''}{reason}.", indent="  ")
    entry: WrittenAttribute = {"role": guess.role}
    tree: WrittenTree | list[str] = []
    if guess.way is not None and guess.way.builder is not None:
        entry["hierarchy"] = guess.way.builder
    elif guess.way is not None and guess.way.lines is not None:
        if stem is not None and len(guess.way.lines) > MOST_LEAVES_INSIDE:
            name = hierarchy_file_name(stem, guess.name, taken)
            files[name] = hierarchy_csv(guess.way.lines)
            entry["hierarchy"] = name
        elif guess.role == "quasi-identifier":
            tree = tree_mapping(guess.way.lines)
    key = scalar(guess.name)
    if not isinstance(tree, dict):
        return [*lines, f"  {key}: {flow_text(entry)}"]
    lines += [f"  {key}:", f"    role: {guess.role}", "    hierarchy:", "      tree:"]
    return lines + _block(tree, "        ")


def _block(tree: WrittenTree, indent: str) -> list[str]:
    lines = []
    for label, below in tree.items():
        if isinstance(below, list):
            lines.append(f"{indent}{scalar(label)}: {flow_text(below)}")
        else:
            lines.append(f"{indent}{scalar(label)}:")
            lines += _block(below, indent + "  ")
    return lines


def policy_text(
    suggestion: Suggestion, path: str | None, stem: str | None, *, by_role: bool = True
) -> tuple[str, dict[str, str]]:
    """Return the policy and the hierarchy files it names; without a ``stem`` every tree is written into it.

    Columns stand under a heading for each role, or in the table's order, where a role that is changed later would
    leave its column under the wrong heading.
    """
    files: dict[str, str] = {}
    taken: set[str] = set()
    notes = suggestion.source.codebook.of
    doubtful = [g for g in suggestion.guesses if g.doubtful or (g.way is not None and g.way.doubtful)]
    records = count(suggestion.source.rows, "record")
    need = "needs" if len(doubtful) == 1 else "need"
    lines = comment(
        f"A starting policy for {suggestion.source.name}, suggested by kveil init from {records}. "
        "It runs as it is, but every line is a guess: read it, correct it, then run kveil check and kveil anonymize. "
        + (f"{count(len(doubtful), 'guess', 'guesses')} marked CHECK {need} a decision of yours. " if doubtful else "")
        + "This file and the hierarchies beside it list values of the table, also of people whom a release leaves out: "
        "give others what `kveil hierarchy publish` writes."
    )
    lines += ["", "kveil: 1", "", "data:", *_data(suggestion, path)]
    lines += ["", "# Every column is listed, so that nothing is released by accident.", "attributes:"]
    if not by_role:
        for guess in suggestion.guesses:
            lines += [
                "",
                *_attribute(guess, column_comment(notes(guess.name)), stem, files, taken),
            ]
    for role, told in SECTIONS:
        guesses = [guess for guess in suggestion.guesses if guess.role == role]
        if guesses and by_role:
            lines += ["", *comment(f"{role.upper()}. {told}", indent="  ")]
            for guess in guesses:
                lines += _attribute(guess, column_comment(notes(guess.name)), stem, files, taken)
    lines += ["", *_models(suggestion)]
    lines += [
        "",
        *comment(_LIMITS[suggestion.limit]),
        f"suppression: {{limit: {suggestion.limit}, show: drop}}",
    ]
    if suggestion.conflicts:
        lines += [
            "",
            *comment(
                "Records of one person disagree on quasi-identifiers: what covers all of a person's values is shown."
            ),
            "individual: {conflicts: generalize}",
        ]
    if suggestion.follows:
        rules = [f"{left} -> {right}" for left, right in suggestion.follows]
        lines += [
            "",
            *comment(
                "In this table the following hold, though they may be chance: "
                f"{listing(rules, 20)}. To have them hold in the release too, list them under `dependencies`."
            ),
        ]
    lines += ["", *comment("Try every method that can keep this policy, and take the release that loses least.")]
    lines += ["algorithm: auto", ""]
    return "\n".join(lines), files


def _data(suggestion: Suggestion, path: str | None) -> list[str]:
    source, lines = suggestion.source, [] if path is None else [f"  path: {scalar(path)}"]
    if source.kind == "csv":
        separator = "\\t" if source.separator == "\t" else source.separator
        lines.append(f"  separator: {json.dumps(separator)}" if separator != "\\t" else '  separator: "\\t"')
    if source.encoding != "utf-8":
        lines.append(f"  encoding: {scalar(source.encoding)}")
    if source.sheet is not None:
        lines.append(f"  sheet: {scalar(source.sheet)}")
    elif source.left_aside:
        others = listing([repr(name) for name in source.left_aside], 10)
        told = f"CHECK: this is the first sheet; there is something in {others}, too. To take another, write `sheet`."
        lines = [*comment(told, indent="  "), *lines]
    if source.skip:
        lines.append(f"  skip: {source.skip}  # lines above the names of columns")
    return [*lines, f"  missing: {json.dumps(suggestion.missing, ensure_ascii=False)}  # texts that mean: not recorded"]


def _models(suggestion: Suggestion) -> list[str]:
    noun = plural_of(row_noun(people=bool(suggestion.with_role("individual"))))
    lines = comment(
        f"What must hold. k-anonymity: whoever knows all quasi-identifiers of a person finds at least k {noun} that "
        f"look alike. k {suggestion.k} {suggestion.k_reason}."
    )
    lines += ["privacy:", f"  - {{model: k-anonymity, k: {suggestion.k}}}"]
    kept = [model for model in suggestion.models if model.model is not None][: suggestion.most]
    told = {
        "l-diversity": "And those who look alike must not all have the same value of what is sensitive.",
        "t-closeness": "Numbers that differ can be near each other: those who look alike must have them spread as all "
        "records have, up to t.",
    }
    for name, words in told.items():
        models = [model for model in kept if model.model == name]
        if models:
            lines += comment(words, indent="  ")
        for model in models:
            settings = "".join(f", {key}: {value}" for key, value in model.settings)
            lines.append(f"  - {{model: {name}, sensitive: {scalar(model.name)}{settings}}}")
    for model in suggestion.models:
        if model not in kept:
            reason = model.reason or "with a model for it, too, this table cannot keep the policy"
            lines += comment(f"CHECK: nothing is asked for {model.name}: {reason}.", indent="  ")
    return lines


def path_from_folder(data: Path, folder: Path) -> str:
    """Return a path as the policy writes it: from the policy's folder, so that it tells nothing of the machine."""
    try:
        return Path(os.path.relpath(data.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive, which Windows cannot name from here
        return data.resolve().as_posix()
