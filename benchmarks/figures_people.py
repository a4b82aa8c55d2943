"""The experiments of Gong, Luo, Yang, Ni and Li (2017), section 5, run again: losses and time of 1:M-generalization.

`python benchmarks/figures_people.py` writes docs/pictures/people-*.svg, and the tables of
docs/algorithms/1m-generalization.md between its marker comments. The paper's INFORMS data is not to be had:
diabetes130 stands in its place, and a smaller sample of Youtube in that of theirs. Times are CPU time of the search
alone, as multiples of what 1:M-generalization takes on the whole table with the paper's defaults.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl

import kveil
from kveil.algorithms.registry import find
from kveil.engines.solver import run
from kveil.frames import from_frame
from kveil.kernels.compiling import compile_all
from kveil.measures import measure_solution
from kveil.table.encode import encode
from kveil.table.table import Table
from measuring import ROOT, SHARED, fill

PICTURES = ROOT / "docs" / "pictures"
PAGE = ROOT / "docs" / "algorithms" / "1m-generalization.md"
DIABETES, YOUTUBE = SHARED / "diabetes130", SHARED / "youtube"

KS, LS, SIZES = (10, 25, 50, 100), (2, 5, 8, 10), (500, 1_000, 2_000, 5_000, 10_000, 20_000, 40_000)
K, L, M, DELTA = 10, 5, 2, "0.65"  # the paper's defaults
OURS, LETTER, THEIRS = "1:M-generalization", "1:M, take_out: last", "RMERGER"


# ---------------------------------------------------------------------------------------------- tables

QUASI = ("age", "race", "gender", "payer_code", "medical_specialty")


def diabetes_table() -> pl.DataFrame:
    """Return the patients of diabetes130 with each of their codes, cut at the point, digits padded to three."""

    def read(name: str) -> pl.DataFrame:
        return pl.read_csv(gzip.decompress((DIABETES / name).read_bytes()), infer_schema=False)

    code = pl.col("icd9").str.split(".").list.first()
    code = pl.when(code.str.contains(r"^\d+$")).then(code.str.zfill(3)).otherwise(code)
    pairs = read("diagnoses.csv.gz").select("patient_nbr", code.alias("icd9")).unique(maintain_order=True)
    people = read("patients.csv.gz").select("patient_nbr", *QUASI)
    return pairs.join(people, on="patient_nbr", how="left", maintain_order="left").select("patient_nbr", *QUASI, "icd9")


def diabetes_policy(tree: str, data: str = "diabetes130.csv", k: int = K, diverse: int = L) -> str:
    """Return the policy of the comparison with the authors' own program, as text."""
    home = DIABETES / "hierarchies"
    quasi = "\n".join(f"  {name}: {{role: quasi-identifier, hierarchy: {home / name}.txt}}" for name in QUASI)
    return f"""\
kveil: 1
data: {{path: {data}}}
attributes:
  patient_nbr: {{role: individual}}
{quasi}
  icd9: {{role: sensitive, hierarchy: {home / tree}.txt}}
privacy:
  - {{model: kl-diversity, sensitive: icd9, k: {k}, l: {diverse}}}
algorithm: 1m-generalization
"""


def youtube_table() -> pl.DataFrame:
    """Return the videos of the Youtube sample with their related ones; rows with empty fields are left out."""
    raw = gzip.decompress((YOUTUBE / "youtubedata.txt.gz").read_bytes())
    frame = pl.read_csv(BytesIO(raw), separator="\t", infer_schema=False, quote_char=None, truncate_ragged_lines=True)
    names = frame.columns
    frame = frame.rename(dict(zip(names[:9], YOUTUBE_COLUMNS, strict=True)))
    frame = frame.with_columns(pl.col("category").str.replace_all(" ", ""))  # as the tree of this sample has them
    related = pl.concat_list([pl.col(name) for name in names[9:]]).alias("related")
    frame = frame.unique("video", keep="first", maintain_order=True).select(*YOUTUBE_COLUMNS, related)
    frame = frame.explode("related", empty_as_null=True).filter(
        pl.col("related").is_not_null() & (pl.col("related") != "") & (pl.col("category").fill_null("") != "")
    )
    return frame.select("video", *YOUTUBE_QUASI, "related").unique(maintain_order=True)


