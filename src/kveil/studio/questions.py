"""What the page asks about a table, answered as plain data by the process that holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import polars as pl
from pydantic import ValidationError

from kveil.errors import DataError, PolicyError
from kveil.files import Source, numbers_with_commas, with_likely_points, with_points
from kveil.files.without_names import read_headless
from kveil.policy.attributes import STAR, Attribute, Intervals, Ranges
from kveil.policy.builders import build_lines
from kveil.policy.keys import Data
from kveil.policy.lines import Line
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number
from kveil.policy.wording import policy_error
from kveil.studio.page_data import (
    ColumnBins,
    ColumnNumbers,
    PolicyFiles,
    SampleRows,
    StepsLines,
    StepsPreview,
    StepsTree,
    SuggestedSteps,
    TableNumbers,
    ValueCounts,
)
from kveil.studio.tables import TableAt, tables_in
from kveil.suggestion import policy_text, suggest
from kveil.suggestion.profile import profile
from kveil.suggestion.roles import hierarchy_for

MOST_VALUES = 200
MOST_BINS = 60
PEOPLE = ("identifier", "individual")


@dataclass
class Column:
    """A column's texts with how often each occurs, most frequent first; missing apart."""

    counts: pl.DataFrame  # text, len
    missing: int
    rows: int


