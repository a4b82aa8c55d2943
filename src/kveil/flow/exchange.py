"""`kveil import` and `kveil export`: policies and hierarchies from and to other tools."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypedDict

from kveil.databases import Place
from kveil.errors import DataError, FileError
from kveil.exchange.anjana_script import policy_of, read_script
from kveil.exchange.arx_builder import read_builder
from kveil.exchange.arx_project import read_project
from kveil.exchange.for_others import ForArx, for_arx, for_pycanon
from kveil.exchange.foreign import ForeignPolicy, as_tree, foreign_policy_text
from kveil.files import FileLayout, Outputs, Source, parse_table, read_table, write_table
from kveil.flow.steps.inputs import read
from kveil.flow.steps.outputs import check_new
from kveil.flow.steps.places import input_path
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number
from kveil.policy.yaml_text import flow_text, hierarchy_csv, hierarchy_file_name
from kveil.suggestion.write import path_from_folder
from kveil.table.encode import encode
from kveil.words import did_you_mean


class ImportedNames(TypedDict):
    """What was written for a policy of another tool's, as plain data."""

    policy: str
    hierarchies: list[str]
    table: str | None
    left_out: list[str]


@dataclass(frozen=True)
class Imported:
    """A policy of another tool's that was written: its files' names, and what it says that kveil's does not."""

    policy: str
    files: tuple[str, ...]
    table: str | None
    left_out: tuple[str, ...]

    def as_json(self) -> ImportedNames:
        """Return it as plain data."""
        return {
            "policy": self.policy,
            "hierarchies": list(self.files),
            "table": self.table,
            "left_out": list(self.left_out),
        }


def import_arx(
    project: Path, output: Path, *, data: Path | None = None, k: int | None = None, force: bool = False
) -> Imported:
    """Write the policy of a project of ARX, its hierarchies and, unless ``data`` is given, its table.

    The table is written for its owner's eyes alone.
    """
    foreign = read_project(project, k=k)
    if data is None and foreign.table is None:
        raise FileError(f"{project.name} holds no table; give it with --data.")
    inside = output.parent / f"{output.stem}.table.csv"
    table = inside if data is None else data
    if data is None and foreign.table is not None:
        source = parse_table(foreign.table, inside, layout=FileLayout(separator=foreign.separator))
    else:
        source = read_table(table, layout=FileLayout(separator=foreign.separator))
    return _written(foreign, source, table, output, _Reads([project], force=force, take_table=data is None))


def import_anjana(
    script: Path, output: Path, *, data: Path | None = None, k: int | None = None, force: bool = False
) -> Imported:
    """Write the policy that a script asks ANJANA for; the script is read, not run.

    Where the script takes blanks off cells before it calls ANJANA, the policy is about a copy of the table without
    them, which is written beside it for its owner's eyes alone.
    """
    asked = read_script(script)
    table = data or asked.table
    if table is None:
        raise DataError(f"{script.name} does not say which table it reads; give it with --data.")
    source = read_table(table, layout=FileLayout(separator=asked.separator if data is None else None))
    numeric = [name.strip() for name in source.frame.columns if _is_numeric(source, name)]
    stripped = asked.strips.of(source.frame)
    if stripped.equals(source.frame):
        foreign = policy_of(asked, source.frame.columns, numeric, k)
        try:
            return _written(foreign, source, table, output, _Reads([script, table], force=force))
        except DataError as error:
            raise DataError(
                f"{error} If {script.name} changes the table before it calls ANJANA, give the changed table with "
                "--data."
            ) from None
    plain = {name: name.strip() for name in stripped.columns}
    if len(set(plain.values())) == len(plain):
        stripped = stripped.rename(plain)
    inside, content = output.parent / f"{output.stem}.table.csv", io.BytesIO()
    write_table(stripped, content, inside, separator=asked.separator)
    foreign = replace(policy_of(asked, stripped.columns, numeric, k), table=content.getvalue())
    source = parse_table(content.getvalue(), inside, layout=FileLayout(separator=asked.separator))
    return _written(foreign, source, inside, output, _Reads([script, table], force=force, take_table=True))


def _is_numeric(source: Source, name: str) -> bool:
    return all(parse_number(text.strip()) is not None for text in source.texts(name).drop_nulls().unique().to_list())


