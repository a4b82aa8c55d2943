"""Random hierarchies, tables and policies for Hypothesis, as the texts a user would write.

A `Case` is a folder's worth: the policy file, its hierarchy files and the table. Both kveil and the slow twins
read the same texts.
"""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import polars as pl
import yaml
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import kveil
from naive import release as naive

T = TypeVar("T")

# Every run draws the same examples, so that a red build is red for everyone, and not all that a test asks for, so that
# it is a matter of minutes; KVEIL_EXPLORE=1 draws new ones, as many as are asked for, KVEIL_EXPLORE=20 twenty times as
# many.
EXPLORE = int(os.environ.get("KVEIL_EXPLORE", "0"))
EVERYDAY = 0.4  # of the examples that a test asks for
FEW = 10  # that are drawn in any case
settings.register_profile(
    "kveil",
    derandomize=not EXPLORE,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("kveil")


def examples(number: int, shrink: bool = True, *, every_day: bool = False) -> settings:
    """How many examples a test draws; whether it looks for a smaller one where an example fails.

    With ``every_day`` it draws all of them in every run, for what is promised by a number.
    """
    phases = [Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])]
    drawn = number if every_day else _everyday(number)
    return settings(max_examples=number * EXPLORE or drawn, phases=phases)


def _everyday(number: int) -> int:
    return max(round(EVERYDAY * number), min(number, FEW))


def seeds(start: int, stop: int) -> range:
    """The seeds of random cases that a test goes through: the first of them, or all where it explores."""
    return range(start, stop if EXPLORE else start + _everyday(stop - start))


# The C twins of PyYAML's classes, where it has them, do the same faster.
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

# Texts that programs like to read as something else.
TEXTS = (
    "02138", "NO", "yes", "null", "~", "1:30", "2020-01-01", "0x1F", "1e3", "007", "a b", "x,y", "x;y", "q\"q", "Ünï",
    "=1+1", "-3", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "[1,2)", "1-5", "#x",
)  # fmt: skip
Spec = dict[str, Any]


def shuffled(draw: st.DrawFn, items: Sequence[T]) -> list[T]:
    """The items in an order that costs one draw, where no one needs it to shrink."""
    return Random(draw(st.integers(0, 999))).sample(list(items), len(items))


@dataclass(frozen=True)
class Case:
    """A policy file, the files it names, and a table."""

    policy: str
    files: tuple[tuple[str, bytes], ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        files = "".join(f"\n--- {name}\n{content!r}" for name, content in self.files)
        table = "".join(f"\n{row}" for row in (self.columns, *self.rows))
        return f"Case:\n{self.policy}{files}\n--- table{table}"

    @property
    def records(self) -> list[naive.Row]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def frame(self, order: list[int] | None = None) -> pl.DataFrame:
        rows = self.rows if order is None else [self.rows[i] for i in order]
        return pl.DataFrame(list(rows), schema=dict.fromkeys(self.columns, pl.String), orient="row")

    def write(self, folder: Path) -> Path:
        """Write everything into a folder; return the policy's path."""
        for name, content in self.files:
            (folder / name).write_bytes(content)
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.columns, *self.rows])
        (folder / "data.csv").write_text(out.getvalue(), encoding="utf-8")
        (folder / "policy.yaml").write_text(self.policy, encoding="utf-8")
        return folder / "policy.yaml"


@dataclass(frozen=True)
class Placed:
    """A case on disk, read by both sides."""

    case: Case
    path: Path
    policy: kveil.Policy
    twin: naive.Policy


@contextmanager
def placed(case: Case) -> Iterator[Placed]:
    with tempfile.TemporaryDirectory() as folder:
        path = case.write(Path(folder))
        yield Placed(case, path, kveil.Policy.load(path), naive.Policy.load(path))


def rows_of(frame: pl.DataFrame) -> list[naive.Row]:
    return frame.to_dicts()


# ---------------------------------------------------------------------------------------------- hierarchies


@dataclass(frozen=True)
class Drawn:
    """An attribute's hierarchy as the policy says it, the files it needs, and values its table may have."""

    spec: Any
    values: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...] = ()


