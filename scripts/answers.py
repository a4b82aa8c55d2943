"""Record or compare what commands answer, word for word: what a faster way to the same answer must not change.

    python scripts/answers.py --write FILE      record what the answers are now
    python scripts/answers.py --compare FILE    say which differ; exit 1 if any does

Every command that answers is run on the demo's hospital and, where the real data lies beside the project, on Adult
(trees, many constraints, boundaries, ranges, rules) and on the patients of diabetes130: `check`, `dependencies`,
`init`, `anonymize` with its report and a bound, and `attack`. Times and paths are left out. Policies are chosen by
`--only hospital,adult,diabetes`.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from recorded import asked_for, settle

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")
TIMES = re.compile(r'"(?:seconds|date|written|time)":\s*(?:\{[^}]*\}|"[^"]*"|[0-9.e-]+)|[0-9.]+ s\b|[0-9a-f]{64}')


@dataclass(frozen=True)
class Case:
    """A policy with its table in one folder, and the algorithm that its releases are made with."""

    name: str
    folder: Path
    algorithm: str

    @property
    def policy(self) -> Path:
        """The policy's file."""
        return self.folder / "policy.yaml"

    @property
    def data(self) -> Path:
        """The table's file."""
        return self.folder / str(yaml.safe_load(self.policy.read_text(encoding="utf-8"))["data"]["path"])


def _case(place: Path, name: str, document: dict[str, Any], frame: pl.DataFrame, algorithm: str) -> Case:
    folder = place / name.replace("/", "-")
    folder.mkdir()
    frame.write_csv(folder / "data.csv")
    whole = {**document, "data": {**document.get("data", {}), "path": "data.csv"}}
    (folder / "policy.yaml").write_text(yaml.safe_dump(whole, sort_keys=False), encoding="utf-8")
    return Case(name, folder, algorithm)


def hospital(place: Path) -> Iterator[Case]:
    """Yield the demo's two policies."""
    for stem, algorithm in (("policy", "mondrian"), ("everything", "1m-generalization")):
        folder = place / f"hospital-{stem}"
        shutil.copytree(ROOT / "src" / "kveil" / "data" / "hospital", folder)
        (folder / "policy.yaml").write_text((folder / f"{stem}.yaml").read_text(encoding="utf-8"), encoding="utf-8")
        yield Case(f"hospital/{stem}", folder, algorithm)


def adult(place: Path) -> Iterator[Case]:
    """Yield policies on Adult with the trees of ARX."""
    home = SHARED / "adult"
    if not home.exists():
        return
    frame = pl.read_csv(home / "adult_arx.csv", separator=";", infer_schema=False)
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": str(home / f"hierarchies_arx/adult_hierarchy_{name}.csv")}
        for name in QUASI
    } | {"salary-class": {"role": "sensitive"}}
    ten: dict[str, Any] = {"kveil": 1, "attributes": attributes, "privacy": [{"model": "k-anonymity", "k": 10}]}
    some = {**ten, "suppression": {"limit": 0.05}}
    diverse = [*ten["privacy"], {"model": "l-diversity", "sensitive": "salary-class", "l": 2}]
    many = [
        {"model": "k-anonymity", "k": 20, "attributes": ["age", "sex", "race"]},
        {"model": "k-anonymity", "k": 10, "attributes": ["education", "occupation", "sex"]},
        {"model": "k-anonymity", "k": 5, "attributes": ["workclass", "marital-status", "native-country"]},
    ]
    level = {
        name: {**entry, "boundary": {"level": 1}} if name in ("education", "native-country") else entry
        for name, entry in attributes.items()
    }
    wide = {**attributes, "age": {"role": "quasi-identifier", "hierarchy": {"ranges": {"within": [0, 100]}}}}
    rules = {**some, "dependencies": ["education, occupation -> workclass", "age, sex ->> race"]}
    for name, document, algorithm in (
        ("k10", ten, "mondrian"),
        ("diverse", {**some, "privacy": diverse}, "mondrian"),
        ("many", {**some, "privacy": many}, "classfly+complete"),
        ("bounded", {**some, "attributes": level}, "greedy-cka"),
        ("ranges", {**some, "attributes": wide}, "mondrian"),
        ("rules", rules, "datafly"),
    ):
        yield _case(place, f"adult/{name}", document, frame, algorithm)