YOUTUBE_COLUMNS = ("video", "uploader", "age", "category", "length", "views", "rate", "ratings", "comments")
YOUTUBE_QUASI = ("age", "category", "length", "rate", "ratings", "comments")


def even_tree(values: Sequence[str], fan_out: int = 5) -> dict[str, Any]:
    """Return a tree over sorted values whose nodes have five children each, as the paper builds them."""
    nodes: list[tuple[str, Any]] = [(value, []) for value in sorted(values)]
    depth = 0
    while len(nodes) > fan_out:
        depth += 1
        nodes = [(f"group {depth}-{i // fan_out}", dict(nodes[i : i + fan_out])) for i in range(0, len(nodes), fan_out)]
    return {"tree": {"*": dict(nodes)}}


def specs_of(frame: pl.DataFrame) -> dict[str, Any]:
    """Return the attributes of one of the two tables, as a policy says them."""
    if "icd9" in frame.columns:
        home = DIABETES / "hierarchies"
        return {
            "patient_nbr": {"role": "individual"},
            **{name: {"role": "quasi-identifier", "hierarchy": str(home / f"{name}.txt")} for name in QUASI},
            "icd9": {"role": "sensitive", "hierarchy": str(home / "icd9_even.txt")},
        }
    quasi: dict[str, Any] = {}
    for name in YOUTUBE_QUASI:
        if name == "category":
            spec: Any = str(YOUTUBE / "hierarchies" / "youtube_category_seen.txt")
        else:
            numbers = frame[name].cast(pl.Float64)
            spec = {"ranges": {"within": [float(numbers.min()), float(numbers.max())]}}  # type: ignore[arg-type]
        quasi[name] = {"role": "quasi-identifier", "hierarchy": spec}
    items = frame["related"].unique().to_list()
    return {
        "video": {"role": "individual"},
        **quasi,
        "related": {"role": "sensitive", "hierarchy": even_tree(items)},
    }


# ---------------------------------------------------------------------------------------------- runs


@dataclass(frozen=True)
class Run:
    """One run: what varied, and what came out."""

    data: str
    algorithm: str
    k: int
    diverse: int
    people: int
    qid: float
    sa: float
    seconds: float


def _solve(data: str, frame: pl.DataFrame, specs: dict[str, Any], algorithm: str, k: int, diverse: int) -> Run:
    sensitive = frame.columns[-1]
    model: dict[str, Any] = {"model": "kl-diversity", "sensitive": sensitive, "k": k, "l": diverse}
    name, options = "1m-generalization", {"take_out": "last"} if algorithm == LETTER else {}
    if algorithm == THEIRS:
        model = {"model": "k-km-anonymity", "sensitive": sensitive, "k": k, "m": M}
        name, options = "rmerger", {"delta": DELTA}
    policy = kveil.Policy(kveil=1, attributes=specs, privacy=[model], individual={"conflicts": "error"})
    table: Table = encode(from_frame(frame), policy)
    started = process_time()
    solution = run(find(name), table, options)
    seconds = process_time() - started
    losses = measure_solution(table, solution)
    assert losses.sa_ncp is not None
    return Run(data, algorithm, k, diverse, table.records, losses.ncp, losses.sa_ncp, seconds)


def sample(frame: pl.DataFrame, people: int, seed: int) -> pl.DataFrame:
    """Return so many people, drawn at random, with all their records."""
    ids = frame[frame.columns[0]].unique(maintain_order=True)
    if people >= len(ids):
        return frame
    chosen = ids.gather(np.random.default_rng(seed).permutation(len(ids))[:people])
    return frame.filter(pl.col(frame.columns[0]).is_in(chosen.implode()))


def runs(data: str, frame: pl.DataFrame, seeds: int, most: int | None) -> Iterable[Run]:
    """Vary k, then l, then the number of people, as the paper's figures 4 to 7 do."""
    frame = frame if most is None else sample(frame, most, 0)
    specs = specs_of(frame)
    for algorithm in (OURS, LETTER, THEIRS):
        for k in KS:
            yield _solve(data, frame, specs, algorithm, k, L)
    for diverse in LS:
        yield _solve(data, frame, specs, OURS, K, diverse)
    total = frame[frame.columns[0]].n_unique()
    for people in [size for size in SIZES if size < total]:
        for seed in range(seeds):
            part = sample(frame, people, seed)
            for algorithm in (OURS, THEIRS):
                yield _solve(data, part, specs, algorithm, K, L)