@st.composite
def ways(draw: st.DrawFn, most: int = 8) -> list[naive.Way]:
    """The lines of a random tree: unbalanced, with chains of single children, its root not always `*`."""
    labels = iter(shuffled(draw, TEXTS))
    root = draw(st.sampled_from(["*", "*", "*", "All"]))
    found: list[naive.Way] = []

    def grow(above: naive.Way, depth: int) -> None:
        for _ in range(draw(st.integers(1, 3))):
            if len(found) >= most:
                break
            here = (next(labels), *above)
            if depth < 4 and draw(st.booleans()):
                grow(here, depth + 1)
            if not any(here[0] in way[1:] for way in found):
                found.append(here)

    grow((root,), 1)
    return found


def nested(lines: list[naive.Way]) -> Any:
    """A tree as a policy writes it, from its lines."""
    children: dict[str, list[str]] = {}
    for way in lines:
        for child, above in pairwise(way):
            below = children.setdefault(above, [])
            if child not in below:
                below.append(child)

    def under(label: str) -> Any:
        below = children.get(label, [])
        if all(child not in children for child in below):
            return below
        return {child: under(child) for child in below}

    root = lines[0][-1]
    return {root: under(root)}


@st.composite
def hierarchy_files(draw: st.DrawFn, lines: list[naive.Way]) -> bytes:
    """A tree as a file: either separator, ragged or padded by repeating labels, quoted, with BOM and CRLF."""
    out = io.StringIO()
    separator, end = draw(st.sampled_from(";,")), draw(st.sampled_from(["\n", "\r\n"]))
    # A comma file may have `;` inside its labels if they are quoted: only bare ones separate.
    bare = separator == ";" or not any(";" in label for way in lines for label in way)
    quoting = csv.QUOTE_MINIMAL if bare and draw(st.booleans()) else csv.QUOTE_ALL
    writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
    padded = draw(st.booleans())
    longest = max(map(len, lines))
    for way in lines:
        repeat = longest - len(way) if padded else 0
        at = draw(st.integers(0, len(way) - 1)) if repeat else 0
        writer.writerow([*way[:at], *[way[at]] * repeat, *way[at:]])
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + out.getvalue().encode()


@st.composite
def trees(draw: st.DrawFn, name: str, most: int = 8) -> Drawn:
    lines = draw(ways(most))
    values = tuple(way[0] for way in lines)
    if draw(st.booleans()):
        return Drawn({"tree": nested(lines)}, values)
    return Drawn(f"{name}.csv", values, ((f"{name}.csv", draw(hierarchy_files(lines))),))


@st.composite
def masks(draw: st.DrawFn) -> Drawn:
    keep = sorted(draw(st.sets(st.integers(0, 4), min_size=1, max_size=3)), reverse=True)
    values = draw(st.sets(st.text("019", min_size=1, max_size=5), min_size=1, max_size=6))
    return Drawn({"mask": {"keep": keep}}, tuple(sorted(values)))


def opened(draw: st.DrawFn, low: int, high: int, widest: int) -> tuple[dict[str, str], int, int]:
    """Which ends of a scale are open, if any, and between which numbers its values may then lie."""
    ends = draw(st.sampled_from([None, None, "below", "above", *(["both"] if high - low >= widest else [])]))
    below, above = (9 if ends in (end, "both") else 0 for end in ("below", "above"))
    return {} if ends is None else {"open": ends}, low - below, high + above


def scale(draw: st.DrawFn, furthest: int, narrowest: int) -> tuple[int, int, list[int]]:
    """From which number to which a scale goes, and widths of its intervals of which each holds the one before."""
    low = draw(st.integers(-furthest, furthest))
    high = low + draw(st.integers(1, 30))
    widths = [draw(st.integers(1, narrowest))]
    for factor in draw(st.lists(st.integers(2, 3), max_size=2)):
        widths.append(widths[-1] * factor)
    return low, high, widths


@st.composite
def whole_intervals(draw: st.DrawFn) -> Drawn:
    low, high, widths = scale(draw, 12, 6)
    ends, least, most = opened(draw, low, high, widths[-1])
    values = draw(st.sets(st.integers(least, most), min_size=1, max_size=6))
    return Drawn({"intervals": {"from": low, "to": high, "widths": widths, **ends}}, tuple(map(str, sorted(values))))


