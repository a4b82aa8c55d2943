"""Scripts that call ANJANA: read as syntax, never run, for what their calls ask for.

Understood are names given to plain values, `pd.read_csv` of a table or a hierarchy, columns of the table and
`generate_intervals`. Whatever else a call is given is refused by name.
"""

from __future__ import annotations

import ast
import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from kveil.errors import FileError, PolicyError
from kveil.exchange.foreign import MOST_HIERARCHY_BYTES, ForeignColumn, ForeignPolicy, as_tree, check_models
from kveil.exchange.script_strips import StripNotes, Strips, is_cell_by_cell
from kveil.policy.numbers import parse_number, show_number
from kveil.policy.written import WrittenIntervals, WrittenModel

ScriptValues = dict[str, Any]  # what a script's own names, or a call's arguments, stand for
MOST_SCRIPT = 4 * 2**20  # bytes
MOST_COLUMNS = 10_000  # that a loop over names goes through
_AROUND = ("data", "ident", "quasi_ident"), ("supp_level", "hierarchies")
FUNCTIONS = {
    name: (*_AROUND[0], *own, *_AROUND[1])
    for name, own in {
        "k_anonymity": ("k",),
        "alpha_k_anonymity": ("sens_att", "k", "alpha"),
        "l_diversity": ("sens_att", "k", "l_div"),
        "entropy_l_diversity": ("sens_att", "k", "l_div"),
        "recursive_c_l_diversity": ("sens_att", "k", "c", "l_div"),
        "t_closeness": ("sens_att", "k", "t"),
        "basic_beta_likeness": ("sens_att", "k", "beta"),
        "enhanced_beta_likeness": ("sens_att", "k", "beta"),
        "delta_disclosure": ("sens_att", "k", "delta"),
    }.items()
}


@dataclass(frozen=True)
class _Csv:
    """A file that the script reads."""

    path: str
    separator: str = ","
    leading: bool = False  # whether it is read without the blanks that cells begin with


class _EveryColumn:
    """What a loop over all columns of a table goes through."""


@dataclass(frozen=True)
class _OfTable:
    """A column of the table, as it is or in intervals of a width."""

    width: float | None = None
    low: float = 0
    high: float = 0


class _Unknown:
    """A value that only running the script would tell."""


@dataclass(frozen=True)
class AnjanaCall:
    """One call of a function of ANJANA with what it was given."""

    function: str
    given: ScriptValues

    def get(self, name: str) -> Any:
        """Return an argument; raise PolicyError where only running the script would tell it."""
        value = self.given.get(name, _Unknown)
        if value is _Unknown:
            raise PolicyError(
                f"what {self.function} is given as {name} cannot be told without running the script; write it as a "
                "plain value."
            )
        return value