# ---------------------------------------------------------------------------------------------- claims


@dataclass(frozen=True)
class Claim:
    """A claim of the paper with what these runs say."""

    text: str
    found: str
    verdict: str


def _claim(text: str, flags: Sequence[bool], found: str) -> Claim:
    if not flags:
        return Claim(text, "too few people", "not checked")
    share = sum(flags) / len(flags)
    verdict = "reproduced" if share == 1 else "partly" if share >= 0.5 else "not reproduced"
    return Claim(text, f"{found} ({sum(flags)} of {len(flags)} comparisons)", verdict)


def claims(found: list[Run]) -> list[Claim]:
    """Return the paper's claims of section 5 with what these runs say."""
    sets = sorted({one.data for one in found})

    def of(data: str, algorithm: str, k: int = K, diverse: int = L, people: int | None = None) -> Run:
        whole = max(one.people for one in found if one.data == data)
        return next(
            one
            for one in found
            if (one.data, one.algorithm, one.k, one.diverse) == (data, algorithm, k, diverse)
            and one.people == (people or whole)
        )

    def listed(value: Callable[[str], str]) -> str:
        return "; ".join(f"{data}: {value(data)}" for data in sets)

    pairs = [(of(data, OURS, k), of(data, THEIRS, k)) for data in sets for k in KS]
    fewest = {data: min(one.people for one in found if one.data == data) for data in sets}
    made = [
        _claim(
            "QID-NCP is below that of RMERGER",
            [ours.qid < theirs.qid for ours, theirs in pairs],
            listed(lambda d: f"{of(d, OURS).qid:.2%} against {of(d, THEIRS).qid:.2%} at k = {K}"),
        ),
        _claim(
            "SA-NCP is below that of RMERGER",
            [ours.sa < theirs.sa for ours, theirs in pairs],
            listed(lambda d: f"{of(d, OURS).sa:.2%} against {of(d, THEIRS).sa:.2%} at k = {K}"),
        ),
        _claim(
            "RMERGER's QID-NCP is near 65 % at δ = 0.65",
            [0.55 <= theirs.qid <= 0.65 for _, theirs in pairs],
            listed(lambda d: ", ".join(f"{of(d, THEIRS, k).qid:.1%}" for k in KS)),
        ),
        _claim(
            "both losses grow with k",
            [
                getattr(of(data, OURS, high), key) >= getattr(of(data, OURS, low), key)
                for data in sets
                for low, high in pairwise(KS)
                for key in ("qid", "sa")
            ],
            listed(lambda d: f"SA-NCP {of(d, OURS, KS[0]).sa:.2%} to {of(d, OURS, KS[-1]).sa:.2%}"),
        ),
        _claim(
            "QID-NCP grows with l, SA-NCP does not depend on it",
            [
                of(data, OURS, K, high).qid >= of(data, OURS, K, low).qid
                and of(data, OURS, K, high).sa == of(data, OURS, K, low).sa
                for data in sets
                for low, high in pairwise(LS)
            ],
            listed(lambda d: f"QID-NCP {of(d, OURS, K, LS[0]).qid:.2%} to {of(d, OURS, K, LS[-1]).qid:.2%}"),
        ),
        _claim(
            "it is faster than RMERGER",
            [ours.seconds < theirs.seconds for ours, theirs in pairs],
            listed(lambda d: f"by a factor of {of(d, THEIRS).seconds / of(d, OURS).seconds:.3g}"),
        ),
    ]
    linear = []
    for data in sets:
        small = [one for one in found if (one.data, one.algorithm, one.people) == (data, OURS, fewest[data])]
        whole = of(data, OURS)
        if whole.people > fewest[data]:
            growth = whole.seconds / statistics.median(one.seconds for one in small)
            linear.append((data, growth, whole.people / fewest[data]))
    made.append(
        _claim(
            "time is close to linear in the number of people",
            [growth <= 1.5 * more for _, growth, more in linear],
            "; ".join(f"{data}: {growth:.1f} × the time for {more:.1f} × the people" for data, growth, more in linear),
        )
    )
    return made


# ---------------------------------------------------------------------------------------------- the page


