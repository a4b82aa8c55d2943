"""The field types a policy is made of: texts as written, exact numbers, counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kveil.errors import PolicyError
from kveil.policy.numbers import is_whole, parse_number
from kveil.policy.wording import Location, policy_error
from kveil.words import did_you_mean, listing

# Whether a part is being checked inside of another one, or of a file, which words what is wrong with it.
_INSIDE: ContextVar[bool] = ContextVar("inside", default=False)


@contextmanager
def inside() -> Iterator[bool]:
    """Let parts made meanwhile raise pydantic's errors, for the caller to word; tell whether they did before."""
    before = _INSIDE.get()
    token = _INSIDE.set(True)
    try:
        yield before
    finally:
        _INSIDE.reset(token)


class PolicyPart(BaseModel):
    """A frozen part of a policy; unknown keys are errors.

    One that is made by itself fails with a PolicyError, worded like a policy file's.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, hide_input_in_errors=True, defer_build=True
    )

    def __init__(self, /, **values: Any) -> None:
        with inside() as nested:
            try:
                super().__init__(**values)
            except ValidationError as error:
                if nested:
                    raise
                raise policy_error(error, where=type(self).__name__) from None

    @classmethod
    def read(cls, values: Any, where: str, *, line_of: Callable[[Location], str] | None = None) -> Self:
        """Return the part that plain data describes; ``where`` it was read from stands in errors."""
        try:
            with inside():
                return cls.model_validate(values)
        except ValidationError as error:
            raise policy_error(error, where=where, line_of=line_of) from None
        except PolicyError as error:  # of checks across keys
            raise PolicyError(f"{where}: {error}") from None

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


def _no_null(path: str) -> str:
    if "\0" in path:
        raise PydanticCustomError("text", "a path without a null character")
    return path


def _number(value: object) -> object:
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        number = parse_number(value.strip() if isinstance(value, str) else repr(value))
        if number is not None:
            return number
    raise PydanticCustomError("number", "a number")


def _any_whole(value: object) -> object:
    try:
        number = _number(value)
    except PydanticCustomError:
        number = None
    if not isinstance(number, Decimal) or not is_whole(number):
        raise PydanticCustomError("whole", "a whole number")
    return int(number)


def _whole(value: object) -> object:
    number = _any_whole(value)
    assert isinstance(number, int)
    if abs(number) > LARGEST:
        raise PydanticCustomError("whole", f"a whole number of at most {LARGEST:,}")
    return number


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


LARGEST = 2**31 - 1  # of the whole numbers that a policy counts with
ANY_TEXT = {"type": ["string", "number", "boolean", "null"], "description": "a text, taken as written"}

Text = Annotated[str, BeforeValidator(_text), WithJsonSchema(ANY_TEXT)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_texts), WithJsonSchema({"type": "array", "items": ANY_TEXT})]
PathText = Annotated[Text, AfterValidator(_no_null)]
Names = Annotated[tuple[Text, ...], BeforeValidator(_texts), Field(min_length=1)]
Number = Annotated[Decimal, BeforeValidator(_number), WithJsonSchema({"type": "number"})]
Share = Annotated[
    Decimal,
    BeforeValidator(_number),
    Field(ge=0, le=1),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1}),
]
Whole = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": "integer"})]
Seed = Annotated[int, BeforeValidator(_any_whole), Field(ge=0), WithJsonSchema({"type": "integer", "minimum": 0})]
Count = Annotated[int, BeforeValidator(_whole), Field(ge=1), WithJsonSchema({"type": "integer", "minimum": 1})]
Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]


def rejection(sentence: str) -> PydanticCustomError:
    """Return a rejection worded by whoever raises it; it follows the key path."""
    return PydanticCustomError("told", "{told}", {"told": sentence})
