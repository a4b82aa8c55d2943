"""Slow twins of the models over sensitive values and of Mondrian, one record at a time.

Written from docs/models.md and docs/policy.md alone: plain Python, dicts and fractions; nothing of kveil is
imported. A policy is the mapping that its YAML says, a table a list of dicts of texts.
"""

from __future__ import annotations

import ast
import datetime
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

STAR = "*"
Row = dict[str, str]
Spec = dict[str, Any]
Items = frozenset[str]  # what one member of a group has of a sensitive attribute; empty: missing
Way = tuple[str, ...]  # from a leaf up to the root


def number(text: str) -> Fraction | None:
    return Fraction(text) if re.fullmatch(r"[+-]?(\d+(\.\d*)?|\.\d+)", text) else None


def written(value: Fraction) -> str:
    """A number as people write it."""
    whole, rest = divmod(abs(value), 1)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return ("-" if value < 0 else "") + str(whole) + (f".{digits}" if digits else "")


def span(low: Fraction, high: Fraction) -> str:
    if low == high:
        return written(low)
    return f"[{written(low)},{written(high)}]" if low < 0 else f"{written(low)}-{written(high)}"


# ---------------------------------------------------------------------------------------------- trees


def once(labels: Iterable[str]) -> Way:
    """A label repeated next to itself is one node."""
    found: list[str] = []
    for label in labels:
        if found[-1:] != [label]:
            found.append(label)
    return tuple(found)


def tree_ways(below: Any, above: Way) -> list[Way]:
    if isinstance(below, list):
        return [(leaf, *above) for leaf in below] or [above]
    return [way for label, deeper in below.items() for way in tree_ways(deeper, (label, *above))]


def interval_way(spec: Spec, whole: bool, value: str) -> Way:
    at, low, high = Fraction(value), Fraction(spec["from"]), Fraction(spec["to"])
    labels = [value]
    below, above = (spec.get("open") in (end, "both") for end in ("below", "above"))
    for width in map(Fraction, spec["widths"]):
        start = low + (min(max(at, low), high) - low) // width * width
        if below and start == low:
            labels.append(f"<{written(start + width)}")
        elif above and start + width > high:
            labels.append(f">={written(start)}")
        elif whole:
            labels.append(span(start, min(start + width - 1, high)))
        else:
            labels.append(f"[{written(start)},{written(min(start + width, high))})")
    return once([*labels, STAR])


def date_way(levels: Sequence[str], value: str) -> Way:
    day = datetime.date.fromisoformat(value)
    shown = {
        "month": value[:7],
        "quarter": f"{value[:4]}-Q{(day.month - 1) // 3 + 1}",
        "year": value[:4],
        "decade": value[:3] + STAR,
        "century": value[:2] + STAR * 2,
    }
    return (value, *(shown[level] for level in levels), STAR)


def mask_way(keep: Sequence[int], value: str) -> Way:
    return once([value, *(value[:n] + STAR * len(value[n:]) for n in keep), STAR])


@dataclass(frozen=True)
class Tree:
    """A hierarchy as every leaf's way to the root, leaves in depth-first order."""

    ways: tuple[Way, ...]
    spec: Any = None

    @property
    def root(self) -> str:
        return self.ways[0][-1]

    @cached_property
    def way(self) -> dict[str, Way]:
        return {way[0]: way for way in self.ways}

    @cached_property
    def nodes(self) -> set[str]:
        return {label for way in self.ways for label in way}

    def leaves(self, node: str) -> list[str]:
        return [way[0] for way in self.ways if node in way]

    def children(self, node: str) -> list[str]:
        return list(dict.fromkeys(way[way.index(node) - 1] for way in self.ways if node in way[1:]))

    def lca(self, leaves: Iterable[str]) -> str:
        """The first node on one leaf's way up that is on the way of all."""
        ways = [self.way[leaf] for leaf in leaves]
        return next(label for label in ways[0] if all(label in way for way in ways))

    @cached_property
    def every_way(self) -> list[Way]:
        """The ways of all leaves there could be: an interval has all numbers of its scale."""
        if not (isinstance(self.spec, dict) and "intervals" in self.spec):
            return list(self.ways)
        spec = self.spec["intervals"]
        low, high = Fraction(spec["from"]), Fraction(spec["to"])
        whole = is_whole(spec, [way[0] for way in self.ways])
        step = Fraction(1) if whole else Fraction(spec["widths"][0])
        places = [low + i * step for i in range(math.ceil((high - low) / step) + 1)]
        inside = [place for place in places if place < high or (whole and place == high)]
        inside += [low - 1] if spec.get("open") in ("below", "both") else []
        inside += [high, high + 1] if spec.get("open") in ("above", "both") else []
        return [*self.ways, *(interval_way(spec, whole, written(place)) for place in inside)]

    @cached_property
    def heights(self) -> dict[str, int]:
        """The most edges from every node down to a leaf."""
        found: dict[str, int] = {}
        for way in self.every_way:
            for edges, node in enumerate(way):
                found[node] = max(found.get(node, 0), edges)
        return found

    def height(self, node: str) -> int:
        return self.heights[node]

    def ncp(self, node: str) -> Fraction:
        under = len(self.leaves(node))
        return Fraction(under, len(self.ways)) if under > 1 else Fraction(0)