def tables(found: list[Run]) -> str:
    """Return the figures and claims as Markdown."""
    lines = ["| data | algorithm | k | l | people | QID-NCP | SA-NCP | time |", "|---|---|---|---|---|---|---|---|"]
    keys = sorted({(r.data, r.algorithm, r.k, r.diverse, r.people) for r in found})
    for key in keys:
        mine = [r for r in found if (r.data, r.algorithm, r.k, r.diverse, r.people) == key]
        qid, sa = statistics.fmean(r.qid for r in mine), statistics.fmean(r.sa for r in mine)
        data, algorithm, k, diverse, people = key
        time = statistics.median(r.seconds for r in mine) / _usual(found, data)
        shown = "-" if algorithm == THEIRS else str(diverse)
        lines.append(f"| {data} | {algorithm} | {k} | {shown} | {people:,} | {qid:.2%} | {sa:.2%} | {time:.3g} |")
    lines += ["", "| the paper says | here | |", "|---|---|---|"]
    lines += [f"| {claim.text} | {claim.found} | {claim.verdict} |" for claim in claims(found)]
    return "\n".join(lines)


def pictures(found: list[Run], folder: Path) -> None:
    """Draw losses over k and over the number of people, and time over the latter."""
    import altair as alt

    rows = pl.DataFrame(
        [
            vars(one) | {"whole": one.people == _whole(found, one.data), "time": one.seconds / _usual(found, one.data)}
            for one in found
        ]
    )
    rows = rows.unpivot(["qid", "sa"], index=["data", "algorithm", "k", "diverse", "people", "time", "whole"])
    rows = rows.with_columns(pl.col("variable").replace({"qid": "QID-NCP", "sa": "SA-NCP"}))
    over_k = rows.filter(pl.col("whole") & (pl.col("diverse") == L))
    over_n = rows.filter((pl.col("k") == K) & (pl.col("diverse") == L))

    def color(*names: str) -> Any:
        return alt.Color("algorithm", title=None, scale=alt.Scale(domain=names))  # the same ones in all pictures

    def chart(frame: pl.DataFrame, x: str, title: str, *names: str) -> Any:
        return (
            alt.Chart(frame.filter(pl.col("algorithm").is_in(names)))
            .mark_line(point=True)
            .encode(
                x=alt.X(x, title=title),
                y=alt.Y("mean(value)", title="loss", axis=alt.Axis(format="%")),
                color=color(*names),
                column=alt.Column("data", title=None),
                row=alt.Row("variable", title=None),
            )
            .properties(width=260, height=160)
            .resolve_scale(x="independent")
        )

    folder.mkdir(exist_ok=True)
    chart(over_k, "k", "k", OURS, THEIRS, LETTER).save(str(folder / "people-over-k.svg"))
    chart(over_n, "people", "people", OURS, THEIRS).save(str(folder / "people-over-n.svg"))
    time = (
        alt.Chart(over_n.filter((pl.col("variable") == "SA-NCP") & (pl.col("algorithm") != LETTER)))
        .mark_line(point=True)
        .encode(
            x="people",
            y=alt.Y("mean(time)", title="time (ours on all people: 1)", scale=alt.Scale(type="log")),
            color=color(OURS, THEIRS),
            column=alt.Column("data", title=None),
        )
        .properties(width=260, height=160)
        .resolve_scale(x="independent")
    )
    time.save(str(folder / "people-time.svg"))


def _whole(found: list[Run], data: str) -> int:
    return max(one.people for one in found if one.data == data)


def _usual(found: list[Run], data: str) -> float:
    """Return the seconds that all times of a table are multiples of; of equal runs, their median."""
    usual = (data, OURS, K, L, _whole(found, data))
    return statistics.median(r.seconds for r in found if (r.data, r.algorithm, r.k, r.diverse, r.people) == usual)


def main() -> None:
    """Run the experiments, draw the pictures and write the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, help="at most so many people per table, for a quick look")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--print", action="store_true", help="print the tables, write nothing")
    chosen = parser.parse_args()
    compile_all()
    found: list[Run] = []
    for name, home, read in (("diabetes130", DIABETES, diabetes_table), ("youtube", YOUTUBE, youtube_table)):
        if home.exists():
            found += runs(name, read(), chosen.seeds, chosen.people)
        else:
            print(f"{name}: the shared data is not here")
    if not found:
        return
    text = tables(found)
    print(text)
    if not chosen.print:
        fill(PAGE, "figures-people", "figures", [text])
        pictures(found, PICTURES)


if __name__ == "__main__":
    main()
