"""What is vendored is what was built: checksums, licences, and the same bytes again where Node and a registry are."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VENDORED = ROOT / "src" / "kveil" / "studio" / "static" / "vendor"


def test_vendored_files_have_their_checksums() -> None:
    listed = dict(reversed(line.split("  ")) for line in (VENDORED / "checksums").read_text().splitlines())
    assert set(listed) == {"preact.js", "editor.js", "LICENSES.txt"}
    for name, digest in listed.items():
        assert hashlib.sha256((VENDORED / name).read_bytes()).hexdigest() == digest


def test_every_licence_is_one_that_may_be_passed_on() -> None:
    text = (VENDORED / "LICENSES.txt").read_text()
    packages = re.findall(r"^\S+ \d\S* \((?:MIT|Apache-2\.0)\)$", text, re.MULTILINE)
    assert len(packages) == sum(line == "-" * 80 for line in text.splitlines())
    assert any(line.startswith("preact ") for line in packages)


def test_a_rebuild_gives_the_same_bytes(tmp_path: Path) -> None:
    source = ROOT / "scripts" / "vendor"
    if shutil.which("npm") is None or not source.is_dir():
        pytest.skip("npm is not installed; with Node this builds the bundles again")
    work = tmp_path / "vendor"
    shutil.copytree(source, work, ignore=shutil.ignore_patterns("node_modules"))
    built = subprocess.run(["bash", str(work / "build.sh"), str(tmp_path / "out")], capture_output=True, text=True)
    if built.returncode and "npm" in built.stderr:
        pytest.skip("the registry cannot be reached; with it this builds the bundles again")
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "out" / "checksums").read_text() == (VENDORED / "checksums").read_text()