def is_whole(spec: Spec, values: Iterable[str]) -> bool:
    numbers = [number(str(n)) for n in (spec["from"], spec["to"], *spec["widths"], *values)]
    return all(n is None or n.denominator == 1 for n in numbers)


def tree_of(spec: Any, values: Iterable[str], missing: str | None) -> Tree:
    """The tree over a column's known values; missing hangs under the root and comes last."""
    return _tree_of(repr(spec), frozenset(values), missing)


@cache
def _tree_of(written_spec: str, values: frozenset[str], missing: str | None) -> Tree:
    spec, known = ast.literal_eval(written_spec), sorted(values)
    if spec is None:
        ways = [(value, STAR) for value in known]
    elif "tree" in spec:
        ((root, below),) = spec["tree"].items()
        ways = tree_ways(below, (root,))
    elif "intervals" in spec:
        known.sort(key=Fraction)
        ways = [interval_way(spec["intervals"], is_whole(spec["intervals"], known), value) for value in known]
    elif "dates" in spec:
        ways = [date_way(spec["dates"], value) for value in known]
    else:
        ways = [mask_way(spec["mask"]["keep"], value) for value in known]
    if missing is not None:
        ways.append((missing, ways[0][-1] if ways else STAR))
    return Tree(tuple(ways), spec)


# ---------------------------------------------------------------------------------------------- models


def counts(group: Sequence[Items]) -> list[int]:
    """How many members have each known value, downward."""
    return sorted(Counter(value for items in group for value in items).values(), reverse=True)


def shares(group: Sequence[Items]) -> dict[str | None, Fraction]:
    """The distribution of a group's values, missing being one where a member has nothing else."""
    tally = Counter(value for items in group for value in (items or {None}))
    return {value: Fraction(times, sum(tally.values())) for value, times in tally.items()}


def enough_entropy(known: Sequence[int], least: Fraction) -> bool:
    """−Σ p log p ≥ log l without logarithms: nⁿ ≥ lⁿ Π cᶜ."""
    n = sum(known)
    product = math.prod(c**c for c in known)
    return n**n * least.denominator**n >= least.numerator**n * product if n else least <= 1


def holds(model: Spec, group: Sequence[Items], everyone: Sequence[Items], spec: Any = None) -> bool:
    """Whether a group satisfies a model; ``spec`` is the sensitive attribute's hierarchy."""
    name, known, n = model["model"], counts(group), len(group)
    if name == "k-anonymity":
        return n >= int(model["k"])
    if name == "p-sensitive":
        return len(known) >= int(model["p"])
    if name == "alpha-k":
        most = max(Counter(value for items in group for value in (items or {None})).values())
        return n >= int(model["k"]) and most <= Fraction(model["alpha"]) * n
    if name == "t-closeness":
        return distance(model["distance"], group, everyone, spec) <= Fraction(model["t"])
    least = Fraction(model["l"])
    if model.get("variant", "distinct") == "distinct":
        return len(known) >= least
    if model["variant"] == "entropy":
        return enough_entropy(known, least)
    if model["variant"] == "recursive":
        return known[:1] != [] and known[0] < Fraction(model["c"]) * sum(known[int(least) - 1 :])
    return all(c * least <= n for c in known)


