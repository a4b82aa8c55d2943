"""Projects of ARX (`.deid`): a zip of XML, hierarchies and the table, as its WorkerSave writes them.

`input/config.xml` has the privacy models as sentences, the suppression limit and weights; `input/definition.xml` has
a column's role, hierarchy and levels; `data/input.csv` is the table. What stands beside them as serialized Java
objects is never read.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import cast
from xml.etree.ElementTree import Element

from kveil.errors import FileError, PolicyError
from kveil.exchange.foreign import MOST_HIERARCHY_BYTES, ForeignColumn, ForeignPolicy, as_tree, check_models
from kveil.exchange.zip_parts import MOST_TABLE, Zipped
from kveil.policy.attributes import Role
from kveil.policy.numbers import parse_number, show_number
from kveil.policy.written import WrittenModel

ROLES: dict[str, Role] = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi-identifier",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}
_NUMBER = r"\d+(?:\.\d+)?(?:E-?\d{1,3})?"
_FOR = r" for attribute '(?P<sensitive>.+)'"
# Sentences that ARX writes for its models, and what a policy says beside what stands in them.
CRITERIA: tuple[tuple[str, WrittenModel], ...] = (
    (rf"(?P<k>{_NUMBER})-anonymity", {"model": "k-anonymity"}),
    (rf"distinct-(?P<l>{_NUMBER})-diversity{_FOR}", {"model": "l-diversity"}),
    (rf"(?:shannon-)?entropy-(?P<l>{_NUMBER})-diversity{_FOR}", {"model": "l-diversity", "variant": "entropy"}),
    (
        rf"recursive-\((?P<c>{_NUMBER}),(?P<l>{_NUMBER})\)-diversity{_FOR}",
        {"model": "l-diversity", "variant": "recursive"},
    ),
    (rf"(?P<t>{_NUMBER})-closeness with equal ground-distance{_FOR}", {"model": "t-closeness"}),
    (
        rf"(?P<t>{_NUMBER})-closeness with hierarchical ground-distance{_FOR}",
        {"model": "t-closeness", "distance": "hierarchical"},
    ),
    (rf"(?P<t>{_NUMBER})-closeness with ordered distance{_FOR}", {"model": "t-closeness", "distance": "ordered"}),
)


def _model_of(criterion: str) -> WrittenModel | None:
    """Return the model that a sentence of ARX means; None where kveil has none."""
    for pattern, model in CRITERIA:
        if match := re.fullmatch(pattern, criterion):
            parts = match.groupdict()
            numbers = {key: _plain(text) for key, text in parts.items() if key != "sensitive"}
            about = {"sensitive": parts["sensitive"]} if "sensitive" in parts else {}
            return cast(WrittenModel, {**model, **about, **numbers})  # groups of patterns are named as its keys
    return None


def _plain(text: str) -> str:
    number = parse_number(text)
    assert number is not None  # the pattern says what a number is
    return show_number(number)


def read_project(path: Path, *, k: int | None = None) -> ForeignPolicy:
    """Return what a project asks for; ``k`` adds k-anonymity over all quasi-identifiers."""
    with Zipped(path) as project:
        separator = _text(project.read_xml("project.xml"), "separator") or ","
        if len(separator) != 1 or separator in '"\r\n':
            raise FileError(f"{path.name}: its separator is no single character; save the project again.")
        config = project.read_xml("input/config.xml")
        columns, left_out = _columns(project, separator, _weights(config, path.name))
        models, untold = _models(config)
        table = project.read("data/input.csv", most=MOST_TABLE) if "data/input.csv" in project else None
    left_out += untold
    if k is not None:
        models.insert(0, {"model": "k-anonymity", "k": str(k)})
    check_models(models, untold, path.name)
    metric = _text(config, "metric")
    if metric and not metric.lower().startswith("loss"):
        left_out.append(f"The quality model {metric}: kveil minimizes NCP, the nearest to ARX's Loss.")
    return ForeignPolicy(
        tool="ARX",
        name=path.name,
        columns=tuple(columns),
        models=tuple(models),
        limit=_limit(config, path.name),
        show="star",  # ARX shows a suppressed record as a row of stars
        separator=separator,
        missing=("NULL", "") if table is not None and _has_null(table, separator) else ("",),
        left_out=tuple(left_out),
        table=table,
    )


def _text(element: Element, tag: str) -> str:
    """Return the text of the first element of a tag below another, without blanks around it unless it is all blank."""
    below = element.find(tag)
    text = "" if below is None else below.text or ""
    return text.strip(" \r\n") or text


def _limit(config: Element, name: str) -> str:
    limit = parse_number(_text(config, "relativeMaxOutliers") or "0")
    if limit is None or not 0 <= limit <= 1:
        raise FileError(f"{name}: its suppression limit is no share between 0 and 1; save the project again.")
    return show_number(limit)


def _weights(config: Element, name: str) -> dict[str, Decimal]:
    weights = {}
    for element in config.iter("attributeWeight"):
        weight = parse_number(_text(element, "weight"))
        if weight is None or not 0 <= weight <= 1:
            raise FileError(
                f"{name}: a weight in input/config.xml is no share between 0 and 1; save the project again."
            )
        weights[_text(element, "attribute")] = weight
    return weights


def _models(config: Element) -> tuple[list[WrittenModel], list[str]]:
    """Return the models kveil has, and sentences on those it has not."""
    models, left_out = [], []
    for element in config.iter("criterion"):
        text = (element.text or "").strip()
        model = _model_of(text)
        if model is not None:
            models.append(model)
        elif text.lower() == "inclusion":
            left_out.append(
                "The research subset: which records belong to it stands in a part that only ARX reads. Give a table "
                "of these records alone."
            )
        else:
            left_out.append(f"The privacy model {text}: kveil has none like it. Add another under `privacy`.")
    return models, left_out


def _has_null(table: bytes, separator: str) -> bool:
    """Tell whether some cell is NULL, which is how ARX writes what is missing."""
    cell = re.escape(separator.encode())
    return re.search(rb'(?:^|[\n\r"]|' + cell + rb')NULL(?:[\n\r"]|' + cell + rb"|$)", table) is not None


@dataclass(frozen=True)
class _Assigned:
    """What `definition.xml` says of one column."""

    name: str
    kind: str
    part: str | None
    lowest: str
    highest: str
    aggregated: str

    @classmethod
    def of(cls, element: Element) -> _Assigned:
        reference = _text(element, "ref")
        if reference and not re.fullmatch(r"hierarchies/[^/\\\x00]+\.csv", reference):
            raise FileError("a hierarchy in input/definition.xml lies outside its folder; it is not read.")
        aggregated = _text(element, "microaggregationFunction")
        part = f"input/{reference}" if reference else None
        lowest, highest = _text(element, "min"), _text(element, "max")
        return cls(_text(element, "name"), _text(element, "type"), part, lowest, highest, aggregated)


def _columns(project: Zipped, separator: str, weights: dict[str, Decimal]) -> tuple[list[ForeignColumn], list[str]]:
    assigned = [_Assigned.of(element) for element in project.read_xml("input/definition.xml").iter("assigment")]
    names = [column.name for column in assigned]
    if not names or len(set(names)) < len(names) or "" in names:
        raise FileError(
            f"{project.name}: input/definition.xml does not name every column once; save the project again."
        )
    quasi = [weights.get(c.name, Decimal("0.5")) for c in assigned if ROLES.get(c.kind) == "quasi-identifier"]
    usual = quasi[0] if len(set(quasi)) == 1 else Decimal("0.5")  # ARX's own default
    columns, left_out = [], []
    for column in assigned:
        if column.kind not in ROLES:
            raise FileError(f"{project.name}: the role of {column.name} is not one of ARX's; save the project again.")
        foreign, told = _column(project, separator, column)
        left_out += told
        weight = weights.get(column.name, usual)
        if foreign.role == "quasi-identifier" and weight != usual:
            if weight > 0:
                foreign = replace(foreign, weight=show_number(weight / usual))
            else:
                left_out.append(f"{column.name}: its weight of 0; here everything released counts.")
        columns.append(foreign)
    return columns, left_out


def _column(project: Zipped, separator: str, column: _Assigned) -> tuple[ForeignColumn, list[str]]:
    role = ROLES[column.kind]
    if role not in {"quasi-identifier", "sensitive"} or column.part is None:
        return ForeignColumn(column.name, role), []
    told = []
    if column.aggregated and role == "quasi-identifier":
        told.append(f"{column.name}: microaggregation ({column.aggregated}); its hierarchy is used instead.")
    if column.part not in project:
        return ForeignColumn(column.name, role), [*told, f"{column.name}: its hierarchy, which the project lacks."]
    where = f"{project.name}: {column.part}"
    rows = _rows(project.read_text(column.part, most=MOST_HIERARCHY_BYTES), separator, where)
    try:
        lines = as_tree(rows, where)
    except PolicyError as error:
        return ForeignColumn(column.name, role), [
            *told,
            f"{column.name}: its hierarchy, which is no tree, so that a value becomes `*` at once ({_short(error)}).",
        ]
    if column.lowest.isdecimal() and int(column.lowest) > 0 and role == "quasi-identifier":
        told.append(
            f"{column.name}: the least level {column.lowest}. If it is more than a wish, give a table in which it is "
            "that coarse already."
        )
    boundary = _boundary(rows, int(column.highest)) if column.highest.isdecimal() else ()
    return ForeignColumn(column.name, role, lines, boundary=boundary if role == "quasi-identifier" else ()), told


def _short(error: Exception) -> str:
    return str(error).split(": ")[-1].rstrip(".")


def _rows(text: str, separator: str, where: str) -> list[list[str]]:
    """Return the rows of a hierarchy; a quote that is not closed is an error."""
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        raise FileError(f"{where}: a quote is opened and not closed rightly; save the project again.") from None


def _boundary(rows: list[list[str]], level: int) -> tuple[str, ...]:
    """Return the nodes of the highest level that ARX may go up to; none where that is the top."""
    if any(level >= len(row) - 1 for row in rows):
        return ()
    return tuple(dict.fromkeys(row[level] for row in rows if row and row[0] != ""))
