"""What the page asks about columns, and changes of their trees."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from kveil.free_form import Content
from kveil.policy.yaml_text import MOST_LEAVES_INSIDE, hierarchy_csv, tree_mapping
from kveil.studio import replant
from kveil.studio.answers import Told
from kveil.studio.asking import PageBody, body_of, field, studio_at, texts, whole_number
from kveil.studio.edit import Change
from kveil.studio.files import path_below
from kveil.studio.routes.policy import take_step, written_steps
from kveil.studio.studio import Studio


def _hidden(studio: Studio) -> list[str]:
    said = studio.opened().attributes
    return [n for n, a in said.items() if isinstance(a, dict) and a.get("role") in ("identifier", "individual")]


def _shown(studio: Studio, column: str) -> str:
    """Return a column whose values may be looked at without being asked for; refuse those that name people."""
    if column in _hidden(studio):
        raise Told(
            "The values of this column name people, so they are not shown; give it another role first.", status=403
        )
    return column


async def values(request: Request) -> Response:
    """Send values of a column; those of columns that name people only where that was asked for."""
    studio = studio_at(request)
    column = request.query_params.get("column", "")
    if column in _hidden(studio) and request.query_params.get("show") != "1":
        return JSONResponse({"hidden": True, "of": 0, "values": []})
    start = request.query_params.get("from", "0")
    return JSONResponse(
        await studio.reader.ask(
            "values",
            table=studio.reading(),
            column=column,
            start=whole_number(start, "place in the list"),
            find=request.query_params.get("find", ""),
        )
    )


async def sample(request: Request) -> Response:
    """Send the first records, without what names people unless that was asked for."""
    studio = studio_at(request)
    hidden = [] if request.query_params.get("show") == "1" else _hidden(studio)
    return JSONResponse(await studio.reader.ask("sample", table=studio.reading(), hidden=hidden))


async def bins(request: Request) -> Response:
    """Send the histogram of a column of numbers."""
    studio = studio_at(request)
    return JSONResponse(
        await studio.reader.ask(
            "bins", table=studio.reading(), column=_shown(studio, request.query_params.get("column", ""))
        )
    )


async def tree(request: Request) -> Response:
    """Send the tree of a column."""
    studio = studio_at(request)
    column = request.query_params.get("column", "")
    attribute = studio.opened().attributes.get(column)
    if not isinstance(attribute, dict) or attribute.get("role") not in ("quasi-identifier", "sensitive"):
        raise Told("Only columns that others may know, or that are protected, have steps; give it such a role.")
    answer = await studio.reader.ask(
        "tree",
        table=studio.reading(),
        column=column,
        hierarchy=attribute.get("hierarchy"),
    )
    return JSONResponse(answer)


async def preview(request: Request) -> Response:
    """Send what steps would do; nothing is saved."""
    studio, body = studio_at(request), await body_of(request)
    answer = await studio.reader.ask(
        "preview",
        table=studio.reading(),
        column=_shown(studio, field(body, "column", str)),
        hierarchy=body.get("hierarchy"),
    )
    return JSONResponse(answer)


async def proposal(request: Request) -> Response:
    """Send the promise that was asked about, or one that the table allows in its place; nothing is saved."""
    studio, body = studio_at(request), await body_of(request)
    project = studio.opened()
    answer = await studio.checker.ask(
        "proposal",
        text=project.text,
        name=project.path.name,
        folder=str(project.folder),
        opened=studio.opening,
        model=field(body, "model", dict),
    )
    return JSONResponse(answer)


async def change_tree(request: Request) -> Response:
    """Change a tree: rename, move, group, dissolve, place, paste, import, or make it one that can be changed."""
    studio, body = studio_at(request), await body_of(request)
    project, number = studio.opened(), field(body, "number", int)
    project.expect(number)
    column, do = _shown(studio, field(body, "column", str)), field(body, "do", str)
    said = project.attributes.get(column)
    attribute: Content = said if isinstance(said, dict) else {}
    spec = attribute.get("hierarchy")
    files: dict[str, str] = {}
    if do == "import":
        value, new = await _from_file(studio, column, field(body, "path", str), files)
    else:
        if do == "paste":
            new = replant.paste_rows(field(body, "text", str), "the rows")
        else:
            new = _changed_tree(do, await _lines_of(studio, column, spec), body)
        value = _written(studio, column, spec, new, files)
    changes = [Change(("attributes", column, "hierarchy"), value)]
    changes += _boundary_after(do, attribute.get("boundary"), body, new, column)
    take_step(studio, number, changes, f"{column}: {_words(do, body)}", files)
    return JSONResponse(studio.state())


async def _lines_of(studio: Studio, column: str, spec: Any) -> tuple[tuple[str, ...], ...]:
    asked = await studio.reader.ask("lines", table=studio.reading(), column=column, hierarchy=spec)
    return tuple(tuple(line) for line in asked["lines"])


async def _from_file(studio: Studio, column: str, named: str, files: dict[str, str]) -> tuple[Any, Any]:
    """Return how the policy names a tree's file, and its lines; rows in another form are written as a tree anew."""
    path, folder = path_below(studio.root, named), studio.opened().folder
    spec = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)
    try:
        return spec, await _lines_of(studio, column, spec)
    except Told as error:
        if error.status != 422:
            raise
    new = replant.paste_rows(project_file(studio, named), "the rows")
    return written_steps(studio, column, {"lines": new}, files), new


