"""Random tables of every format and role with a release of each, and the attacker's figures beside their slow twin."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from random import Random
from statistics import median
from typing import Any
from unittest import mock

import polars as pl
import yaml

import kveil
from kveil.attacker.risk import raw_risk
from kveil.flow.steps.inputs import read
from kveil.report import page
from kveil.report.story import Story
from naive import attacks as naive
from naive import release as naive_release
from support import run

Spec = dict[str, Any]
Row = dict[str, str]
STAR = "*"
QUASI, SENSITIVE, INSENSITIVE = "quasi-identifier", "sensitive", "insensitive"
MISSING = ([""], [""], ["", "NA"], ["NA", ""], ["?"], ["", "*"])
ALGORITHMS = ("mondrian", "mondrian", "datafly", "least-loss", "k-member", "pk-clustering", "incognito")
ABOUT_PEOPLE = ("mondrian", "mondrian", "least-loss", "datafly")


@dataclass(frozen=True)
class Column:
    """How a column's values become coarser, its values as people write them, and how typed files hold them."""

    spec: Any
    values: list[str]
    kind: Any = pl.String
    comma: bool = False

    def written(self, value: str) -> str:
        return value.replace(".", ",") if self.comma else value


def quarters(low: int, high: int) -> list[str]:
    return [naive_release.written(naive_release.Fraction(n, 4)) for n in range(4 * low, 4 * high)]


def whole(random: Random) -> Column:
    ends = random.choice([{}, {}, {"open": "above"}, {"open": "both"}])
    top = 39 if not ends else 49
    spec = {"intervals": {"from": 0, "to": 39, "widths": random.choice([[5, 10, 20], [10, 20], [4, 20]]), **ends}}
    values = [str(random.randint(0, top)) for _ in range(random.randint(3, 9))]
    return Column(spec, values, random.choice([pl.String, pl.Int64, pl.Int16, pl.Categorical]))


def real(random: Random) -> Column:
    ends = random.choice([{}, {"open": "both"}])
    spec = {"intervals": {"from": 0, "to": 8, "widths": ["0.5", 1, 2, 4], **ends}}
    values = random.sample(quarters(0, 8 if not ends else 11), random.randint(3, 9))
    return Column(spec, values, random.choice([pl.String, pl.Float64, pl.Float32]), random.random() < 0.5)


def ranges(random: Random) -> Column:
    more = random.choice([{}, {"round": random.choice([1, 2])}, {"bounds": "midpoints"}])
    values = random.sample([*quarters(0, 9), *map(str, range(20))], random.randint(3, 9))
    kind, comma = random.choice([pl.String, pl.Float64]), random.random() < 0.4
    return Column({"ranges": {"within": [-20, 20], **more}}, values, kind, comma)


def tree(random: Random) -> Column:
    root = random.choice(["*", "All"])
    north, south = ["Oslo", "Bergen", "Narvik"], ["Rome", "Pisa"]
    spec = {"tree": {root: {"North": north, "South": {"Italy": south, "Spain": ["Madrid"]}}}}
    return Column(spec, random.sample([*north, *south, "Madrid"], 4), random.choice([pl.String, pl.Categorical]))


def mask(random: Random) -> Column:
    values = [f"{random.randint(10, 12)}{random.randint(0, 2)}" for _ in range(5)]
    return Column({"mask": {"keep": [2, 1]}}, values, random.choice([pl.String, pl.Int32]))


def dates(random: Random) -> Column:
    days = [datetime.date(1999, 11, 1) + datetime.timedelta(40 * random.randint(0, 12)) for _ in range(5)]
    levels = random.choice([["month", "year"], ["quarter", "decade"], ["year"]])
    return Column({"dates": levels}, [day.isoformat() for day in days], random.choice([pl.String, pl.Date]))


def plain(random: Random) -> Column:
    return Column(None, random.sample(["a", "b b", "c;c", "d", "É"], random.randint(2, 4)), pl.String)


