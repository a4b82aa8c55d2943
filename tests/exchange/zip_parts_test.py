"""Parts of a ZIP file from a stranger: nothing is believed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from arx_projects import parts, project
from kveil.errors import FileError
from kveil.exchange.zip_parts import parse_xml
from kveil.flow.exchange import import_arx


def test_damaged_and_ambiguous_zips_are_refused(tmp_path: Path) -> None:
    path = project(tmp_path, parts())
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="is no zip file"):
        import_arx(path, tmp_path / "policy.yaml")
    at = whole.index(b"input/config.xml") + 40
    path.write_bytes(whole[:at] + bytes(20) + whole[at + 20 :])
    with pytest.raises(FileError, match="damaged"):
        import_arx(path, tmp_path / "policy.yaml")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.xml", "<a/>")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("project.xml", "<b/>")
    with pytest.raises(FileError, match="two parts of one name"):
        import_arx(path, tmp_path / "policy.yaml")


def test_entities_are_never_expanded() -> None:
    laughs = b'<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><l>&b;</l>'
    with pytest.raises(FileError, match="document type"):
        parse_xml(laughs, "x")