@dataclass(frozen=True)
class _Reads:
    """What an import reads and must not replace, and whether it takes the table out of it."""

    files: list[Path]
    force: bool
    take_table: bool = False


def _written(foreign: ForeignPolicy, source: Source, table: Path, output: Path, reads: _Reads) -> Imported:
    """Write a policy once it loads and every value of the table has its place in it."""
    text, files = foreign_policy_text(foreign, path_from_folder(table, output.parent), output.stem)
    policy = Policy.parse(text, f"the policy from {foreign.name}", output.parent, files)
    encode(source, policy)
    targets = {output.parent / name: content for name, content in files.items()} | {output: text}
    every = [*targets, *([table] if reads.take_table else [])]
    check_new(every, reads.files, force=reads.force)
    with Outputs() as outputs:
        for target, content in targets.items():
            outputs.write(outputs.open(target), content.encode())
        if reads.take_table and foreign.table is not None:
            outputs.write(outputs.open(table, private=True), foreign.table)
        outputs.commit()
    return Imported(str(output), tuple(sorted(files)), table.name if reads.take_table else None, foreign.left_out)


class HierarchyText(TypedDict):
    """A hierarchy of another tool's as plain data."""

    hierarchy: str
    left_out: list[str]


@dataclass(frozen=True)
class ImportedHierarchy:
    """A hierarchy of another tool's: a builder as a policy writes it or the lines of a file, and what it leaves out."""

    text: str
    left_out: tuple[str, ...] = ()

    def as_json(self) -> HierarchyText:
        """Return it as plain data."""
        return {"hierarchy": self.text, "left_out": list(self.left_out)}


def import_hierarchy(file: Path, *, data: Path | None = None, column: str | None = None) -> ImportedHierarchy:
    """Return a hierarchy of ARX's: settings (`.ahs`) as a builder or a file, a CSV as a hierarchy file under one `*`.

    Settings may need a column of a table: they group the values that it has.
    """
    if file.suffix.lower() == ".ahs":
        values = None if data is None or column is None else _values_of(data, column)
        made = read_builder(file, values=values)
        if made.builder is not None:
            return ImportedHierarchy(f"hierarchy: {flow_text(made.builder)}\n", made.left_out)
        return ImportedHierarchy(hierarchy_csv(made.lines), made.left_out)
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise FileError(f"{file.name}: the file cannot be read ({error.strerror}); check the path.") from None
    except UnicodeDecodeError:
        raise FileError(f"{file.name} is not UTF-8; save the hierarchy as UTF-8.") from None
    separator = ";" if ";" in text else ","
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        raise FileError(f"{file.name}: a quote is opened and not closed rightly; save it again.") from None
    return ImportedHierarchy(hierarchy_csv(as_tree(rows, file.name)))


def _values_of(data: Path, column: str) -> list[str]:
    """Return the distinct values of a column, in the order in which they appear."""
    source = read_table(data)
    if column not in source.frame.columns:
        raise DataError(
            f"{data.name} has no column {column!r}{did_you_mean(column, source.frame.columns) or '; check --column'}."
        )
    return [text for text in source.texts(column).drop_nulls().unique(maintain_order=True).to_list() if text]


def export_arx(policy_path: Path, folder: Path, *, data: Place | None = None, force: bool = False) -> ForArx:
    """Write the hierarchies of a policy as ARX reads them, and return what else to set there."""
    policy = Policy.load(policy_path)
    source = read(policy, input_path(policy, data))

    @cache
    def values_of(name: str) -> tuple[str, ...]:
        return tuple(source.texts(name).fill_null(policy.data.missing[0]).unique().to_list())

    exported = for_arx(policy, values_of)
    taken: set[str] = set()
    targets = {
        folder / hierarchy_file_name("arx", name, taken): hierarchy_csv(tuple(lines))
        for name, lines in exported.hierarchies.items()
    }
    check_new(targets, [], force=force, instead="another folder")
    folder.mkdir(parents=True, exist_ok=True)
    with Outputs() as outputs:
        for target, content in targets.items():
            outputs.write(outputs.open(target), content.encode())
        outputs.commit()
    return exported


def export_pycanon(policy_path: Path, release: Path) -> tuple[str, list[str]]:
    """Return a script that asks pyCANON about a release, and what it cannot ask."""
    return for_pycanon(Policy.load(policy_path), str(release))
