"""Slow twins: what docs/policy.md and docs/models.md say, one record at a time.

Plain Python, dicts and fractions; nothing of kveil is imported, so that a mistake there cannot repeat itself
here. Policies are read as YAML texts, tables are lists of dicts of texts, missing is its own text.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

STAR = "*"
Row = dict[str, str]
Way = tuple[str, ...]  # from a leaf up to the root


# ---------------------------------------------------------------------------------------------- numbers


def number(text: str) -> Fraction | None:
    """The number a text writes, None if it writes none."""
    return Fraction(text) if re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", text, re.ASCII) else None


def written(value: Fraction) -> str:
    """A number as people write it: 3, 2.5, -0.25."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(value.numerator * 10**places // value.denominator)).rjust(places + 1, "0")
    text = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{text}" if value < 0 else text


def span(low: Fraction, high: Fraction) -> str:
    """An inclusive range as it is shown."""
    if low == high:
        return written(low)
    return f"[{written(low)},{written(high)}]" if low < 0 else f"{written(low)}-{written(high)}"


def read_span(text: str) -> tuple[Fraction, Fraction] | None:
    """The bounds of a shown range, None if the text is none."""
    one = number(text)
    if one is not None:
        return one, one
    found = re.fullmatch(r"\[(.+),(.+)\]", text) or re.fullmatch(r"([\d.]+)-([\d.]+)", text)
    if not found:
        return None
    low, high = number(found[1]), number(found[2])
    return (low, high) if low is not None and high is not None and low <= high else None


# ---------------------------------------------------------------------------------------------- hierarchies


def collapsed(labels: Iterable[str]) -> Way:
    """A way in which a label repeated next to itself is one node."""
    way: list[str] = []
    for label in labels:
        if not way or way[-1] != label:
            way.append(label)
    return tuple(way)


class Hierarchy:
    """One attribute's tree as every leaf's way to the root; nodes are their labels."""

    def __init__(self, ways: dict[str, Way], root: str, marked: set[str], scale: Intervals | None = None) -> None:
        self.ways = ways
        self.root = root
        self.marked = marked
        self.scale = scale
        self.labels = {label for way in ways.values() for label in way} | {root}

        # A tree is asked for the same labels over and over, so every answer is remembered for its lifetime.
        self.depth = cache(self._depth)
        self.height = cache(self._height)
        self.leaves = cache(self._leaves)
        self.ncp = cache(self._ncp)

    def _depth(self, label: str) -> int:
        """Edges between a node and the root."""
        return next((len(way) - 1 - way.index(label) for way in self.ways.values() if label in way), 0)

    def parent(self, label: str) -> str:
        return next(way[way.index(label) + 1] for way in self.ways.values() if label in way)

    def _height(self, label: str) -> int:
        """The most edges from a node down to a leaf; an interval's leaves are all its numbers, seen or not."""
        ways = [*self.ways.values(), *(self.scale.every_way if self.scale else ())]
        return max((way.index(label) for way in ways if label in way), default=0)

    def _leaves(self, label: str) -> set[str]:
        """The leaves under a node."""
        return {leaf for leaf, way in self.ways.items() if label in way}

    def in_order(self) -> Iterable[str]:
        """The leaves in depth-first order, children as the lines name them first."""
        seen = {
            label: place for place, label in enumerate(dict.fromkeys(x for w in self.ways.values() for x in w[::-1]))
        }
        return sorted(self.ways, key=lambda leaf: [seen[label] for label in self.ways[leaf][::-1]])

    def limit(self, leaf: str) -> str:
        """The first marked node on a leaf's way up, the root if there is none."""
        return next((label for label in self.ways[leaf] if label in self.marked), self.root)

    def lca(self, leaves: Iterable[str]) -> str:
        """The lowest node that is above (or is) all the leaves."""
        wanted = set(leaves)
        above = [label for label in self.labels if wanted <= self.leaves(label)]
        return max(above, key=self.depth)

    # what a cell may show

    def knows(self, label: str) -> bool:
        return label in self.labels

    def true(self, was: str, shown: str) -> bool:
        return shown in self.ways.get(was, ())

    def within(self, was: str, shown: str) -> bool:
        way = self.ways[was]
        return way.index(shown) <= way.index(self.limit(was))

    def can_star(self, was: str) -> bool:
        """Whether generalization can give `*` for a value."""
        return self.true(was, STAR) and self.within(was, STAR)

    # what a cell costs

    def precision_loss(self, was: str, shown: str) -> Fraction:
        way = self.ways[was]
        return Fraction(way.index(shown), len(way) - 1) if len(way) > 1 else Fraction(0)

    def il(self, shown: str) -> Fraction:
        whole = self.height(self.root)
        return Fraction(self.height(shown), whole) if whole else Fraction(0)

    def _ncp(self, shown: str) -> Fraction:
        if self.scale is not None:
            return self.scale.extent(shown)
        under = len(self.leaves(shown))
        return Fraction(under, len(self.ways)) if under > 1 else Fraction(0)


