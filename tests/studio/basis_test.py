"""What a table is called, however a policy writes it, and when an answer is about the policy as it is now."""

from __future__ import annotations

from pathlib import Path

from kveil.studio.basis import basis_of, stamp, table_key
from kveil.studio.project import Project

POLICY = """\
kveil: 1
data: {path: a.csv}
attributes: {age: {role: quasi-identifier, hierarchy: ages.csv}}
privacy: [{model: k-anonymity, k: 2}]
"""


def test_a_table_has_one_key_however_it_is_written_and_sheets_and_folders_have_others(tmp_path: Path) -> None:
    whole = table_key(tmp_path, {"path": str(tmp_path / "a.csv")})
    assert table_key(tmp_path, {"path": "a.csv"}) == table_key(tmp_path, {"path": "./b/../a.csv"}) == whole
    assert table_key(tmp_path, {"path": "a.csv", "sheet": "1"}) == whole
    database = "sqlite:///a.db?table=t"
    others = [
        table_key(tmp_path, {"path": "b.csv"}),
        table_key(tmp_path / "b", {"path": "a.csv"}),
        table_key(tmp_path, {"path": "a.csv", "sheet": "Women"}),
        table_key(tmp_path, {"path": database}),
        table_key(tmp_path / "b", {"path": database}),
        table_key(tmp_path, {}),
    ]
    assert len({whole, *others}) == 7


def test_an_answer_is_of_now_until_something_changes_that_it_depends_on(tmp_path: Path) -> None:
    for name, text in {"p.yaml": POLICY, "a.csv": "age\n1\n", "ages.csv": "1;*\n"}.items():
        (tmp_path / name).write_text(text)
    project = Project.opened(tmp_path / "p.yaml")
    run, compare = basis_of(project, "run"), basis_of(project, "compare")
    assert (run.policy, run.table) == (project.path, table_key(tmp_path, {"path": "a.csv"}))
    project.take(POLICY + "# a word\n", "words")
    assert basis_of(project, "run") == run
    project.take(POLICY + "algorithm: mondrian\n", "method")
    assert basis_of(project, "run") != run
    assert basis_of(project, "compare") == compare
    (tmp_path / "ages.csv").write_text("1;2;*\n")
    assert basis_of(project, "compare") != compare
    project.undo()
    (tmp_path / "ages.csv").write_text("1;*\n")
    changed = basis_of(project, "run")
    (tmp_path / "a.csv").write_text("age\n1\n2\n")
    assert basis_of(project, "run") != changed


def test_a_file_that_cannot_be_looked_at_is_absent(tmp_path: Path) -> None:
    for named in ("none.csv", "a" * 5000, "a\0b"):
        assert stamp(tmp_path, named) == "absent"
    assert stamp(tmp_path, "postgresql://host/db?table=t") == ""
