"""The policy as frozen classes: what `kveil: 1` may say, key by key.

Every class is part of the public API; a policy built from them is checked exactly like a file.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, WithJsonSchema, field_validator, model_validator
from pydantic_core import PydanticCustomError

from kveil.errors import did_you_mean
from kveil.policy.constraints import check_policy
from kveil.policy.dependencies import Dependency, parse_dependency
from kveil.policy.fields import ANY_TEXT, Count, Names, Number, PolicyPart, Share, Text, Texts, Whole
from kveil.policy.numbers import EXACT

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
DATE_LEVELS = ("month", "quarter", "year", "decade", "century")
STAR = "*"

Role = Literal["identifier", "individual", "quasi-identifier", "sensitive", "insensitive"]


def told(sentence: str) -> PydanticCustomError:
    """Return a rejection worded by whoever raises it; it follows the key path."""
    return PydanticCustomError("told", "{told}", {"told": sentence})


# ---------------------------------------------------------------------------------------------- hierarchies


class HierarchyFile(PolicyPart):
    """A hierarchy in ARX's form: one line a leaf, ``leaf;parent;…;root``."""

    form: Literal["file"] = "file"
    path: Text


class Intervals(PolicyPart):
    """Numbers in intervals of growing widths, under a root ``*``."""

    form: Literal["intervals"] = "intervals"
    from_: Number = Field(alias="from")
    to: Number
    widths: Annotated[tuple[Number, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.from_ >= self.to:
            raise told(f"must have `from` below `to`, not {self.from_} and {self.to}")
        for width in self.widths:
            if width <= 0:
                raise told(f"has a width of {width}; widths must be more than 0")
        for narrow, wide in zip(self.widths, self.widths[1:], strict=False):
            if wide <= narrow or EXACT.remainder(wide, narrow):
                raise told(
                    f"has widths {narrow} and {wide}; each must be a multiple of the one before, as in [5, 10, 20]"
                )
        return self


class Mask(PolicyPart):
    """Texts cut to their first characters, the rest shown as ``*``."""

    form: Literal["mask"] = "mask"
    keep: Annotated[tuple[Whole, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _falling(self) -> Self:
        if any(kept < 0 for kept in self.keep) or any(
            right >= left for left, right in zip(self.keep, self.keep[1:], strict=False)
        ):
            raise told(f"keeps {list(self.keep)}; the numbers must fall and not be negative, as in [4, 3]")
        return self


class Dates(PolicyPart):
    """ISO dates by calendar units, under a root ``*``."""

    form: Literal["dates"] = "dates"
    levels: Annotated[tuple[Literal["month", "quarter", "year", "decade", "century"], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _growing(self) -> Self:
        ranks = [DATE_LEVELS.index(level) for level in self.levels]
        if any(right <= left for left, right in itertools.pairwise(ranks)):
            raise told(f"lists {list(self.levels)}; the units must grow, in the order {', '.join(DATE_LEVELS)}")
        return self


class Ranges(PolicyPart):
    """Numbers without a tree: a group shows ``min-max`` of its values."""

    form: Literal["ranges"] = "ranges"
    within: tuple[Number, Number]
    round: Number | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.within[0] >= self.within[1]:
            raise told(f"must lie `within` a lower and a higher number, not [{self.within[0]}, {self.within[1]}]")
        if self.round is not None and self.round <= 0:
            raise told(f"has `round: {self.round}`; it must be more than 0")
        return self


class Tree(PolicyPart):
    """A tree written into the policy: mappings are inner nodes, lists hold leaves."""

    form: Literal["tree"] = "tree"
    tree: Any

    @field_validator("tree", mode="before")
    @classmethod
    def _one_root(cls, value: Any) -> Any:
        if not isinstance(value, Mapping) or len(value) != 1:
            raise told("must be a mapping with one top key, the root")
        return value

    def paths(self) -> list[tuple[str, ...]]:
        """Return every leaf's way to the root, leaf first, in the order written."""
        found: list[tuple[str, ...]] = []
        stack: list[tuple[str, Any, tuple[str, ...]]] = [
            (str(root), below, ()) for root, below in reversed(list(self.tree.items()))
        ]
        while stack:
            label, below, above = stack.pop()
            here = (label, *above)
            if isinstance(below, Mapping) and below:
                stack.extend((str(child), deeper, here) for child, deeper in reversed(list(below.items())))
            elif isinstance(below, (list, tuple)):
                if not below:
                    found.append(here)
                for leaf in below:
                    if isinstance(leaf, (Mapping, list, tuple)) or leaf is None:
                        raise told(f"has a list under {label!r} that holds more than leaves; nest with `key: [...]`")
                    found.append((str(leaf), *here))
            else:
                raise told(f"has {label!r} without a list of leaves; write `{label}: []` if it is a leaf")
        return found

    @model_validator(mode="after")
    def _readable(self) -> Self:
        self.paths()
        return self


Hierarchy = Annotated[
    HierarchyFile | Intervals | Mask | Dates | Ranges | Tree,
    Field(discriminator="form"),
]

_NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1}
_HIERARCHY_SCHEMA: dict[str, Any] = {
    "description": "a file in ARX's form, or one of the builders; left out: value -> *",
    "anyOf": [
        {"type": "string"},
        {"type": "null"},
        *(
            {
                "type": "object",
                "additionalProperties": False,
                "required": [form],
                "properties": {form: inside},
            }
            for form, inside in {
                "intervals": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["from", "to", "widths"],
                    "properties": {
                        "from": {"type": "number"},
                        "to": {"type": "number"},
                        "widths": _NUMBERS,
                    },
                },
                "mask": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["keep"],
                    "properties": {
                        "keep": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1}
                    },
                },
                "dates": {"type": "array", "items": {"enum": list(DATE_LEVELS)}, "minItems": 1},
                "ranges": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["within"],
                    "properties": {
                        "within": {
                            "type": "array",
                            "items": {"type": "number"},
                            "minItems": 2,
                            "maxItems": 2,
                        },
                        "round": {"type": "number", "exclusiveMinimum": 0},
                    },
                },
                "tree": {"type": "object", "minProperties": 1, "maxProperties": 1},
            }.items()
        ),
    ],
}
HIERARCHY_FORMS = ("intervals", "mask", "dates", "ranges", "tree")


def _hierarchy_from_yaml(value: Any) -> Any:
    """Turn ``{mask: {keep: [4]}}`` into the tagged form the union reads, a text into a file."""
    if isinstance(value, (str, Path)):
        if not str(value):
            raise told("must be a file or a builder, not an empty text")
        return {"form": "file", "path": str(value)}
    if not isinstance(value, Mapping) or "form" in value:
        return value
    if len(value) != 1 or next(iter(value)) not in HIERARCHY_FORMS:
        names = ", ".join(HIERARCHY_FORMS)
        found = ", ".join(repr(str(key)) for key in value) or "nothing"
        raise told(f"must be a file or exactly one of {names}, not {found}")
    ((form, inside),) = value.items()
    if form == "dates":
        return {"form": form, "levels": inside}
    if form == "tree":
        return {"form": form, "tree": inside}
    if not isinstance(inside, Mapping):
        raise told(f"has `{form}` without a mapping of its settings")
    return {"form": form, **inside}


# ---------------------------------------------------------------------------------------------- boundaries


class Marked(PolicyPart):
    """Nodes beyond which no value below them is generalized."""

    form: Literal["marked"] = "marked"
    nodes: Names


class Level(PolicyPart):
    """Marks every node that has a leaf ``level`` edges below it."""

    form: Literal["level"] = "level"
    level: Annotated[Whole, Field(ge=0), WithJsonSchema({"type": "integer", "minimum": 0})]


class MaxWidth(PolicyPart):
    """The largest width (high − low, as shown) a group may have in a `ranges` attribute."""

    form: Literal["max_width"] = "max_width"
    max_width: Annotated[Number, Field(ge=0)]


Boundary = Annotated[Marked | Level | MaxWidth, Field(discriminator="form")]

_BOUNDARY_SCHEMA: dict[str, Any] = {
    "description": "how far values may be generalized: marked nodes, a level, or a largest width for `ranges`",
    "anyOf": [
        {"type": "array", "items": ANY_TEXT, "minItems": 1},
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["level"],
            "properties": {"level": {"type": "integer", "minimum": 0}},
        },
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["max_width"],
            "properties": {"max_width": {"type": "number", "minimum": 0}},
        },
        {"type": "null"},
    ],
}