class Intervals:
    """Nested intervals of growing widths that start at `from`; the last one is cut at `to`, or has no end.

    What lies beyond an open end is in the outermost interval of every width; all count as wide as their width.
    """

    def __init__(self, spec: dict[str, Any], values: Iterable[str]) -> None:
        self.low, self.high = Fraction(spec["from"]), Fraction(spec["to"])
        self.widths = [Fraction(width) for width in spec["widths"]]
        self.below, self.above = (spec.get("open") in (end, "both") for end in ("below", "above"))
        numbers = [self.low, self.high, *self.widths, *(number(value) for value in values)]
        self.whole = all(n is not None and n.denominator == 1 for n in numbers)

    def interval(self, value: Fraction, width: Fraction) -> tuple[Fraction, Fraction]:
        steps = [n for n in range(int((self.high - self.low) // width) + 1) if self.low + n * width <= value]
        low = self.low + max(steps, default=0) * width
        high = low + width - 1 if self.whole else low + width
        return low, high if self.above else min(high, self.high)

    def label(self, bounds: tuple[Fraction, Fraction]) -> str:
        low, high = bounds
        end = high + 1 if self.whole else high
        if self.below and low == self.low:
            return f"<{written(end)}"
        if self.above and end > self.high:
            return f">={written(low)}"
        return span(low, high) if self.whole else f"[{written(low)},{written(high)})"

    def way(self, value: str) -> Way | None:
        n = number(value)
        if n is None or (n < self.low and not self.below) or (self.whole and n.denominator != 1):
            return None
        if (n > self.high or (n == self.high and not self.whole)) and not self.above:
            return None
        return collapsed([value, *(self.label(self.interval(n, width)) for width in self.widths), STAR])

    @cached_property
    def every_way(self) -> list[Way]:
        """The way up of a number in every place of the scale that differs from others."""
        step = Fraction(1) if self.whole else self.widths[0]
        places = [self.low - 1] if self.below else []
        at = self.low
        while at < self.high or (at == self.high and (self.whole or self.above)):
            places.append(at)
            at += step
        if self.above:
            places += [self.high + 1]
        ways = [self.way(written(place)) for place in places]
        assert None not in ways
        return [way for way in ways if way is not None]

    def extent(self, shown: str) -> Fraction:
        extra = 1 if self.whole else 0
        widest = self.widths[-1]
        total = ((self.high - self.low) // widest + 1) * widest if self.above else self.high - self.low + extra
        for width in self.widths:
            for way in self.every_way:
                n = number(way[0])
                assert n is not None
                low, high = self.interval(n, width)
                if self.label((low, high)) == shown and (low < high or shown[0] in "<>"):
                    return (high - low + extra) / total
        return Fraction(1) if shown == STAR else Fraction(0)


class Ranges:
    """Numbers without a tree: a group shows its bounds, rounded outward."""

    def __init__(self, spec: dict[str, Any], boundary: Any, missing: str, has_missing: bool) -> None:
        self.has_missing = has_missing
        self.low, self.high = (Fraction(bound) for bound in spec["within"])
        self.round = Fraction(spec["round"]) if "round" in spec else None
        self.widest = Fraction(boundary["max_width"]) if boundary else None
        self.missing = missing

    def bounds(self, values: Iterable[str]) -> str:
        """What a group of these values shows."""
        distinct = set(values)
        if self.missing in distinct:
            return self.missing if len(distinct) == 1 else STAR
        numbers = sorted(n for n in map(number, distinct) if n is not None)
        low, high = numbers[0], numbers[-1]
        if low < high and self.round is not None:
            low, high = low // self.round * self.round, -(-high // self.round) * self.round
        return span(low, high)

    def knows(self, label: str) -> bool:
        return label in (STAR, self.missing) or read_span(label) is not None

    def true(self, was: str, shown: str) -> bool:
        if shown in (STAR, was):
            return True
        value, bounds = number(was), read_span(shown)
        return was != self.missing and value is not None and bounds is not None and bounds[0] <= value <= bounds[1]

    def within(self, was: str, shown: str) -> bool:
        if self.widest is None or shown == was:
            return True
        bounds = read_span(shown)
        return bounds is not None and bounds[1] - bounds[0] <= self.widest

    def can_star(self, was: str) -> bool:
        """A group shows `*` only where it mixes numbers and missing, and never within a largest width."""
        return self.has_missing and self.widest is None

    def ncp(self, shown: str) -> Fraction:
        if shown == self.missing:
            return Fraction(0)
        bounds = read_span(shown)
        return Fraction(1) if bounds is None else min((bounds[1] - bounds[0]) / (self.high - self.low), Fraction(1))

    def il(self, shown: str) -> Fraction:
        return self.ncp(shown)

    def precision_loss(self, was: str, shown: str) -> Fraction:
        return self.ncp(shown)


def read_file(path: Path) -> list[Way]:
    """The lines of a hierarchy file, leaf first."""
    text = path.read_bytes().decode("utf-8-sig")
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True))
    except csv.Error:
        lines = []
    if all(len(line) <= 1 for line in lines):
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=",", strict=True))
    ways = []
    for line in lines:
        while len(line) > 1 and not line[-1]:
            line.pop()
        if line:
            ways.append(collapsed(line))
    return ways


def tree_ways(below: Any, above: Way) -> list[Way]:
    """The ways of a `tree`: mappings are inner nodes, lists hold leaves, an empty list makes its key a leaf."""
    if isinstance(below, list):
        return [collapsed((leaf, *above)) for leaf in below] or [collapsed(above)]
    return [way for label, deeper in below.items() for way in tree_ways(deeper, (label, *above))]


