"""Policies and releases for ARX and pyCANON."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl

import kveil
from anjana_scripts import clinic
from arx_projects import ZIP, parts, project
from kveil.flow.exchange import export_arx, export_pycanon, import_arx, import_hierarchy


def test_hierarchies_go_to_arx_and_back(tmp_path: Path) -> None:
    import_arx(project(tmp_path, parts()), tmp_path / "policy.yaml")
    exported = export_arx(tmp_path / "policy.yaml", tmp_path / "arx")
    assert exported.models == ("4-anonymity", "distinct-2-diversity for attribute 'illness'")
    assert exported.roles["name"] == "identifying"
    written = (tmp_path / "arx" / "arx.zip.hierarchy.csv").read_text()
    assert {len(line.split(";")) for line in written.splitlines()} == {4}
    assert import_hierarchy(tmp_path / "arx" / "arx.zip.hierarchy.csv").text == written == ZIP


def test_short_ways_up_are_filled_for_arx(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("job\nsmith\njudge\nnone\n" * 3)
    (tmp_path / "policy.yaml").write_text(
        "kveil: 1\ndata: {path: data.csv}\nattributes:\n"
        "  job: {role: quasi-identifier, hierarchy: {tree: {'*': {craft: [smith], office: [judge], none: []}}}}\n"
        "privacy: [{model: k-anonymity, k: 2}]\n"
    )
    export_arx(tmp_path / "policy.yaml", tmp_path / "arx")
    assert "none;none;*" in (tmp_path / "arx" / "arx.job.hierarchy.csv").read_text()


POLICY = """
kveil: 1
data: {path: clinic.csv}
attributes:
  name: {role: identifier}
  " age": {role: quasi-identifier, hierarchy: {intervals: {from: 0, to: 99, widths: [10, 50]}}}
  " sex": {role: quasi-identifier}
  job: {role: quasi-identifier, hierarchy: job.csv}
  illness: {role: sensitive}
  cost: {role: sensitive}
privacy:
  - {model: k-anonymity, k: 4}
  - {model: l-diversity, sensitive: illness, l: 2}
  - {model: alpha-k, sensitive: illness, alpha: 0.8, k: 3}
  - {model: t-closeness, sensitive: cost, t: 0.6, distance: ordered}
  - {model: l-diversity, sensitive: illness, l: 2, variant: recursive, c: 5}
suppression: {limit: 0.2}
"""


def test_pycanon_finds_what_the_verifier_finds(tmp_path: Path) -> None:
    clinic(tmp_path)
    (tmp_path / "policy.yaml").write_text(POLICY)
    frame = pl.read_csv(tmp_path / "clinic.csv", infer_schema=False)
    result = kveil.anonymize(frame, kveil.Policy.load(tmp_path / "policy.yaml"))
    result.data.write_csv(tmp_path / "release.csv")
    script, left_out = export_pycanon(tmp_path / "policy.yaml", tmp_path / "release.csv")
    assert script.count("assert ") == 4
    assert left_out == ["l-diversity: pyCANON has no function that answers it rightly."]
    kept = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=300)
    assert kept.returncode == 0, kept.stderr
    frame.select(frame.columns[1:]).write_csv(tmp_path / "release.csv")  # the table itself, not a release
    broken = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=300)
    assert "AssertionError" in broken.stderr
