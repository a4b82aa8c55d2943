"""What another tool asks for, in kveil's words, and the policy that says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field

from kveil.errors import PolicyError
from kveil.policy.attributes import STAR, Role
from kveil.policy.lines import Line, check_lines, collapse
from kveil.policy.written import WrittenAttribute, WrittenBuilder, WrittenModel
from kveil.policy.yaml_text import comment, flow_text, hierarchy_csv, hierarchy_file_name, scalar

MOST_HIERARCHY_BYTES = 256 * 2**20  # of a file that is read as a hierarchy


@dataclass(frozen=True)
class ForeignColumn:
    """A column as another tool treats it; ``hierarchy`` is a builder as a policy writes it, ``lines`` a tree."""

    name: str
    role: Role
    lines: tuple[Line, ...] | None = None
    hierarchy: WrittenBuilder | None = None
    boundary: tuple[str, ...] = ()
    weight: str | None = None


@dataclass(frozen=True)
class ForeignPolicy:
    """A whole policy of another tool; ``left_out`` are sentences on what it says and kveil's policy does not."""

    tool: str
    name: str
    columns: tuple[ForeignColumn, ...]
    models: tuple[WrittenModel, ...]
    limit: str
    _: KW_ONLY
    show: str = "drop"
    separator: str = ","
    missing: tuple[str, ...] = ("",)
    left_out: tuple[str, ...] = ()
    table: bytes | None = field(default=None, repr=False)  # where the tool keeps the table with its policy


def as_tree(rows: Sequence[Sequence[str]], name: str) -> tuple[Line, ...]:
    """Return the lines of another tool's hierarchy as a tree under `*`; raise PolicyError where they are none.

    Others end a hierarchy where they like: at `*`, at a label of their own, or at several. A line for missing is left
    out, since missing has its place under the root in any case.
    """
    written = [collapse([text for text in row if text != ""]) for row in rows if row and row[0] != ""]
    lines = [line if line[-1] == STAR else (*line, STAR) for line in written]
    return check_lines((line for line in lines if line != (STAR,)), name, remedy="correct it in the other tool")


def foreign_policy_text(policy: ForeignPolicy, data: str | None, stem: str) -> tuple[str, dict[str, str]]:
    """Return kveil's policy and the hierarchy files it names; ``data`` is the table's path as the policy writes it."""
    files: dict[str, str] = {}
    taken: set[str] = set()
    lines = comment(f"Brought over from {policy.tool}: {policy.name}.")
    for told in policy.left_out:
        lines += comment(f"NOT CARRIED OVER: {told}")
    lines += ["", "kveil: 1", "", "data:"]
    if data is not None:
        lines.append(f"  path: {scalar(data)}")
    lines.append(f"  separator: {_quoted(policy.separator)}")
    lines.append(f"  missing: [{', '.join(_quoted(text) for text in policy.missing)}]")
    lines += ["", "attributes:"]
    for column in policy.columns:
        entry: WrittenAttribute = {"role": column.role}
        if column.lines is not None:
            name = hierarchy_file_name(stem, column.name, taken)
            files[name] = hierarchy_csv(column.lines)
            entry["hierarchy"] = name
        elif column.hierarchy is not None:
            entry["hierarchy"] = column.hierarchy
        if column.boundary:
            entry["boundary"] = list(column.boundary)
        if column.weight is not None:
            entry["weight"] = column.weight
        lines.append(f"  {scalar(column.name)}: {flow_text(entry)}")
    lines += ["", "privacy:", *(f"  - {flow_text(model)}" for model in policy.models)]
    lines += ["", f"suppression: {{limit: {policy.limit}, show: {policy.show}}}", "algorithm: auto", ""]
    return "\n".join(lines), files


def _quoted(text: str) -> str:
    return '"\\t"' if text == "\t" else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def check_models(models: Sequence[WrittenModel], told: Sequence[str], name: str) -> None:
    """Raise PolicyError where nothing that protects is left: a policy promises something."""
    if not models:
        why = f" ({told[0].rstrip('.')})" if told else ""
        raise PolicyError(
            f"{name} has no privacy model that kveil knows{why}; say what must hold, with --k N at least."
        )