def mask_way(keep: Sequence[int], value: str) -> Way:
    cut = (value[:kept] + STAR * (len(value) - min(kept, len(value))) for kept in keep)
    return collapsed([value, *cut, STAR])


def date_way(levels: Sequence[str], value: str) -> Way:
    """The way up of a date; ValueError where the text is none."""
    parts = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})([T ]\d{2}:\d{2}.*)?", value, re.ASCII)
    if parts is None:
        raise ValueError(value)
    day = datetime.date(int(parts[1]), int(parts[2]), int(parts[3]))
    shown = {
        "month": f"{day.year:04}-{day.month:02}",
        "quarter": f"{day.year:04}-Q{math.ceil(day.month / 3)}",
        "year": f"{day.year:04}",
        "decade": f"{day.year // 10:03}*",
        "century": f"{day.year // 100:02}**",
    }
    return collapsed([value, *(shown[level] for level in levels), STAR])


# ---------------------------------------------------------------------------------------------- policies


@dataclass(frozen=True, eq=False)
class Model:
    """One entry of `privacy`."""

    name: str
    attributes: tuple[str, ...]
    settings: dict[str, Any]

    @property
    def k(self) -> int:
        return int(self.settings.get("k", 1))

    @property
    def sensitive(self) -> str:
        return str(self.settings.get("sensitive", ""))


class Policy:
    """A policy as its YAML text says, with the defaults of docs/policy.md."""

    def __init__(self, plain: dict[str, Any], folder: Path) -> None:
        self.folder = folder
        self.attributes: dict[str, dict[str, Any]] = plain["attributes"]
        self.missing: list[str] = plain.get("data", {}).get("missing", [""])
        self.quasi = [name for name, a in self.attributes.items() if a["role"] == "quasi-identifier"]
        self.sensitive = [name for name, a in self.attributes.items() if a["role"] == "sensitive"]
        self.unchanged = [name for name, a in self.attributes.items() if a["role"] in ("sensitive", "insensitive")]
        self.models = []
        for entry in plain.get("privacy", []):
            named = entry.get("attributes", self.quasi)
            rest = {key: value for key, value in entry.items() if key not in ("model", "attributes")}
            self.models.append(Model(entry["model"], tuple(n for n in self.quasi if n in named), rest))
        suppression = plain.get("suppression", {})
        self.limit = Fraction(suppression.get("limit", 0))
        self.show = suppression.get("show", "drop")
        self.order = plain.get("release", {}).get("order", "sorted")
        self.dependencies: list[str] = plain.get("dependencies", [])
        self.components = components(self.quasi, [set(model.attributes) for model in self.models])

    @classmethod
    def load(cls, path: Path) -> Policy:
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every scalar stays a text
        return cls(yaml.load(path.read_text(encoding="utf-8-sig"), Loader=loader), path.parent)

    @property
    def largest_k(self) -> int:
        return max(model.k for model in self.models)

    def models_of(self, component: tuple[str, ...]) -> list[Model]:
        return [model for model in self.models if model.attributes[0] in component]

    def weight(self, name: str) -> Fraction:
        return Fraction(self.attributes[name].get("weight", 1))

    def text(self, cell: str | None) -> str:
        """A cell of a quasi-identifier with missing as the one text that stands for it."""
        return self.missing[0] if cell is None or cell in self.missing else cell

    def value(self, cell: str | None) -> str | None:
        """A cell of a sensitive attribute, None where it is missing."""
        return None if cell is None or cell in self.missing else cell

    def hierarchy(self, name: str, values: Iterable[str]) -> Hierarchy | Ranges:
        """An attribute's hierarchy over a column's values; missing is a leaf where it occurs."""
        spec, boundary = self.attributes[name].get("hierarchy"), self.attributes[name].get("boundary")
        distinct = sorted({self.text(value) for value in values})
        present = [value for value in distinct if value not in self.missing]
        if isinstance(spec, dict) and "ranges" in spec:
            return Ranges(spec["ranges"], boundary, self.missing[0], self.missing[0] in distinct)
        scale = None
        root = STAR
        ways: list[Way]
        if spec is None:
            ways = [(value, STAR) for value in present]
        elif isinstance(spec, str):
            ways = read_file(self.folder / spec)
            root = ways[0][-1]
        elif "tree" in spec:
            ((root, below),) = spec["tree"].items()
            ways = tree_ways(below, (root,))
        elif "mask" in spec:
            ways = [mask_way([int(kept) for kept in spec["mask"]["keep"]], value) for value in present]
        elif "dates" in spec:
            ways = [date_way(spec["dates"], value) for value in present]
        else:
            scale = Intervals(spec["intervals"], present)
            ways = [way for value in present if (way := scale.way(value)) is not None]
        found = {way[0]: way for way in ways if way[0] not in self.missing}
        if self.missing[0] in distinct or len(found) < len({way[0] for way in ways}):
            found[self.missing[0]] = (self.missing[0], root)
        if isinstance(boundary, dict):
            level = int(boundary["level"])
            marked = {way[level] for way in found.values() if len(way) > level}
        else:
            marked = set(boundary or ())
        return Hierarchy(found, root, marked, scale)

    def can_be_label(self, name: str, label: str) -> bool:
        """Whether some value could be shown so: certain for files and trees, else by the form of the text."""
        spec = self.attributes[name].get("hierarchy")
        if label in (STAR, *self.missing) and not self.is_fixed(name):
            return True
        if self.is_fixed(name):
            return self.hierarchy(name, []).knows(label) or label in self.missing
        if spec is None or "mask" in spec:
            return True
        if "ranges" in spec:
            return read_span(label) is not None
        if "dates" in spec:
            forms = {
                "month": r"\d{4}-(0[1-9]|1[012])",
                "quarter": r"\d{4}-Q[1-4]",
                "year": r"\d{4}",
                "decade": r"\d{3}\*",
                "century": r"\d{2}\*\*",
            }
            try:
                date_way(spec["dates"], label)
            except ValueError:
                return any(re.fullmatch(forms[level], label, re.ASCII) for level in spec["dates"])
            return True
        scales = [Intervals(spec["intervals"], values) for values in ([], ["0.5"])]
        return any(scale.way(label) is not None or any(label in way for way in scale.every_way) for scale in scales)

    def odd_cells(self, name: str, cells: Sequence[str]) -> int:
        """How many cells of a quasi-identifier are written otherwise than this cell is to be."""
        odd = sum(cell in self.missing[1:] and cell != STAR for cell in cells)
        spec = self.attributes[name].get("hierarchy")
        shown = [cell for cell in cells if cell not in self.missing and cell != STAR]
        if isinstance(spec, dict) and "ranges" in spec:
            step = Fraction(spec["ranges"].get("round", 0))
            for cell in shown:
                bounds = read_span(cell)
                if bounds is not None:
                    rough = step and bounds[0] != bounds[1] and any(bound % step for bound in bounds)
                    odd += span(*bounds) != cell or bool(rough)
        if isinstance(spec, dict) and "intervals" in spec:
            half_open = [
                cell.startswith("[") and cell.endswith(")")
                for cell in shown
                if number(cell) is None and cell[0] not in "<>"
            ]
            known = [cell for cell in shown if self.can_be_label(name, cell)]
            odd += len(known) == len(shown) and any(half_open) and not all(half_open)
        return odd

    def is_fixed(self, name: str) -> bool:
        spec = self.attributes[name].get("hierarchy")
        return isinstance(spec, str) or (isinstance(spec, dict) and "tree" in spec)

    def never_star(self, name: str, missing: bool = True) -> bool:
        """Whether no value of an attribute can be generalized to `*`, missing included if it is to be."""
        boundary = self.attributes[name].get("boundary")
        if boundary == {"level": "0"} or (isinstance(boundary, dict) and "max_width" in boundary):
            return True
        if not self.is_fixed(name):
            return False
        hierarchy = self.hierarchy(name, [self.missing[0]])
        assert isinstance(hierarchy, Hierarchy)
        return not any(hierarchy.can_star(leaf) for leaf in hierarchy.ways if missing or leaf not in self.missing)


