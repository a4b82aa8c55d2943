"""Runs of texts by what they begin with.

A label says with which letters the values below it begin: `Sa… to Sf…`, `Sg…`. That is true in whatever order a reader
puts texts, capitals and accents: a run goes from one letter to another within one alphabet only, all in capitals or
all in small letters, and what stands before is the same in all its values. Its ends are nobody's value: where two runs
meet, one begins with the letter after that with which the other ends, whether values begin with these or not.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from kveil.policy.attributes import STAR
from kveil.policy.lines import Line
from kveil.policy.ordered_runs import cut_evenly

LONGEST_NAME = 80  # characters of a value that a label may show
TALLEST = 12  # nodes between a value and the root
MOST_PIECES = 4  # of a label: beginnings that it lists
UNREADABLE = "|*…"  # a separator of items, the sign for anything, and the sign after a beginning
ALPHABETS = (
    (("0", "9"),),
    (("A", "Z"), ("a", "z")),
    (("\u0391", "\u03a9"), ("\u03b1", "\u03c9")),  # Greek
    (("\u0410", "\u042f"), ("\u0430", "\u044f")),  # Cyrillic
    (("\u05d0", "\u05ea"),),  # Hebrew
    (("\uac00", "\ud7a3"),),  # Hangul
)
_WORD_ENDS = re.compile(r"\b|^|$")
_JOINING = re.compile("[\u200b-\u200f\u2060\ufe00-\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")


def text_lines(weights: Mapping[str, int], fan_out: int, least: int) -> list[Line]:
    """Return a tree of runs of texts by their beginnings, each cut into at most so many about equally heavy ones.

    A single beginning is named if at least ``least`` records have it, and no label has a rarer value as words of its
    own. A run that letters cannot name is called by its place among the runs beside it.
    """
    return _Beginnings(weights, fan_out, least).lines()


@dataclass(frozen=True)
class _LetterPlace:
    """Where a sign stands: which alphabet, how far in it, capitals before small letters; None where in no alphabet."""

    alphabet: int | None
    letter: int
    case: int


def _place_of(sign: str) -> _LetterPlace:
    for alphabet, cases in enumerate(ALPHABETS):
        for case, (first, last) in enumerate(cases):
            if len(sign) == 1 and first <= sign <= last:
                return _LetterPlace(alphabet, ord(sign) - ord(first), case)
    return _LetterPlace(None, 0, 0)


def _signs_of(text: str) -> Sequence[str]:
    """Return the signs of a text's beginning: characters with the accents and joints that follow them."""
    text = text[:LONGEST_NAME]
    if text.isascii():
        return text
    signs: list[str] = []
    for character in text:
        if signs and (unicodedata.category(character)[0] == "M" or _JOINING.match(character)):
            signs[-1] += character
        else:
            signs.append(character)
    return signs


@dataclass(frozen=True)
class _Unit:
    """Values that go on with the same letter, ``start`` to ``end`` in their order; no letter where they end."""

    start: int
    end: int
    signs: tuple[str, ...]

    @cached_property
    def place(self) -> _LetterPlace:
        return _place_of(self.signs[0]) if self.signs else _LetterPlace(None, 0, 0)


@dataclass(frozen=True)
class _LetterRun:
    """Units beside each other of all that there are at a place; letters between ``ends``, by alphabet."""

    units: Sequence[_Unit]
    first: int
    last: int
    depth: int
    ends: Mapping[int, tuple[int, int]]

    @property
    def own(self) -> Sequence[_Unit]:
        return self.units[self.first : self.last + 1]

    @property
    def start(self) -> int:
        return self.units[self.first].start

    @property
    def end(self) -> int:
        return self.units[self.last].end


@dataclass(frozen=True)
class _Bough:
    """Values from ``start`` to ``end`` with what is above them; after ``depth`` signs they go on between ``ends``."""

    start: int
    end: int
    above: Line
    depth: int = 0
    ends: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    _: KW_ONLY
    numbered: bool = False
    leaves: bool = False


