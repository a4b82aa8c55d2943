"""How a rejected policy is worded: the key path, what was found, what is allowed, a hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kveil.errors import PolicyError
from kveil.words import did_you_mean, listing

if TYPE_CHECKING:  # whoever only reads the YAML of a policy need not load what checks it
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Location = tuple[int | str, ...]

# Tags that pydantic puts into a location for the chosen member of a union; no key of the file is called so.
_SILENT_TAGS = {"file", "marked", "level", "max_width"}


def utf8_text(raw: bytes, name: str, noun: str) -> str:
    """Return the text of a file that a policy names, or of the policy itself; raise PolicyError if it is not UTF-8."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PolicyError(f"{name}: line {line} is not UTF-8; save the {noun} as UTF-8.") from None


SHARES = "; shares are written as 0.05 for 5 %"


def key_path(location: Iterable[int | str]) -> Location:
    """Return a pydantic location as the keys a reader finds in the file, without union tags."""
    path: list[int | str] = []
    steps = list(location)
    for position, step in enumerate(steps):
        before = steps[position - 1] if position else None
        tag_of_model = (
            isinstance(step, str) and isinstance(before, int) and position >= 2 and steps[position - 2] == "privacy"
        )
        tag_of_form = before in {"hierarchy", "boundary"} and step in _SILENT_TAGS
        if not tag_of_model and not tag_of_form:
            path.append(step)
    if len(path) >= 2 and path[-1] == path[-2] and path[-1] in {"tree"}:
        path.pop()
    return tuple(path)


def show_path(path: Location) -> str:
    """Return a key path as text: ``privacy[0].k``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _found(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    text = str(value)
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _reason(error: ErrorDetails) -> str:
    """Word one pydantic error, without its location."""
    kind, context, found = error["type"], error.get("ctx", {}), error.get("input")
    key = str(error["loc"][-1]) if error["loc"] else ""
    if kind == "missing":
        return "is missing; add it"
    if kind in {"literal_error", "union_tag_invalid"}:
        allowed = str(context.get("expected", context.get("expected_tags", "")))
        names = [name.strip().strip("'") for name in allowed.replace(" or ", ", ").split(",")]
        value = context.get("tag", found)
        return f"is {_found(value)}; allowed: {listing(names, 20, 'or')}{did_you_mean(str(value), names)}"
    if kind == "union_tag_not_found":
        return "does not say which `model:` it asks for"
    if kind in {"text", "number", "whole", "flag", "texts"}:
        hint = SHARES if kind == "number" and str(found).strip().endswith("%") else ""
        return f"must be {error['msg']}, not {_found(found)}{hint}"
    if kind in {"too_short", "tuple_too_short"}:
        return "must not be empty"
    if kind in {"greater_than_equal", "greater_than", "less_than_equal", "less_than"}:
        bound = next(iter(context.values()))
        words = {
            "greater_than_equal": "at least",
            "greater_than": "more than",
            "less_than_equal": "at most",
            "less_than": "less than",
        }[kind]
        hint = SHARES if kind == "less_than_equal" and key == "limit" else ""
        return f"must be {words} {bound}, not {_found(found)}{hint}"
    if kind in {"model_type", "model_attributes_type", "dict_type", "mapping_type"}:
        return f"must be a mapping (`key: value`), not {_found(found)}"
    if kind in {"list_type", "tuple_type"}:
        return f"must be a list, not {_found(found)}"
    if kind == "told":
        return error["msg"]
    return f"is not valid ({key or 'value'}: {kind.replace('_', ' ')})"


def policy_error(
    error: ValidationError,
    *,
    where: str = "",
    line_of: Callable[[Location], str] | None = None,
) -> PolicyError:
    """Return the first problem of a rejected policy as one sentence."""
    first = error.errors(include_url=False)[0]
    path = key_path(first["loc"])
    reason = _reason(first)
    at = (*path, *([first["ctx"]["key"]] if "key" in first.get("ctx", {}) else []))  # an unknown key has its own line
    start = ": ".join(part for part in (where, (line_of(at) if line_of else "")) if part)
    subject = show_path(path) or "the policy"
    return PolicyError(f"{start + ': ' if start else ''}{subject} {reason}.".replace("?.", "?"))
