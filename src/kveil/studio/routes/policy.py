"""Changes of the policy: by form, by text, back and forth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kveil.free_form import Content
from kveil.policy.yaml_text import MOST_LEAVES_INSIDE, hierarchy_csv, tree_mapping
from kveil.studio.answers import Told
from kveil.studio.asking import body_of, field, studio_at, texts
from kveil.studio.edit import REMOVED, Change, edit_text
from kveil.studio.files import fresh_name, table_name
from kveil.studio.page_data import SuggestedSteps
from kveil.studio.studio import Studio


async def edit(request: Request) -> Response:
    """Change keys of the policy."""
    studio, body = studio_at(request), await body_of(request)
    changes = []
    for change in field(body, "changes", list):
        path = tuple(field(change, "path", list))
        if not all(isinstance(step, (str, int)) for step in path):
            raise Told("The page named no key; load it again.", status=400)
        changes.append(Change(path, change.get("value", REMOVED)))
    studio.edit(field(body, "number", int), changes, str(body.get("words") or "changed the policy"))
    return JSONResponse(studio.state())


async def put_text(request: Request) -> Response:
    """Take a text that was typed."""
    studio, body = studio_at(request), await body_of(request)
    project = studio.opened()
    project.expect(field(body, "number", int))
    text = field(body, "text", str)
    if text != project.text:
        before = studio.named_path()
        project.take(text, "typed in the text")
        studio.agree_to_typed(before)
        studio.changed()
    return JSONResponse(studio.state())


async def undo(request: Request) -> Response:
    """Take the last step back."""
    studio = studio_at(request)
    words = studio.opened().undo()
    studio.changed()
    return JSONResponse(studio.state() | {"words": words})


async def redo(request: Request) -> Response:
    """Make the step again that was taken back."""
    studio = studio_at(request)
    words = studio.opened().redo()
    studio.changed()
    return JSONResponse(studio.state() | {"words": words})


async def roles(request: Request) -> Response:
    """Give columns a role; those that others may know get suggested steps where they have none."""
    studio, body = studio_at(request), await body_of(request)
    project, number = studio.opened(), field(body, "number", int)
    project.expect(number)
    names, role = texts(body, "names"), field(body, "role", str)
    said = project.attributes
    changes: list[Change] = []
    files: dict[str, str] = {}
    has_steps = {name for name, keys in said.items() if isinstance(keys, dict) and keys.get("hierarchy")}
    wanting = [name for name in names if role == "quasi-identifier" and name not in has_steps]
    steps = await studio.reader.ask("roles", table=studio.reading(), names=wanting, role=role) if wanting else {}
    for name in names:
        has: Content = said[name] if isinstance(said.get(name), dict) else {}
        changes.append(Change(("attributes", name, "role"), role))
        gone = {"quasi-identifier": (), "sensitive": ("boundary", "weight")}.get(
            role, ("hierarchy", "boundary", "weight")
        )
        changes += [Change(("attributes", name, key)) for key in gone if key in has]
        if role == "sensitive" and isinstance(has.get("hierarchy"), dict) and "ranges" in has["hierarchy"]:
            changes.append(Change(("attributes", name, "hierarchy")))
        found = steps.get(name)
        if found:
            changes.append(Change(("attributes", name, "hierarchy"), written_steps(studio, name, found, files)))
    words = f"{names[0] if len(names) == 1 else f'{len(names)} columns'}: {role}"
    take_step(studio, number, changes, words, files)
    return JSONResponse(studio.state())


def take_step(studio: Studio, number: int, changes: list[Change], words: str, files: dict[str, str]) -> None:
    """Make changes and write files as one step, where the policy is still the one that they are for."""
    project = studio.opened()
    project.expect(number)
    done = edit_text(project.text, changes)
    project.take(project.after_roles(done.text, changes), words, files=files, lost=done.lost)
    studio.changed()


def written_steps(studio: Studio, name: str, found: SuggestedSteps, files: dict[str, str]) -> Any:
    """Return how the policy writes suggested steps: a builder, a small tree, or the name of a new file."""
    if "builder" in found:
        return found["builder"]
    lines = [tuple(line) for line in found["lines"]]
    if len(lines) <= MOST_LEAVES_INSIDE:
        return {"tree": tree_mapping(lines)}
    file = fresh_name(studio.opened().folder, f"{Path(table_name(f'{name}.csv')).stem}-steps.csv")
    files[file] = hierarchy_csv(lines)
    return file


async def looks_right(request: Request) -> Response:
    """Take the mark off columns whose suggestion was looked at."""
    studio, body = studio_at(request), await body_of(request)
    project = studio.opened()
    project.expect(field(body, "number", int))
    names = texts(body, "names")
    text = project.decided(project.text, names, looked_right=True)
    if text != project.text:
        project.take(text, f"{names[0] if len(names) == 1 else f'{len(names)} columns'}: looks right")
        studio.changed()
    return JSONResponse(studio.state())