def components(names: Sequence[str], constraints: Sequence[set[str]]) -> list[tuple[str, ...]]:
    """Attributes that constraints connect, directly or through others; in the order of the first of each."""
    parts = [{name} for name in names]
    for constraint in constraints:
        touched = [part for part in parts if part & constraint]
        parts = [part for part in parts if not part & constraint] + [set().union(*touched)]
    ordered = [tuple(name for name in names if name in part) for part in parts]
    return sorted(ordered, key=lambda part: names.index(part[0]))


# ---------------------------------------------------------------------------------------------- models


Values = Sequence[str | None]  # of a sensitive attribute, None where it is missing


def holds(model: Model, values: Values, everyone: Values, tree: Hierarchy | None) -> bool:
    """Whether a group with these sensitive values satisfies a model, ``everyone`` being all that take part.

    A missing value counts in the group's size, never as a value for l and p; (α,k) and t-closeness take it for
    a value like any other.
    """
    size = len(values)
    counts = sorted(Counter(value for value in values if value is not None).values(), reverse=True)
    if model.name == "k-anonymity":
        return size >= model.k
    if model.name == "p-sensitive":
        return len(counts) >= int(model.settings["p"])
    if model.name == "alpha-k":
        share = Fraction(model.settings["alpha"])
        return size >= model.k and max(Counter(values).values()) <= share * size
    if model.name == "t-closeness":
        return distance(model, values, everyone, tree) <= Fraction(model.settings["t"])
    assert model.name == "l-diversity", f"no slow twin of {model.name}"
    least = Fraction(model.settings["l"])
    variant = model.settings.get("variant", "distinct")
    if variant == "distinct":
        return len(counts) >= least
    if variant == "entropy":
        known = sum(counts)
        entropy = -sum(count / known * math.log(count / known) for count in counts)
        return entropy >= math.log(least) - 1e-9
    if variant == "recursive":
        return bool(counts) and counts[0] < Fraction(model.settings["c"]) * sum(counts[int(least) - 1 :])
    return all(count <= size / least for count in counts)