def halves(number: int) -> str:
    return naive.written(naive.Fraction(number, 2))


@st.composite
def real_intervals(draw: st.DrawFn) -> Drawn:
    low, high, widths = scale(draw, 9, 5)
    ends, least, most = opened(draw, low, high, widths[-1])
    numbers = draw(st.sets(st.integers(2 * least, 2 * most - 1), min_size=1, max_size=6))
    values = [naive.written(naive.Fraction(number, 4)) for number in sorted(numbers)]
    if all("." not in text for text in (*values, *map(halves, (low, high, *widths)))):
        values.append(naive.written(naive.Fraction(low, 2) + naive.Fraction(1, 8)))
    spec = {"from": halves(low), "to": halves(high), "widths": [halves(width) for width in widths], **ends}
    return Drawn({"intervals": spec}, tuple(values))


@st.composite
def dates(draw: st.DrawFn) -> Drawn:
    every = ["month", "quarter", "year", "decade", "century"]
    levels = sorted(draw(st.sets(st.sampled_from(every), min_size=1, max_size=3)), key=every.index)
    days = ["1965-08-25", "1965-09-30", "1965-10-01", "1966-06-20", "1972-02-29", "1999-12-31", "2000-01-01"]
    return Drawn({"dates": levels}, tuple(shuffled(draw, days)[:5]))


@st.composite
def plain(draw: st.DrawFn) -> Drawn:
    return Drawn(None, tuple(shuffled(draw, TEXTS)[: draw(st.integers(1, 5))]))


@st.composite
def ranges(draw: st.DrawFn) -> Drawn:
    low = draw(st.integers(-10, 10))
    high = low + draw(st.integers(2, 40))
    spec: Spec = {"within": [low, high]}
    if draw(st.booleans()):
        spec["round"] = draw(st.sampled_from([1, 2, 5, "0.5"]))
    numbers = draw(st.sets(st.integers(2 * low, 2 * high), min_size=1, max_size=6))
    return Drawn({"ranges": spec}, tuple(halves(number) for number in sorted(numbers)))


def hierarchies(name: str, with_ranges: bool = False) -> st.SearchStrategy[Drawn]:
    kinds = [trees(name), trees(name), masks(), whole_intervals(), real_intervals(), dates(), plain()]
    return st.one_of(*kinds, *([ranges()] if with_ranges else []))


def single(drawn: Drawn, values: Sequence[str] | None = None, **more: Any) -> Case:
    """A table of one quasi-identifier `a` with these values, by default all that the hierarchy was drawn with."""
    spec: Spec = {"role": "quasi-identifier"} | ({} if drawn.spec is None else {"hierarchy": drawn.spec}) | more
    policy = {"kveil": 1, "attributes": {"a": spec}, "privacy": [{"model": "k-anonymity", "k": 1}]}
    text = yaml.dump(policy, Dumper=DUMPER, sort_keys=False, allow_unicode=True)
    return Case(text, drawn.files, ("a",), tuple((value,) for value in (drawn.values if values is None else values)))


# ---------------------------------------------------------------------------------------------- policies


@st.composite
def boundaries(draw: st.DrawFn, drawn: Drawn, missing: list[str]) -> Any:
    """Marked nodes or a level, for any form with a tree."""
    if draw(st.booleans()):
        return {"level": draw(st.integers(0, 3))}
    spec: Spec = {"role": "quasi-identifier"} | ({} if drawn.spec is None else {"hierarchy": drawn.spec})
    with tempfile.TemporaryDirectory() as folder:
        for name, content in drawn.files:
            (Path(folder) / name).write_bytes(content)
        hierarchy = naive.Policy({"data": {"missing": missing}, "attributes": {"a": spec}}, Path(folder)).hierarchy(
            "a", drawn.values
        )
    assert isinstance(hierarchy, naive.Hierarchy)
    nodes = sorted(hierarchy.labels - set(missing))
    return draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=3, unique=True))