class _ScriptReader(ast.NodeVisitor):
    """Goes through a script in its order, keeping the names that stand for plain values."""

    def __init__(self) -> None:
        self.names: ScriptValues = {}
        self.calls: list[AnjanaCall] = []
        self.notes: dict[str, StripNotes] = {}  # by the paths of tables

    def visit_For(self, node: ast.For) -> None:
        self._note_in_loop(node)
        self.generic_visit(node)

    def _note_in_loop(self, node: ast.For) -> None:
        """Note what a loop over names of columns does to each of them."""
        assigned = [part for line in node.body for part in ast.walk(line) if isinstance(part, ast.Assign)]
        over = self.value(node.iter)
        items = over if isinstance(over, list | tuple) else [_EveryColumn] if self._all_columns(node.iter) else []
        if isinstance(node.target, ast.Name):
            for item in items[:MOST_COLUMNS]:
                before = dict(self.names)
                self.names[node.target.id] = item
                for part in assigned:
                    self._note(part)
                self.names = before

    def _all_columns(self, node: ast.expr) -> bool:
        """Tell whether an expression goes through the columns of a table: itself, its names, or those of some types."""
        while isinstance(node, ast.Attribute | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(self.value(node), _Csv)

    def _note(self, node: ast.Assign) -> None:
        """Note what an assignment does to the cells of a table."""
        for target in node.targets:
            if isinstance(target, ast.Subscript) and isinstance(table := self.value(target.value), _Csv):
                chosen = self.value(target.slice)
                names = [chosen] if isinstance(chosen, str) else chosen
                if chosen is _EveryColumn or self._all_columns(target.slice):
                    self.notes.setdefault(table.path, StripNotes()).note(None, node.value)
                elif isinstance(names, list) and all(isinstance(name, str) for name in names):
                    self.notes.setdefault(table.path, StripNotes()).note(names, node.value)
            elif isinstance(target, ast.Name) and is_cell_by_cell(node.value) and self._all_columns(node.value):
                table = self.names.get(target.id)
                if isinstance(table, _Csv):
                    self.notes.setdefault(table.path, StripNotes()).note(None, node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._note(node)
        self.visit(node.value)
        value = self.value(node.value)
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(value, list | tuple):  # k, l = 5, 2
                pairs = zip(target.elts, value, strict=False)
                self.names |= {name.id: part for name, part in pairs if isinstance(name, ast.Name)}
            if isinstance(target, ast.Name) and not (value is _Unknown and isinstance(node.value, ast.Call)):
                self.names[target.id] = value

    def visit_Call(self, node: ast.Call) -> None:
        function = _last_name(node.func)
        if function in FUNCTIONS:
            given = dict(zip(FUNCTIONS[function], map(self.value, node.args), strict=False))
            given |= {keyword.arg: self.value(keyword.value) for keyword in node.keywords if keyword.arg}
            if len(given) == len(FUNCTIONS[function]):  # pyCANON's functions of the same names take fewer
                self.calls.append(AnjanaCall(function, given))
        self.generic_visit(node)

    def value(self, node: ast.expr) -> Any:
        """Return what an expression stands for, or _Unknown."""
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            pass
        if isinstance(node, ast.Name):
            return self.names.get(node.id, _Unknown)
        if isinstance(node, ast.List | ast.Tuple):
            return [self.value(item) for item in node.elts]
        if isinstance(node, ast.Dict):
            return {
                self.value(key): self.value(value) for key, value in zip(node.keys, node.values, strict=True) if key
            }
        if isinstance(node, ast.Attribute) and node.attr in {"values", "to_list", "tolist"}:
            return self.value(node.value)
        if isinstance(node, ast.Subscript):
            return _OfTable() if isinstance(self.value(node.value), _Csv) else _Unknown
        return self._called(node) if isinstance(node, ast.Call) else _Unknown

    def _called(self, node: ast.Call) -> Any:
        function = _last_name(node.func)
        given = [self.value(argument) for argument in node.args]
        named = {keyword.arg: self.value(keyword.value) for keyword in node.keywords}
        if function == "read_csv" and given and isinstance(given[0], str):
            separator = named.get("sep", named.get("delimiter", ","))
            if not isinstance(separator, str) or len(separator) != 1:
                return _Unknown
            return _Csv(given[0], separator, named.get("skipinitialspace") is True)
        if function == "dict" and len(given) == 1 and isinstance(given[0], _Csv):
            return given[0]
        if function in {"to_list", "tolist", "copy"} and isinstance(node.func, ast.Attribute):
            return self.value(node.func.value)
        if function == "generate_intervals" and len(given) == 4 and isinstance(given[0], _OfTable):
            low, high, width = given[1:]
            if all(isinstance(number, int | float) for number in (low, high, width)):
                return _OfTable(width, low, high)
        return _Unknown


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


@dataclass(frozen=True)
class AnjanaScript:
    """What a script asks for: its calls, and the table that they are about where the script reads it."""

    name: str
    folder: Path
    calls: tuple[AnjanaCall, ...]
    table: Path | None
    separator: str
    strips: Strips


def read_script(path: Path) -> AnjanaScript:
    """Return what a script asks ANJANA for; nothing of it is run."""
    try:
        text = path.read_bytes()[: MOST_SCRIPT + 1].decode("utf-8-sig")
        tree = ast.parse(text)
    except OSError as error:
        raise FileError(f"{path.name}: the file cannot be read ({error.strerror}); check the path.") from None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise FileError(f"{path.name} is no Python script that can be read; give the one that calls ANJANA.") from None
    reader = _ScriptReader()
    try:
        reader.visit(tree)
    except RecursionError:
        raise FileError(f"{path.name} is nested too deeply to be read; write its values more plainly.") from None
    if not reader.calls:
        raise PolicyError(f"{path.name} calls no function of ANJANA's; give the script that does.")
    tables = [call.given.get("data") for call in reader.calls]
    table = next((table for table in tables if isinstance(table, _Csv)), None)
    calls = tuple(reader.calls)
    if table is None:
        return AnjanaScript(path.name, path.parent, calls, None, ",", Strips())
    strips = reader.notes.get(table.path, StripNotes()).strips(leading=table.leading)
    return AnjanaScript(path.name, path.parent, calls, path.parent / table.path, table.separator, strips)


def policy_of(script: AnjanaScript, columns: Sequence[str], numeric: Sequence[str], k: int | None) -> ForeignPolicy:
    """Return what a script's calls ask for together, of a table with these columns; ``numeric`` ones hold numbers."""
    first = script.calls[0]
    quasi, identifiers = list(first.get("quasi_ident")), list(first.get("ident"))
    if any(list(call.get("quasi_ident")) != quasi for call in script.calls):
        raise PolicyError(
            f"{script.name} has calls with different quasi_ident; leave one kind of them in and bring that."
        )
    models: list[WrittenModel] = [] if k is None else [{"model": "k-anonymity", "k": str(k)}]
    left_out: list[str] = []
    for call in script.calls:
        for model in _models(call, numeric, left_out):
            if model not in models:
                models.append(model)
    check_models(models, left_out, script.name)
    hierarchies = dict(first.get("hierarchies"))
    by_name = {name.strip(): name for name in columns}
    unknown = [name for name in (*quasi, *identifiers) if str(name).strip() not in by_name]
    if unknown:
        raise PolicyError(f"the table has no column {unknown[0]!r}, which {script.name} names; check --data.")
    found = []
    for plain, name in by_name.items():
        if plain in identifiers:
            found.append(ForeignColumn(name, "identifier"))
        elif plain in quasi:
            column, told = _column(ForeignColumn(name, "quasi-identifier"), hierarchies.get(plain), script)
            found.append(column)
            left_out += told
        elif any(model.get("sensitive") == plain for model in models):
            found.append(ForeignColumn(name, "sensitive"))
        else:
            found.append(ForeignColumn(name, "insensitive"))
    models = [
        {**model, "sensitive": by_name.get(model["sensitive"], model["sensitive"])} if "sensitive" in model else model
        for model in models
    ]
    left_out += [
        f"{name}: what the script changes in its cells. Give the changed table with --data where that matters."
        for name in script.strips.changed
    ]
    percent = min(_number(call.get("supp_level")) for call in script.calls)
    return ForeignPolicy(
        tool="ANJANA",
        name=script.name,
        columns=tuple(found),
        models=tuple(models),
        limit=show_number(percent / 100),
        separator=script.separator,
        left_out=tuple(left_out),
    )


def _models(call: AnjanaCall, numeric: Sequence[str], left_out: list[str]) -> list[WrittenModel]:
    """Return the models that a call asks for; ANJANA asks for k everywhere."""
    least: WrittenModel = {"model": "k-anonymity", "k": str(call.get("k"))}
    if call.function == "k_anonymity":
        return [least]
    about = str(call.get("sens_att"))
    if call.function == "alpha_k_anonymity":
        return [{"model": "alpha-k", "sensitive": about, "alpha": str(call.get("alpha")), "k": least["k"]}]
    if call.function == "t_closeness":
        close: WrittenModel = {"model": "t-closeness", "sensitive": about, "t": str(call.get("t"))}
        if about in numeric:
            close["distance"] = "ordered"
        return [least, close]
    if call.function.endswith("l_diversity"):
        variant = {"entropy_l_diversity": "entropy", "recursive_c_l_diversity": "recursive"}.get(call.function)
        diverse: WrittenModel = {"model": "l-diversity", "sensitive": about, "l": str(call.get("l_div"))}
        if variant is not None:
            diverse["variant"] = variant
        if variant == "recursive":
            diverse["c"] = str(call.get("c"))
        return [least, diverse]
    left_out.append(f"{call.function} for {about}: kveil has no such model. Add another under `privacy`.")
    return [least]


def _column(column: ForeignColumn, levels: Any, script: AnjanaScript) -> tuple[ForeignColumn, list[str]]:
    """Return a quasi-identifier with its hierarchy, and what is not carried over of it."""
    if isinstance(levels, _Csv):
        rows = _hierarchy_rows(script.folder / levels.path, levels.separator)
    elif isinstance(levels, dict) and all(isinstance(level, _OfTable) for level in levels.values()):
        steps = [level for _, level in sorted(levels.items()) if level.width is not None]
        return replace(column, hierarchy=_intervals(steps)) if steps else column, []
    elif isinstance(levels, dict) and levels and all(isinstance(level, list) for level in levels.values()):
        rows = [list(map(str, row)) for row in zip(*(level for _, level in sorted(levels.items())), strict=False)]
    elif levels is None:
        return column, []
    else:
        return column, [f"{column.name}: its hierarchy, which cannot be told without running the script."]
    try:
        return replace(column, lines=as_tree(rows, column.name)), []
    except PolicyError as error:
        return column, [f"{column.name}: its hierarchy, which is no tree ({str(error).split(': ')[-1].rstrip('.')})."]


def _intervals(steps: Sequence[_OfTable]) -> WrittenIntervals:
    low, high = show_number(_number(steps[0].low)), show_number(_number(steps[0].high))
    return {"intervals": {"from": low, "to": high, "widths": [show_number(_number(step.width)) for step in steps]}}


def _number(value: Any) -> Decimal:
    """Return a number of a script; raise PolicyError where it is none."""
    number = parse_number(str(value))
    if number is None:
        raise PolicyError("the script gives something that is no number where ANJANA wants one; write it plainly.")
    return number


def _hierarchy_rows(path: Path, separator: str) -> list[list[str]]:
    try:
        if path.stat().st_size > MOST_HIERARCHY_BYTES:
            raise FileError(f"{path.name} is larger than a hierarchy can be; check the path.")
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file, delimiter=separator, strict=True))
    except OSError as error:
        raise FileError(f"{path.name}: the hierarchy cannot be read ({error.strerror}); check the path.") from None
    except (csv.Error, UnicodeDecodeError):
        raise FileError(f"{path.name} is no CSV in UTF-8 that can be read; save it again.") from None
