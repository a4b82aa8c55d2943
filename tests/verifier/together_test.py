"""Several releases together: two known breaks, and a slow twin on random ones."""

import random
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kveil
from clinic_views import write_view
from kveil.datasets import hospital
from kveil.files import Source
from kveil.verifier.links import LinkedRelease
from kveil.verifier.together import verify_together
from naive.audiences import Published, fallen
from naive.together import below, possible
from support import refused, run


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    shutil.copytree(hospital(), tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_two_releases_for_two_audiences_leave_one_diagnosis_for_599_patients(clinic: Path) -> None:
    one = write_view(clinic, "birth", "sex", algorithm="least-loss")
    two = write_view(clinic, "zip", "department", algorithm="least-loss")
    kept = clinic / "kept"
    for policy in (one, two):
        out = ["-o", policy.with_suffix(".csv"), "--owner", policy.with_suffix(".owner")]
        done = run("anonymize", policy, *out, "--archive", kept, "-q")
        assert done.code == 0, done.err
    verify = ["verify", two, "--release", two.with_suffix(".csv"), "--previous", kept, "--json"]
    alone = run(*verify[:4], "--json")
    assert alone.code == 0
    assert "previous" not in alone.json
    original = ["--original", clinic / "patients.csv", "--owner", two.with_suffix(".owner")]
    told = run(*verify, *original)
    assert told.code == 1
    check = told.json["previous"]
    assert (check["releases"], check["people"], check["newcomers"], check["leavers"]) == (2, 2000, 0, 0)
    assert check["possible"] == [{"sensitive": "diagnosis", "one": 599, "right": 599, "changed": 0}]
    assert not any(guarantee["holds"] for guarantee in check["guarantees"])
    assert any("one for 599, which is right for 599 of them" in finding for finding in told.json["findings"])
    # Without the original nobody knows which rows of other groups fit somebody too: the worst is taken for granted.
    blind = run(*verify)
    assert blind.code == 1
    assert blind.json["previous"]["possible"][0]["one"] > 599
    printed = run("verify", two, "--release", two.with_suffix(".csv"), "--previous", kept)
    assert "2 releases together show 2,000 people" in printed.out
    for text in (told.out, blind.out, printed.out):
        assert "P-0" not in text


def test_a_newcomer_is_the_one_row_more(clinic: Path) -> None:
    lines = (clinic / "patients.csv").read_text().splitlines(keepends=True)
    (clinic / "before.csv").write_text("".join(lines[:-1]))
    policy = write_view(clinic, "birth", "sex", "zip", algorithm="datafly", limit=0.05)
    run("anonymize", policy, "--input", clinic / "before.csv", "-o", clinic / "one.csv", "--archive", clinic / "kept")
    two = ["-o", clinic / "two.csv", "--owner", clinic / "owner.json"]
    assert run("anonymize", policy, *two, "-q").code == 0
    rows = [sorted((clinic / name).read_text().splitlines()) for name in ("one.csv", "two.csv")]
    assert len(rows[1]) == len(rows[0]) + 1
    told = run(
        "verify", policy, "--release", clinic / "two.csv", "--original", clinic / "patients.csv",
        "--owner", clinic / "owner.json", "--previous", clinic / "kept", "--json",
    )  # fmt: skip
    assert told.code == 1
    assert told.json["previous"]["newcomers"] == 1
    assert told.json["previous"]["guarantees"][0]["worst"] == 1
    assert any("for 1 person (1 newcomer) in 1 group" in finding for finding in told.json["findings"])


def test_a_release_of_which_nobody_knows_who_is_who_is_refused(clinic: Path) -> None:
    policy = write_view(clinic, "birth", "sex", algorithm="datafly", limit=0.05)
    run("anonymize", policy, "-o", clinic / "one.csv", "--archive", clinic / "kept")
    (clinic / "two.csv").write_text((clinic / "one.csv").read_text() + "\n")
    verify = "verify", policy, "--release", clinic / "two.csv", "--previous", clinic / "kept"
    refused(run(*verify), "none of the archives", "--owner")


def _random_release(rng: random.Random, people: list[str], secrets: dict[str, str]) -> dict[str, tuple[Any, str]]:
    here = [person for person in people if rng.random() < 0.8]
    return {person: ((rng.choice("ab"), rng.choice("xy*")), secrets[person]) for person in here}


def _policy(names: tuple[str, str], k: int, least: int) -> kveil.Policy:
    return kveil.Policy.model_validate(
        {
            "attributes": {**{name: {"role": "quasi-identifier"} for name in names}, "s": {"role": "sensitive"}},
            "privacy": [{"model": "k-anonymity", "k": k}, {"model": "l-diversity", "sensitive": "s", "l": least}],
        }
    )


def _linked(names: tuple[str, str], policy: kveil.Policy, shown: dict[str, tuple[Any, str]]) -> LinkedRelease:
    rows = [(*look, value) for look, value in shown.values()]
    frame = pl.DataFrame(rows, schema=[*names, "s"], orient="row")
    return LinkedRelease("r", policy, Source("r", frame, "frame"), pl.Series(list(shown), dtype=pl.String))


@pytest.mark.parametrize("seed", range(40))
def test_counts_are_those_of_a_slow_twin(seed: int) -> None:
    rng = random.Random(seed)
    people = [f"p{i}" for i in range(rng.randrange(8, 40))]
    k, least = rng.randrange(2, 5), rng.randrange(2, 4)
    secrets = {person: rng.choice("uvw") for person in people}
    shown = []
    for _ in range(rng.randrange(1, 4)):
        shown.append(_random_release(rng, people, secrets))
        if rng.random() < 0.3:  # a correction
            secrets[rng.choice(people)] = rng.choice("uvw")
    names = ("q", "r")
    policy = _policy(names, k, least)
    together = verify_together(policy, [_linked(names, policy, one) for one in shown])
    check, findings = together.check, together.findings
    small, alike = below(shown, k, least)
    assert [guarantee["holds"] for guarantee in check["guarantees"]] == [small == 0, alike == 0]
    for number, name in ((small, "k-anonymity"), (alike, "l-diversity")):
        told = [finding for finding in findings if finding.startswith(name)]
        assert bool(told) == bool(number)
        assert all(f"for {number:,} pe" in finding for finding in told)
    everyone = set().union(*shown)
    left = {person: possible(shown, person) for person in everyone}
    assert check["possible"][0]["one"] == sum(len(values) == 1 for values in left.values())
    constant = {p for p in everyone if len({one[p][1] for one in shown if p in one}) == 1}
    assert check["possible"][0]["changed"] == len(everyone - constant)
    few = sum(len(left[person]) < least for person in constant)
    assert any(f"remain possible for {few:,} pe" in finding for finding in findings) == (few > 0)


def test_rows_of_stars_show_nobody_and_hide_their_value() -> None:
    names = ("q", "r")
    policy = _policy(names, 2, 2)
    one = {"a": (("x", "x"), "u"), "b": (("x", "x"), "v"), "c": (("*", "*"), "*")}
    two = {"a": (("x", "x"), "u"), "b": (("x", "x"), "v"), "c": (("y", "y"), "u"), "d": (("y", "y"), "v")}
    together = verify_together(policy, [_linked(names, policy, shown) for shown in (one, two)])
    check, findings = together.check, together.findings
    assert findings == []
    assert check["newcomers"] == 2


def test_what_a_model_leaves_out_is_left_out_of_earlier_releases_too() -> None:
    attributes = {"q": {"role": "quasi-identifier"}, "r": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}}
    over = [{"model": "k-anonymity", "k": 2, "attributes": [name]} for name in ("q", "r")]
    policy = kveil.Policy.model_validate({"attributes": attributes, "privacy": over})
    one = {"a": (("1", "1"), "u"), "b": (("1", "2"), "u"), "c": (("2", "1"), "u"), "d": (("2", "2"), "u")}
    links = [_linked(("q", "r"), policy, one), _linked(("q", "r"), policy, one)]
    assert verify_together(policy, links).findings == []
    other = _policy(("v", "w"), 2, 1)  # columns that the policy does not have are taken as known
    findings = verify_together(policy, [_linked(("v", "w"), other, one), links[1]]).findings
    assert ["promised by r," in finding for finding in findings] == [False, False, True]


