"""pycanon (Sáinz-Pardo Díaz and López García 2022) on releases kveil made: where it agrees, and where it does not.

Who is wrong where they differ, found by reading pycanon 1.3.5 and asserted below:

- `entropy_l_diversity` cuts exp(entropy) down to a whole number, so that a group of two values of equal share, whose
  exp(log 2) is a hair below 2 in floats for some shares, is said to have l = 1. kveil gives the figure itself, with a
  tolerance of 1e-9.
- `recursive_c_l_diversity` sorts the counts upward, where the definition (Machanavajjhala et al. 2006) sorts them
  downward: its r₁ is the rarest value and its tail holds the most frequent ones, so that its c is too small wherever
  values are not equally frequent. pycanon is wrong; kveil's figure is the definition's.
- `t_closeness` divides by zero where a numeric column has one value; the distance is 0.
- A data frame's labels are taken for positions (`groupby(...).groups` gives labels, `iloc` takes positions): with any
  index but 0..n-1 in order, groups are made of other rows. pycanon is wrong.
- Where there is one quasi-identifier, rows in which it is missing are left out (`groupby` drops them; with several,
  pandas 2 keeps them), so that a unique one is not seen. pycanon is wrong; for kveil missing is a value of its own.
- A missing number among sensitive values is equal to nothing, itself included, so that it has a share of nothing;
  missing texts end in a TypeError. pycanon is wrong.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pycanon import anonymity

import kveil
from kveil.flow.verify import verify

QUASI = ["age", "job", "sex"]
BLOCKS, BLOCK = 4, 52  # 208 releases
blocks = pytest.mark.parametrize("block", range(BLOCKS))
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": {"from": 0, "to": 99, "widths": [10, 50]}}},
    "job": {
        "role": "quasi-identifier",
        "hierarchy": {"tree": {"*": {"craft": ["smith", "baker"], "office": ["clerk", "judge"], "none": []}}},
    },
    "sex": {"role": "quasi-identifier"},
    "illness": {"role": "sensitive"},
    "income": {"role": "sensitive"},
}
ALL = [
    {"model": "k-anonymity", "k": 1},
    {"model": "l-diversity", "sensitive": "illness", "l": 1},
    {"model": "l-diversity", "sensitive": "illness", "variant": "entropy", "l": 1},
    {"model": "alpha-k", "sensitive": "illness", "alpha": 1, "k": 1},
    {"model": "t-closeness", "sensitive": "illness", "t": 1},
    {"model": "t-closeness", "sensitive": "income", "t": 1, "distance": "ordered"},
]


def policy_of(*models: dict[str, Any], **others: Any) -> kveil.Policy:
    return kveil.Policy(**{"kveil": 1, "attributes": ATTRIBUTES, "privacy": list(models), **others})


def random_table(random: Random, rows: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [str(random.randint(15, 90)) for _ in range(rows)],
            "job": random.choices(["smith", "baker", "clerk", "judge", "none"], [5, 3, 3, 2, 1], k=rows),
            "sex": random.choices(["f", "m"], k=rows),
            "illness": random.choices(["flu", "cold", "gout", "acne"], [6, 4, 2, 1], k=rows),
            "income": random.choices([10, 20, 25, 40, 90], [5, 4, 3, 2, 1], k=rows),
        }
    )


def releases(block: int) -> Iterator[pd.DataFrame]:
    """Releases of random tables by both algorithms, for several k and l, as frames with a plain index."""
    made = 0
    for seed in count(block * 1000):
        random = Random(seed)
        wanted = [{"model": "k-anonymity", "k": random.randint(1, 5)}]
        if random.random() < 0.5:
            wanted.append({"model": "l-diversity", "sensitive": "illness", "l": 2})
        policy = policy_of(*wanted, suppression={"limit": "0.2"}, algorithm=random.choice(["datafly", "mondrian"]))
        try:
            data = kveil.anonymize(random_table(random, random.randint(12, 28)), policy).data
        except kveil.Unmeetable:
            continue
        assert data.index.equals(pd.RangeIndex(len(data)))
        assert not data.isna().any(axis=None)
        yield data
        made += 1
        if made == BLOCK:
            return


def said_by_kveil(data: pd.DataFrame, models: list[dict[str, Any]] = ALL) -> list[Any]:
    """The worst figure of every model, rows of stars set apart (there are none here)."""
    assert not (data[QUASI] == "*").all(axis=1).any()
    return [guarantee["worst"] for guarantee in verify(data, policy_of(*models)).guarantees]


def test_two_hundred_releases_are_asked_about() -> None:
    assert BLOCKS * BLOCK >= 200


@blocks
def test_both_find_the_same_figures(block: int) -> None:
    different = set()
    recursive: Counter[bool] = Counter()
    for data in releases(block):
        k, distinct, entropy, alpha, equal, ordered = said_by_kveil(data)
        assert anonymity.k_anonymity(data, QUASI) == k
        assert anonymity.l_diversity(data, QUASI, ["illness"]) == distinct
        assert anonymity.alpha_k_anonymity(data, QUASI, ["illness"]) == (pytest.approx(alpha, abs=1e-12), k)
        assert anonymity.t_closeness(data, QUASI, ["illness"]) == pytest.approx(equal, abs=1e-9)
        assert anonymity.t_closeness(data, QUASI, ["income"]) == pytest.approx(ordered, abs=1e-9)
        # Asserted narrowly: they lose a step only where the entropy is log 1, log 2, … to the last digits.
        whole = anonymity.entropy_l_diversity(data, QUASI, ["illness"])
        assert whole in {math.floor(entropy + 1e-9), math.floor(entropy - 1e-9)}
        if distinct > 1:
            recursive[recursive_agrees(data, distinct)] += 1
        different.add((k, distinct, round(entropy, 6), round(alpha, 6), round(equal, 6), round(ordered, 6)))
    assert len(different) > BLOCK // 2
    assert recursive[True]
    assert recursive[False] > 10


def recursive_agrees(data: pd.DataFrame, distinct: int) -> bool:
    """Whether they find the right c; if not, that theirs is what counts sorted the wrong way give."""
    c, l_found = anonymity.recursive_c_l_diversity(data, QUASI, ["illness"])
    assert l_found == distinct
    downward = [sorted(Counter(group["illness"]).values(), reverse=True) for _, group in data.groupby(QUASI)]
    right = max(math.floor(ratio(counts, distinct)) + 1 for counts in downward)
    assert c == max(math.floor(ratio(counts[::-1], distinct)) + 1 for counts in downward)
    if all(len(set(counts)) == 1 for counts in downward):
        assert c == right
    # The right c holds and is the smallest whole one; theirs does not hold where it is another.
    model = {"model": "l-diversity", "sensitive": "illness", "variant": "recursive", "l": distinct}
    asked = [{**model, "c": int(c)}, {**model, "c": right}]
    theirs, ours = verify(data, policy_of(*asked)).guarantees
    assert ours["worst"] == pytest.approx(max(ratio(counts, distinct) for counts in downward))
    assert (theirs["holds"], ours["holds"]) == (c == right, True)
    return bool(c == right)


def ratio(counts: list[int], l_wanted: int) -> float:
    """r₁ / (r_l + … + r_m) of counts in the order given."""
    return counts[0] / sum(counts[l_wanted - 1 :])


def test_recursive_diversity_on_a_table_one_sees_through() -> None:
    # Six, two, one of nine: r₁ = 6 and r₂ + r₃ = 3, so c must be above 2. They divide 1 by 2 + 6.
    data = pd.DataFrame({"age": "30", "job": "none", "sex": "f", "illness": list("aaaaaabbc"), "income": 1})
    assert anonymity.recursive_c_l_diversity(data, QUASI, ["illness"]) == (1, 3)
    model = {"model": "l-diversity", "sensitive": "illness", "variant": "recursive", "l": 2}
    assert [bool(verify(data, policy_of({**model, "c": c}))) for c in (1, 2, "2.1")] == [False, False, True]


def test_an_entropy_of_exactly_log_l_is_cut_below_l() -> None:
    three = pd.DataFrame({"age": ["1"] * 3, "job": ["none"] * 3, "sex": ["f"] * 3, "illness": ["a", "b", "c"]})
    assert said_by_kveil(three.assign(income=1), [ALL[2]]) == [pytest.approx(3)]
    assert anonymity.entropy_l_diversity(three, QUASI, ["illness"]) in (2, 3)
    assert verify(three.assign(income=1), policy_of({**ALL[2], "l": 3}))


def one_group_each() -> pd.DataFrame:
    """Two groups of three, told apart by sex; one has one illness, the other three."""
    return pd.DataFrame(
        {
            "age": ["30"] * 6,
            "job": ["none"] * 6,
            "sex": ["f", "f", "f", "m", "m", "m"],
            "illness": ["flu", "flu", "flu", "cold", "gout", "acne"],
            "income": [10, 10, 10, 20, 40, 90],
        }
    )


def test_a_numeric_column_of_one_value_divides_by_zero() -> None:
    data = one_group_each().assign(income=10)
    with pytest.raises(ZeroDivisionError):
        anonymity.t_closeness(data, QUASI, ["income"])
    assert said_by_kveil(data)[5] == 0


def test_labels_are_no_positions() -> None:
    data = one_group_each()
    assert anonymity.l_diversity(data, QUASI, ["illness"]) == said_by_kveil(data)[1] == 1
    # The same rows under other labels: group f has the labels 0, 3, 4, at which other rows stand.
    labelled = data.set_index(pd.Index([0, 3, 4, 1, 2, 5]))
    assert said_by_kveil(labelled) == said_by_kveil(data)
    assert anonymity.l_diversity(labelled, QUASI, ["illness"]) == 2
    assert anonymity.k_anonymity(labelled, QUASI) == 3  # sizes are right, members are not
    shuffled = data.sample(frac=1, random_state=0)
    assert said_by_kveil(shuffled) == pytest.approx(said_by_kveil(data))
    assert anonymity.l_diversity(shuffled, QUASI, ["illness"]) != 1


def test_a_missing_quasi_identifier_is_not_seen_where_it_is_the_only_one() -> None:
    data = one_group_each()
    data.loc[0, "sex"] = None
    # Whoever is the only one with a missing value is alone.
    models = [{"model": "k-anonymity", "k": 1, "attributes": names} for names in (["sex"], ["age", "job"])]
    assert said_by_kveil(data, models) == [1, 6]
    assert anonymity.k_anonymity(data, ["sex"]) == 2
    assert said_by_kveil(data)[0] == 1


def test_a_missing_sensitive_value_has_a_share_of_nothing() -> None:
    data = one_group_each()
    data["income"] = [np.nan, np.nan, np.nan, 20.0, 40.0, 90.0]
    models = [
        {"model": "alpha-k", "sensitive": "income", "alpha": 1, "k": 1},
        {"model": "l-diversity", "sensitive": "income", "l": 1},
    ]
    # All of group f share one thing, that their income is missing; and none has a known one.
    assert said_by_kveil(data, models) == [1.0, 0]
    alpha, _ = anonymity.alpha_k_anonymity(data, QUASI, ["income"])
    assert alpha == pytest.approx(1 / 3)
    # As a value for l they count it, and missing texts they do not survive.
    assert anonymity.l_diversity(data, QUASI, ["income"]) == 1
    data.loc[0, "illness"] = None
    with pytest.raises(TypeError):
        anonymity.l_diversity(data, QUASI, ["illness"])
    assert said_by_kveil(data)[1] == 1