class _Beginnings:
    """Values in an order in which equal beginnings stand together, and what a tree over them asks of them."""

    def __init__(self, weights: Mapping[str, int], fan_out: int, least: int) -> None:
        self.fan_out, self.least = fan_out, least
        signs_of = {value: _signs_of(value) for value in weights}
        known = sorted({sign for signs in signs_of.values() for sign in signs}, key=_rank)
        code = {sign: chr(number) for number, sign in enumerate(known)}
        keys = {value: "".join(map(code.__getitem__, signs)) for value, signs in signs_of.items()}
        self.values = sorted(weights, key=lambda value: (keys[value], value))
        self.keys = [keys[value] for value in self.values]
        self.signs = [signs_of[value] for value in self.values]
        self.sums = [0, *accumulate(weights[value] for value in self.values)]
        self.folded = {value.casefold() for value in self.values}
        self.rare = {value for value, weight in weights.items() if weight < least and any(map(str.isalnum, value))}
        self.taken = {*self.values, STAR}

    def lines(self) -> list[Line]:
        """Return the tree."""
        found: list[Line] = []
        stack = [_Bough(0, len(self.values), (STAR,))]
        while stack:
            branch = stack.pop()
            grown = self._grow(branch)
            if grown is None:
                found.extend((value, *branch.above) for value in self.values[branch.start : branch.end])
            else:
                stack.extend(reversed(grown))
        return found

    def _grow(self, branch: _Bough) -> list[_Bough] | None:
        """Return the branches that values are cut into, None where they all are leaves.

        Runs that are numbered are not cut into runs that would be, too.
        """
        start, end = branch.start, branch.end
        few = branch.leaves or end - start <= self.fan_out or self._weight(start, end) < self.least
        runs = [] if few or len(branch.above) > TALLEST else self._runs(start, end, self.fan_out, within=branch)
        if len(runs) < 2:
            return None
        alone = [run.end - run.start == 1 for run in runs]
        labels = [None if single else self._label(run) for run, single in zip(runs, alone, strict=True)]
        if branch.numbered and not any(labels):
            return None
        grown = []
        for number, (run, label) in enumerate(zip(runs, labels, strict=True)):
            if alone[number] or (label is None and branch.numbered):
                grown.append(_Bough(run.start, run.end, branch.above, leaves=True))
                continue
            told = label or self._numbered(run, branch, number + 1, len(runs))
            self.taken.add(told)
            above = (told, *branch.above)
            grown.append(_Bough(run.start, run.end, above, run.depth, self._letters(run), numbered=label is None))
        return grown

    def _weight(self, start: int, end: int) -> int:
        return self.sums[end] - self.sums[start]

    def _runs(self, start: int, end: int, fan_out: int, *, within: _Bough | None = None) -> list[_LetterRun]:
        """Return values cut by their next letter; one letter that most have is cut by the letter after it."""
        depth = _shared(self.keys[start], self.keys[end - 1])
        ends = {} if within is None or within.depth != depth else within.ends
        units = self._units(start, end, depth)
        if len(units) < 2:
            return []
        if not units[0].signs:  # what all others go on from stands by itself
            alone = _LetterRun(units, 0, 0, depth, ends)
            return [alone, *self._cut_runs(_LetterRun(units, 1, len(units) - 1, depth, ends), fan_out)]
        return self._cut_runs(_LetterRun(units, 0, len(units) - 1, depth, ends), fan_out)

    def _cut_runs(self, level: _LetterRun, fan_out: int) -> list[_LetterRun]:
        """Return units in runs of about equal weight; letters and other signs apart where there is room for both."""
        units, depth, ends = level.units, level.depth, level.ends
        weights = [self._weight(unit.start, unit.end) for unit in units]
        heavy = max(range(level.first, level.last + 1), key=weights.__getitem__)
        total = self._weight(level.start, level.end)
        if weights[heavy] * 2 > total and units[heavy].end - units[heavy].start > 1:
            outer = [span for span in ((level.first, heavy - 1), (heavy + 1, level.last)) if span[0] <= span[1]]
            inner = []
            if fan_out - len(outer) >= 2:
                inner = self._runs(units[heavy].start, units[heavy].end, fan_out - len(outer))
            if len(inner) > 1:
                sides = [_LetterRun(units, *span, depth, ends) for span in outer]
                return sorted([*sides, *inner], key=lambda run: run.start)
        letters = sum(unit.place.alphabet is not None for unit in level.own)
        middle = level.first + letters
        if 0 < letters < len(level.own):
            share = sum(weights[middle : level.last + 1]) * fan_out // max(total, 1)
            others = min(max(share, 1), fan_out - 1)
            spans = [(level.first, middle - 1, fan_out - others), (middle, level.last, others)]
        else:
            spans = [(level.first, level.last, fan_out)]
        runs = []
        for first, last, most in spans:
            blocks = self._blocks(units, weights, (first, last), depth)
            parts = cut_evenly([(block, sum(weights[block[0] : block[1] + 1])) for block in blocks], most)
            runs += [_LetterRun(units, part[0][0], part[-1][1], depth, ends) for part in parts]
        return runs

    def _units(self, start: int, end: int, depth: int) -> list[_Unit]:
        """Return values by the sign after the first ``depth``, capitals with small letters if there are two letters."""
        exact: list[_Unit] = []
        while start < end:
            key = self.keys[start]
            if len(key) <= depth:  # no sign is left: these values end here, or are cut off
                stop = bisect_right(self.keys, key, start, end)
                exact.append(_Unit(start, stop, ()))
            else:
                stop = bisect_right(self.keys, key[: depth + 1] + chr(0x10FFFF), start, end)
                exact.append(_Unit(start, stop, (self.signs[start][depth],)))
            start = stop
        units: list[_Unit] = []
        for unit in exact:
            before = units[-1].place if units and units[-1].signs else None
            same = before is not None and unit.signs and before.alphabet is not None and replace(before, case=0)
            if same and same == replace(unit.place, case=0):
                units[-1] = _Unit(units[-1].start, unit.end, (*units[-1].signs, *unit.signs))
            else:
                units.append(unit)
        return units if len(units) > 1 else exact

    def _blocks(
        self, units: Sequence[_Unit], weights: Sequence[int], span: tuple[int, int], depth: int
    ) -> list[tuple[int, int]]:
        """Return units that are not to be cut apart, since no letter could end a run there; each, if hardly any can."""
        each = [(number, number) for number in range(span[0], span[1] + 1)]
        blocks: list[tuple[int, int]] = []
        for number, _ in each:
            if blocks and self._cut(units[number - 1], units[number], depth) is None:
                blocks[-1] = blocks[-1][0], number
            else:
                blocks.append((number, number))
        sums = [sum(weights[first : last + 1]) for first, last in blocks]
        return blocks if len(blocks) > 1 and max(sums) * 2 <= sum(sums) else each

    def _cut(self, one: _Unit, other: _Unit, depth: int) -> int | None:
        """Return the letter with which a run ends between two units; -1 where they are of different alphabets."""
        if one.place.alphabet is None or one.place.alphabet != other.place.alphabet:
            return -1
        before = self._beginning(one.start, depth)
        letters = range(one.place.letter, other.place.letter)
        fits = (c for c in letters if all(self._nobodys(before, one.place.alphabet, end) for end in (c, c + 1)))
        return next(fits, None)

    def _beginning(self, value: int, depth: int) -> str:
        return "".join(self.signs[value][:depth])

    def _nobodys(self, before: str, alphabet: int, letter: int) -> bool:
        """Tell whether a beginning is no value, however its last letter is written."""
        ends = [chr(ord(first) + letter) for first, _ in ALPHABETS[alphabet]]
        return all(end.isalnum() and (before + end).casefold() not in self.folded for end in ends)

    def _letters(self, run: _LetterRun) -> dict[int, tuple[int, int]]:
        """Return the letters of a run's alphabets between which it may be cut further."""
        alphabets = {unit.place.alphabet for unit in run.own}
        return {a: ends for a in alphabets if a is not None and (ends := self._ends(run, a)) is not None}

    def _ends(self, run: _LetterRun, alphabet: int) -> tuple[int, int] | None:
        """Return the first and the last letter that a run's label may name of an alphabet; None where there is none."""
        before, own = self._beginning(run.start, run.depth), [u for u in run.own if u.place.alphabet == alphabet]
        first, last = ALPHABETS[alphabet][0]
        lowest, highest = run.ends.get(alphabet, (0, ord(last) - ord(first)))
        low: int | None
        high: int | None
        if run.first and run.units[run.first - 1].place.alphabet == alphabet and own[0] is run.units[run.first]:
            cut = self._cut(run.units[run.first - 1], own[0], run.depth)
            low = None if cut is None else cut + 1
        else:
            low = next((c for c in range(lowest, own[0].place.letter + 1) if self._nobodys(before, alphabet, c)), None)
        after = run.units[run.last + 1] if run.last + 1 < len(run.units) else None
        if after is not None and after.place.alphabet == alphabet and own[-1] is run.units[run.last]:
            high = self._cut(own[-1], after, run.depth)
        else:
            down = range(highest, own[-1].place.letter - 1, -1)
            high = next((c for c in down if self._nobodys(before, alphabet, c)), None)
        return None if low is None or high is None else (low, high)

    def _label(self, run: _LetterRun) -> str | None:
        """Return what the values of a run begin with; None where that cannot be said, or would name a rare value."""
        before = self._beginning(run.start, run.depth)
        if not is_readable(before) or before[:1].isspace():
            return None
        pieces: list[str] = []
        for alphabet in dict.fromkeys(unit.place.alphabet for unit in run.own):
            own = [unit for unit in run.own if unit.place.alphabet == alphabet]
            told = self._listed(before, own) if alphabet is None else self._spanned(run, before, own, alphabet)
            if told is None:
                return None
            pieces += told
        label = ", ".join(pieces)
        if len(pieces) > MOST_PIECES or label in self.taken or reads_one_of(label, self.rare):
            return None
        return label

    def _listed(self, before: str, own: Sequence[_Unit]) -> list[str] | None:
        """Return beginnings with signs of no alphabet, each by itself."""
        pieces = []
        for unit in own:
            if not unit.signs:
                return None
            piece = before + unit.signs[0]
            frequent = self._weight(unit.start, unit.end) >= self.least
            if not frequent or not is_readable(piece) or not piece.strip() or piece.casefold() in self.folded:
                return None
            pieces.append(f"{piece}…")
        return pieces

    def _spanned(self, run: _LetterRun, before: str, own: Sequence[_Unit], alphabet: int) -> list[str] | None:
        """Return beginnings with letters of an alphabet: one letter, or from one to another."""
        frequent = len(own) == 1 and self._weight(own[0].start, own[0].end) >= self.least
        if frequent and self._nobodys(before, alphabet, own[0].place.letter):
            return [f"{before}{sign}…" for sign in own[0].signs]
        ends = self._ends(run, alphabet)
        if ends is None or ends[0] == ends[1]:
            return None  # one letter that few have, and none beside it that would hide it
        cases = sorted({_place_of(sign).case for unit in own for sign in unit.signs})
        pieces = []
        for case in cases:
            low, high = (chr(ord(ALPHABETS[alphabet][case][0]) + letter) for letter in ends)
            pieces.append(f"{before}{low}…" if low == high else f"{before}{low}… to {before}{high}…")
        return pieces

    def _numbered(self, run: _LetterRun, branch: _Bough, number: int, of: int) -> str:
        """Return the name of a run by its place among those beside it, after what is known of all of them.

        That is what they begin with, if all that begins so is among them, else the label above: parts of one beginning
        under two labels would be numbered twice.
        """
        before = self._beginning(run.start, run.depth)
        known = before and is_readable(before) and not before[:1].isspace() and before.casefold() not in self.folded
        above = "" if branch.above[0] == STAR else f"{branch.above[0]}, "
        heads = [f"{before}…, "] if known and not reads_one_of(before, self.rare) else []
        heads = [*heads, above] if heads and self._has_all(branch, run.depth) else [above, *heads]
        places = (f"part {number} of {of}", f"part {number}/{of}", f"group {number}/{of}")
        words = {"part", "of", "group"} & self.rare  # the numbers are no values: they count
        told = [place for place in places if not reads_one_of(place, words)] or [f"{number}/{of}"]
        names = [head + place for head in heads for place in told]
        name = next((name for name in names if name not in self.taken), names[0])
        while name in self.taken:
            name = f"{name}, again"
        return name

    def _has_all(self, branch: _Bough, depth: int) -> bool:
        """Tell whether no value beside those of a branch begins with the ``depth`` signs that all of these share."""
        before = self.keys[branch.start][:depth]
        beside = [self.keys[place] for place in (branch.start - 1, branch.end) if 0 <= place < len(self.keys)]
        return not any(key.startswith(before) for key in beside)


def _rank(sign: str) -> tuple[int, int, int, str]:
    place = _place_of(sign)
    alphabet = len(ALPHABETS) if place.alphabet is None else place.alphabet
    return alphabet, place.letter, place.case, sign


def _shared(one: str, other: str) -> int:
    """Return how many signs two texts begin with together."""
    both = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(both) if a != b), min(len(one), len(other)))


def is_readable(text: str) -> bool:
    """Tell whether a label may show a text: what can be printed, and no sign with a meaning of its own."""
    return text.isprintable() and not any(sign in text for sign in UNREADABLE) and not _JOINING.search(text)


def reads_one_of(text: str, values: Set[str]) -> bool:
    """Tell whether some whole words of a text, one after the other, are one of the values."""
    ends = [match.start() for match in _WORD_ENDS.finditer(text)]
    return any(text[start:end] in values for i, start in enumerate(ends) for end in ends[i + 1 :])
