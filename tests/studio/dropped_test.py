"""A dropped table waits where nobody is offered it, moves into a folder of its own, or goes."""

from __future__ import annotations

from pathlib import Path

from kveil.studio.dropped import DroppedTable


def test_it_settles_comes_back_and_goes_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    dropped = DroppedTable.empty(tmp_path, "a.csv")
    assert (dropped.named, dropped.name) == ("a/a.csv", "a.csv")
    assert dropped.hidden.name.startswith(".")
    assert dropped.hidden.stat().st_mode & 0o777 == 0o700
    dropped.file.write_text("x\n1\n")
    target = dropped.settle()
    assert target == tmp_path / "a 2" / "a.csv"
    assert not dropped.file.exists()
    dropped.take_back(target)
    assert not target.parent.exists()
    assert dropped.file.read_text() == "x\n1\n"
    dropped.remove()
    dropped.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
