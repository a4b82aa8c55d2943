"""Every compiled loop that another module calls is tested by its own name, in the test of its module.

There it is compared with a twin, which stands in `tests/naive/` or in the test itself. This test sees the name alone.
Loops that only their own module calls are tested through those that call them. A door, which Python calls, is tested by
its own name, or through the function around it.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import kveil
from places import ROOT

PACKAGE = Path(kveil.__file__).parent
KERNELS = PACKAGE / "kernels"
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


def module_name(path: Path) -> str:
    return ".".join(["kveil", *path.relative_to(PACKAGE).with_suffix("").parts])


def compiled(tree: ast.Module) -> dict[str, str]:
    """Return the compiled functions of a module, and whether each is a door or an inner one."""
    return {
        node.name: decorator.id
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Name) and decorator.id in ("door", "inner")
    }


def imported(tree: ast.AST) -> set[tuple[str, str]]:
    """Return the modules and names that are imported, also as attributes of a module that is."""
    found, modules = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            for name in node.names:
                found.add((node.module, name.name))
                modules[name.asname or name.name] = f"{node.module}.{name.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found.add((modules[node.value.id], node.attr))
    return found


def callers(tree: ast.Module, names: set[str]) -> set[str]:
    """Return the functions of a module that use some names, or functions that do."""
    while True:
        more = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef)
            and any(
                (isinstance(one, ast.Name) and one.id in names) or (isinstance(one, ast.alias) and one.name in names)
                for one in ast.walk(node)
            )
        }
        if more <= names:
            return names
        names = names | more


def mirrors_of(path: Path) -> list[Path]:
    """Return the tests that mirror a module; loops may be tested with their door."""
    folder, stem = path.parent.relative_to(PACKAGE), path.stem
    found = [ROOT / "tests" / folder / f"{name}_test.py" for name in (stem, stem.removesuffix("_loops"))]
    return [test for test in found if test.exists()]


def is_tested(tests: list[Path], path: Path, names: set[str]) -> bool:
    """Tell whether some tests name any of a module's functions."""
    told = [imported(ast.parse(test.read_text(encoding="utf-8"))) for test in tests]
    return any((module_name(path), name) in own for own in told for name in names)


LOOPS = [path for path in TREES if KERNELS in path.parents and compiled(TREES[path])]
USED = {path: imported(tree) for path, tree in TREES.items()}


@pytest.mark.parametrize("path", LOOPS, ids=lambda path: path.stem)
def test_what_other_modules_call_is_tested_by_its_name(path: Path) -> None:
    untested = []
    for name, kind in compiled(TREES[path]).items():
        around = [other for other, own in USED.items() if other != path and (module_name(path), name) in own]
        if not around or is_tested(mirrors_of(path), path, {name}):
            continue
        if kind == "inner" or not all(
            is_tested(mirrors_of(path) + mirrors_of(other), other, callers(TREES[other], {name})) for other in around
        ):
            untested.append(name)
    assert not untested


def test_there_are_loops_and_they_are_used() -> None:
    inner = [name for path in LOOPS for name, kind in compiled(TREES[path]).items() if kind == "inner"]
    doors = [name for path in LOOPS for name, kind in compiled(TREES[path]).items() if kind == "door"]
    assert len(inner) > 100
    assert len(doors) > 20
