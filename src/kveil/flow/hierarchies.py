"""Hierarchy files for people: find them, check them, build them from a column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NotRequired, TypedDict

import polars as pl
import yaml

from kveil.errors import DataError, PolicyError
from kveil.files import PLAIN_LAYOUT, FileLayout, Source, read_table, with_likely_points
from kveil.flow.steps.inputs import read
from kveil.flow.steps.places import input_path
from kveil.policy.attributes import STAR, Attribute, Dates, HierarchyFile, Intervals, Mask, Ranges, Tree
from kveil.policy.balanced import balanced_lines
from kveil.policy.builders import build_lines
from kveil.policy.hierarchy import read_hierarchy_file
from kveil.policy.lines import Line, Lines, check_lines, collapse
from kveil.policy.model import Policy
from kveil.policy.yaml_text import hierarchy_csv
from kveil.verifier.label_ends import meaning
from kveil.verifier.labels import bands_that_run_over, untrue_ends
from kveil.words import count, did_you_mean, listing


def _source(data: Path, column: str, layout: FileLayout) -> Source:
    source = read_table(data, columns=[column], layout=layout)
    if column not in source.frame.columns:
        hint = did_you_mean(column, source.frame.columns)
        raise DataError(f"{data.name} has no column {column!r}{hint or '; check --column.'}")
    return source


def hierarchy_of(file: Path, attribute: str | None) -> Lines:
    """Return the hierarchy in a file, or of an attribute of a policy."""
    if file.suffix.lower() not in {".yaml", ".yml"}:
        return read_hierarchy_file(file)
    policy = Policy.load(file)
    if attribute is None or attribute not in policy.attributes:
        hint = did_you_mean(attribute or "", policy.attributes)
        raise PolicyError(f"name an attribute of {file.name} with --attribute{hint or '.'}")
    role = policy.attributes[attribute].role
    if role in {"identifier", "individual"}:
        raise PolicyError(f"{attribute} has role {role}: it is never released, and its values are not shown.")
    fixed = policy.fixed_lines(attribute)
    if fixed is not None:
        return fixed
    spec = policy.attributes[attribute].hierarchy
    if isinstance(spec, Ranges):
        raise PolicyError(f"{attribute} has `ranges`, which has no tree to show.")
    if policy.data.path is None:
        raise PolicyError(f"the hierarchy of {attribute} is built from data, and the policy names no data.path.")
    source = read(policy, input_path(policy, None))
    if attribute not in source.frame.columns:
        raise DataError(f"{source.name} has no column {attribute!r}.")
    values = [v for v in source.texts(attribute).drop_nulls().unique().to_list() if v not in policy.data.missing]
    return build_lines(spec, values, attribute)[0]


class HierarchyCheck(TypedDict):
    """What `kveil hierarchy check` says of a file; ``unknown`` where a column was held against it."""

    holds: bool
    leaves: int
    inner: int
    root: str
    height: int
    balanced: bool
    sentences: list[str]
    unknown: NotRequired[int]


def check_hierarchy(
    file: Path, data: Path | None, column: str | None, *, layout: FileLayout = PLAIN_LAYOUT
) -> HierarchyCheck:
    """Check a hierarchy file and, if a column is given, whether it knows its values."""
    if (data is None) != (column is None):
        raise DataError("--data and --column go together; give both or neither.")
    lines = read_hierarchy_file(file)
    leaves = {line[0] for line in lines.lines}
    heights = sorted({len(line) - 1 for line in lines.lines})
    content: HierarchyCheck = {
        "holds": True,
        "leaves": len(leaves),
        "inner": len({label for line in lines.lines for label in line[1:]}),
        "root": lines.root,
        "height": heights[-1],
        "balanced": len(heights) == 1,
        "sentences": [
            f"{file.name} is a tree of {count(len(leaves), 'leaf', 'leaves')} under {lines.root!r}, height "
            f"{heights[-1]}{'' if len(heights) == 1 else ', unbalanced'}."
        ],
    }
    sentences = content["sentences"]
    if lines.root != STAR:
        sentences.append(
            f"Its root is {lines.root!r}, not `*`: suppressed records will show `*`, which it does not know."
        )
    untrue = untrue_ends(lines, ())
    if untrue:
        shown = listing([repr(label[:40]) for label in untrue], 3)
        sentences.append(
            f"It has {count(len(untrue), 'label')} with two ends that a value below lies outside of ({shown}): a "
            "release that shows one is refused; rename such labels by what holds for all values below them."
        )
    over = bands_that_run_over(lines, ())
    if over:
        sentences.append(
            f"It has {count(len(over), 'band')} of numbers that begin and end one number later than said: "
            f"{meaning(over[0])}; rename such labels, or tell readers."
        )
    if data is not None and column is not None:
        texts = _source(data, column, layout).texts(column).drop_nulls()
        texts = texts.filter(texts != "")
        unknown = sorted(set(texts.unique()) - leaves)
        content["unknown"], content["holds"] = len(unknown), not unknown
        if unknown:
            records = int(texts.is_in(unknown).sum())
            shown = listing([repr(value) for value in unknown], 5)
            sentences.append(
                f"It does not know {count(len(unknown), 'value')} of {column} ({shown}) in {count(records, 'record')}."
            )
        else:
            sentences.append(f"It knows every value of {column}.")
    return content


def build_hierarchy(data: Path, column: str, builder: str, *, k: int = 5, layout: FileLayout = PLAIN_LAYOUT) -> str:
    """Return a hierarchy file over a column's values, made by a builder or balanced by frequency.

    A balanced one has runs of values, named by beginnings that at least ``k`` records have, or by nobody's numbers.
    Intervals of numbers with a decimal comma are those of the numbers; these stand in the file as in the table.
    """
    source = _source(data, column, layout)
    values = source.texts(column).drop_nulls()
    name, _, fan_out = builder.partition(":")
    if name.strip() == "balanced":
        if fan_out.strip() and not fan_out.strip().isdecimal():
            raise PolicyError(f"--as balanced:N needs a whole number N, not {fan_out.strip()!r}.")
        counts = values.filter(values != "").value_counts(sort=False)
        return hierarchy_csv(balanced_lines(counts.iter_rows(), int(fan_out) if fan_out.strip() else 4, least=k))
    spec = _builder_of(builder)
    if spec.form == "tree":
        return hierarchy_csv(check_lines(map(collapse, spec.paths()), "--as"))
    held = values
    if spec.form == "intervals":
        held = with_likely_points(replace(source, frame=source.frame.select(column))).texts(column).drop_nulls()
    distinct = [value for value in held.unique().to_list() if value != ""]
    built, unknown = build_lines(spec, distinct, column)
    if unknown:
        shown = listing([repr(value) for value in unknown], 5)
        raise DataError(
            f"the builder does not know {count(len(unknown), 'value')} of {column} ({shown}); correct them in a copy "
            "of the table, or widen the builder."
        )
    return hierarchy_csv(_as_written(built.lines, held, values))


def _builder_of(builder: str) -> Intervals | Mask | Dates | Tree:
    try:
        content = yaml.load(builder, Loader=yaml.BaseLoader)
        spec = Attribute.read({"role": "quasi-identifier", "hierarchy": content}, "--as").hierarchy
    except yaml.YAMLError:
        raise PolicyError("--as must be a builder as a policy writes it, such as '{mask: {keep: [4, 3]}}'.") from None
    if spec is None or isinstance(spec, (HierarchyFile, Ranges)):
        raise PolicyError("--as must be one of intervals, mask, dates, tree or balanced.")
    return spec


def _as_written(lines: Iterable[Line], held: pl.Series, values: pl.Series) -> list[Line]:
    """Return lines over held texts with the leaves as the table writes them."""
    written: dict[str, list[str]] = {}
    for number, value in pl.DataFrame({"held": held, "value": values}).unique().sort("value").iter_rows():
        written.setdefault(number, []).append(value)
    return [(value, *line[1:]) for line in lines for value in written[line[0]]]