def in_order(values: Iterable[str | None], spec: Any) -> list[str | None]:
    """Values in numeric order, else as the leaves of their tree, else by text; missing last."""
    known = [value for value in values if value is not None]
    if all(number(value) is not None for value in known):
        known.sort(key=lambda value: (Fraction(value), value))
    elif spec is not None and "tree" in spec:
        leaves = [way[0] for way in tree_of(spec, (), None).ways]
        known.sort(key=leaves.index)
    else:
        known.sort()
    return [*known, *([None] if None in values else [])]


def as_shown(values: Iterable[str], spec: Any) -> list[str]:
    """Values in the order in which a set shows them: as a walk through the tree meets them, else by size or by text."""
    known = list(values)
    if spec is None or not known:
        return [value for value in in_order(known, None) if value is not None]
    tree = tree_of(spec, known, None)

    def walk(node: str) -> Iterator[str]:
        below = tree.children(node)
        yield from (leaf for child in below for leaf in walk(child)) if below else iter([node])

    return [leaf for leaf in walk(tree.root) if leaf in known]


def ground_distances(kind: str, values: Sequence[str | None], spec: Any) -> dict[tuple[Any, Any], Fraction]:
    """What it costs to move a share from one value to another."""
    found = {}
    missing = "\0" if None in values else None
    tree = tree_of(spec, (value for value in values if value is not None), missing) if kind == "hierarchical" else None
    for i, one in enumerate(values):
        for j, other in enumerate(values):
            if kind == "equal":
                found[one, other] = Fraction(int(i != j))
            elif kind == "ordered":
                found[one, other] = Fraction(abs(i - j), max(len(values) - 1, 1))
            else:
                assert tree is not None
                shared = tree.lca("\0" if value is None else value for value in (one, other))
                found[one, other] = Fraction(tree.height(shared), max(tree.height(tree.root), 1))
    return found


def distance(kind: str, group: Sequence[Items], everyone: Sequence[Items], spec: Any = None) -> Fraction:
    """How far a group's distribution is from everyone's, exactly."""
    p, q = shares(group), shares(everyone)
    more = {value: p.get(value, Fraction(0)) - share for value, share in q.items()}
    if kind == "equal":
        return sum(map(abs, more.values()), Fraction(0)) / 2
    ordered = in_order(q, spec)
    if kind == "ordered":
        carried = [sum(more[value] for value in ordered[: i + 1]) for i in range(len(ordered))]
        return sum(map(abs, carried), Fraction(0)) / max(len(ordered) - 1, 1)
    # At every node, what its children settle among themselves is moved at the node's height (Li et al. 2007, 4.3).
    tree = tree_of(spec, (value for value in q if value is not None), "\0" if None in q else None)
    cost = Fraction(0)
    for node in tree.nodes - tree.way.keys():
        balance = [
            sum(more.get(None if leaf == "\0" else leaf, Fraction(0)) for leaf in tree.leaves(child))
            for child in tree.children(node)
        ]
        gives, takes = sum(b for b in balance if b > 0), -sum(b for b in balance if b < 0)
        cost += Fraction(tree.height(node), max(tree.height(tree.root), 1)) * min(gives, takes)
    return cost


def worst(model: Spec, groups: Sequence[Sequence[Items]], spec: Any = None) -> float | None:
    """What comes nearest to breaking a model: the smallest figure, or the largest share or distance."""
    name, variant = model["model"], model.get("variant", "distinct")
    everyone = [items for group in groups for items in group]
    if name == "k-anonymity":
        return min(map(len, groups))
    if name == "t-closeness":
        return max(float(distance(model["distance"], group, everyone, spec)) for group in groups)
    if name == "alpha-k":
        tallies = [Counter(value for items in group for value in (items or {None})) for group in groups]
        return max(max(t.values()) / len(g) for t, g in zip(tallies, groups, strict=True))
    known = [counts(group) for group in groups]
    if name == "p-sensitive" or variant == "distinct":
        return min(map(len, known))
    if variant == "entropy":
        return min(math.exp(-sum(c / sum(k) * math.log(c / sum(k)) for c in k)) for k in known)
    if variant == "frequency":
        return min((len(g) / max(k) for g, k in zip(groups, known, strict=True) if k), default=None)
    tails = [sum(k[int(model["l"]) - 1 :]) for k in known]
    return None if 0 in tails else max(k[0] / tail for k, tail in zip(known, tails, strict=True))