def distance(model: Model, values: Values, everyone: Values, tree: Hierarchy | None) -> Fraction:
    """How far a group's distribution of values is from everyone's."""
    p, q = Counter(values), Counter(everyone)
    extra = {value: Fraction(p[value], len(values)) - Fraction(q[value], len(everyone)) for value in q}
    kind = model.settings.get("distance", "equal")
    if kind == "equal":
        return sum((abs(more) for more in extra.values()), Fraction(0)) / 2
    if kind == "ordered":
        # Numbers by size, else leaves as the tree has them, else texts; missing comes last.
        present = [value for value in q if value is not None]
        numbers = {value: number(value) for value in present}
        if all(n is not None for n in numbers.values()):
            present.sort(key=lambda value: (numbers[value], value))
        elif tree is not None:
            present.sort(key=list(tree.in_order()).index)
        else:
            present.sort()
        moved, carried = Fraction(0), Fraction(0)
        for value in [*present, *([None] if None in q else [])]:
            carried += extra[value]
            moved += abs(carried)
        return moved / max(len(q) - 1, 1)
    # Li, Li and Venkatasubramanian 2007, section 4.3: what children of a node can settle among themselves is
    # moved at the node's height.
    assert tree is not None
    if tree.root in extra:  # somebody shows the root itself: nothing is known of them, as of those with missing
        extra["\0hidden"] = extra.pop(tree.root)
        ways = {leaf: way for leaf, way in tree.ways.items() if leaf != tree.root}
        tree = Hierarchy({**ways, "\0hidden": ("\0hidden", tree.root)}, tree.root, tree.marked, tree.scale)
    cost = Fraction(0)
    for node in tree.labels - tree.ways.keys():
        below = {way[way.index(node) - 1] for way in tree.ways.values() if node in way}
        balance = [sum(extra.get(leaf, Fraction(0)) for leaf in tree.leaves(child)) for child in below]
        positive = sum(more for more in balance if more > 0)
        negative = -sum(more for more in balance if more < 0)
        cost += Fraction(tree.height(node), tree.height(tree.root)) * min(positive, negative)
    return cost


