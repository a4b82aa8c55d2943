"""Trees over values of which nothing is known: what labels say holds for every value below them, and names nobody's."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from decimal import Decimal

import pytest

from kveil.errors import PolicyError
from kveil.policy.balanced import balanced_lines
from kveil.policy.lines import Line, check_lines
from label_reader import is_true, pieces_of
from strategies import EXPLORE

POOLS = (
    "abcdefghijklmnopqrstuvwxyz",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "ab",
    "aAbBzZ09 -",
    "eéÉöÖßøabc",
    "e\u0301a\u0308o \u200d",
    "абвгдеёжзАБВГЁ",
    "αβγςσΑΒΓ",
    "東西南北大小",
    "אבגדה",
    "😀👩\u200d👧🇩🇪👍🏽ab",
    "0123456789",
    "019/.-: ab",
    " .,;:!?'\"()|*…\t_-",
)
WORDS = ("to", "before", "Saint ", "New ", "North-", "St. ", "10", "Mc", "van der ", "2016/")


def random_texts(rng: random.Random) -> dict[str, int]:
    pool, longest = rng.choice(POOLS), rng.choice((1, 2, 3, 8, 90))
    texts = {
        (rng.choice(WORDS) if rng.random() < 0.3 else "") + "".join(rng.choices(pool, k=rng.randint(1, longest)))
        for _ in range(rng.randint(1, 150))
    }
    return {text: rng.choice((1, 1, 2, 5, 30)) for text in sorted(texts - {"*"})}


def random_numbers(rng: random.Random) -> dict[str, int]:
    spread = 10 ** rng.randint(1, 9)
    numbers = [rng.randint(-spread, spread) for _ in range(rng.randint(1, 120))]
    places = rng.choice((0, 0, 1, 3))
    texts = {str(number) if not places else f"{number / 10**places:.{places}f}" for number in numbers}
    return {text: rng.choice((1, 1, 2, 5, 30)) for text in sorted(texts)}


def random_dates(rng: random.Random) -> dict[str, int]:
    form = rng.choice(
        ("{y:04}-{m:02}-{d:02}", "{y}/{m:02}/{d:02}", "{d:02}.{m:02}.{y}", "{y}/{m:02}/{d:02} {d:02}:{m:02}:00")
    )
    first, years = rng.randint(1900, 2020), rng.choice((1, 2, 60))
    some = {
        form.format(y=first + rng.randrange(years), m=rng.randint(1, 12), d=rng.randint(1, 28))
        for _ in range(rng.randint(1, 120))
    }
    if "." in form and not any(int(text[:2]) > 12 for text in some):
        some.add(f"31.12.{first}")
    return {text: rng.choice((1, 1, 2, 5, 30)) for text in sorted(some)}


@pytest.mark.parametrize("seed", range(500 * max(EXPLORE, 1)))
def test_what_a_built_label_says_holds_for_every_value_below_it_and_names_nobodys(seed: int) -> None:
    rng = random.Random(seed)
    counts = rng.choice((random_texts, random_texts, random_numbers, random_dates))(rng)
    fan_out, least = rng.choice((2, 3, 4, 5, 9)), rng.choice((1, 2, 5))
    lines = balanced_lines(counts.items(), fan_out, least=least)
    assert {line[0] for line in lines} == set(counts)
    assert len(lines) == len(counts)
    assert check_lines(lines, "") == lines  # one tree
    below: dict[str, list[str]] = defaultdict(list)
    for line in lines:
        assert line[-1] == "*"
        for label in line[1:-1]:
            below[label].append(line[0])
    for label, values in below.items():
        untrue = [value for value in values if not is_true(label, value)]
        assert not untrue, (label, untrue)
        assert label not in counts
        assert "|" not in label
        assert "*" not in label
        assert label.isprintable()
        ends = [end for piece in pieces_of(label) for end in piece] if label.endswith("…") else label.split(" to ")
        assert not {end.casefold() for end in ends} & {value.casefold() for value in counts}, label
        rare = {value for value, number in counts.items() if number < least}
        named = {words for words in words_of(label) if words in rare and re.search(r"[^\W\d]", words)}
        assert not named, (label, named)
    assert_apart(lines)


def words_of(label: str) -> set[str]:
    """Every run of whole words of a label."""
    ends = [found.start() for found in re.finditer(r"\b|^|$", label)]
    return {label[a:b] for a in ends for b in ends if a < b}


def assert_apart(lines: tuple[Line, ...]) -> None:
    """No label is true of a value below another one beside it; accents of their own may be read as part of neither."""
    if any(not line[0].isascii() for line in lines):
        return
    below: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        for place, label in enumerate(line[1:-1], 1):
            below[line[place + 1]][label].append(line[0])
    for runs in below.values():
        for label in runs:
            if "…" not in label or re.search(r"\d(?: of |/)\d", label):
                continue
            for other, own in runs.items():
                assert other == label or not [value for value in own if is_true(label, value)], (label, other)


def test_the_same_values_in_another_order_are_the_same_tree() -> None:
    counts = random_texts(random.Random(7))
    other = dict(reversed(counts.items()))
    assert balanced_lines(counts.items(), 4, least=2) == balanced_lines(other.items(), 4, least=2)


def test_runs_need_two_parts_at_least() -> None:
    with pytest.raises(PolicyError, match="at least 2"):
        balanced_lines([("a", 1)], 1, least=1)


def test_values_that_go_by_another_columns_numbers_say_so() -> None:
    order = {word: number for number, word in enumerate(["none", "school", "college", "bachelor", "master", "doctor"])}
    lines = balanced_lines(
        dict.fromkeys(order, 5).items(), 2, least=2, order={w: Decimal(n) for w, n in order.items()}, about="years"
    )
    labels = {line[0]: line[-2] for line in lines}
    assert labels["none"] == labels["college"] == "years below 2.5"
    assert labels["doctor"] == "years above 2.5"
