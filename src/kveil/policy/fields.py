"""The field types a policy is made of: texts as written, exact numbers, counts."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic._internal._model_construction import ModelMetaclass
from pydantic_core import PydanticCustomError

from kveil.policy.numbers import is_whole, parse_number
from kveil.policy.wording import policy_error
from kveil.words import did_you_mean, listing


class _Checked(ModelMetaclass):
    """Lets a class that is called directly fail with a PolicyError, worded like a policy file's."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except ValidationError as error:
            raise policy_error(error, f"{self.__name__}") from None


class PolicyPart(BaseModel, metaclass=_Checked):
    """A frozen part of a policy; unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, hide_input_in_errors=True, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, value: Any) -> Any:
        if isinstance(value, dict):
            names = [field.alias or name for name, field in cls.model_fields.items()]
            unknown = [str(key) for key in value if key not in names and key not in cls.model_fields]
            if unknown:
                shown = [name for name in names if name != "form"]
                hint = did_you_mean(unknown[0], shown)
                allowed = f"allowed here: {listing(shown, 20)}{hint}" if shown else "it takes none"
                told = f"has no key {unknown[0]!r}; {allowed}"
                raise PydanticCustomError("told", "{told}", {"told": told, "key": unknown[0]})
        return value


def _text(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise PydanticCustomError("text", "a text")
    return value


def _number(value: object) -> object:
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        number = parse_number(value.strip() if isinstance(value, str) else repr(value))
        if number is not None:
            return number
    raise PydanticCustomError("number", "a number")


def _whole(value: object) -> object:
    try:
        number = _number(value)
    except PydanticCustomError:
        number = None
    if not isinstance(number, Decimal) or not is_whole(number):
        raise PydanticCustomError("whole", "a whole number")
    return int(number)


def _flag(value: object) -> object:
    if isinstance(value, str) and value.lower() in {"true", "yes", "on", "false", "no", "off"}:
        return value.lower() in {"true", "yes", "on"}
    if not isinstance(value, bool):
        raise PydanticCustomError("flag", "true or false")
    return value


def _texts(value: object) -> object:
    if isinstance(value, str):
        raise PydanticCustomError("texts", "a list of texts, as in [a, b]")
    if isinstance(value, (list, tuple, set, frozenset)):
        return tuple(value)
    raise PydanticCustomError("texts", "a list of texts, as in [a, b]")


ANY_TEXT = {"type": ["string", "number", "boolean", "null"], "description": "a text, taken as written"}

Text = Annotated[str, BeforeValidator(_text), WithJsonSchema(ANY_TEXT)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_texts), WithJsonSchema({"type": "array", "items": ANY_TEXT})]
Names = Annotated[tuple[Text, ...], BeforeValidator(_texts), Field(min_length=1)]
Number = Annotated[Decimal, BeforeValidator(_number), WithJsonSchema({"type": "number"})]
Share = Annotated[
    Decimal,
    BeforeValidator(_number),
    Field(ge=0, le=1),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
Whole = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": "integer"})]
Count = Annotated[int, BeforeValidator(_whole), Field(ge=1), WithJsonSchema({"type": "integer", "minimum": 1})]
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]


def told(sentence: str) -> PydanticCustomError:
    """Return a rejection worded by whoever raises it; it follows the key path."""
    return PydanticCustomError("told", "{told}", {"told": sentence})
