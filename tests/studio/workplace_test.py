"""What is asked for one table stays with it: answers that come late reach no page of another one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from kveil.studio.children import Reader
from kveil.studio.consent import Consents
from kveil.studio.project import Project
from kveil.studio.studio import Studio
from kveil.studio.workplace import Workplace

POLICY = "kveil: 1\ndata: {path: NAME.csv}\nattributes: {age: {role: identifier}}\nprivacy: []\n"


class SlowReader(Reader):
    """Answers about a table only when it is told to."""

    def __init__(self) -> None:
        super().__init__(())
        self.answers: list[asyncio.Future[Any]] = []

    async def ask(self, question: str, **given: Any) -> Any:
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]


def _project(folder: Path, name: str) -> Project:
    (folder / f"{name}.yaml").write_text(POLICY.replace("NAME", name))
    (folder / f"{name}.csv").write_text("age\n1\n")
    return Project.opened(folder / f"{name}.yaml")


def test_a_late_answer_reaches_nobody_once_another_table_is_open(tmp_path: Path) -> None:
    async def play() -> tuple[Any, Any, list[str]]:
        studio = Studio(tmp_path)
        reader = studio.reader = SlowReader()
        studio.checker = SlowReader()
        first = asyncio.ensure_future(studio.begin(_project(tmp_path, "one")))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(studio.begin(_project(tmp_path, "two")))
        await asyncio.sleep(0)
        told: list[str] = []
        studio.tell = lambda kind, what: told.append(f"{kind} {what.get('name')}")  # type: ignore[method-assign]
        numbers = {"rows": 1, "kind": "csv", "separator": None, "columns": []}
        reader.answers[1].set_result({"name": "two.csv", **numbers})
        await second
        reader.answers[0].set_result({"name": "one.csv", **numbers})
        await first
        state = studio.state()
        await studio.stop()
        return state["table"], state["opening"], told

    table, opening, told = asyncio.run(play())
    assert table["name"] == "two.csv"
    assert opening == 2
    assert told == ["table two.csv", "check None"]


def test_a_table_is_looked_at_again_when_its_file_or_its_name_changes(tmp_path: Path) -> None:
    async def play() -> list[bool]:
        reader = SlowReader()
        project = _project(tmp_path, "one")
        place = Workplace(project, 1, reader=reader, checker=reader, consents=Consents(), tell=lambda kind, what: None)
        seen = [place.has_other_table()]
        looking = asyncio.ensure_future(place.look_at_table())
        await asyncio.sleep(0)
        seen.append(place.has_other_table())
        (tmp_path / "one.csv").write_text("age\n1\n2\n")
        seen.append(place.has_other_table())
        looking.cancel()
        place.seen = place._sight()
        project.take(POLICY.replace("NAME", "two"), "another table")
        seen.append(place.has_other_table())
        return seen

    assert asyncio.run(play()) == [False, False, True, True]