@st.composite
def cases(
    draw: st.DrawFn,
    many: bool = True,
    bounded: bool = True,
    with_ranges: bool = False,
    max_width: bool = False,
    most_rows: int = 24,
    order: str | None = None,
    suppression: bool = True,
    models: Sequence[str] = (),
    kind: Callable[[str], st.SearchStrategy[Drawn]] | None = None,
) -> Case:
    """A whole case: one to four quasi-identifiers, other columns between them, one to four constraints."""
    missing = draw(st.sampled_from([None, [""], ["?"], ["NA", ""], ["", "?"]]))
    means_missing = missing or [""]
    names = ["zip", "age", "job", "city"][: draw(st.integers(1, 4))]
    attributes: dict[str, Spec] = {}
    files: list[tuple[str, bytes]] = []
    values: dict[str, tuple[str, ...]] = {}
    for name in names:
        drawn = draw(kind(name) if kind else hierarchies(name, with_ranges))
        spec: Spec = {"role": "quasi-identifier"}
        if drawn.spec is not None:
            spec["hierarchy"] = drawn.spec
        is_range = isinstance(drawn.spec, dict) and "ranges" in drawn.spec
        if is_range and max_width and draw(st.integers(0, 3)) == 0:
            spec["boundary"] = {"max_width": draw(st.integers(0, 30))}
        if not is_range and bounded and draw(st.integers(0, 2)) == 0:
            spec["boundary"] = draw(boundaries(drawn, means_missing))
        if draw(st.integers(0, 3)) == 0:
            spec["weight"] = draw(st.sampled_from([2, "0.5", 3]))
        attributes[name] = spec
        files += drawn.files
        few = shuffled(draw, drawn.values)[: draw(st.integers(1, 4))]
        values[name] = (*few, *([draw(st.sampled_from(means_missing))] if draw(st.integers(0, 2)) == 0 else ()))
    asked = draw(group_models(names, models)) if models and draw(st.booleans()) else []
    others = {"name": "identifier", "ward": "insensitive"} | ({} if asked else {"disease": "sensitive"})
    for spec in asked:
        attributes[spec["sensitive"]] = SENSITIVE[spec["sensitive"]]
        values[spec["sensitive"]] = SENSITIVE_VALUES[spec["sensitive"]][: draw(st.integers(1, 5))]
    if asked and not any(model["model"] in UNTOLD or model.get("variant") in UNTOLD for model in asked):
        for spec in asked:
            values[spec["sensitive"]] += (means_missing[0],)
    for name, role in others.items():
        if draw(st.booleans()):
            attributes[name] = {"role": role}
            values[name] = ("flu", "", "02", "cold")[: draw(st.integers(1, 4))]

    # A few kinds of records, some of them alone and others many times, so that groups form and stragglers remain.
    columns = shuffled(draw, list(attributes))
    rows: list[tuple[str, ...]] = []
    rest = Random(draw(st.integers(0, 999)))  # cells that are no quasi-identifiers need not shrink
    for _ in range(draw(st.sampled_from([3, 5, 6, 7, 8, 4, 1]))):
        row = {name: draw(st.sampled_from(values[name])) for name in names}
        for _ in range(min(draw(st.sampled_from([4, 1, 3, 1, 5, 2])), most_rows - len(rows))):
            row |= {column: rest.choice(values[column]) for column in columns if column not in names}
            rows.append(tuple(row[column] for column in columns))
    rows = shuffled(draw, rows)

    policy: Spec = {"kveil": 1}
    if missing is not None:
        policy["data"] = {"path": "data.csv", "missing": missing}
    listed = shuffled(draw, list(attributes))
    policy["attributes"] = {name: attributes[name] for name in listed}
    policy["privacy"] = draw(constraints([name for name in listed if name in names], many, asked))
    if suppression:
        limit = draw(st.sampled_from([None, "0.1", "0.15", "0.2", "0.25", "0.34", "0.5", 0, 1]))
        show = draw(st.sampled_from([None, "drop", "star", "star"]))
        given = {"limit": limit, "show": show}
        policy["suppression"] = {key: value for key, value in given.items() if value is not None}
    chosen = order or draw(st.sampled_from([None, "sorted", "keep"]))
    if chosen is not None:
        policy["release"] = {"order": chosen}
    text = yaml.dump(policy, Dumper=DUMPER, sort_keys=False, allow_unicode=True)
    return Case(text, tuple(files), tuple(columns), tuple(rows))


