"""The privacy models a policy may ask for, as frozen classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, WithJsonSchema, model_validator

from kveil.policy.fields import Count, Names, Number, PolicyPart, Share, Text, rejection


class _Model(PolicyPart):
    attributes: Names | None = None


class KAnonymity(_Model):
    """Every group has at least k members."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    model: Literal["k-anonymity"] = "k-anonymity"
    k: Count


class LDiversity(_Model):
    """Every group has l well-represented sensitive values."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    model: Literal["l-diversity"] = "l-diversity"
    sensitive: Text
    l: Annotated[Number, Field(ge=1), WithJsonSchema({"type": "number", "minimum": 1})]  # noqa: E741
    variant: Literal["distinct", "entropy", "recursive", "frequency"] = "distinct"
    c: Annotated[Number, Field(gt=0), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})] | None = None

    @model_validator(mode="after")
    def _c_where_recursive(self) -> Self:
        if self.variant == "recursive" and self.c is None:
            raise rejection("asks for variant recursive, which needs a number `c` as well")
        if self.variant != "recursive" and self.c is not None:
            raise rejection(f"has `c`, which only variant recursive uses, not {self.variant}")
        if self.variant in {"distinct", "recursive"} and self.l != int(self.l):
            raise rejection(f"has l: {self.l}; variant {self.variant} needs a whole number")
        return self


class PSensitive(_Model):
    """Every group has at least p different sensitive values."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    model: Literal["p-sensitive"] = "p-sensitive"
    sensitive: Text
    p: Count


class AlphaK(_Model):
    """Every group has at least k members and no sensitive value above the share alpha."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    model: Literal["alpha-k"] = "alpha-k"
    sensitive: Text
    alpha: Annotated[Number, Field(gt=0, le=1), WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 1})]
    k: Count


class TCloseness(_Model):
    """Every group's distribution of sensitive values is within t of the whole table's."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    model: Literal["t-closeness"] = "t-closeness"
    sensitive: Text
    t: Share
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"


class KLDiversity(_Model):
    """Fingerprints are shared by k individuals, and no fingerprint exceeds 1/l of its class."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    model: Literal["kl-diversity"] = "kl-diversity"
    sensitive: Text | Names
    k: Count
    l: Annotated[Number, Field(ge=1), WithJsonSchema({"type": "number", "minimum": 1})]  # noqa: E741


class KKmAnonymity(_Model):
    """Classes of k individuals in which every combination of m items is shared by k."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

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
    if isinstance(model, KAnonymity):
        return ()
    return (model.sensitive,) if isinstance(model.sensitive, str) else tuple(model.sensitive)


def single_sensitive(model: PrivacyModel) -> str | None:
    """Return the sensitive attribute a model speaks of, None where it speaks of none or of a list of them."""
    return None if isinstance(model, KAnonymity) or not isinstance(model.sensitive, str) else model.sensitive


def named_k(model: PrivacyModel) -> int | None:
    """Return the k that a model names, None where it names none."""
    return model.k if isinstance(model, (KAnonymity, AlphaK, KLDiversity, KKmAnonymity)) else None


def distinct_values(model: PrivacyModel) -> int | None:
    """Return how many different sensitive values a model asks for in every group: p, or a distinct l; else None."""
    if isinstance(model, PSensitive):
        return model.p
    return int(model.l) if isinstance(model, LDiversity) and model.variant == "distinct" else None


GENERALIZING = ("kl-diversity", "k-km-anonymity")  # models for which sensitive items are generalized