LABELS = {"a": ["a1", "A", "*"], "b": ["b1", "b2", "*"], "c": ["c1", "c2"], "d": ["u", "v", "w", "*"]}
MODELS: list[dict[str, Any]] = [
    {"model": "k-anonymity", "k": 2},
    {"model": "k-anonymity", "k": 4},
    {"model": "l-diversity", "sensitive": "d", "l": 2},
    {"model": "l-diversity", "sensitive": "d", "l": 1.5, "variant": "frequency"},
    {"model": "p-sensitive", "sensitive": "d", "p": 2},
    {"model": "alpha-k", "sensitive": "d", "alpha": 0.8, "k": 2},
]


def _audience(rng: random.Random, people: list[str], values: dict[str, dict[str, str]]) -> Published:
    """Return a release of some people for some audience, that keeps nothing in particular."""
    quasi = rng.sample(["a", "b", "c"], rng.randrange(1, 4))
    others = ["identifier", "insensitive", "sensitive"]
    roles = {name: "quasi-identifier" if name in quasi else rng.choice(others) for name in "abc"}
    roles["d"] = rng.choice(["sensitive"] * 5 + ["insensitive", "identifier", "quasi-identifier"])
    promises = []
    for model in rng.sample(MODELS, rng.randrange(1, 3)):
        if roles["d"] == "sensitive" or "sensitive" not in model:
            own = [name for name, role in roles.items() if role == "quasi-identifier"]
            narrow = (
                {"attributes": sorted(rng.sample(own, rng.randrange(1, len(own) + 1)))} if rng.random() < 0.5 else {}
            )
            promises.append({**model, **narrow})
    promises = promises or [{"model": "k-anonymity", "k": 3}]
    over = {name for promise in promises for name in promise.get("attributes", LABELS)}
    if any(role == "quasi-identifier" and name not in over for name, role in roles.items()):
        promises.append({"model": "k-anonymity", "k": 1})
    shown = {}
    for person in people:
        if rng.random() < 0.9:
            row = {name: values[person][name] if rng.random() < 0.8 else LABELS[name][-1] for name in LABELS}
            shown[person] = {name: text for name, text in row.items() if roles[name] != "identifier"}
    return Published(roles, promises, shown, stars=rng.random() < 0.5)