# ---------------------------------------------------------------------------------------------- mondrian


def groups_of(rows: Iterable[int], key: Any) -> dict[Any, list[int]]:
    found: dict[Any, list[int]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return dict(found)


class Mondrian:
    """Mondrian on a policy of one component whose models are all over every quasi-identifier.

    The paragraph of section 4. Where it is silent: missing beside numbers shows the root, so it is as wide as can
    be; weights multiply widths; ties go to the first attribute of the policy and to the first child.
    """

    def __init__(self, policy: Spec, table: Sequence[Row]) -> None:
        self.missing: list[str] = policy.get("data", {}).get("missing", [""])
        self.policy = policy
        self.quasi = {n: a for n, a in policy["attributes"].items() if a["role"] == "quasi-identifier"}
        self.table = [
            {n: self.missing[0] if n in self.quasi and v in self.missing else v for n, v in row.items()}
            for row in table
        ]
        self.trees: dict[str, Tree] = {}
        self.extent: dict[str, Fraction] = {}
        for name, attribute in self.quasi.items():
            spec = attribute.get("hierarchy")
            column = {row[name] for row in self.table}
            known = column - {self.missing[0]}
            if self.kind(name) != "ranges":
                self.trees[name] = tree_of(spec, known, self.missing[0] if self.missing[0] in column else None)
            if self.kind(name) == "ranges":
                low, high = spec["ranges"]["within"]
                self.extent[name] = Fraction(high) - Fraction(low)
            elif self.kind(name) == "intervals":
                self.extent[name] = Fraction(spec["intervals"]["to"]) - Fraction(spec["intervals"]["from"])
            elif self.kind(name) == "dates" and known:
                days = [self.place(name, value) for value in known]
                self.extent[name] = max(days) - min(days) or Fraction(1)

    def kind(self, name: str) -> str:
        spec = self.quasi[name].get("hierarchy")
        return "none" if spec is None else next(iter(spec))

    def is_numeric(self, name: str) -> bool:
        return self.kind(name) in ("ranges", "intervals", "dates")

    def place(self, name: str, value: str) -> Fraction:
        if self.kind(name) == "dates":
            return Fraction(datetime.date.fromisoformat(value).toordinal())
        return Fraction(value)

    def items(self, name: str) -> list[Items]:
        return [frozenset() if row[name] in self.missing else frozenset([row[name]]) for row in self.table]

    def limit(self, name: str, value: str) -> str:
        """The first marked node on a value's way up, else the root."""
        boundary, tree = self.quasi[name].get("boundary"), self.trees.get(name)
        if tree is None or boundary is None:
            return ""
        if isinstance(boundary, dict):
            marked = {way[boundary["level"]] for way in tree.ways if len(way) > boundary["level"]}
        else:
            marked = set(boundary)
        return next((label for label in tree.way[value] if label in marked), tree.root)

    # what holds

    def good(self, part: Sequence[int], everyone: Sequence[int]) -> bool:
        return all(self.model_holds(model, part, everyone) for model in self.policy["privacy"])

    def model_holds(self, model: Spec, part: Sequence[int], everyone: Sequence[int]) -> bool:
        name = model.get("sensitive")
        if name is None:
            return len(part) >= int(model["k"])
        items = self.items(name)
        spec = self.policy["attributes"][name].get("hierarchy")
        return holds(model, [items[i] for i in part], [items[i] for i in everyone], spec)

    # the search

    def width(self, name: str, part: Sequence[int]) -> Fraction:
        values = {self.table[i][name] for i in part}
        if len(values) == 1:
            return Fraction(0)
        if not self.is_numeric(name):
            return self.trees[name].ncp(self.trees[name].lca(values))
        if self.missing[0] in values:
            return Fraction(1)
        places = [self.place(name, value) for value in values]
        return (max(places) - min(places)) / self.extent[name]

    def children(self, name: str, part: Sequence[int]) -> list[list[int]]:
        """What a split of an attribute would make of a part, missing numbers apart."""
        if not self.is_numeric(name):
            tree = self.trees[name]
            node = tree.lca({self.table[i][name] for i in part})
            under = {leaf: child for child in tree.children(node) for leaf in tree.leaves(child)}
            found = groups_of(part, lambda i: under[self.table[i][name]])
            return [found[child] for child in tree.children(node) if child in found]
        absent = [i for i in part if self.table[i][name] == self.missing[0]]
        places = {i: self.place(name, self.table[i][name]) for i in part if i not in set(absent)}
        cuts = [high for _, high in pairwise(sorted(set(places.values())))]  # cut below this value
        if not cuts:
            return [list(places), absent]
        best = min(cuts, key=lambda cut: (abs(2 * sum(p < cut for p in places.values()) - len(places)), cut))
        halves = [[i for i in places if places[i] < best], [i for i in places if places[i] >= best]]
        return [*halves, absent] if absent else halves

    def split(self, part: list[int], everyone: Sequence[int]) -> list[list[int]] | None:
        """The first allowed split, the widest attribute first; None where there is none."""
        weight = {name: Fraction(attribute.get("weight", 1)) for name, attribute in self.quasi.items()}
        width = {name: weight[name] * self.width(name, part) for name in self.quasi}
        for name in sorted(self.quasi, key=lambda name: -width[name]):
            if width[name] == 0:
                break
            children = self.children(name, part)
            alone = [child for child in children if self.good(child, everyone)]
            rest = [i for child in children if child not in alone for i in child]
            while rest and alone and not self.good(rest, everyone):
                smallest = min(alone, key=len)
                alone.remove(smallest)
                rest = rest + smallest
            parts = [*alone, *([rest] if rest else [])]
            if alone and len(parts) > 1:
                return parts
        return None

    def shows(self, name: str, part: Sequence[int]) -> str:
        values = {self.table[i][name] for i in part}
        if self.kind(name) != "ranges":
            return self.trees[name].lca(values)
        if self.missing[0] in values:
            return self.missing[0] if len(values) == 1 else STAR
        low, high = min(map(Fraction, values)), max(map(Fraction, values))
        step = self.quasi[name]["hierarchy"]["ranges"].get("round")
        if step is not None and low < high:
            low, high = low // Fraction(step) * Fraction(step), -(-high // Fraction(step)) * Fraction(step)
        return span(low, high)

    def trimmed(self, allowed: int) -> list[int]:
        """Rows to keep so that the whole table holds, where leaving out neighbourhoods is enough."""
        everyone = list(range(len(self.table)))
        kept = list(everyone)
        runs = self.runs()
        while True:
            failing = [m for m in self.policy["privacy"] if not kept or not self.model_holds(m, kept, kept)]
            if not failing:
                return kept
            frequent = [m for m in failing if m["model"] == "alpha-k" or m.get("variant", "distinct") != "distinct"]
            room = allowed - (len(everyone) - len(kept))
            if not frequent or (frequent[0]["model"] == "alpha-k" and len(kept) < int(frequent[0]["k"])):
                return everyone
            gone = self.mildest(frequent[0], [run for run in runs if set(run) <= set(kept)], kept, room)
            if not gone:
                return everyone
            kept = [i for i in kept if i not in gone]

    def runs(self) -> list[list[int]]:
        """Neighbours by their quasi-identifiers, equal ones together, in runs that are long enough."""
        fewest = [2, *(int(model.get("k", 1)) for model in self.policy["privacy"])]
        fewest += [1 + self.fewest(model) for model in self.policy["privacy"] if "sensitive" in model]
        equal = groups_of(range(len(self.table)), lambda i: repr(self.canonical(i, values=False)))
        found: list[list[int]] = [[]]
        for rows in sorted(equal.values(), key=lambda rows: self.canonical(rows[0], values=False)):
            if len(found[-1]) >= max(fewest):
                found.append([])
            found[-1] += rows
        if len(found) > 1 and len(found[-1]) < max(fewest):
            last = found.pop()
            found[-1] += last
        return found

    def fewest(self, model: Spec) -> int:
        """How few rows can satisfy a model that looks at sensitive values."""
        if model["model"] == "alpha-k":
            return max(int(model["k"]), math.ceil(1 / Fraction(model["alpha"])))
        if model["model"] == "t-closeness":
            return 1
        if model.get("variant") == "frequency" and any(not items for items in self.items(model["sensitive"])):
            return 1
        return math.ceil(Fraction(model["p"] if model["model"] == "p-sensitive" else model["l"]))

    def mildest(self, model: Spec, runs: list[list[int]], kept: list[int], room: int) -> set[int]:
        """The rows of the mildest runs without which a model holds: those that are enough, found by halving."""
        items = self.items(model["sensitive"])
        had = [next(iter(own), None) for own in items]
        among = [had[i] for i in kept if had[i] is not None or model["model"] == "alpha-k"]
        share = {value: Fraction(among.count(value), len(kept)) for value in set(among)}
        weight = dict(share)
        if model["model"] == "alpha-k" or model.get("variant") == "frequency":
            most = Fraction(model["alpha"]) if "alpha" in model else 1 / Fraction(model["l"])
            weight = {value: Fraction(own > most) for value, own in share.items()}

        def measure(rows: Sequence[int]) -> Fraction:
            return sum((weight.get(had[i], Fraction(0)) for i in rows), Fraction(0)) / len(rows)

        ranked = sorted(
            (run for run in runs if len({had[i] for i in run}) > 1 and measure(run) > measure(kept)), key=measure
        )

        def first(low: int, high: int, holds_at: Callable[[int], bool]) -> int:
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if holds_at(middle) else (middle + 1, high)
            return high

        def size(begin: int, end: int) -> int:
            return sum(map(len, ranked[begin:end]))

        def enough(begin: int, end: int) -> bool:
            gone = {i for run in ranked[begin:end] for i in run}
            rest = [i for i in kept if i not in gone]
            return bool(rest) and self.model_holds(model, rest, rest)

        def furthest(begin: int) -> int:
            return max(end for end in range(begin, len(ranked) + 1) if size(begin, end) <= room)

        number = len(ranked)
        worst = min(begin for begin in range(number + 1) if size(begin, number) <= room)
        if worst == number or not enough(worst, number):
            return set()
        begin = first(0, worst, lambda begin: enough(begin, furthest(begin)))
        end = first(begin + 1, furthest(begin), lambda end: enough(begin, end))
        return {i for run in ranked[begin:end] for i in run}

    def canonical(self, i: int, *, values: bool = True) -> tuple[Any, ...]:
        """A record's leaf numbers in policy order, then, if asked for, its sensitive values."""
        key: list[Any] = []
        for name in self.quasi:
            value = self.table[i][name]
            if self.kind(name) == "ranges":
                key.append((1, Fraction(0)) if value == self.missing[0] else (0, Fraction(value)))
            else:
                key.append([way[0] for way in self.trees[name].ways].index(value))
        for name, attribute in self.policy["attributes"].items() if values else ():
            if attribute["role"] == "sensitive":
                items = self.items(name)
                ordered = in_order({next(iter(x), None) for x in items}, attribute.get("hierarchy"))
                key.append(ordered.index(next(iter(items[i]), None)))
        return tuple(key)

    def solve(self) -> list[Row | None] | None:
        """What every record shows, None for one that is suppressed; None where the policy cannot be met."""
        allowed = math.floor(Fraction(self.policy.get("suppression", {}).get("limit", 0)) * len(self.table))
        bounded = any(self.limit(n, leaf) not in ("", t.root) for n, t in self.trees.items() for leaf in t.way)
        kept = list(range(len(self.table))) if bounded else self.trimmed(allowed)
        while True:
            start = groups_of(kept, lambda i: [self.limit(name, self.table[i][name]) for name in self.quasi].__repr__())
            bad = {i for part in start.values() if not self.good(part, kept) for i in part}
            if not bad:
                break
            kept = [i for i in kept if i not in bad]
        if len(self.table) - len(kept) > allowed:
            return None
        shown: list[Row | None] = [None] * len(self.table)
        todo = list(start.values())
        while todo:
            part = todo.pop()
            parts = self.split(part, kept)
            if parts is not None:
                todo += parts
                continue
            texts = {name: self.shows(name, part) for name in self.quasi}
            for i in part:
                shown[i] = texts
        return shown
