"""The script that holds the source to the house's rules finds what breaks each of them, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import house
from house import Breach, Module


def module(text: str, name: str = "kveil.table.tree") -> Module:
    return Module(name, f"src/{name.replace('.', '/')}.py", text, ast.parse(text))


def found(rule: Callable[[list[Module]], Iterator[Breach]], *modules: Module) -> list[tuple[str, str]]:
    return [(breach.rule, breach.name) for breach in rule(list(modules))]


def test_a_module_of_601_lines_is_too_long() -> None:
    assert found(house.long_modules, module("x = 1\n" * 600)) == []
    assert found(house.long_modules, module("x = 1\n" * 601)) == [("long-modules", "src/kveil/table/tree.py")]


def test_a_function_of_81_lines_is_too_long_also_inside_a_class() -> None:
    body = "        x = 1\n" * 80
    assert found(house.functions_to_cut, module(f"class A:\n    def f(self):\n{body[14:]}")) == []
    place = "src/kveil/table/tree.py:A.f"
    assert found(house.functions_to_cut, module(f"class A:\n    def f(self):\n{body}")) == [("long-functions", place)]


@pytest.mark.parametrize(
    ("head", "rules"),
    [
        ("a, b, c, d, e, f", []),
        ("a, b, c, d, e, f, g", ["many-parameters"]),
        ("a, b, c, d, *, e, f, g", ["many-parameters"]),
        ("self, a, b, c, d, e, f", []),
        ("a: bool", ["positional-booleans"]),
        ("a, *, b: bool", []),
        ("a: bool | None", ["positional-booleans"]),
        ("a: 'None | bool'", ["positional-booleans"]),
        ("a: Optional[bool]", ["positional-booleans"]),
        ("a: Annotated[bool, 'why']", ["positional-booleans"]),
        ("a: Annotated[int, 'a bool, once']", []),
        ("a: np.bool_", ["positional-booleans"]),
        ("a: Literal[True, 'auto']", ["positional-booleans"]),
        ("a: Literal['bool', 'no bool']", []),
        ("a: list[bool], b: Callable[[int], bool]", []),
        ("a, b=1", ["positional-options"]),
        ("a, *, b=1", []),
    ],
)
def test_what_a_function_takes(head: str, rules: list[str]) -> None:
    text = f"def f({head}):\n    pass\n"
    assert [rule for rule, _ in found(house.functions_to_cut, module(text))] == rules
    assert found(house.functions_to_cut, module(text, "kveil.kernels.models.models_loops")) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class A:\n    def f(self, b=1):\n        pass\n", "A.f"),
        ("class A:\n    def __init__(self, b, c=None):\n        pass\n", "A.__init__"),
        ("def f():\n    def g(b, c=1):\n        pass\n", "f.g"),
    ],
)
def test_options_of_methods_and_of_functions_inside_others_are_keyword_only_too(text: str, name: str) -> None:
    assert found(house.functions_to_cut, module(text)) == [("positional-options", f"src/kveil/table/tree.py:{name}")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def f(tree):\n    return tree._kept\n", ["_kept"]),
        ("from kveil.table.tree import _walk\n", ["_walk"]),
        ("class A:\n    def f(self, other):\n        self._kept = other._kept\n", []),
        ("class A(Tree):\n    def f(self):\n        return self._kept\n", []),
        ("import os\n\nos._exit(0)\n", []),
        ("def f(row):\n    return row._replace(a=1)\n", []),
    ],
)
def test_private_names_of_another_module_are_left_alone(text: str, names: list[str]) -> None:
    home = module("def _walk():\n    pass\n\n\nclass Tree:\n    def f(self):\n        self._kept = 1\n")
    places = [("private", f"src/kveil/choose.py:{name}") for name in names]
    assert found(house.privacy_broken, home, module(text, "kveil.choose")) == places


@pytest.mark.parametrize(
    ("made_by", "fields", "crowded"),
    [
        ("dataclass", "abcdef", False),
        ("dataclass", "abcdefg", True),
        ("dataclass(frozen=True)", "abcdefg", True),
        ("dataclass(frozen=True, kw_only=True)", "abcdefg", False),
        ("dataclass", "abc_defg", False),
        ("dataclass", "abcdefg_h", True),
        ("other", "abcdefg", False),
    ],
)
def test_a_class_with_seven_fields_takes_some_by_name(made_by: str, fields: str, crowded: bool) -> None:
    lines = [f"    {name}: {'KW_ONLY' if name == '_' else 'int'}\n" for name in fields]
    told = found(house.crowded_classes, module(f"@{made_by}\nclass A:\n{''.join(lines)}"))
    assert told == ([("many-fields", "src/kveil/table/tree.py:A")] if crowded else [])


def test_one_class_name_in_two_modules_has_two_meanings() -> None:
    first, second = module("class Part:\n    pass\n"), module("class _Part:\n    pass\n", "kveil.choose")
    assert found(house.names_with_two_meanings, first) == []
    assert found(house.names_with_two_meanings, first, second) == [("class-names", "Part")]
    alias = module("Part = dict[str, int]\nMOST = 3\n", "kveil.measures")
    assert found(house.names_with_two_meanings, first, alias) == [("class-names", "Part")]


def test_one_function_name_in_two_modules_has_two_meanings() -> None:
    text = "def settle():\n    pass\n\n\ndef _own():\n    pass\n"
    first, second = module(text), module(text, "kveil.measures")
    assert found(house.functions_with_two_meanings, first) == []
    assert found(house.functions_with_two_meanings, first, second) == [("function-names", "settle")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("kveil.flow.measure", "kveil.cli.commands.measure"),
        ("kveil.algorithms.splitting.mondrian", "kveil.algorithms.registry"),
        ("kveil.kernels.items.search", "kveil.kernels.items.search_loops"),
    ],
)
def test_a_use_an_algorithm_and_a_door_may_share_a_name_with_what_is_behind(one: str, other: str) -> None:
    text = "def measure():\n    pass\n"
    assert found(house.functions_with_two_meanings, module(text, one), module(text, other)) == []


@pytest.mark.parametrize(
    "name", ["finished", "joined_by_owner", "told_plainly", "kept_on_disk", "laid_known", "rewritten"]
)
def test_a_function_named_by_a_participle_says_not_what_it_is(name: str) -> None:
    told = [("participles", f"src/kveil/table/tree.py:{name}")]
    assert found(house.names_without_noun_or_verb, module(f"def {name}():\n    pass\n")) == told
    assert found(house.names_without_noun_or_verb, module(f"def _{name}():\n    pass\n")) == []
    assert found(house.names_without_noun_or_verb, module(f"class Part:\n    def {name}(self):\n        pass\n")) == []


@pytest.mark.parametrize(
    "name", ["finish", "released_texts", "split_down", "seed_of", "components_of", "read", "named_k"]
)
def test_a_function_named_by_a_verb_or_a_noun_says_what_it_is(name: str) -> None:
    assert found(house.names_without_noun_or_verb, module(f"def {name}():\n    pass\n")) == []


def test_a_constant_that_is_imported_from_two_modules_has_two_meanings() -> None:
    homes = [module("FEW = 3\n"), module("FEW = 4\n", "kveil.measures")]
    one = module("from kveil.table.tree import FEW\n", "kveil.choose")
    other = module("from kveil.measures import FEW\n", "kveil.flow.check")
    beside = module("from kveil import measures\n\nprint(measures.FEW)\n", "kveil.flow.init")
    again = module("from kveil.choose import FEW\n", "kveil.flow.demo")  # where it is imported, too
    assert found(house.constants_with_two_meanings, *homes, one, beside, again) == []
    assert found(house.constants_with_two_meanings, *homes, one, other) == [("constant-names", "FEW")]


def test_one_module_name_in_two_rooms_has_two_meanings() -> None:
    def told(*names: str) -> list[tuple[str, str]]:
        return found(house.modules_with_two_meanings, *(module("", name) for name in names))

    assert told("kveil.table.tree", "kveil.policy.trees") == []
    assert told("kveil.table.tree", "kveil.suggestion.tree") == [("module-names", "tree: suggestion, table")]
    assert told("kveil.flow.check", "kveil.cli.commands.check") == []
    assert told("kveil.algorithms.bound.bound", "kveil.kernels.bound.bound") == []
    assert told("kveil.kernels.bound.layout", "kveil.kernels.items.layout") == []


def test_an_import_by_a_string_is_seen() -> None:
    text = "import importlib\nimportlib.import_module('kveil.choose')\n"
    assert found(house.imports_by_string, module(text)) == [("string-imports", "src/kveil/table/tree.py")]


@pytest.mark.parametrize(
    "text",
    [
        "from kveil.table import tree\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from kveil.table.tree import Tree\n",
        "def f():\n    import kveil.table.tree\n",
    ],
)
def test_a_cycle_is_one_wherever_its_imports_stand(text: str) -> None:
    tree, choose = module("from kveil.choose import attempt\n"), module(text, "kveil.choose")
    assert found(house.cycles, tree, choose) == [("cycles", "kveil.choose kveil.table.tree")]
    assert found(house.cycles, tree, module("import polars\n", "kveil.choose")) == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("from verifier.together_test import write_view\n", True),
        ("from exchange import arx_test\n", True),
        ("import arx_test\n", True),
        ('PROGRAM = """\nimport sys\nfrom overlaps_test import laid_out\n"""\n', True),
        ("from kveil.testing import check\nfrom laid_rows import laid_out\n", False),
    ],
)
def test_a_test_that_imports_a_test_is_seen_also_in_a_program_it_keeps(text: str, wrong: bool) -> None:
    told = [breach.name for breach in house.tests_that_import_tests({"tests/cli/help_test.py": text})]
    assert told == (["tests/cli/help_test.py"] if wrong else [])


def test_a_module_without_a_test_in_its_place_is_seen() -> None:
    tree = module("def f():\n    pass\n")
    loops = module("def f():\n    pass\n", "kveil.kernels.models.models_loops")
    names = module("A = 1\n", "kveil.arrays")

    def untested(*tests: str) -> list[str]:
        return [breach.name for breach in house.modules_without_tests([tree, loops, names], tests)]

    assert untested() == ["src/kveil/table/tree.py", "src/kveil/kernels/models/models_loops.py"]
    assert untested("tests/table/tree_test.py", "tests/kernels/models/models_test.py") == []
    assert untested("tests/table/tree_test.py", "tests/kernels/models/models_loops_test.py") == []
    elsewhere = untested("tests/trees/tree_test.py", "tests/kernels/models/models_test.py")
    assert elsewhere == ["src/kveil/table/tree.py", "tests/trees/tree_test.py"]  # and the source has no such folder


def test_an_exception_is_of_one_module_never_of_a_folder_and_names_a_test_that_there_is() -> None:
    (breach,) = house.modules_without_tests([module("def f():\n    pass\n")], [])
    for name, excused in (("src/kveil/table", False), ("src/kveil", False), (breach.name, True)):
        assert house.excuse(breach, {"mirror": {name: "why"}}) == (name if excused else None)
        assert house.excuse(breach, {"cycles": {name: "why"}}) is None  # of another rule
    known = ["tests/table/table_test.py"]
    for reason, wrong in (("tests/table/table_test.py", 0), ("tests/table/gone_test.py", 1), ("by all of them", 1)):
        assert (
            len(list(house.exceptions_without_tests({"mirror": {"src/kveil/table/tree.py": reason}}, known))) == wrong
        )


@pytest.mark.parametrize(
    ("test", "wrong"),
    [
        ("isinstance(x, int)", False),
        ("x is not None and isinstance(y, str)", False),
        ("callable(x)", False),
        ("failure", True),
        ("x > 0", True),
        ("isinstance(x, int) and x > 0", True),
        ("all(x)", True),
    ],
)
def test_an_assertion_that_checks_more_than_a_type_is_seen(test: str, wrong: bool) -> None:
    told = found(house.checks_in_assertions, module(f"def f(x, y):\n    assert {test}\n"))
    assert told == ([("assertions", "src/kveil/table/tree.py")] if wrong else [])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Content = dict[str, Any]", ["Content"]),
        ("x: Mapping[str, object] = {}", ["x"]),
        ("class A:\n    x: dict[str, Any]", ["A.x"]),
        ("class A:\n    def f(self, x: list[dict[str, Any]]) -> None:\n        y: dict[str, Any] = x", ["A.f", "A.f"]),
        ("def f() -> typing.Dict[int, typing.Any]:\n    pass", ["f"]),
        ("def f() -> dict[str, dict[str, Any]]:\n    pass", ["f"]),
        ("def f(x: 'Mapping[str, Any] | None') -> None:\n    pass", ["f"]),
        ("def f(x):\n    def g() -> dict[str, Any]:\n        pass", ["f.g"]),
        ("x = cast(dict[str, Any], y)", ["x"]),
        ("x: dict[str, int]\ny: dict[Any, str]\nz: Callable[[dict[str, str]], Any]", []),
        ("x: dict[str, list[Any]]", []),
        ('"""Holds dict[str, Any] once more."""\nx = "[not a type"', []),
    ],
)
def test_a_mapping_of_anything_is_seen_wherever_it_stands(text: str, names: list[str]) -> None:
    place = "src/kveil/table/tree.py"
    assert found(house.mappings_of_anything, module(text)) == [("mappings", f"{place}:{name}") for name in names]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("see ../shared/data", 1),
        ("kept in /tmp/figures", 1),
        ("kept in /home/me", 1),
        ("Fixes issue 12", 1),
        ("a folder tmp/figures, or {folder}/tmp/x", 0),
    ],
)
def test_a_text_points_to_nothing_outside(
    text: str, lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house, "ROOT", tmp_path)
    (tmp_path / "Makefile").write_text(text)
    assert [breach.name for breach in house.pointers_outside(["Makefile"])] == ["Makefile"] * lines


def test_texts_of_every_kind_are_looked_at_and_what_others_wrote_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house, "ROOT", tmp_path)
    written = [".ci/run", ".github/workflows/ci.yml", "Dockerfile", "Makefile", "src/a.js", "src/b.html", "src/c.py"]
    for path in [*written, "src/vendor/d.js", "src/e.csv", "scripts/house.toml"]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert house.texts_of_the_tree() == written
