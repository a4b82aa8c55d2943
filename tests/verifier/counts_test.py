"""Verdicts on counts are those on rows, to the last digit: whatever the release, good or bad."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import kveil
import kveil.errors
from counting import counted
from kveil.algorithms.algorithm import GROUP_MODELS
from kveil.flow.steps.inputs import table_of
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.verifier.alignment import Aligned
from kveil.verifier.counts import OriginalCounts, ReleaseCounts, Totals, questions, verify_counts
from kveil.verifier.release import lay_beside, verify_rows
from kveil.verifier.rows import TIMES
from made_releases import frame_of, released_columns, some_release
from strategies import Case, cases, examples, placed, seeds
from support import make_policy


def same_verdict(policy: Policy, aligned: Aligned) -> bool:
    """The verdict on counts and the one on rows say the same, with an original and without."""
    counts = counted(aligned, policy)
    by_rows = verify_rows(aligned.release, aligned.rows, policy, aligned=aligned)
    by_counts = verify_counts(policy, counts)
    assert by_counts == by_rows
    alone = replace(counts, original=None)
    assert verify_counts(policy, alone) == verify_rows(aligned.release, aligned.rows, policy)
    return by_rows.holds


def with_rule(case: Case, draw: st.DataObject) -> Case:
    names = [name for name in case.columns if name != "name"]
    if len(names) < 2 or draw.draw(st.integers(0, 2)):
        return case
    left, right = draw.draw(st.permutations(names))[:2]
    arrow = draw.draw(st.sampled_from(["->", "->", "->>"]))
    return replace(case, policy=f"{case.policy}dependencies: ['{left} {arrow} {right}']\n")


@given(case=cases(with_ranges=True, max_width=True, models=GROUP_MODELS), seed=st.integers(0, 9999), data=st.data())
@examples(200)
def test_counts_and_rows_have_the_same_verdict_on_any_release(case: Case, seed: int, data: st.DataObject) -> None:
    with placed(with_rule(case, data)) as here:
        rows, places = some_release(here, Random(seed))
        release = table_of(frame_of(rows, released_columns(here)), here.policy)
        aligned = lay_beside(
            release, table_of(case.frame(), here.policy), pl.Series(places, dtype=pl.Int64).to_numpy(), here.policy
        )
        event("holds" if same_verdict(here.policy, aligned) else "broken")


# ---------------------------------------------------------------------------------------------- people


PEOPLE = {
    "pid": {"role": "individual"},
    "age": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 99]}}},
    "sex": {"role": "quasi-identifier"},
    "illness": {
        "role": "sensitive",
        "hierarchy": {"tree": {"*": {"lungs": ["cold", "flu"], "heart": ["attack", "murmur"], "gout": []}}},
    },
    "drug": {"role": "sensitive"},
    "since": {"role": "insensitive"},
}
MODELS: list[tuple[str, list[dict[str, Any]]]] = [
    ("mondrian", [{"model": "k-anonymity", "k": 2}]),
    ("mondrian", [{"model": "l-diversity", "sensitive": "illness", "l": 2}, {"model": "k-anonymity", "k": 3}]),
    ("1m-generalization", [{"model": "kl-diversity", "sensitive": "illness", "k": 2, "l": 2}]),
    ("rmerger", [{"model": "k-km-anonymity", "sensitive": "illness", "k": 2, "m": 1}]),
    ("mondrian", [{"model": "t-closeness", "sensitive": "drug", "t": 0.6}, {"model": "k-anonymity", "k": 2}]),
]


def people(random: Random) -> pl.DataFrame:
    """Records of people, in any order; some agree in everything, and what is missing is missing in two ways."""
    rows: list[tuple[str, int | None, str | None, str | None, str | None, float]] = []
    for person in range(random.randint(6, 24)):
        own = (random.choice([None, 20, 20, 30, 41]), random.choice(["f", "m", None]))
        since = random.choice([0.0, -0.0, 1.5])
        for _ in range(random.choice([1, 1, 2, 4])):
            cells = (
                random.choice(["cold", "flu", "attack", "murmur", "gout", None]),
                random.choice(["a", "b", "", None]),
            )
            rows.append((f"p{person}", *own, *cells, since))
    random.shuffle(rows)
    return pl.DataFrame(rows, schema=["pid", "age", "sex", "illness", "drug", "since"], orient="row")


def spoilt(release: pl.DataFrame, random: Random) -> pl.DataFrame:
    """A release with some cells changed: other labels, stars, items more or less, numbers that only look the same."""
    rows = release.to_dicts()
    for row in random.sample(rows, min(len(rows), random.choice([0, 1, 3]))):
        name = random.choice(list(row))
        if isinstance(row[name], list):
            row[name] = random.choice([[], ["*"], ["gout", "cold"], [*row[name], "a"]])
        elif name == "since":
            row[name] = random.choice([0.0, -0.0, None])
        else:
            row[name] = random.choice(["*", "f", "0-50", "", "?"])
        if random.random() < 0.3:
            row |= {"age": "*", "sex": "*", "illness": ["*"], "drug": ["*"]}
    return pl.DataFrame(rows, schema=release.schema)


def test_counts_and_rows_have_the_same_verdict_on_releases_of_people() -> None:
    held = []
    for seed in seeds(0, 60):
        random = Random(seed)
        algorithm, privacy = MODELS[seed % len(MODELS)]
        frame = people(random)
        rules = ["age -> since"] if seed % 3 == 0 else []
        policy = make_policy(
            PEOPLE, privacy=privacy, limit=0.5, data={"missing": ["", "?"]}, algorithm=algorithm, dependencies=[],
            suppression={"limit": 0.5, "show": random.choice(["drop", "star"])},
        )  # fmt: skip
        try:
            result = kveil.anonymize(frame, policy)
        except kveil.Unmeetable:
            continue
        judged = policy.model_copy(update={"dependencies": make_policy(PEOPLE, dependencies=rules).dependencies})
        release = from_frame(spoilt(result.data, random))
        aligned = lay_beside(release, from_frame(frame), result.owner.rows, judged)
        held.append(same_verdict(judged, aligned))
    assert 0 < sum(held) < len(held)


# ---------------------------------------------------------------------------------------------- counts that lack some


def whole() -> tuple[Policy, ReleaseCounts]:
    """The counts of a release of 40 records, one of them left out, with a note that stands apart."""
    roles = {"zip": {"role": "quasi-identifier"}, "sex": {"role": "quasi-identifier"}, "note": {"role": "insensitive"}}
    policy = make_policy(roles | {"illness": {"role": "sensitive"}}, k=3)
    frame = pl.DataFrame(
        {
            "zip": ["a"] * 20 + ["b"] * 19 + ["c"],
            "sex": ["f", "m"] * 20,
            "note": [str(number) for number in range(40)],
            "illness": ["flu", "flu", "gout", "cold"] * 10,
        }
    )
    result = kveil.anonymize(frame, policy, "mondrian")
    aligned = lay_beside(from_frame(result.data), from_frame(frame), result.owner.rows, policy)
    return policy, counted(aligned, policy)


def more(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame, frame.head(1)])


def lacking(counts: ReleaseCounts, original: OriginalCounts) -> dict[str, ReleaseCounts]:
    """Counts in which something was lost, doubled or changed on the way, by what."""
    other = counts.read_back.with_columns(zip=pl.lit("elsewhere"))
    pairs = {name: more(frame) if name == "zip" else frame for name, frame in original.pairs.items()}
    values = {name: more(frame) if name == "zip" else frame for name, frame in original.values.items()}

    def beside(**changed: Any) -> ReleaseCounts:
        return replace(counts, original=replace(original, **changed))

    return {
        "a file of the release was lost": replace(counts, read_back=counts.read_back.head(0)),
        "a file of the release is there twice": replace(counts, written=Totals(counts.written.rows + 1)),
        "rows were written otherwise": replace(counts, read_back=other),
        "rows were counted twice": replace(counts, rows=more(counts.rows)),
        "other cells were written": replace(counts, written=Totals(counts.written.rows, (1, 2))),
        "the original has more rows": beside(rows=original.rows + 1),
        "someone was left out twice": beside(left_out=pl.DataFrame({TIMES: [1]})),
        "pairs were counted twice": beside(pairs=pairs),
        "values were counted twice": beside(values=values),
    }


def test_counts_that_do_not_add_up_are_refused() -> None:
    policy, counts = whole()
    assert counts.original is not None
    assert verify_counts(policy, counts).findings == []
    assert counts.rows.height < 10
    for what, wrong in lacking(counts, counts.original).items():
        assert not verify_counts(policy, wrong), what


def test_a_changed_note_that_stands_apart_is_found() -> None:
    policy, counts = whole()
    note = counts.apart["note"]
    changed = pl.DataFrame({"was": ["3"], "shown": ["4"], TIMES: pl.Series([2], dtype=pl.UInt32)})
    verdict = verify_counts(policy, replace(counts, apart={**counts.apart, "note": replace(note, changed=changed)}))
    assert verdict.findings == ["note (insensitive) differs from the original in 2 cells."]


def test_a_long_release_is_not_verified_by_counts() -> None:
    policy = make_policy(PEOPLE, release={"shape": "long"})
    with pytest.raises(kveil.errors.Refused, match="row by row"):
        questions(policy, {})