def project_file(studio: Studio, named: str) -> str:
    """Return the text of a file the page named."""
    path = path_below(studio.root, named)
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise Told(f"{path.name} cannot be read as text in UTF-8; choose another file.") from None


def _changed_tree(do: str, lines: tuple[tuple[str, ...], ...], body: PageBody) -> tuple[tuple[str, ...], ...]:
    if do == "rename":
        return replant.rename_node(lines, field(body, "label", str), field(body, "name", str))
    if do == "move":
        return replant.move_nodes(lines, texts(body, "labels"), field(body, "under", str))
    if do == "group":
        return replant.with_group(lines, texts(body, "labels"), field(body, "name", str))
    if do == "dissolve":
        return replant.dissolve_group(lines, field(body, "label", str))
    if do == "place":
        return replant.place_values(lines, texts(body, "labels"), field(body, "under", str))
    if do == "keep":
        return lines
    raise Told("The page asked for something this server does not know; load it again.", status=400)


def _words(do: str, body: PageBody) -> str:
    label = body.get("label") or ", ".join(body.get("labels") or [])[:60]
    return {
        "rename": f"renamed {label} to {body.get('name')}",
        "move": f"moved {label} under {body.get('under')}",
        "group": f"grouped as {body.get('name')}",
        "dissolve": f"dissolved {label}",
        "place": f"put {label} under {body.get('under')}",
        "paste": "pasted a tree",
        "import": "took a tree from a file",
        "keep": "made it a tree to change",
    }[do]


def _written(studio: Studio, column: str, spec: Any, lines: Any, files: dict[str, str]) -> Any:
    """Return how the policy writes a changed tree: in the place where it was written, else by its size."""
    folder = studio.opened().folder
    if isinstance(spec, str) and (folder / spec).resolve().parent == folder.resolve():
        files[spec] = hierarchy_csv(lines)
        return spec
    if isinstance(spec, dict) and "tree" in spec and len(lines) <= 4 * MOST_LEAVES_INSIDE:
        return {"tree": tree_mapping(lines)}
    return written_steps(studio, column, {"lines": lines}, files)


def _boundary_after(do: str, boundary: Any, body: PageBody, lines: Any, column: str) -> list[Change]:
    """Return what a changed tree means for its limits: renamed ones follow, those that are gone go."""
    if isinstance(boundary, dict):
        return [Change(("attributes", column, "boundary"))] if "max_width" in boundary else []
    if not isinstance(boundary, list):
        return []
    labels = {label for line in lines for label in line}
    marked = [body.get("name") if do == "rename" and node == body.get("label") else node for node in boundary]
    kept = [node for node in marked if node in labels]
    if kept == boundary:
        return []
    return [Change(("attributes", column, "boundary"), kept) if kept else Change(("attributes", column, "boundary"))]