# Sensitive attributes for the models that count them: a tree, numbers, texts without a hierarchy, a builder.
SENSITIVE: dict[str, Spec] = {
    "illness": {
        "role": "sensitive",
        "hierarchy": {"tree": {"*": {"viral": {"flu": [], "lungs": ["cold", "cough"]}, "gout": [], "NO": []}}},
    },
    "income": {"role": "sensitive"},
    "code": {"role": "sensitive", "hierarchy": {"mask": {"keep": [2, 1]}}},
}
SENSITIVE_VALUES = {
    "illness": ("flu", "cold", "gout", "cough", "NO"),
    "income": ("10", "9", "200", "9.5", "-1"),
    "code": ("11", "123", "124", "2", "21"),
}
UNTOLD = {
    "entropy",
    "alpha-k",
    "t-closeness",
}  # models for which docs/policy.md says nothing of missing values; note 007 does


@st.composite
def group_models(draw: st.DrawFn, names: list[str], models: Sequence[str]) -> list[Spec]:
    """One or two models over sensitive values, over all quasi-identifiers or some."""
    found = []
    for _ in range(draw(st.integers(1, 2))):
        entry: Spec = {"model": draw(st.sampled_from(models))}
        sensitive = draw(st.sampled_from(sorted(SENSITIVE)))
        if entry["model"] == "l-diversity":
            entry["variant"] = draw(st.sampled_from(["distinct", "entropy", "recursive", "frequency"]))
            entry["l"] = draw(
                st.sampled_from([2, 2, 3] if entry["variant"] in ("distinct", "recursive") else [2, "1.5"])
            )
            if entry["variant"] == "recursive":
                entry["c"] = draw(st.sampled_from([1, 2, "1.5", 4]))
            elif entry["variant"] == "distinct" and draw(st.booleans()):
                del entry["variant"]
        elif entry["model"] == "p-sensitive":
            entry["p"] = draw(st.sampled_from([1, 2, 3]))
        elif entry["model"] == "alpha-k":
            entry |= {"alpha": draw(st.sampled_from(["0.5", "0.67", "0.75"])), "k": draw(st.sampled_from([1, 2, 3]))}
        elif entry["model"] == "t-closeness":
            entry["t"] = draw(st.sampled_from(["0.1", "0.25", "0.4", "0.5"]))
            entry["distance"] = draw(st.sampled_from(["equal", "ordered", "hierarchical"]))
            if entry["distance"] == "hierarchical":
                sensitive = draw(st.sampled_from(["illness", "illness", "code"]))
        entry["sensitive"] = sensitive
        over = draw(st.sets(st.sampled_from(names)))
        if over:
            entry["attributes"] = shuffled(draw, sorted(over))
        found.append(entry)
    return found


@st.composite
def constraints(draw: st.DrawFn, names: list[str], many: bool, asked: list[Spec]) -> list[Spec]:
    """Sets of attributes, each with its own k: overlapping, nested, disjoint; with the models, they cover all."""
    k = st.sampled_from([2, 1, 2, 3, 3, 4])
    if not many:
        if asked:
            return [{key: value for key, value in asked[0].items() if key != "attributes"}]
        return [{"model": "k-anonymity", "k": draw(k)}]
    fewest = 0 if any("attributes" not in entry for entry in asked) else 1
    most = 4 if len(names) > 1 and not asked else 2
    sets = draw(st.lists(st.sets(st.sampled_from(names), min_size=1), min_size=fewest, max_size=most))
    if not fewest and not sets:
        return asked
    uncovered = set(names).difference(*sets)
    if uncovered and fewest:
        sets = [*sets[:3], set(names).difference(*sets[:3])]
    found: list[Spec] = []
    for chosen in sets:
        entry: Spec = {"model": "k-anonymity", "k": draw(k)}
        if len(chosen) < len(names) or draw(st.booleans()):
            entry["attributes"] = shuffled(draw, sorted(chosen))
        found.append(entry)
    return shuffled(draw, [*found, *asked])