def _boundary_from_yaml(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return {"form": "marked", "nodes": value}
    if isinstance(value, Mapping) and "form" not in value:
        if len(value) == 1 and (key := next(iter(value))) in {"level", "max_width"}:
            return {"form": key, **value}
        raise told("must be a list of nodes, {level: n} or {max_width: w}")
    if isinstance(value, str):
        raise told(f"must be a list of nodes, as in [{value}], or {{level: n}} or {{max_width: w}}")
    return value


# ---------------------------------------------------------------------------------------------- attributes


class Attribute(PolicyPart):
    """What a column is, and how its values may be generalized."""

    role: Role
    hierarchy: Annotated[Hierarchy | None, WithJsonSchema(_HIERARCHY_SCHEMA)] = None
    boundary: Annotated[Boundary | None, WithJsonSchema(_BOUNDARY_SCHEMA)] = None
    weight: Annotated[Number, Field(gt=0), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})] = Decimal(1)

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _hierarchy(cls, value: Any) -> Any:
        return None if value is None else _hierarchy_from_yaml(value)

    @field_validator("boundary", mode="before")
    @classmethod
    def _boundary(cls, value: Any) -> Any:
        return None if value is None else _boundary_from_yaml(value)

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        is_quasi = self.role == "quasi-identifier"
        if self.hierarchy is not None and self.role not in {"quasi-identifier", "sensitive"}:
            raise told(f"has a hierarchy, but role {self.role} is never generalized; take one of the two away")
        if isinstance(self.hierarchy, Ranges) and not is_quasi:
            raise told("has `ranges`, which only quasi-identifiers may have")
        if self.boundary is not None and not is_quasi:
            raise told(f"has a boundary, but only quasi-identifiers have one, not role {self.role}")
        if self.weight != 1 and not is_quasi:
            raise told(f"has a weight, but only quasi-identifiers have one, not role {self.role}")
        if isinstance(self.boundary, MaxWidth) != isinstance(self.hierarchy, Ranges) and self.boundary:
            if isinstance(self.boundary, MaxWidth):
                raise told("has {max_width: …}, which goes with `ranges`; mark nodes or give {level: n}")
            raise told("has `ranges`, which has no nodes to mark; give its boundary as {max_width: w}")
        return self