def bare(random: Random) -> Column:
    """Numbers that no hierarchy speaks of: with a decimal comma they are texts like any other."""
    return Column(None, random.sample(quarters(0, 3), 4), pl.String, random.random() < 0.5)


KINDS: tuple[Callable[[Random], Column], ...] = (whole, real, ranges, tree, mask, dates, plain, bare)


@dataclass
class Drawn:
    """A table as texts, its policy, and how it is written."""

    policy: Spec
    columns: dict[str, Column]
    records: list[Row]
    suffix: str
    separator: str
    out: str
    arguments: list[str] = field(default_factory=list)
    rules: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)

    def write(self, folder: Path) -> Path:
        (folder / "policy.yaml").write_text(json.dumps(self.policy), encoding="utf-8")
        path = folder / f"data{self.suffix}"
        if self.suffix == ".csv":
            path.write_text(csv_text(self.records, self.separator), encoding="utf-8")
        else:
            self.typed().write_parquet(path) if self.suffix == ".parquet" else self.typed().write_ipc(path)
        return path

    def typed(self) -> pl.DataFrame:
        """The table as typed files hold it: nothing where the first text for missing stands."""
        first = self.policy["data"]["missing"][0]
        cells = {}
        for name in self.records[0]:
            texts = pl.Series(name, [None if row[name] == first else row[name] for row in self.records], pl.String)
            kind = self.columns[name].kind if name in self.columns else pl.String
            cells[name] = texts.str.to_date() if kind == pl.Date else texts.cast(kind)
        return pl.DataFrame(cells)