def diabetes(place: Path) -> Iterator[Case]:
    """Yield a policy on the patients of diabetes130, several diagnoses per patient."""
    home = SHARED / "diabetes130"
    if not home.exists():
        return
    codes = pl.read_csv(home / "diagnoses.csv.gz", infer_schema=False).select(
        "patient_nbr", pl.col("icd9").str.split(".").list.first()
    )
    digits = pl.col("icd9").str.contains(r"^[0-9]+$")
    codes = codes.with_columns(
        pl.when(digits).then(pl.col("icd9").str.pad_start(3, "0")).otherwise("icd9").alias("icd9")
    )
    quasi = ["race", "gender", "age", "payer_code", "medical_specialty"]
    patients = pl.read_csv(home / "patients.csv.gz", infer_schema=False).select("patient_nbr", *quasi)
    frame = patients.join(codes, on="patient_nbr", how="inner").unique(maintain_order=True)
    trees = home / "hierarchies"
    attributes: dict[str, Any] = {"patient_nbr": {"role": "individual"}}
    for name in quasi:
        tree = trees / f"{name}.txt"
        attributes[name] = {"role": "quasi-identifier", **({"hierarchy": str(tree)} if tree.exists() else {})}
    attributes["icd9"] = {"role": "sensitive", "hierarchy": str(trees / "icd9_even.txt")}
    models = [{"model": "kl-diversity", "sensitive": "icd9", "k": 10, "l": 5}]
    document = {"kveil": 1, "data": {"missing": ["?"]}, "attributes": attributes, "privacy": models}
    yield _case(place, "diabetes/kl", document, frame, "1m-generalization")


SETS = {"hospital": hospital, "adult": adult, "diabetes": diabetes}


def _run(folder: Path, *arguments: str | Path) -> str:
    """Return what a command prints, with the folder, times and digests left out."""
    made = subprocess.run(
        [sys.executable, "-m", "kveil", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    return _timeless(f"{made.stdout}{made.stderr}exit {made.returncode}", folder)


def _timeless(text: str, folder: Path) -> str:
    return TIMES.sub("…", html.unescape(text).replace(str(folder), "HERE"))


def answers(case: Case) -> Iterator[tuple[str, str]]:
    """Yield every answer with its name."""
    here, policy, data = case.folder, case.policy, case.data
    yield "check", _run(here, "check", policy)
    yield "check --json", _run(here, "check", policy, "--json")
    yield "dependencies --json", _run(here, "dependencies", policy, "--json")
    yield "dependencies of the table", _run(here, "dependencies", data, "--json")
    yield "init", _run(here, "init", data, "--json")
    release, page = here / "release.csv", here / "report.html"
    more = ("--report", page, "--account", here / "account.json", "--owner", here / "owner.json", "--json")
    made = ("anonymize", policy, "--algorithm", case.algorithm, "-o", release)
    yield "anonymize", _run(here, *made, *more)
    yield "report", _timeless(page.read_text(encoding="utf-8"), here) if page.exists() else "none"
    own = ("--original", data, "--release", release, "--owner", here / "owner.json")
    yield "attack", _run(here, "attack", policy, *own)
    yield "attack --json", _run(here, "attack", policy, *own, "--json")
    yield "bound", _run(here, *made, "--bound", "--json")


def main() -> int:
    """Record or compare, as the command line says."""
    options = asked_for(__doc__, SETS)
    seen: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as temporary:
        for part in options.only.split(","):
            for case in SETS[part](Path(temporary)):
                for name, text in answers(case):
                    seen[f"{case.name}: {name}"] = text
                    print(f"{case.name}: {name}", file=sys.stderr, flush=True)
    return settle(options, seen, "answers", _first_difference)


def _first_difference(name: str, before: str, after: str) -> None:
    was, now = before.splitlines(), after.splitlines()
    at = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    print(f"{name}, line {at + 1}\n  was {was[at : at + 1]}\n  is  {now[at : at + 1]}")


if __name__ == "__main__":
    raise SystemExit(main())
