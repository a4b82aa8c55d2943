"""Print where the source breaks the rules of the house, and fail if it does.

    python scripts/house.py [--only-print]

The rules: no module above 600 lines, no function above 80; outside kernels no function with more than six parameters;
none with a boolean or an option that may be given by position; no class with more than six fields that may; no name of
a class, of a function that other modules may call, of a constant that they import, or of a module, with two meanings;
no such function named by a past participle that is followed by no noun; no import by string; no cycle of imports, not
even under TYPE_CHECKING or in a function; no private name of another module; no check in an `assert`, which Python may
leave out; no mapping from names to anything at all, which is a class with fields, but for a few that have a name of
their own; nothing in the text of the tree that points to a file outside it; no test that imports a test; a test per
module, where the tree of the source puts it. Exceptions stand in `house.toml` beside this script, by name and with a
reason; one that nothing needs any more is told, too. For a module without a test of its own, it names the test that
runs it; a folder is no exception. `make lint` runs this.
"""

from __future__ import annotations

import argparse
import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "kveil"
TESTS = ROOT / "tests"
MODULE_LINES, FUNCTION_LINES, PARAMETERS = 600, 80, 6

PUBLIC = frozenset(re.findall(r'^    "(\w+)",$', (SOURCE / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE))

_MAPPINGS = ("dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict")
_ANYTHING = ("Any", "object")
_OF_TYPES = ("Annotated", "Final", "Optional", "Union")  # what stands around another type

Function = ast.FunctionDef | ast.AsyncFunctionDef

# Words that lead a reader to something that is not in the tree.
OUTSIDE = {
    r"\bseeds? 00\d": "a paper: cite author and year, which docs/papers.md resolves",
    r"\b[Tt]he contract\b": "a page that is not here: docs/policy.md says what a policy means",
    r"\balgorithms\.md\b": "a page that is not here: docs/algorithms has one per algorithm",
    r"\.\./shared\b": "a folder beside the project: tests/places.py knows where real tables lie",
    r"\b[Ii]ssues? #?\d+\b": "a list of issues that is not here: say what was wrong",
    r"/(?:work|root|home)/\w": "a folder of one machine",
    r"(?<![\w.)}/])/tmp/\w": "a folder of one machine, in which others write",
}

# Past participles that do not end in -ed, words that do and are none, and words that are no nouns after a participle.
IRREGULAR = (
    "begun|bought|broken|brought|built|caught|chosen|done|drawn|fallen|felt|forgotten|found|given|gone|grown|heard|held|"
    "hidden|kept|known|laid|led|left|lent|lost|made|meant|met|paid|proven|risen|said|seen|sent|shown|sold|sought|spent|"
    "stood|taken|taught|thought|thrown|told|torn|understood|undone|won|worn|woven|written"
)
NO_PARTICIPLES = "bed|bleed|breed|deed|embed|exceed|feed|need|proceed|red|seed|shed|shred|speed|weed"
NO_NOUNS = (
    "about|above|after|again|alone|and|anew|apart|around|as|aside|at|away|back|before|behind|below|beside|between|beyond|"
    "by|down|for|from|here|if|in|inside|into|known|least|meanwhile|most|not|of|off|on|once|only|or|out|outside|over|per|"
    "so|than|that|there|through|to|together|under|unless|until|up|when|where|while|with|within|without|[a-z]+ly"
)

# Where texts that people wrote are found, and by which endings, or by which names without one.
FOLDERS = ("src", "tests", "docs", "benchmarks", "scripts", ".ci", ".github")
WRITTEN = frozenset(
    [
        ".py",
        ".md",
        ".yaml",
        ".yml",
        ".toml",
        ".cff",
        ".js",
        ".mjs",
        ".css",
        ".html",
        ".sh",
        "Makefile",
        "Dockerfile",
        "run",
    ]
)


@dataclass(frozen=True)
class Breach:
    """One place that breaks a rule: the rule, the place's name as exceptions give it, and what is wrong."""

    rule: str
    name: str
    told: str


@dataclass(frozen=True)
class Module:
    """A module of the source: its dotted name, its path from the project's folder, its text and syntax."""

    name: str
    path: str
    text: str
    tree: ast.Module

    @property
    def is_kernel(self) -> bool:
        """Whether it stands in the room of compiled loops, whose signatures Numba dictates."""
        return self.name.startswith("kveil.kernels.")


def modules() -> list[Module]:
    """Return every module of the source."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        found.append(Module(name, path.relative_to(ROOT).as_posix(), text, ast.parse(text)))
    return found


def functions(module: Module) -> Iterator[tuple[str, Function]]:
    """Yield a module's functions and methods, those inside others included, with their names in the module."""

    def within(node: ast.AST, above: str) -> Iterator[tuple[str, Function]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function | ast.ClassDef):
                name = f"{above}{child.name}"
                if isinstance(child, Function):
                    yield name, child
                yield from within(child, f"{name}.")
            else:
                yield from within(child, above)

    return within(module.tree, "")


def long_modules(found: list[Module]) -> Iterator[Breach]:
    """Yield the modules that nobody reads in one go."""
    for module in found:
        lines = module.text.count("\n")
        if lines > MODULE_LINES:
            yield Breach("long-modules", module.path, f"{lines} lines, more than {MODULE_LINES}")


def functions_to_cut(found: list[Module]) -> Iterator[Breach]:
    """Yield functions that are too long, take too much, or take a boolean by position."""
    for module in found:
        for name, function in functions(module):
            place = f"{module.path}:{name}"
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines > FUNCTION_LINES:
                yield Breach("long-functions", place, f"{lines} lines, more than {FUNCTION_LINES}")
            given = function.args
            by_position = [a for a in [*given.posonlyargs, *given.args] if a.arg not in ("self", "cls")]
            number = len(by_position) + len(given.kwonlyargs)
            if number > PARAMETERS and not module.is_kernel:
                yield Breach("many-parameters", place, f"{number} parameters, more than {PARAMETERS}")
            if given.defaults and not module.is_kernel and not is_outside(module, name):
                options = [a.arg for a in by_position[-len(given.defaults) :]]
                yield Breach("positional-options", place, f"{' and '.join(options)} may be given by position")
            flags = [a.arg for a in by_position if a.annotation is not None and is_flag(a.annotation)]
            if flags and not module.is_kernel and not is_outside(module, name):
                yield Breach("positional-booleans", place, f"{' and '.join(flags)} may be given by position")


def crowded_classes(found: list[Module]) -> Iterator[Breach]:
    """Yield dataclasses that take more by position than a function may take at all."""
    classes = [(module, node) for module in found for node in ast.walk(module.tree) if isinstance(node, ast.ClassDef)]
    for module, node in classes:
        made_by = [ast.unparse(decorator) for decorator in node.decorator_list]
        if not any(text.startswith("dataclass") and "kw_only=True" not in text for text in made_by):
            continue
        fields = [ast.unparse(part) for part in node.body if isinstance(part, ast.AnnAssign)]
        ahead = next((i for i, text in enumerate(fields) if text.endswith("KW_ONLY")), len(fields))
        number = sum("ClassVar" not in text and "init=False" not in text for text in fields[:ahead])
        if number > PARAMETERS:
            place = f"{module.path}:{node.name}"
            yield Breach("many-fields", place, f"{number} fields by position, more than {PARAMETERS}")


def is_flag(annotation: ast.expr) -> bool:
    """Tell whether a parameter of this type may be true or false: a bool, or one among others, or one described."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.BinOp):
        return is_flag(annotation.left) or is_flag(annotation.right)
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) in _OF_TYPES:
        inner = annotation.slice
        parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        return any(is_flag(part) for part in (parts[:1] if ast.unparse(annotation.value) == "Annotated" else parts))
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal":
        return any(isinstance(node, ast.Constant) and isinstance(node.value, bool) for node in ast.walk(annotation))
    return ast.unparse(annotation).split(".")[-1] in ("bool", "bool_")


def is_outside(module: Module, name: str) -> bool:
    """Tell whether a function is called by users, whose calls by position are not to break: by name, or by Typer."""
    return name in PUBLIC or module.name.startswith(("kveil.cli.commands.", "kveil.cli.app"))


def names_with_two_meanings(found: list[Module]) -> Iterator[Breach]:
    """Yield names of classes, or of types, that several modules define."""
    homes = defaultdict(list)
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name.lstrip("_")].append(module.path)
        for node in module.tree.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            if isinstance(target, ast.Name) and re.fullmatch("_?(?:[A-Z][a-z0-9]+)+", target.id):
                homes[target.id.lstrip("_")].append(module.path)
    for name, paths in sorted(homes.items()):
        if len(paths) > 1:
            yield Breach("class-names", name, f"a class of {', '.join(paths)}")


def functions_with_two_meanings(found: list[Module]) -> Iterator[Breach]:
    """Yield names of functions for other modules that several modules define.

    A use may have one name in Python, on the command line and in the flow, an algorithm one in the registry, and a loop
    that of its door.
    """
    homes: dict[str, set[str]] = defaultdict(set)
    for module in found:
        if module.name in ("kveil", "kveil.algorithms.registry") or module.name.startswith("kveil.cli.commands."):
            continue
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                homes[node.name].add(re.sub("_loops.py$", ".py", module.path))
    for name, paths in sorted(homes.items()):
        if len(paths) > 1:
            yield Breach("function-names", name, f"a function of {', '.join(sorted(paths))}")


def names_without_noun_or_verb(found: list[Module]) -> Iterator[Breach]:
    """Yield functions for other modules that are named by a past participle: `finished`, `joined_by_owner`.

    A function is named by what it does, or by what it returns. A participle that describes a noun (`released_texts`) is
    part of the name of a thing, which is fine; whether one word is a noun, only who reads it knows, so that words that
    are none are listed, and `house.toml` has what they miss.
    """
    for module in found:
        for node in module.tree.body:
            if not isinstance(node, Function) or node.name.startswith("_") or is_outside(module, node.name):
                continue
            first, *others = node.name.split("_")
            if is_participle(first) and (not others or re.fullmatch(NO_NOUNS, others[0])):
                yield Breach(
                    "participles", f"{module.path}:{node.name}", "says neither what it does nor what it returns"
                )


def is_participle(word: str) -> bool:
    """Tell whether a word can only be a past participle, or the past: `read` and `split` are what functions do, too."""
    return bool(re.fullmatch(f"(re|un|over)?({IRREGULAR})|[a-z]+ed", word)) and not re.fullmatch(NO_PARTICIPLES, word)


def constants_with_two_meanings(found: list[Module]) -> Iterator[Breach]:
    """Yield constants that other modules import by their bare name from two modules or more.

    A constant that is read with its module's name, as fields of a layout are, says by that what it means.
    """
    defined = {
        (module.name, name.id)
        for module in found
        for node in module.tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    }
    homes = defaultdict(set)
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if re.fullmatch("[A-Z][A-Z0-9_]+", alias.name) and (node.module, alias.name) in defined:
                        homes[alias.name].add(str(node.module))
    for name, sources in sorted(homes.items()):
        if len(sources) > 1:
            yield Breach("constant-names", name, f"imported from {', '.join(sorted(sources))}")


def modules_with_two_meanings(found: list[Module]) -> Iterator[Breach]:
    """Yield names that modules of several rooms have.

    A use may have one name on the command line and in the flow, and loops that of the algorithm they are for. Others
    are exceptions by name and rooms: one more module of that name is one to think about.
    """
    rooms: dict[str, set[str]] = defaultdict(set)
    for module in found:
        folder, _, file = module.path.removeprefix("src/kveil/").rpartition("/")
        folder = {"cli/commands": "flow"}.get(folder, folder.replace("kernels/", "algorithms/"))
        if file not in ("__init__.py", "layout.py"):  # every family of loops has a layout of its own
            rooms[file.removesuffix(".py")].add(folder or "kveil")
    for name, folders in sorted(rooms.items()):
        if len(folders) > 1:
            yield Breach("module-names", f"{name}: {', '.join(sorted(folders))}", "a module's name in several rooms")


def imports_by_string(found: list[Module]) -> Iterator[Breach]:
    """Yield calls that import by a name that mypy and the linter of imports cannot see."""
    for module in found:
        for node in ast.walk(module.tree):
            called = node.func if isinstance(node, ast.Call) else None
            name = (
                called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
            )
            if name in ("import_module", "__import__"):
                yield Breach("string-imports", module.path, f"line {node.lineno} imports by a string")  # type: ignore[attr-defined]


def _tells_a_type(test: ast.expr) -> bool:
    """Tell whether an assertion says no more than what type something has, or that it is there."""
    if isinstance(test, ast.BoolOp):
        return all(_tells_a_type(part) for part in test.values)
    if isinstance(test, ast.UnaryOp):
        return _tells_a_type(test.operand)
    if isinstance(test, ast.Compare):
        return isinstance(test.ops[0], ast.Is | ast.IsNot) and ast.unparse(test.comparators[-1]) == "None"
    return isinstance(test, ast.Call) and ast.unparse(test.func) in ("isinstance", "callable")


def privacy_broken(found: list[Module]) -> Iterator[Breach]:
    """Yield uses of names with an underscore in front that only other modules of the source define.

    A name that a module defines itself is its own, whatever object it is read from.
    """
    defined = {module.path: _private_names(module) for module in found}
    everywhere: set[str] = set().union(*defined.values())
    for module in found:
        others = everywhere - defined[module.path]
        for node in ast.walk(module.tree):
            names: list[str] = []
            if isinstance(node, ast.Attribute) and not _is_own(node.value):
                names = [node.attr]
            elif isinstance(node, ast.ImportFrom):
                names = [alias.name for alias in node.names]
            for name in others.intersection(names):
                yield Breach("private", f"{module.path}:{name}", "a private name of another module")


def _private_names(module: Module) -> set[str]:
    """Return the names with an underscore in front that a module defines: of functions, classes, variables, fields."""
    names = set()
    for node in ast.walk(module.tree):
        if isinstance(node, Function | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
            names.add(node.attr)
    return {name for name in names if re.match("_[a-zA-Z]", name)}


def _is_own(node: ast.expr) -> bool:
    """Tell whether something is the object, or the class, that a method belongs to."""
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def checks_in_assertions(found: list[Module]) -> Iterator[Breach]:
    """Yield assertions that check more than a type: under `python -O` they vanish."""
    for module in found:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Assert) and not _tells_a_type(node.test):
                yield Breach("assertions", module.path, f"line {node.lineno} checks something in an assert")


def mappings_of_anything(found: list[Module]) -> Iterator[Breach]:
    """Yield mappings to values of any type, which say neither their keys nor what stands behind them.

    An exception is the name of the type that is defined so, and says why nobody fixes its keys.
    """
    for module in found:
        for place, node in _types_in(module.tree, "", ""):
            yield Breach("mappings", f"{module.path}:{place}", f"line {node.lineno} has {ast.unparse(node)}")


def _types_in(node: ast.AST, above: str, place: str) -> Iterator[tuple[str, ast.Subscript]]:
    """Yield the mappings of anything below a node, each by what it stands in: a type or field, or else a function.

    ``above`` is what stands before a name that is defined here, ``place`` where we are.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.ClassDef):
            name = f"{above}{child.name}"
            yield from _types_in(child, f"{name}.", name)
        elif isinstance(child, ast.Assign | ast.AnnAssign) and isinstance(node, ast.Module | ast.ClassDef):
            target = child.targets[0] if isinstance(child, ast.Assign) else child.target
            yield from _types_in(child, above, f"{above}{ast.unparse(target)}")
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield from _types_in(_parsed(child.value, child.lineno), above, place)
        else:
            if isinstance(child, ast.Subscript) and _is_mapping_of_anything(child):
                yield place, child
            yield from _types_in(child, above, place)


