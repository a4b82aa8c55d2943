"""What `kveil: 1` may say, key by key, as frozen classes; :class:`kveil.policy.model.Policy` is all of it together."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from kveil.free_form import GivenOptions
from kveil.policy.attributes import STAR, Attribute, Intervals, Ranges, Role
from kveil.policy.dependencies import Dependency, parse_dependency
from kveil.policy.entry_points import ALGORITHM_GROUP, entry_points_of
from kveil.policy.fields import PathText, PolicyPart, Seed, Share, Text, Texts, Whole, rejection
from kveil.policy.privacy import GENERALIZING, PrivacyModel, TCloseness, sensitive_of
from kveil.words import did_you_mean

if TYPE_CHECKING:  # most runs show no notebook
    from kveil.notebook import PolicyOutline

ALGORITHM_NAMES = (
    "auto",
    "datafly",
    "mondrian",
    "classfly",
    "classfly+naive",
    "classfly+complete",
    "classfly+partial",
    "incognito",
    "k-msd",
    "k-msd-ag",
    "k-member",
    "greedy-cka",
    "pk-clustering",
    "partition",
    "1m-generalization",
    "rmerger",
    "least-loss",
)


def algorithm_names() -> list[str]:
    """Return the names of kveil's algorithms and of those that other packages bring along."""
    return [*ALGORITHM_NAMES, *sorted(set(entry_points_of(ALGORITHM_GROUP)) - set(ALGORITHM_NAMES))]


def is_algorithm(name: str) -> bool:
    """Tell whether an algorithm has this name; other packages are asked only where kveil has none."""
    return name in ALGORITHM_NAMES or name in entry_points_of(ALGORITHM_GROUP)


def _is_encoding(name: str) -> bool:
    """Tell whether Python knows an encoding of texts by this name."""
    try:
        return bool(codecs.lookup(name)._is_text_encoding)
    except (LookupError, ValueError):
        return False


class Data(PolicyPart):
    """Where the table is and how its texts are read."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    path: PathText | None = None
    separator: Text | None = None
    missing: Texts = ("",)
    encoding: Text = "utf-8"
    sheet: Text | None = None
    skip: Annotated[Whole, Field(ge=0), WithJsonSchema({"type": "integer", "minimum": 0})] = 0
    decimal: Literal[".", ","] | None = None
    key: Text | None = None

    @field_validator("decimal", mode="before")
    @classmethod
    def _comma_or_point(cls, decimal: Any) -> Any:
        if decimal not in {".", ",", None}:
            raise rejection(f'is {decimal!r}; write "." or ",", or leave it out')
        return decimal

    @field_validator("key", mode="before")
    @classmethod
    def _one_column(cls, key: Any) -> Any:
        if isinstance(key, list | tuple):
            raise rejection(
                "names several columns, and only one can say who somebody is; join them into one column of the table, "
                "and name that"
            )
        return key

    @field_validator("separator", mode="after")
    @classmethod
    def _tab(cls, separator: str | None) -> str | None:
        return "\t" if separator == "\\t" else separator

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.separator is not None and (len(self.separator) != 1 or not self.separator.isascii()):
            raise rejection(f'has separator {self.separator!r}; it must be one character, as in ","')
        if self.separator in {'"', "\n", "\r"}:
            raise rejection("has a quote or a line end as its separator; use a comma, semicolon or tab")
        if not _is_encoding(self.encoding):
            raise rejection(
                f"has encoding {self.encoding!r}, which Python does not know; write it as in utf-8 or cp1252"
            )
        if self.sheet is not None and not self.sheet.strip():
            raise rejection("has an empty `sheet`; give a sheet's name or its number from 1, or leave it out")
        if not self.missing:
            raise rejection("has an empty list `missing`; leave it out, or give the texts that mean missing")
        if self.missing[0] == STAR:
            raise rejection(
                "lists `*` first in `missing`, but `*` is what a release shows for anything; put another text first"
            )
        return self


class Suppression(PolicyPart):
    """How many records may be left out, and how they show."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    limit: Share = Decimal(0)
    show: Literal["drop", "star"] = "drop"


class Individual(PolicyPart):
    """What to do where the records of one individual disagree on a quasi-identifier."""

    conflicts: Literal["error", "generalize"] = "error"


class ReleaseForm(PolicyPart):
    """The order and the shape of the release."""

    order: Literal["sorted", "shuffle", "keep"] = "sorted"
    shape: Literal["sets", "long"] = "sets"


class AlgorithmChoice(PolicyPart):
    """An algorithm by name, with its options."""

    name: Text = "auto"
    options: GivenOptions = Field(default_factory=dict)

    @field_validator("name", mode="after")
    @classmethod
    def _known(cls, name: str) -> str:
        if not is_algorithm(name):
            names = algorithm_names()
            raise rejection(f"is {name!r}; allowed: {', '.join(names)}{did_you_mean(name, names)}")
        return name

    @model_validator(mode="after")
    def _options_of_one(self) -> Self:
        if self.name == "auto" and set(self.options) - {"seconds"}:
            raise rejection(
                "gives auto more than `seconds`; it runs many algorithms: name the one that has these options"
            )
        return self


def _by_size(model: PrivacyModel) -> bool:
    return isinstance(model, TCloseness) and model.distance == "ordered"


