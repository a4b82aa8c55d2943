"""What files of SPSS and Stata say of their columns beside the cells, and how much of it a release says again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from kveil.arrays import Longs

Code = float | str
Labels = Mapping[str, Mapping[str, Code]]  # for columns whose codes are shown as labels: each label's code
MissingRange = tuple[Code, Code]  # the first and the last code of those that stand for missing; often one and the same


@dataclass(frozen=True)
class ColumnNotes:
    """What a file says of one column: its description, labels of codes, codes that stand for missing, its measure.

    ``letters`` are the kinds of missing that Stata has, ``.a`` to ``.z``, as far as the column uses them.
    """

    label: str = ""
    values: Mapping[Code, str] = field(default_factory=dict)
    ranges: tuple[MissingRange, ...] = ()
    letters: tuple[str, ...] = ()
    measure: str = ""

    @property
    def about_codes(self) -> bool:
        """Whether something is said of codes, which a column that is generalized has none of any more."""
        return bool(self.values or self.ranges or self.letters)


NOTHING = ColumnNotes()


@dataclass(frozen=True)
class Codebook:
    """What a file says of all its columns.

    ``labels`` are for columns whose codes are shown as labels. ``absent`` has, for columns in which some records show a
    code that stands for missing, these codes: the table itself has nothing there, as models count it.
    """

    labels: Labels = field(default_factory=dict)
    columns: Mapping[str, ColumnNotes] = field(default_factory=dict)
    absent: Mapping[str, pl.Series] = field(default_factory=dict)

    def of(self, name: str) -> ColumnNotes:
        """Return what is said of a column."""
        return self.columns.get(name, NOTHING)

    def of_release(self, unchanged: Collection[str], *, rows: Longs | None = None) -> Codebook:
        """Return what a release says again: everything of columns that are unchanged, of others their descriptions.

        ``rows`` are those of the table that the release has, where it is not the table itself.
        """
        columns = {
            name: notes if name in unchanged else ColumnNotes(label=notes.label) for name, notes in self.columns.items()
        }
        absent = {name: codes for name, codes in self.absent.items() if name in unchanged}
        if rows is not None:
            absent = {name: codes.gather(rows) for name, codes in absent.items()}
        return Codebook({name: own for name, own in self.labels.items() if name in unchanged}, columns, absent)

    def without_codes_in(self, names: Collection[str]) -> Codebook:
        """Return the same without the codes for missing of some columns, whose cells are not the table's any more."""
        return replace(self, absent={name: codes for name, codes in self.absent.items() if name not in names})

    def strange_to(self, original: Codebook) -> list[str]:
        """Return the columns of which something is said that the original does not say; less is no harm."""
        return [name for name, notes in self.columns.items() if not _is_part(notes, original.of(name))]


def _is_part(notes: ColumnNotes, whole: ColumnNotes) -> bool:
    """Tell whether one says nothing that the other does not; Stata cuts descriptions short."""
    values = set(notes.values.items()) <= set(whole.values.items())
    ranges = set(notes.ranges) <= set(whole.ranges) and set(notes.letters) <= set(whole.letters)
    measure = not notes.measure or notes.measure == whole.measure
    return whole.label.startswith(notes.label) and values and ranges and measure