def _as_link(one: Published, number: int) -> LinkedRelease:
    policy = kveil.Policy.model_validate(
        {
            "attributes": {name: {"role": role} for name, role in one.roles.items()},
            "privacy": one.promises,
            "suppression": {"limit": 1, "show": "star" if one.stars else "drop"},
        }
    )
    frame = pl.DataFrame([*one.rows.values()], schema=dict.fromkeys(one.columns, pl.String))
    return LinkedRelease(f"r{number}", policy, Source("r", frame, "frame"), pl.Series(list(one.rows), dtype=pl.String))


@pytest.mark.parametrize("seed", range(150))
def test_promises_of_all_audiences_are_judged_as_a_slow_twin_judges_them(seed: int) -> None:
    rng = random.Random(f"audiences {seed}")
    people = [f"p{i}" for i in range(rng.choice([6, 20, 60]))]
    values = {person: {name: rng.choice(labels[:-1]) for name, labels in LABELS.items()} for person in people}
    releases = [_audience(rng, people, values) for _ in range(rng.randrange(2, 5))]
    links = [_as_link(one, number) for number, one in enumerate(releases)]
    own, earlier, promised = fallen(releases)
    together = verify_together(links[-1].policy, links)
    assert together.check["below"] == len(promised)
    assert bool([one for one in together.check["guarantees"] if not one["holds"]]) == bool(own)
    assert bool([one for one in together.check["promised"] if not one["holds"]]) == bool(earlier)
    assert bool([one for one in together.findings if "promised by" in one]) == bool(earlier)
    assert together.lapsed == []
    allowed = verify_together(links[-1].policy, links, weaker=True)
    assert not any("promised by" in one for one in allowed.findings)
    assert not earlier or f"{len(promised):,} pe" in allowed.lapsed[0]