def csv_text(rows: Sequence[Row], separator: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows(row.values() for row in rows)
    return out.getvalue()


def drawn(seed: int) -> Drawn:
    """A table and its policy; the algorithm may refuse it, and what it asks for may not be had."""
    random = Random(seed)
    people = random.random() < 0.45
    missing = random.choice(MISSING)
    suffix, typed = random.choice([(".csv", False), (".csv", False), (".parquet", True), (".arrow", True)])
    columns: dict[str, Column] = {}
    attributes: dict[str, Spec] = {}

    def add(name: str, role: str, kinds: Sequence[Callable[[Random], Column]]) -> None:
        column = random.choice(kinds)(random)
        columns[name] = replace(column, kind=pl.String) if column.comma or not typed else column
        own = {} if column.spec is None or role == INSENSITIVE else {"hierarchy": column.spec}
        attributes[name] = {"role": role} | own

    quasi = [f"q{i}" for i in range(random.randint(1, 3))]
    for name in quasi:
        add(name, QUASI, KINDS)
    secret = [f"s{i}" for i in range(random.choice([1, 1, 2, 0] if people else [0, 1, 1, 1, 2, 3]))]
    if people and random.random() < 0.9 and not secret:
        secret = ["s0"]
    for name in secret:  # of people those whose items join no others
        add(name, SENSITIVE, [whole, real, real, tree, mask, dates, bare, plain])
    if random.random() < 0.4:
        add("other", INSENSITIVE, KINDS)
    rules: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    if not people and random.random() < 0.15:
        columns["area"], attributes["area"] = Column(None, []), {"role": random.choice([QUASI, INSENSITIVE])}
        rules.append((("q0",), ("area",)))
    small = not people and random.random() < 0.12
    privacy, secret = models(random, people, quasi, secret, attributes)
    show = {"limit": "0" if small else random.choice(["0", "0.2", "0.4"]), "show": random.choice(["drop", "star"])}
    policy: Spec = {
        "kveil": 1,
        "data": {"missing": missing},
        "attributes": attributes,
        "privacy": privacy,
        "suppression": show,
        "seed": random.randint(0, 9),
        "release": {"order": random.choice(["sorted", "keep"])},
        "algorithm": random.choice(ABOUT_PEOPLE if people else ALGORITHMS),
    }
    if rules:
        policy["dependencies"] = ["q0 -> area"]
        policy["algorithm"] = random.choice(["mondrian", "least-loss", "datafly"])
    items = any(model["model"] in ("kl-diversity", "k-km-anonymity") for model in privacy)
    generalize = people and random.random() < 0.3
    if people:
        attributes["who"] = {"role": "individual"}
        policy["individual"] = {"conflicts": "generalize" if generalize else "error"}
        policy["release"]["shape"] = random.choice(["sets", "sets", "long"])
        if items:
            policy["algorithm"] = random.choice(["partition", "1m-generalization", "rmerger"])
            policy["release"]["shape"] = "sets" if len(secret) > 1 else policy["release"]["shape"]
    elif random.random() < 0.5:
        attributes["name"] = {"role": "identifier"}
    separator = random.choice([",", ";", "\t"]) if suffix == ".csv" else ","
    if separator != ",":
        policy["data"]["separator"] = separator
    if any(column.comma for column in columns.values()) and random.random() < 0.3:
        policy["data"]["decimal"] = ","
    number = random.randint(4, 6) if small else random.randint(6, 22)
    records = (of_people if people else of_records)(random, number, columns, missing, generalize)
    for record in records:
        for left, (right,) in rules:
            record[right] = f"area {sum(map(ord, record[left[0]])) % 3}"
    listed = random.sample(list(attributes), len(attributes))
    policy["attributes"] = {name: attributes[name] for name in listed}
    records = [{name: record[name] for name in random.sample(listed, len(listed))} for record in records[:1]] + records
    records = [{name: record[name] for name in records[0]} for record in records[1:]]
    stream = suffix == ".parquet" and random.random() < 0.4
    out = ".parquet" if stream else random.choice([suffix, suffix, ".csv", ".parquet"])
    arguments = ["--engine", "stream"] if stream else []
    return Drawn(policy, columns, records, suffix, separator, out, arguments, rules)


def models(
    random: Random, people: bool, quasi: list[str], secret: list[str], attributes: Mapping[str, Spec]
) -> tuple[list[Spec], list[str]]:
    """What is asked for: sizes of groups, and at times something about a sensitive column."""
    found: list[Spec] = [{"model": "k-anonymity", "k": random.choice([2, 2, 3])}]
    if len(quasi) > 1 and random.random() < 0.3:
        cut = random.randint(1, len(quasi) - 1)
        found = [{"model": "k-anonymity", "k": 2, "attributes": part} for part in (quasi[:cut], quasi[cut:])]
    if "area" in attributes and attributes["area"]["role"] == QUASI and "attributes" in found[0]:
        found.append({"model": "k-anonymity", "k": 2, "attributes": ["area"]})
    if secret and random.random() < 0.5:
        name = random.choice(secret)
        asks: list[Spec] = [
            {"model": "l-diversity", "l": 2},
            {"model": "l-diversity", "l": 2, "variant": "frequency"},
            {"model": "p-sensitive", "p": 2},
            {"model": "t-closeness", "t": "0.5", "distance": "ordered"},
            {"model": "t-closeness", "t": "0.5", "distance": "equal"},
        ]
        if people:
            tall = "hierarchy" in attributes[name]
            asks = [{"model": "kl-diversity", "k": 2, "l": 1}, {"model": "k-km-anonymity", "k": 2, "m": 1}] * tall
        if asks:
            found.append(random.choice(asks) | {"sensitive": name})
    return found, secret


def of_records(random: Random, number: int, columns: Mapping[str, Column], missing: list[str], _: bool) -> list[Row]:
    """Records of a few kinds, some of them alone."""
    records: list[Row] = []
    while len(records) < number:
        look = {name: cell(random, column, missing) for name, column in columns.items() if column.values}
        for _copy in range(random.choice([1, 1, 2, 3])):
            own = {
                name: cell(random, columns[name], missing) for name in look if name[0] == "s" and random.random() < 0.8
            }
            records.append({**look, **own, "name": f"n{len(records)}"})
    return records[:number]


def of_people(
    random: Random, number: int, columns: Mapping[str, Column], missing: list[str], generalize: bool
) -> list[Row]:
    """Records of people, each with a few; theirs agree on quasi-identifiers unless they need not."""
    records: list[Row] = []
    for person in range(number):
        look = {name: cell(random, column, missing) for name, column in columns.items()}
        if person and random.random() < 0.5:
            look = {name: records[-1][name] for name in columns}
        for _copy in range(random.choice([1, 1, 2, 3])):
            own = {name: cell(random, columns[name], missing) for name in columns if name[0] == "s"}
            if generalize and random.random() < 0.2:
                own |= {name: cell(random, columns[name], missing) for name in columns if name[0] == "q"}
            records.append({**look, **own, "who": f"p{person}"})
    return random.sample(records, len(records))


def cell(random: Random, column: Column, missing: list[str]) -> str:
    if random.random() < 0.08:
        return missing[0] if column.kind != pl.String else random.choice(missing)
    return column.written(random.choice(column.values))


# ---------------------------------------------------------------------------------------------- judging


def released_rows(path: Path, separator: str) -> list[dict[str, naive.Cell]]:
    """A release as its file has it; typed cells as people write them."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter=separator))
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_ipc(path)
    return [
        {
            name: [text for item in value if (text := as_text(item)) is not None]
            if isinstance(value, list)
            else as_text(value)
            for name, value in row.items()
        }
        for row in frame.to_dicts()
    ]


def as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


@dataclass(frozen=True)
class Played:
    """A release of a drawn table: where everything lies, and the two tables as the twin sees them."""

    case: Drawn
    folder: Path
    data: Path
    release: Path
    world: naive.World
    stories: list[Story]  # what the report tells, where there is one
    algorithm: str | None  # in place of the policy's

    @property
    def policy_path(self) -> Path:
        return self.folder / "policy.yaml"


def released(seed: int, folder: Path) -> Played:
    """Make the release of a drawn table with its report: the first that can be had of those that a seed gives."""
    for turn in count():
        own = folder / str(turn)
        own.mkdir(parents=True)
        made = played(seed + turn * 1_000_000, own)
        if made is not None:
            return made
    raise AssertionError("some table can be released")


def played(seed: int, folder: Path) -> Played | None:
    """Make the release of a drawn table with its report; None where it is refused or cannot be had."""
    case = drawn(seed)
    data = case.write(folder)
    release = folder / f"r{case.out}"
    stories: list[Story] = []

    def drawn_page(story: Story) -> str:
        stories.append(story)
        return ""

    command = [
        "anonymize", folder / "policy.yaml", "--input", data, "-o", release, "--owner", folder / "o.json", "--quiet",
        *(case.arguments or ["--report", folder / "report.html"]),  # of which a stream has none
    ]  # fmt: skip
    with mock.patch.object(page, "_report_page", drawn_page):  # whose pictures take longer than all the rest
        done = run(*command)
        algorithm = "least-loss" if "does not honour" in done.err else None
        if algorithm:
            done = run(*command, "--algorithm", algorithm)
    if done.code:
        assert "defect" not in done.err, f"seed {seed}: {done.err}"
        return None
    text = (folder / "policy.yaml").read_text(encoding="utf-8")
    plain_policy = yaml.load(text, Loader=yaml.BaseLoader)
    twin = naive_release.Policy(plain_policy, folder)
    world = naive.World(twin, plain_policy, case.records, released_rows(release, case.separator))
    world.places += [place - 1 for place in json.loads((folder / "o.json").read_text())["rows"]]
    return Played(case, folder, data, release, world, stories, algorithm)


def plain_figures(attacks: Sequence[Mapping[str, Any]]) -> list[Spec]:
    """The attacks without their words."""
    return [
        {key: value for key, value in one.items() if key not in ("sentence", "knowing", "title")} for one in attacks
    ]


def keyed(attacks: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], Spec]:
    """Attacks by what they are, as JSON has them."""
    found = {}
    for one in attacks:
        key = (one["attack"], tuple(one["attributes"]), one.get("sensitive"), one.get("items", "no"))
        assert key not in found
        found[key] = json.loads(json.dumps(one))
    return found


def attackers_table(one: Played) -> tuple[list[Row], list[str]]:
    """A table of somebody else's about half of the people and a few others, and its columns that name people."""
    random = Random(len(one.case.records))
    naming = [name for name in ("who", "name") if name in one.case.policy["attributes"] and random.random() < 0.7]
    quasi = [name for name in one.world.policy.quasi if random.random() < 0.8] or one.world.policy.quasi[:1]
    rows = [{name: row[name] for name in [*naming, *quasi]} for row in one.case.records if random.random() < 0.5]
    rows = rows or [{name: one.case.records[0][name] for name in [*naming, *quasi]}]
    for row in rows:
        if random.random() < 0.2:
            row |= dict.fromkeys(naming, "stranger")
    return rows, naming


def remaker(one: Played) -> naive.Remake:
    """Kveil, run again on the original's texts with other values of a sensitive column."""
    policy = kveil.Policy.load(one.policy_path)

    def remake(name: str, values: Sequence[str]) -> Counter[tuple[str, ...]] | None:
        column = one.case.columns[name]
        own = [column.written(value) if name in one.world.numeric else value for value in values]
        frame = pl.DataFrame(one.case.records).with_columns(pl.Series(name, own))
        try:
            data = kveil.anonymize(frame, policy).data
        except kveil.KveilError:
            return None
        return Counter(
            (
                *(one.world.shown(other, row[other]) for other in one.world.policy.quasi),
                *one.world.values(name, row[name]),
            )
            for row in data.to_dicts()
        )

    return remake


def check_attacks(one: Played, approx: Callable[[Any], Any]) -> None:
    """Compare every figure of `kveil attack` and of the report with the twin's."""
    rows, shared = attackers_table(one)
    attacker = one.folder / "attacker.csv"
    attacker.write_text(csv_text(rows, one.case.separator), encoding="utf-8")
    done = run(
        "attack", one.policy_path, "--original", one.data, "--release", one.release, "--owner", one.folder / "o.json",
        "--attacker", attacker, "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    content = done.json
    assert (content["original"], content["released"]) == (len(one.world.before), len(one.world.after))
    means = naive.Means(one.case.records, rows, shared, remaker(one), one.case.rules)
    expected = keyed(naive.play(one.world, means))
    found = keyed(plain_figures(content["attacks"]))
    assert found.keys() == expected.keys()
    for key, figures in expected.items():
        same_figures(found[key], figures, approx, key)
    alone = {key: one for key, one in found.items() if key[0] not in ("attacker's file", "minimality")}
    for story in one.stories:
        assert story.owner is not None
        assert keyed(plain_figures(story.owner.attacks.as_json()["attacks"])) == alone
        # The highest rate, of attacks that get well beyond a guess without any row where there is one.
        played = [figures for figures in alone.values() if figures["after"]["targets"]]
        rated = [(gets_through(figures), figures["after"]["rate"]) for figures in played]
        worst = story.owner.worst_attack
        assert (worst and worst.after) == (max(rated)[1] if rated else None)


def gets_through(figures: Mapping[str, Any]) -> bool:
    """Whether an attack is right for a tenth or more of those whom a guess gets wrong."""
    rate, guess = figures["after"]["rate"], figures.get("guess") or 0.0
    return bool(rate > 0 and rate - guess >= 0.1 * (1 - guess))


def check_several(seed: int, folder: Path, approx: Callable[[Any], Any]) -> bool:
    """Compare the attack on two or three releases of one table with the twin's; False where one cannot be had."""
    random = Random(seed)
    columns = {f"q{i}": random.choice(KINDS)(random) for i in range(3)} | {"s": random.choice(KINDS)(random)}
    columns = {name: replace(column, kind=pl.String) for name, column in columns.items()}
    missing = random.choice(MISSING[:5])
    records = of_records(random, random.randint(8, 24), columns, missing, False)
    (folder / "data.csv").write_text(csv_text(records, ";"), encoding="utf-8")
    worlds: list[naive.World] = []
    for number in range(random.choice([2, 3])):
        seen = {f"q{i}" for i in random.sample(range(3), random.choice([1, 2]))}
        attributes: dict[str, Spec] = {"name": {"role": "identifier"}}
        for name, column in columns.items():
            role = SENSITIVE if name == "s" else QUASI if name in seen else "identifier"
            shown = role == "identifier" or column.spec is None
            attributes[name] = {"role": role} | ({} if shown else {"hierarchy": column.spec})
        policy: Spec = {
            "kveil": 1,
            "data": {"missing": missing, "separator": ";", "key": "name"},
            "attributes": attributes,
            "privacy": [{"model": "k-anonymity", "k": 2}],
            "suppression": {"limit": "0.4", "show": random.choice(["drop", "star"])},
            "algorithm": "mondrian",
        }
        path, release = folder / f"{number}.yaml", folder / f"{number}.csv"
        path.write_text(json.dumps(policy), encoding="utf-8")
        beside = ["--owner", folder / f"{number}.owner", "--archive", folder / "kept", "-q"]
        if run("anonymize", path, "--input", folder / "data.csv", "-o", release, *beside).code:
            return False
        plain_policy = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
        twin = naive_release.Policy(plain_policy, folder)
        worlds.append(naive.World(twin, plain_policy, records, released_rows(release, ";")))
        worlds[-1].places += [place - 1 for place in json.loads((folder / f"{number}.owner").read_text())["rows"]]
    done = run(
        "attack", path, "--original", folder / "data.csv", "--release", release, "--owner", beside[1],
        "--previous", folder / "kept", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    found = keyed(plain_figures(done.json["attacks"]))
    texts = [(folder / f"{number}.csv").read_bytes() for number in range(len(worlds))]
    others = [world for world, text in zip(worlds, texts, strict=True) if text != texts[-1]]  # the same tells no more
    expected = keyed([naive.several("s", [*others, worlds[-1]])])
    for key, figures in expected.items():
        same_figures(found[key], figures, approx, key)
    return True


def check_frames(one: Played, approx: Callable[[Any], Any]) -> None:
    """Compare what Python's attack and report tell of a frame with the twin's."""
    frame: Any = pl.DataFrame(one.case.records) if one.case.suffix == ".csv" else one.case.typed()
    kind = len(one.case.records) % 3
    if kind:
        frame = frame.to_arrow() if kind == 1 else frame.to_pandas()
    policy = kveil.Policy.load(one.policy_path)
    result = kveil.anonymize(frame, policy, algorithm=one.algorithm)
    means = naive.Means(one.case.records, remake=remaker(one), rules=one.case.rules)
    expected = keyed(naive.play(one.world, means))
    found = keyed(plain_figures(kveil.attack(result.data, policy, frame, result.owner).as_json()["attacks"]))
    assert found.keys() == expected.keys()
    for key, figures in expected.items():
        same_figures(found[key], figures, approx, key)
    stories: list[Story] = []
    with mock.patch.object(page, "_report_page", lambda story: stories.append(story) or ""):
        result.report(one.folder / "from_python.html")
        result.report(one.folder / "from_python_too.html", original=frame)
    for story in stories:
        assert story.owner is not None
        told = keyed(plain_figures(story.owner.attacks.as_json()["attacks"]))
        assert told == {key: figures for key, figures in found.items() if key[0] != "minimality"}


def same_figures(found: Any, expected: Any, approx: Callable[[Any], Any], where: Any) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            same_figures(found[key], expected[key], approx, (where, key))
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for i, (own, other) in enumerate(zip(found, expected, strict=True)):
            same_figures(own, other, approx, (where, i))
    elif isinstance(expected, float):
        assert found == approx(expected), where
    else:
        assert found == expected, where


def check_story(one: Played) -> None:
    """Compare the figures of the report with plain counts: what columns were and show, their trees, groups."""
    for story in one.stories:
        left_out = len(one.world.before) - len(one.world.after)
        assert story.counts["input"] == len(one.world.before)
        assert story.counts["suppressed"] >= left_out  # rows of stars count, too
        for column in story.columns:
            name, before = column.name, column.before
            shown = Counter(row[name] for row in one.world.after.rows)
            assert column.labels == len(shown)
            same_bars(column.after, shown)
            assert before is not None
            were = Counter(row[name] for row in one.world.before.rows)
            assert before.values == len(were)
            assert sum(number for _, number in before.bars) == len(one.world.before)
            if not before.level:
                same_bars(before.bars, were)
            known = {node.label for node in before.nodes}
            for node in before.nodes:
                own = "" if node.label == "(empty)" and "" not in known else node.label
                assert node.cells == shown[own], node
            if before.nodes:
                cells = sum(node.cells or 0 for node in before.nodes)
                missing = set(one.world.policy.missing) - {STAR}  # which hangs under the root, and is not drawn
                missing |= {STAR} - known  # of suppression, beside a tree whose root is called otherwise
                assert cells == sum(number for label, number in shown.items() if label not in missing), name
        looks = Counter(tuple(row.values()) for row in one.world.plain_rows())
        sizes = sorted(number for look, number in looks.items() if set(look) != {STAR})
        groups = story.groups
        assert (groups.groups, groups.smallest, groups.largest) == (len(sizes), *(sizes[:1] + sizes[-1:] or [0, 0]))
        assert groups.median == (median(sizes) if sizes else 0)
        assert sum(number for _, number in groups.bars) == sum(sizes)
        for label, number in groups.bars:
            low, _, high = label.rstrip("+").partition("–")
            assert number == sum(size for size in sizes if int(low) <= size <= int(high or (low, 10**9)["+" in label]))


def same_bars(bars: Sequence[tuple[str, int]], counts: Mapping[str, int]) -> None:
    """Compare bars with counts: each label its own, and what has no bar together."""
    left = dict(counts)
    for label, number in bars:
        own = {"(empty)": "", "* (anything)": STAR}.get(label, label)
        if own in left:
            assert left.pop(own) == number, label
        else:
            assert label == f"{len(left) - (STAR in left)} others"
            assert number == sum(left[name] for name in left if name != STAR)
            left = {name: left[name] for name in left if name == STAR}
    assert not left


def check_risk(one: Played, approx: Callable[[Any], Any]) -> None:
    """Compare the risk of the raw table with the twin's."""
    policy = kveil.Policy.load(one.policy_path)
    found = raw_risk(read(policy, one.data), policy)
    expected = naive.raw_risk(one.world)
    assert found["rows"] == expected["rows"]
    same_figures(found["unique"], expected["unique"], approx, "unique")
    same_figures(found["constraints"], expected["constraints"], approx, "constraints")
    assert {entry["attribute"]: entry for entry in found["attributes"]} == expected["attributes"]
    for telling in [*found["smallest_sets"]["sets"], *found["smallest_sets"]["best"]]:
        assert telling["share"] == approx(expected["shares"][frozenset(telling["attributes"])])
    sizes = [len(chosen) for chosen, share in expected["shares"].items() if share > found["smallest_sets"]["threshold"]]
    assert {len(entry["attributes"]) for entry in found["smallest_sets"]["sets"]} == set(sizes and [min(sizes)])
    assert {entry["attribute"]: entry["below_k"] for entry in found["levels"]} == expected["levels"]