# ---------------------------------------------------------------------------------------------- models


class _Model(PolicyPart):
    attributes: Names | None = None


class KAnonymity(_Model):
    """Every group has at least k members."""

    model: Literal["k-anonymity"] = "k-anonymity"
    k: Count


class LDiversity(_Model):
    """Every group has l well-represented sensitive values."""

    model: Literal["l-diversity"] = "l-diversity"
    sensitive: Text
    l: Annotated[Number, Field(ge=1), WithJsonSchema({"type": "number", "minimum": 1})]  # noqa: E741
    variant: Literal["distinct", "entropy", "recursive", "frequency"] = "distinct"
    c: Annotated[Number, Field(gt=0), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})] | None = None

    @model_validator(mode="after")
    def _c_where_recursive(self) -> Self:
        if self.variant == "recursive" and self.c is None:
            raise told("asks for variant recursive, which needs a number `c` as well")
        if self.variant != "recursive" and self.c is not None:
            raise told(f"has `c`, which only variant recursive uses, not {self.variant}")
        if self.variant in {"distinct", "recursive"} and self.l != int(self.l):
            raise told(f"has l: {self.l}; variant {self.variant} needs a whole number")
        return self


class PSensitive(_Model):
    """Every group has at least p different sensitive values."""

    model: Literal["p-sensitive"] = "p-sensitive"
    sensitive: Text
    p: Count


class AlphaK(_Model):
    """Every group has at least k members and no sensitive value above the share alpha."""

    model: Literal["alpha-k"] = "alpha-k"
    sensitive: Text
    alpha: Annotated[Number, Field(gt=0, le=1), WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 1})]
    k: Count


class TCloseness(_Model):
    """Every group's distribution of sensitive values is within t of the whole table's."""

    model: Literal["t-closeness"] = "t-closeness"
    sensitive: Text
    t: Share
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"


class KLDiversity(_Model):
    """Fingerprints are shared by k individuals, and no fingerprint exceeds 1/l of its class."""

    model: Literal["kl-diversity"] = "kl-diversity"
    sensitive: Text | Names
    k: Count
    l: Annotated[Number, Field(ge=1), WithJsonSchema({"type": "number", "minimum": 1})]  # noqa: E741


class KKmAnonymity(_Model):
    """Classes of k individuals in which every combination of m items is shared by k."""

    model: Literal["k-km-anonymity"] = "k-km-anonymity"
    sensitive: Text | Names
    k: Count
    m: Count


PrivacyModel = Annotated[
    KAnonymity | LDiversity | PSensitive | AlphaK | TCloseness | KLDiversity | KKmAnonymity,
    Field(discriminator="model"),
]


def sensitive_of(model: PrivacyModel) -> tuple[str, ...]:
    """Return the sensitive attributes a model speaks of."""
    named = getattr(model, "sensitive", ())
    return (named,) if isinstance(named, str) else tuple(named)


GENERALIZING = ("kl-diversity", "k-km-anonymity")  # models for which sensitive items are generalized


# ---------------------------------------------------------------------------------------------- the policy