def _parsed(text: str, line: int) -> ast.AST:
    """Return what a text says as a type, as if it stood in its line without quotes; nothing where it is none."""
    try:
        return ast.increment_lineno(ast.parse(text, mode="eval"), line - 1) if "[" in text else ast.Pass()
    except (SyntaxError, ValueError):
        return ast.Pass()


def _is_mapping_of_anything(node: ast.Subscript) -> bool:
    inner = node.slice
    return (
        ast.unparse(node.value).split(".")[-1] in _MAPPINGS
        and isinstance(inner, ast.Tuple)
        and len(inner.elts) == 2
        and ast.unparse(inner.elts[1]).split(".")[-1] in _ANYTHING
    )


def imports_of(module: Module, names: set[str]) -> set[str]:
    """Return the modules of the source that a module names in any import, wherever it stands."""
    found = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                found.add(below if below in names else node.module)
    return (found & names) - {module.name}


def cycles(found: list[Module]) -> Iterator[Breach]:
    """Yield groups of modules that import each other, in whichever way."""
    names = {module.name for module in found}
    graph = {module.name: imports_of(module, names) for module in found}
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += graph[name]
        reach[start] = seen
    told: set[str] = set()
    for name in sorted(graph):
        together = sorted(other for other in reach[name] if name in reach[other])
        if together and name not in told:
            told |= set(together)
            yield Breach("cycles", " ".join(together), f"{len(together)} modules import each other")