class Desk:
    """Holds one table and answers questions about it; what was asked before is remembered."""

    def __init__(self) -> None:
        self.agreed: frozenset[str] = frozenset()  # queries and servers that somebody agreed to
        self.stamp: tuple[Any, ...] = ()
        self.separator: str | None = None  # that was asked for
        self.source: Source | None = None
        self.reading = 0.0  # seconds spent on reading tables, which later questions need not do again
        self.columns: dict[tuple[Any, ...], Column] = {}

    # ------------------------------------------------------------------------------------------ the table

    def _open(self, table: TableAt) -> Source:
        """Return a table as it is written; it is read where it is not the one that was asked about before."""
        stamp, separator = table.stamp(), table.data.separator
        if self.source is None or stamp != self.stamp or not self._separated_by(separator):
            self.source = None
            self.columns = {}
            started = perf_counter()
            self.source = table.read(self.agreed)
            self.reading += perf_counter() - started
            self.stamp, self.separator = stamp, separator
        return self.source

    def _separated_by(self, separator: str | None) -> bool:
        """Tell whether the table was read with a separator: the same one, or the one that was found by itself."""
        assert self.source is not None
        found_so = self.separator is None and separator == self.source.separator
        return separator == self.separator or found_so or self.source.kind != "csv"

    def _column(self, table: TableAt, name: str, *, numbers: bool = False) -> Column:
        """Return a column's texts; where it is to hold numbers, with decimal points as kveil works with them."""
        source, data = self._open(table), table.data
        key = (name, data.missing, data.decimal if numbers else None, numbers)
        known = self.columns.get(key)
        if known is None:
            held = with_points(source, [name], data.missing, decimal=data.decimal) if numbers else source
            counts = held.texts(name).alias("text").value_counts(name="len")
            here = counts.filter(pl.col("text").is_not_null() & ~pl.col("text").is_in(list(data.missing)))
            known = Column(here, source.rows - int(here["len"].sum()), source.rows)
            self.columns[key] = known
        return known

    def on_table(self, table: TableAt) -> TableNumbers:
        """Return what a table is, and every column's numbers; no value of it."""
        source, missing = self._open(table), list(table.data.missing)
        columns: list[ColumnNumbers] = []
        for name in source.frame.columns:
            try:
                texts = source.texts(name)
                absent = texts.is_null() | texts.is_in(missing)
                known = texts.filter(~absent) if absent.any() else texts
                columns.append({"name": name, "values": known.n_unique(), "missing": int(absent.sum())})
            except DataError:
                columns.append({"name": name, "values": None, "missing": 0})
        return {
            "name": source.name,
            "rows": source.rows,
            "kind": source.kind,
            "separator": source.separator if source.kind == "csv" else None,
            "columns": columns,
        }

    def on_values(self, table: TableAt, column: str, start: int, find: str) -> ValueCounts:
        """Return values of a column with how often each occurs, most frequent first."""
        known = self._column(table, column)
        counts = known.counts
        if find:
            counts = counts.filter(pl.col("text").str.to_lowercase().str.contains(find.lower(), literal=True))
        shown = counts.sort(["len", "text"], descending=[True, False]).slice(start, MOST_VALUES)
        return {"of": counts.height, "values": [[text[:200], number] for text, number in shown.iter_rows()]}

    def on_bins(self, table: TableAt, column: str) -> ColumnBins:
        """Return the numbers of a column in equal parts, or none where it has other texts."""
        known = self._column(table, column, numbers=True)
        numbers = known.counts.select(pl.col("text").str.strip_chars().cast(pl.Float64, strict=False), pl.col("len"))
        other = int(numbers.filter(pl.col("text").is_null())["len"].sum())
        numbers = numbers.drop_nulls()
        if not numbers.height:
            return {"numbers": False, "other": other}
        low, high = float(numbers["text"].min()), float(numbers["text"].max())  # type: ignore[arg-type]
        whole = bool((numbers["text"] == numbers["text"].round(0)).all())
        span = high - low or 1.0
        parts = min(MOST_BINS, int(span) + 1) if whole else MOST_BINS
        width = (span + 1) / parts if whole else span / parts
        place = ((numbers["text"] - low) / width).floor().clip(0, parts - 1).cast(pl.Int64)
        sums = pl.DataFrame({"bin": place, "len": numbers["len"]}).group_by("bin").sum()
        bins = [0] * parts
        for at, number in sums.iter_rows():
            bins[at] = number
        return {"numbers": True, "low": low, "high": high, "whole": whole, "width": width, "bins": bins, "other": other}

    def on_sample(self, table: TableAt, hidden: list[str]) -> SampleRows:
        """Return the first records, without the values of hidden columns."""
        source = self._open(table)
        shown = [name for name in source.frame.columns if name not in hidden]
        head = Source(source.name, source.frame.head(5), source.kind, separator=source.separator)
        texts = {name: head.texts(name).to_list() for name in shown}
        rows = [
            [None if name in hidden else (texts[name][i] or "")[:80] for name in source.frame.columns]
            for i in range(min(5, source.rows))
        ]
        return {"columns": source.frame.columns, "rows": rows}

    def on_sheets(self, file: str) -> list[str]:
        """Return the names of a workbook's sheets."""
        from kveil.files.excel import sheet_names
        from kveil.files.reading import read_bytes

        path = Path(file)
        return sheet_names(read_bytes(path), path.name)

    # ------------------------------------------------------------------------------------------ suggesting

    def on_tables(self, database: str, system: str) -> list[str]:
        """Return the tables of a database in a file."""
        return tables_in(Path(database), system)

    def on_suggest(
        self, table: TableAt, stem: str, columns: list[str] | None, skip: int, copy: str | None
    ) -> PolicyFiles:
        """Return a policy for a table, with the files it names; named columns are written into a copy first."""
        if columns is not None and copy is not None:
            from kveil.files import Outputs, write_table

            place = table.place
            if not isinstance(place, Path):
                raise DataError("a table of a database has names of columns already; open it as it is.")
            named = read_headless(place, columns, skip=skip, encoding=table.data.encoding)
            with Outputs() as outputs:
                write_table(named.frame, outputs.open(Path(copy), private=True), Path(copy), separator=named.separator)
                outputs.commit()
            table = TableAt(Data(path=copy), table.folder, tuple(columns), table.opened)
        source = self._open(table)
        suggestion = suggest(with_likely_points(source))
        text, files = policy_text(suggestion, table.written, stem, by_role=False)
        return {"text": text, "files": files}

    def on_roles(self, table: TableAt, names: list[str], role: str) -> dict[str, SuggestedSteps | None]:
        """Return suggested steps for columns that get a role which has some."""
        found: dict[str, SuggestedSteps | None] = {}
        for name in names:
            if role != "quasi-identifier":
                found[name] = None
                continue
            source, missing = self._open(table), table.data.missing
            numbers = numbers_with_commas(source.frame.select(name), missing=missing) if name in source.columns else []
            texts = with_points(source, numbers, missing, decimal=table.data.decimal).texts(name)
            way = hierarchy_for(profile(name, texts, frozenset(missing)))
            if way is None or (way.builder is None and way.lines is None):
                found[name] = None
            elif way.builder is not None:
                found[name] = {"builder": way.builder, "reason": way.reason}
            else:
                found[name] = {"lines": [list(line) for line in way.lines or ()], "reason": way.reason}
        return found

    # ------------------------------------------------------------------------------------------ steps

    def _spec(self, hierarchy: Any) -> Any:
        try:
            return Attribute.model_validate({"role": "quasi-identifier", "hierarchy": hierarchy}).hierarchy
        except ValidationError as error:
            raise policy_error(error, where="these steps") from None

    def _stepped(self, table: TableAt, column: str, hierarchy: Any) -> Column:
        """Return a column as its steps read it: as numbers where they are of numbers."""
        return self._column(table, column, numbers=isinstance(self._spec(hierarchy), (Intervals, Ranges)))

    def on_tree(self, table: TableAt, column: str, hierarchy: Any) -> StepsTree:
        """Return the tree of a column: labels, parents, records below each node, and the values it does not know."""
        known = self._stepped(table, column, hierarchy)
        counts: dict[str, int] = dict(known.counts.iter_rows())
        lines, unknown, built = self._lines(hierarchy, list(counts), table.folder, column)
        if lines is None:
            return {"ranges": True, "values": len(counts), "records": known.rows, "missing": known.missing}
        labels: dict[str, int] = {}
        parents: list[int] = []
        records: list[int] = []
        for line in lines:
            for label in reversed(line):
                if label not in labels:
                    labels[label] = len(parents)
                    parents.append(-1)
                    records.append(0)
            for child, parent in pairwise(line):
                parents[labels[child]] = labels[parent]
            for label in line:
                records[labels[label]] += counts.get(line[0], 0)
        strangers = sorted(((counts[value], value) for value in unknown), key=lambda pair: (-pair[0], pair[1]))
        return {
            "ranges": False,
            "built": built,
            "labels": list(labels),
            "parents": parents,
            "records_below": records,
            "values": len(counts),
            "records": known.rows,
            "missing": known.missing,
            "unknown": [[value, number] for number, value in strangers[:MOST_VALUES]],
            "unknown_values": len(unknown),
            "unknown_records": sum(number for number, _ in strangers),
        }

    def _lines(
        self, hierarchy: Any, values: list[str], folder: Path, column: str
    ) -> tuple[Sequence[Line] | None, list[str], bool]:
        spec = self._spec(hierarchy)
        if isinstance(spec, Ranges):
            return None, [], True
        keys = {"role": "quasi-identifier", **({"hierarchy": hierarchy} if hierarchy is not None else {})}
        content = {"kveil": 1, "attributes": {column: keys}, "privacy": [{"model": "k-anonymity", "k": 1}]}
        policy = Policy.model_validate(content).within(folder)
        fixed = policy.fixed_lines(column)
        if fixed is not None:
            leaves = {line[0] for line in fixed.lines}
            return fixed.lines, [value for value in values if value not in leaves], False
        built, unknown = build_lines(spec, values, column)
        return built.lines or ((STAR,),), unknown, True

    def on_lines(self, table: TableAt, column: str, hierarchy: Any) -> StepsLines:
        """Return a column's tree as lines, to be written as a file."""
        known = self._stepped(table, column, hierarchy)
        lines, unknown, _ = self._lines(hierarchy, known.counts["text"].to_list(), table.folder, column)
        if lines is None:
            raise PolicyError("ranges have no tree; choose other steps first.")
        return {"lines": [list(line) for line in lines], "unknown": unknown[:MOST_VALUES]}

    def on_preview(self, table: TableAt, column: str, hierarchy: Any) -> StepsPreview:
        """Return the ways up of some values and how many records each step's coarsest groups hold; nothing is saved."""
        known = self._stepped(table, column, hierarchy)
        counts: dict[str, int] = dict(known.counts.iter_rows())
        lines, unknown, _ = self._lines(hierarchy, list(counts), table.folder, column)
        if lines is None:
            return {"ways": [], "groups": [], "unknown": 0}
        by_leaf = {line[0]: line for line in lines}
        some = [
            line for line in sorted(by_leaf.values(), key=lambda line: -counts.get(line[0], 0))[:3] if line[0] != STAR
        ]
        groups: dict[str, int] = {}
        for value, number in counts.items():
            line = by_leaf.get(value)
            if line is not None and len(line) > 2:
                groups[line[-2]] = groups.get(line[-2], 0) + number
        return {
            "ways": [list(line) for line in some],
            "groups": sorted(groups.items(), key=lambda pair: _by_number(pair[0]))[:MOST_VALUES],
            "unknown": len(unknown),
        }


def _by_number(label: str) -> tuple[int, Decimal, str]:
    number = parse_number(label.strip("[").replace(",", "-").split("-")[0])
    return (0, number, label) if number is not None else (1, Decimal(0), label)