class Data(PolicyPart):
    """Where the table is and how its texts are read."""

    path: Text | None = None
    separator: Text | None = None
    missing: Texts = ("",)

    @field_validator("separator", mode="after")
    @classmethod
    def _tab(cls, separator: str | None) -> str | None:
        return "\t" if separator == "\\t" else separator

    @model_validator(mode="after")
    def _readable(self) -> Self:
        if self.separator is not None and (len(self.separator) != 1 or not self.separator.isascii()):
            raise told(f'has separator {self.separator!r}; it must be one character, as in ","')
        if self.separator in {'"', "\n", "\r"}:
            raise told("has a quote or a line end as its separator; use a comma, semicolon or tab")
        if not self.missing:
            raise told("has an empty list `missing`; leave it out, or give the texts that mean missing")
        if self.missing[0] == STAR:
            raise told(
                "lists `*` first in `missing`, but `*` is what a release shows for anything; put another text first"
            )
        return self


class Suppression(PolicyPart):
    """How many records may be left out, and how they show."""

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
    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("name", mode="after")
    @classmethod
    def _known(cls, name: str) -> str:
        if name not in ALGORITHM_NAMES:
            raise told(f"is {name!r}; allowed: {', '.join(ALGORITHM_NAMES)}{did_you_mean(name, ALGORITHM_NAMES)}")
        return name

    @model_validator(mode="after")
    def _options_of_one(self) -> Self:
        if self.name == "auto" and self.options:
            raise told("gives options to auto, which runs many algorithms; name the one that has them")
        return self


class Policy(PolicyPart):
    """What must hold for a release; read it with :meth:`load`, or build it from kveil's classes."""

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
    loss: Literal["ncp", "il", "precision"] = "ncp"
    seed: Annotated[Whole, Field(ge=0), WithJsonSchema({"type": "integer", "minimum": 0})] = 0
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

    _folder: Path = PrivateAttr(default_factory=Path)
    _sha256: str | None = PrivateAttr(default=None)
    _file: Path | None = PrivateAttr(default=None)
    _lines: dict[str, Any] = PrivateAttr(default_factory=dict)  # hierarchies that do not depend on data

    @field_validator("kveil", mode="after")
    @classmethod
    def _version(cls, version: int) -> int:
        if version != 1:
            raise told(f"is {version}; this kveil reads policies of version 1")
        return version

    @field_validator("dependencies", mode="before")
    @classmethod
    def _dependencies(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            raise told('must be a list of rules, as in ["department -> phone"]')
        return tuple(rule if isinstance(rule, Dependency) else parse_dependency(rule) for rule in value)

    @field_validator("algorithm", mode="before")
    @classmethod
    def _algorithm(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"name": value}
        if isinstance(value, Mapping) and "options" not in value:
            if "name" not in value:
                raise told("is a mapping without `name`")
            return {"name": value["name"], "options": {k: v for k, v in value.items() if k != "name"}}
        return value

    @model_validator(mode="after")
    def _as_a_whole(self) -> Self:
        check_policy(self)
        return self

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read and check a policy file, with every hierarchy file it names.

        Raises PolicyError with the line, the key path, what was found and what is allowed.
        """
        from kveil.policy.load import load_policy

        return load_policy(Path(path))

    @property
    def folder(self) -> Path:
        """The folder that relative paths in the policy start from."""
        return self._folder

    @property
    def files(self) -> list[Path]:
        """The files a policy was read from: its own and those of its hierarchies."""
        named = [a.hierarchy.path for a in self.attributes.values() if isinstance(a.hierarchy, HierarchyFile)]
        return [*([self._file] if self._file else []), *(self._folder / path for path in named)]

    @property
    def sha256(self) -> str:
        """The hash of the policy file as read, or of the policy as JSON where there is no file."""
        if self._sha256 is not None:
            return self._sha256
        from hashlib import sha256

        return sha256(self.model_dump_json(by_alias=True).encode()).hexdigest()

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
    def individual_column(self) -> str | None:
        """The column that says whose record it is, if there is one."""
        return next(iter(self.with_role("individual")), None)

    def attributes_of(self, model: PrivacyModel) -> tuple[str, ...]:
        """Return the quasi-identifiers a model is over, in policy order."""
        names = self.quasi_identifiers
        return tuple(names) if model.attributes is None else tuple(n for n in names if n in model.attributes)

    def outline(self) -> dict[str, Any]:
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

    def _repr_html_(self) -> str:
        from kveil.notebook import policy_html

        return policy_html(self.outline())


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a policy file, for editors."""
    schema = Policy.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "kveil policy"
    schema["required"] = ["kveil", "attributes", "privacy"]
    return schema