def pointers_outside(files: list[str]) -> Iterator[Breach]:
    """Yield lines of the tree that send a reader to what is not in it."""
    for path in files:
        for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
            for pattern, what in OUTSIDE.items():
                if re.search(pattern, line):
                    yield Breach("outside", path, f"line {number} points to {what}")


def texts_of_the_tree() -> list[str]:
    """Return the paths of what people wrote in the tree: pages, programs, settings; tables and pictures are none."""
    paths = [*ROOT.glob("*"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    texts = sorted(
        path.relative_to(ROOT).as_posix() for path in paths if path.is_file() and (path.suffix or path.name) in WRITTEN
    )
    return [path for path in texts if not path.startswith("scripts/house.") and "/vendor/" not in path]


def texts_of_tests() -> dict[str, str]:
    """Return the tests' texts by their paths from the project's folder."""
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in sorted(TESTS.rglob("*_test.py"))}


def tests_that_import_tests(texts: dict[str, str]) -> Iterator[Breach]:
    """Yield tests that import a test, also in programs that they keep as texts; ``texts`` has them by their paths."""
    for path, text in texts.items():
        for line in re.findall(r"^ *(?:from|import) .*_test\b.*$", text, re.MULTILINE):
            yield Breach("tests-import-tests", path, f"has `{line.strip()}`; what tests share is no test")


def modules_without_tests(found: list[Module], tests: Iterable[str]) -> Iterator[Breach]:
    """Yield modules that no test mirrors, and tests in folders that the source does not have.

    What is in `src/kveil/table/tree.py` is tested in `tests/table/tree_test.py`; a module of loops may be tested with
    its door, `x_loops.py` with `x.py`. A module that only names things has nothing to test.
    """
    known = set(tests)
    folders = {"tests", "tests/scripts"}
    for module in found:
        folder, _, file = module.path.removeprefix("src/kveil/").rpartition("/")
        mirrored = f"tests/{folder}".rstrip("/")
        folders.add(mirrored)
        if file == "__init__.py" or next(functions(module), None) is None:
            continue
        stem = file.removesuffix(".py")
        names = {f"{mirrored}/{name}_test.py" for name in (stem, stem.removesuffix("_loops"))}
        if not names & known:
            yield Breach("mirror", module.path, f"there is no {mirrored}/{stem}_test.py")
    for path in sorted(known):
        if path.rpartition("/")[0] not in folders:
            yield Breach("mirror", path, "the source has no such folder")


def excuse(breach: Breach, exceptions: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the name under which a breach is an exception, which is its own: a folder excuses nothing in it."""
    return breach.name if breach.name in exceptions.get(breach.rule, {}) else None


def exceptions_without_tests(exceptions: Mapping[str, Mapping[str, str]], tests: Iterable[str]) -> Iterator[str]:
    """Yield what exceptions for tests say wrongly: each names the tests that run a module instead."""
    known = set(tests)
    for name, reason in exceptions.get("mirror", {}).items():
        told = re.findall(r"tests/[\w/]+\.py", reason)
        if not told or not known.issuperset(told):
            yield f"house.toml: mirror: {name}: names no test that there is"


def breaches() -> list[Breach]:
    """Return all that breaks a rule."""
    found = modules()
    return [
        *long_modules(found),
        *functions_to_cut(found),
        *crowded_classes(found),
        *names_with_two_meanings(found),
        *functions_with_two_meanings(found),
        *names_without_noun_or_verb(found),
        *constants_with_two_meanings(found),
        *modules_with_two_meanings(found),
        *imports_by_string(found),
        *privacy_broken(found),
        *checks_in_assertions(found),
        *mappings_of_anything(found),
        *cycles(found),
        *pointers_outside(texts_of_the_tree()),
        *tests_that_import_tests(texts_of_tests()),
        *modules_without_tests(found, texts_of_tests()),
    ]


def main() -> None:
    """Print the breaches that are no exceptions, and the exceptions that nothing needs; exit 1 if there are any."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only-print", action="store_true", help="exit 0 whatever is found")
    chosen = parser.parse_args()
    exceptions = tomllib.loads((ROOT / "scripts" / "house.toml").read_text(encoding="utf-8"))
    excused: set[tuple[str, str]] = set()
    wrong = list(exceptions_without_tests(exceptions, texts_of_tests()))
    for breach in breaches():
        name = excuse(breach, exceptions)
        if name is not None:
            excused.add((breach.rule, name))
        else:
            wrong.append(f"{breach.rule}: {breach.name}: {breach.told}")
    for rule, names in exceptions.items():
        wrong += [
            f"house.toml: {rule}: {name}: nothing needs it any more" for name in names if (rule, name) not in excused
        ]
    print("\n".join(wrong) or f"The house is in order, with {len(excused)} exceptions.")
    if wrong and not chosen.only_print:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