class PolicyKeys(PolicyPart):
    """The keys of a policy, each checked by itself, and look-ups among them."""

    kveil: Annotated[Whole, WithJsonSchema({"const": 1})] = 1
    data: Data = Data()
    attributes: dict[Text, Attribute]
    privacy: Annotated[tuple[PrivacyModel, ...], Field(min_length=1)]
    dependencies: Annotated[
        tuple[Dependency, ...],
        WithJsonSchema({"type": "array", "items": {"type": "string", "pattern": "->"}}),
    ] = ()
    suppression: Suppression = Suppression()
    individual: Individual = Individual()
    release: ReleaseForm = ReleaseForm()
    engine: Literal["local", "stream", "spark"] | None = None
    previous: Texts = ()
    loss: Literal["ncp", "il", "precision"] = "ncp"
    seed: Seed = 0
    algorithm: Annotated[
        AlgorithmChoice,
        WithJsonSchema(
            {
                "anyOf": [
                    {"enum": list(ALGORITHM_NAMES)},
                    {
                        "type": "object",
                        "required": ["name"],
                        "properties": {"name": {"enum": list(ALGORITHM_NAMES)}},
                    },
                ]
            }
        ),
    ] = AlgorithmChoice()

    @field_validator("kveil", mode="after")
    @classmethod
    def _version(cls, version: int) -> int:
        if version != 1:
            raise rejection(f"is {version}; this kveil reads policies of version 1")
        return version

    @field_validator("dependencies", mode="before")
    @classmethod
    def _dependencies(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise rejection('must be a list of rules, as in ["department -> phone"]')
        return tuple(rule if isinstance(rule, Dependency) else parse_dependency(rule) for rule in value)

    @field_validator("algorithm", mode="before")
    @classmethod
    def _algorithm(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value}
        if isinstance(value, Mapping) and "options" not in value:
            if "name" not in value:
                raise rejection("is a mapping without `name`")
            return {"name": value["name"], "options": {k: v for k, v in value.items() if k != "name"}}
        return value

    def with_role(self, role: Role) -> list[str]:
        """Return the attributes of a role, in policy order."""
        return [name for name, attribute in self.attributes.items() if attribute.role == role]

    @property
    def quasi_identifiers(self) -> list[str]:
        """The quasi-identifiers, in policy order."""
        return self.with_role("quasi-identifier")

    @property
    def released(self) -> list[str]:
        """The attributes a release shows, in policy order."""
        return [
            name for name, attribute in self.attributes.items() if attribute.role not in {"identifier", "individual"}
        ]

    @property
    def generalized(self) -> list[str]:
        """The sensitive attributes whose items a model asks to generalize, in policy order."""
        named = {name for model in self.privacy if model.model in GENERALIZING for name in sensitive_of(model)}
        return [name for name in self.with_role("sensitive") if name in named]

    @property
    def numeric(self) -> list[str]:
        """The attributes whose texts are read as numbers, in policy order: in intervals, in ranges, or by distance."""
        ordered = {name for model in self.privacy if _by_size(model) for name in sensitive_of(model)}
        return [
            name
            for name, attribute in self.attributes.items()
            if isinstance(attribute.hierarchy, (Intervals, Ranges)) or (name in ordered and attribute.hierarchy is None)
        ]

    @property
    def unchanged(self) -> list[str]:
        """The attributes that a release shows as they are, in policy order."""
        changed = {*self.quasi_identifiers, *self.generalized}
        return [name for name in self.released if name not in changed]

    @property
    def individual_column(self) -> str | None:
        """The column that says whose record it is, if there is one."""
        return next(iter(self.with_role("individual")), None)

    @property
    def key_column(self) -> str | None:
        """The column that says who somebody is across tables: what `data.key` names, else the individual's."""
        return self.individual_column if self.data.key is None else self.data.key

    @property
    def sets(self) -> list[str]:
        """The attributes of which a release shows each person's values as one set, in policy order."""
        people = self.individual_column is not None and self.release.shape == "sets"
        return self.with_role("sensitive") if people else []

    @property
    def shows_records(self) -> bool:
        """Whether a release shows persons' records whole: in long shape, with several sensitive attributes."""
        several = len(self.with_role("sensitive")) > 1
        return self.individual_column is not None and self.release.shape == "long" and several

    def attributes_of(self, model: PrivacyModel) -> tuple[str, ...]:
        """Return the quasi-identifiers a model is over, in policy order."""
        names = self.quasi_identifiers
        if model.attributes is None:
            return tuple(names)
        own = frozenset(model.attributes)
        return tuple(name for name in names if name in own)

    def outline(self) -> PolicyOutline:
        """Return the policy as rows for people: attributes, models, rules."""
        attributes = [
            (name, a.role, a.hierarchy.form if a.hierarchy else "-", a.boundary.form if a.boundary else "-")
            for name, a in self.attributes.items()
        ]
        models = []
        for model in self.privacy:
            settings = model.model_dump(exclude={"model", "attributes"}, exclude_none=True)
            told = ", ".join(f"{key} {value}" for key, value in settings.items())
            models.append((model.model, ", ".join(self.attributes_of(model)), told))
        return {
            "attributes": attributes,
            "privacy": models,
            "dependencies": [rule.rule for rule in self.dependencies],
            "limit": float(self.suppression.limit),
            "algorithm": self.algorithm.name,
        }