def group(rows: Iterable[int], key: Callable[[int], Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


@dataclass(frozen=True)
class Condition:
    """A condition on groups of records: how they are grouped, which are counted, and when a group is good."""

    key: Callable[[int], Hashable]
    counted: Callable[[int], bool]
    good: Callable[[list[int], list[int]], bool]  # of a group's members, and of all that are counted

    def failing(self, rows: Iterable[int]) -> set[int]:
        everyone = [row for row in rows if self.counted(row)]
        groups = group(everyone, self.key)
        return {row for members in groups.values() if not self.good(members, everyone) for row in members}


def conditions_of(
    policy: Policy,
    component: tuple[str, ...],
    shown: Sequence[Row],
    sensitive: Sequence[Row],
    original: Sequence[Row] | None = None,
    gone: set[int] | None = None,
) -> list[Condition]:
    """The models of a component on what is shown; rows that are ``gone`` (by default rows of stars) take no part."""

    def over(model: Model) -> Condition:
        name = model.sensitive
        tree = None
        if name and "hierarchy" in policy.attributes[name]:
            found = policy.hierarchy(name, [row[name] for row in (original or sensitive)])
            assert isinstance(found, Hierarchy)
            tree = found
        values = [policy.value(row[name]) if name else None for row in sensitive]
        return Condition(
            key=lambda i: tuple(shown[i][name] for name in model.attributes),
            counted=lambda i: (
                not starred_in(shown[i], component if len(policy.components) == 1 else policy.quasi)
                if gone is None
                else i not in gone
            ),
            good=lambda members, everyone: holds(
                model, [values[i] for i in members], [values[i] for i in everyone], tree
            ),
        )

    return [over(model) for model in policy.models_of(component)]


def maximal_subset(rows: Iterable[int], tests: Sequence[Condition]) -> set[int]:
    """Drop all members of failing groups at once, recount, repeat."""
    alive = set(rows)
    while True:
        gone = set().union(*(test.failing(alive) for test in tests)) if tests else set()
        if not gone:
            return alive
        alive -= gone


def every_subset(rows: Sequence[int]) -> Iterable[set[int]]:
    for size in range(len(rows), -1, -1):
        yield from map(set, combinations(rows, size))


def satisfies(rows: set[int], tests: Sequence[Condition]) -> bool:
    return not any(test.failing(rows) for test in tests)


# ---------------------------------------------------------------------------------------------- recount


@dataclass
class Recount:
    """What is true of a release, counted by hand."""

    guarantees: list[dict[str, Any]] = field(default_factory=list)
    dependencies: list[bool] = field(default_factory=list)
    unknown: int = 0
    untrue: int = 0
    beyond: int = 0
    changed: int = 0
    suppressed: int = 0
    starred: int = 0
    form: int = 0  # cells that are not written in their one way
    published: int = 0  # sensitive values of suppressed rows
    astray: int = 0  # rows suppressed in one component and not in another that protects the same
    hidden: int = 0  # sensitive values shown as `*` for nobody's sake
    limit_holds: bool = True

    @property
    def broken(self) -> list[str]:
        found = [f"guarantee {i}" for i, guarantee in enumerate(self.guarantees) if not guarantee["holds"]]
        wrong = ("unknown", "untrue", "beyond", "changed", "form", "published", "astray", "hidden")
        found += [name for name in wrong if getattr(self, name)]
        found += [f"dependency {i}" for i, holds in enumerate(self.dependencies) if not holds]
        return found + ([] if self.limit_holds else ["limit"])


def notation(
    policy: Policy, name: str, original: Sequence[Row], shown: Sequence[Row | None]
) -> tuple[dict[str, str], Intervals | None]:
    """How a release writes the intervals of the original's scale, and the scale that it writes them by.

    Rows that show something else than `*` decide: if all of their numbers are whole, intervals are, too. ``shown`` has
    an entry per record. None where the release writes them as the original's scale does.
    """
    spec = policy.attributes[name].get("hierarchy")
    if not isinstance(spec, dict) or "intervals" not in spec:
        return {}, None
    values = [row[name] for row in original if row[name] not in policy.missing]
    decisive = [
        row[name]
        for row, cells in zip(original, shown, strict=True)
        if cells is not None and cells[name] != STAR and row[name] not in policy.missing
    ]
    before, here = Intervals(spec["intervals"], values), Intervals(spec["intervals"], decisive)
    if before.whole == here.whole:
        return {}, None
    written: dict[str, str] = {}
    for value in values:
        n = number(value)
        assert n is not None
        for width in before.widths:
            label = here.label(here.interval(n, width))
            written.setdefault(before.label(before.interval(n, width)), label)
    return written, here


def written_as_released(policy: Policy, original: Sequence[Row], shown: Sequence[Row | None]) -> list[Row | None]:
    """A release that was reckoned over all values, with intervals as those that are released ask for."""
    writing = {name: notation(policy, name, original, shown)[0] for name in policy.quasi}
    return [
        None if row is None else {name: writing.get(name, {}).get(cell, cell) for name, cell in row.items()}
        for row in shown
    ]


def _as_the_original_writes(
    policy: Policy, rows: Sequence[Row], original: Sequence[Row], aligned: Sequence[int]
) -> list[Row]:
    """Released rows with intervals of the original's scale; one in a notation that is not the release's is unknown."""
    shown: list[Row | None] = [None] * len(original)
    for place, row in zip(aligned, rows, strict=True):
        shown[place] = row
    found = [dict(row) for row in rows]
    for name in policy.quasi:
        written, _ = notation(policy, name, original, shown)
        back = {new: old for old, new in reversed(written.items()) if number(new) is None}
        for row in found:
            if row[name] in written:
                row[name] = f"not in this notation: {row[name]}"
            row[name] = back.get(row[name], row[name])
    return found


def starred_in(row: Row, component: Sequence[str]) -> bool:
    return all(row[name] == STAR for name in component)


def recount(
    policy: Policy,
    released: Sequence[Row],
    original: Sequence[Row] | None = None,
    aligned: Sequence[int] | None = None,
) -> Recount:
    """Check a release by hand; ``aligned`` gives every released row's input row."""
    rows = [{name: policy.text(row[name]) if name in policy.quasi else row[name] for name in row} for row in released]
    found = Recount(form=sum(policy.odd_cells(name, [row[name] for row in released]) for name in policy.quasi))
    if original is not None and aligned is not None:
        rows = _as_the_original_writes(policy, rows, original, aligned)
    everyone = range(len(rows))
    forced = _forced_stars(policy, rows, original, aligned, found)
    gone = {part: suppressed_in(policy, part, rows, forced[part], original) for part in policy.components}
    nothing = {i for i in everyone if starred_in(rows[i], policy.quasi)}
    found.guarantees = [{}] * len(policy.models)
    for component in policy.components:
        tests = conditions_of(policy, component, rows, rows, original, gone[component])
        for model, test in zip(policy.models_of(component), tests, strict=True):
            sizes = Counter(test.key(i) for i in everyone if test.counted(i))
            nobody = not sizes and len(nothing) < len(rows)
            said: dict[str, Any] = {"holds": not test.failing(everyone) and not nobody, "groups": len(sizes)}
            if model.name == "k-anonymity":
                said["worst"] = min(sizes.values(), default=None)
            found.guarantees[policy.models.index(model)] = said
    for rule in policy.dependencies:
        shown = [row for row in rows if not starred_in(row, policy.quasi)]
        if "->>" not in rule:
            left, right = ([name.strip() for name in side.split(",")] for side in rule.split("->"))
            found.dependencies.append(functional(shown, left, right))
    _values_of_the_suppressed(policy, rows, gone, found)
    for name in policy.unchanged if original is not None and aligned is not None else ():
        for i, row in enumerate(rows):
            starred = name in policy.sensitive and i in must_hide(policy, name, gone)
            found.changed += not starred and row[name] != original[aligned[i]][name]  # type: ignore[index]
    records = len(rows) if original is None else len(original)
    stars = set().union(*gone.values())
    found.suppressed = max(records - len(rows), 0) + len(stars)
    found.starred = len(stars)
    found.limit_holds = found.suppressed <= policy.limit * records
    return found


def _forced_stars(
    policy: Policy,
    rows: Sequence[Row],
    original: Sequence[Row] | None,
    aligned: Sequence[int] | None,
    found: Recount,
) -> dict[tuple[str, ...], set[int]]:
    """The rows of every component whose stars only suppression can give; what cells show is judged on the way."""
    forced: dict[tuple[str, ...], set[int]] = {part: set() for part in policy.components}
    for name in policy.quasi:
        component = next(part for part in policy.components if name in part)
        starred = {i for i in range(len(rows)) if starred_in(rows[i], component)}
        if original is None:
            cells = [row[name] for i, row in enumerate(rows) if i not in starred]
            found.unknown += sum(not policy.can_be_label(name, cell) for cell in cells)
            alone = set(cells) == {STAR}
            if policy.never_star(name) or (alone and policy.never_star(name, missing=False)):
                found.unknown += cells.count(STAR)
            forced[component] |= starred if policy.never_star(name) else set()
            continue
        assert aligned is not None
        hierarchy = policy.hierarchy(name, [row[name] for row in original])
        for i, row in enumerate(rows):
            was = policy.text(original[aligned[i]][name])
            if i in starred:
                forced[component] |= set() if hierarchy.can_star(was) else {i}
            elif not hierarchy.true(was, row[name]):
                found.untrue += 1
            elif not hierarchy.within(was, row[name]):
                found.beyond += 1
    return forced


def protects(policy: Policy, component: tuple[str, ...]) -> set[str]:
    """The sensitive attributes that the models of a component are about."""
    return {model.sensitive for model in policy.models_of(component)} - {""}


def must_hide(policy: Policy, name: str, gone: dict[tuple[str, ...], set[int]]) -> set[int]:
    """The rows whose value of a sensitive attribute must not be shown."""
    protecting = [part for part in gone if name in protects(policy, part)]
    return set().union(*(gone[part] for part in protecting or gone))


def suppressed_in(
    policy: Policy,
    component: tuple[str, ...],
    rows: Sequence[Row],
    forced: set[int],
    original: Sequence[Row] | None,
) -> set[int]:
    """The rows that are suppressed in a component: of its rows of stars those that are no group of their own."""
    starred = {i for i, row in enumerate(rows) if starred_in(row, component)}
    certain = forced | {i for i in starred if starred_in(rows[i], policy.quasi)}
    named = set().union(*(protects(policy, part) for part in policy.components))
    secret = protects(policy, component) | (set(policy.sensitive) - named)
    hiding = {i for i in starred if secret and all(rows[i][name] == STAR for name in secret)}
    candidates = [starred - certain - hiding]
    if STAR in policy.missing:
        candidates.insert(0, starred - certain)
    for kept in candidates:
        tests = conditions_of(policy, component, rows, rows, original, starred - kept)
        everyone = [i for i in range(len(rows)) if i not in starred - kept]
        if not kept or not all(test.good(sorted(kept), everyone) for test in tests):
            continue
        others = conditions_of(policy, component, rows, rows, original, starred)
        close = [model.name == "t-closeness" for model in policy.models_of(component)]
        spoilt = [
            bool(test.failing(range(len(rows)))) and not other.failing(range(len(rows)))
            for test, other, asked in zip(tests, others, close, strict=True)
            if asked
        ]
        if not any(spoilt):
            return starred - kept
    return starred


def _values_of_the_suppressed(
    policy: Policy, rows: Sequence[Row], gone: dict[tuple[str, ...], set[int]], found: Recount
) -> None:
    for name in policy.sensitive:
        hide = must_hide(policy, name, gone)
        found.published += sum(row[name] != STAR for i, row in enumerate(rows) if i in hide)
        if STAR not in policy.missing:
            found.hidden += sum(row[name] == STAR for i, row in enumerate(rows) if i not in hide)
    for one in policy.components:
        for other in policy.components:
            if protects(policy, one) & protects(policy, other):
                found.astray += len(gone[one] - gone[other])


def functional(rows: Sequence[Row], left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether rows that agree on the left agree on the right."""
    for one, other in combinations(rows, 2):
        if all(one[name] == other[name] for name in left) and any(one[name] != other[name] for name in right):
            return False
    return True


# ---------------------------------------------------------------------------------------------- losses


def suppressed_by_texts(
    policy: Policy, original: Sequence[Row], shown: Sequence[Row | None]
) -> set[tuple[int, tuple[str, ...]]]:
    """The (record, component) pairs that a release's texts tell to be suppressed."""
    hierarchies = {name: policy.hierarchy(name, [row[name] for row in original]) for name in policy.quasi}
    found = set()
    for i, row in enumerate(shown):
        for component in policy.components:
            if row is None or starred_in(row, policy.quasi):
                found.add((i, component))
            elif starred_in(row, component):
                for name in component:
                    was, hierarchy = policy.text(original[i][name]), hierarchies[name]
                    if not hierarchy.can_star(was):
                        found.add((i, component))
    return found


def losses(
    policy: Policy,
    original: Sequence[Row],
    shown: Sequence[Row | None],
    suppressed: set[tuple[int, tuple[str, ...]]] | None = None,
) -> dict[str, Any]:
    """All measures of a release, exactly; ``shown`` has an entry per input record, None where it is absent."""
    if suppressed is None:
        suppressed = suppressed_by_texts(policy, original, shown)
    records = len(original)
    sums: dict[str, dict[str, Fraction]] = {}
    for component in policy.components:
        for name in component:
            hierarchy = policy.hierarchy(name, [row[name] for row in original])
            written, scale = notation(policy, name, original, shown)
            back = {new: old for old, new in reversed(written.items()) if number(new) is None}
            cost = {"precision": Fraction(0), "il": Fraction(0), "ncp": Fraction(0)}
            for i, row in enumerate(shown):
                if row is None or (i, component) in suppressed:
                    cell = (Fraction(1), Fraction(1), Fraction(1))
                else:
                    was, label = policy.text(original[i][name]), policy.text(row[name])
                    old = back.get(label, label)
                    share = hierarchy.ncp(label) if old == label or scale is None else scale.extent(label)
                    cell = (hierarchy.precision_loss(was, old), hierarchy.il(old), share)
                for key, value in zip(cost, cell, strict=True):
                    cost[key] += value
            sums[name] = cost
    weights = {name: policy.weight(name) for name in policy.quasi}

    def mean(key: str) -> Fraction:
        total = sum((weights[n] * sums[n][key] for n in policy.quasi), Fraction(0))
        return total / sum(weights.values(), Fraction(0)) / records

    texts = [None if row is None else tuple(policy.text(row[name]) for name in policy.quasi) for row in shown]
    outside = sum(text is None or set(text) == {STAR} for text in texts)
    sizes = Counter(text for text in texts if text is not None and set(text) != {STAR})
    average = Fraction(sum(sizes.values()), len(sizes)) / policy.largest_k if sizes else Fraction(0)
    return {
        "precision": 1 - mean("precision"),
        "il": sum(cost["il"] for cost in sums.values()),
        "il_per_cell": mean("il"),
        "ncp": mean("ncp"),
        "discernibility": sum(size * size for size in sizes.values()) + outside * records,
        "average_group": average,
        "attributes": {
            name: {
                "precision": 1 - cost["precision"] / records,
                "il_per_cell": cost["il"] / records,
                "ncp": cost["ncp"] / records,
            }
            for name, cost in sums.items()
        },
    }


# ---------------------------------------------------------------------------------------------- datafly


@dataclass
class State:
    """What every record shows, and who would be suppressed in which component."""

    shown: list[Row]
    outside: dict[tuple[str, ...], set[int]]
    lost: set[int]

    def release(self, policy: Policy) -> list[Row | None]:
        """The quasi-identifiers as released, an entry per input record."""
        released: list[Row | None] = []
        for i, row in enumerate(self.shown):
            if policy.show == "drop" and i in self.lost:
                released.append(None)
                continue
            stars = {name for part, out in self.outside.items() if i in out for name in part}
            released.append({name: STAR if name in stars else row[name] for name in policy.quasi})
        return released

    def suppressed(self, policy: Policy) -> set[tuple[int, tuple[str, ...]]]:
        """The (record, component) pairs that are suppressed: the whole record where it is dropped or all stars."""
        whole = (
            self.lost if policy.show == "drop" else {i for i, r in enumerate(self.shown) if set(r.values()) == {STAR}}
        )
        pairs = {(i, part) for i in whole for part in policy.components}
        return pairs | {(i, part) for part, out in self.outside.items() for i in out}


def standing(policy: Policy, original: Sequence[Row], shown: list[Row]) -> State:
    """Who lies outside each component's maximal anonymous subset, and who counts against the limit.

    Rows whose quasi-identifiers all show `*` count too. With `show: drop` whoever is outside one component is
    gone from all: the subset is taken again under all constraints together, until nothing falls.
    """
    everyone = set(range(len(shown)))
    tests = {part: conditions_of(policy, part, shown, original) for part in policy.components}
    outside = {part: everyone - maximal_subset(everyone, tests[part]) for part in policy.components}
    lost = set().union(*outside.values()) | {i for i in everyone if starred_in(shown[i], policy.quasi)}
    if policy.show == "drop":
        together = [test for found in tests.values() for test in found]
        lost = everyone - maximal_subset(everyone - lost, together)
    return State(shown, outside, lost)


def one_step(hierarchy: Hierarchy, shown: set[str]) -> dict[str, str]:
    """The moves of one step: the deepest shown nodes that are neither the root nor at their boundary."""
    free = {label for label in shown if label != hierarchy.root and label not in hierarchy.marked}
    deepest = max(map(hierarchy.depth, free), default=0)
    return {label: hierarchy.parent(label) for label in free if hierarchy.depth(label) == deepest}


def datafly(policy: Policy, original: Sequence[Row]) -> State | None:
    """Datafly with many constraints, one record at a time; None where the policy cannot be met.

    Where no attribute of a violating component can move but records dropped from it break another component,
    that other component's attributes move.
    """
    values = {name: [policy.text(row[name]) for row in original] for name in policy.quasi}
    hierarchies = {name: policy.hierarchy(name, values[name]) for name in policy.quasi}
    shown = [{name: values[name][i] for name in policy.quasi} for i in range(len(original))]
    allowed = math.floor(policy.limit * len(original))
    while True:
        state = standing(policy, original, shown)
        if len(state.lost) <= allowed:
            return state
        violating = [name for part, out in state.outside.items() if out for name in part]
        best: tuple[int, str, dict[str, str]] | None = None
        for candidates in (violating, policy.quasi):
            for name in policy.quasi:
                labels = {row[name] for row in shown}
                hierarchy = hierarchies[name]
                assert isinstance(hierarchy, Hierarchy)
                moves = one_step(hierarchy, labels)
                if name in candidates and moves and (best is None or len(labels) > best[0]):
                    best = (len(labels), name, moves)
            if best is not None:
                break
        if best is None:
            return None
        _, name, moves = best
        shown = [{**row, name: moves.get(row[name], row[name])} for row in shown]


def most_general(policy: Policy, original: Sequence[Row]) -> State:
    """Every value at its limit."""
    shown: list[Row] = [{} for _ in original]
    for name in policy.quasi:
        hierarchy = policy.hierarchy(name, [row[name] for row in original])
        assert isinstance(hierarchy, Hierarchy)
        for i, row in enumerate(original):
            shown[i][name] = hierarchy.limit(policy.text(row[name]))
    return standing(policy, original, shown)
