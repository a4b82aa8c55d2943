"""What a request says, read with care: a page of another version, or a stranger, may have sent it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.requests import Request

from kveil.studio.answers import Told
from kveil.studio.studio import Studio

SHOWN = "kveil-opening"  # the header in which a page says which opening of a table it shows
MOST_DEEP = 40  # mappings and lists inside of each other
MOST_NUMBER = 2**53  # what a browser's numbers hold exactly
DIGITS = 15
PageBody = dict[str, Any]  # what a request says, before its fields are looked at


def studio_of(request: Request) -> Studio:
    """Return the studio that a request is made to."""
    studio: Studio = request.app.state.studio
    return studio


def studio_at(request: Request) -> Studio:
    """Return the studio that a request about the open table is made to; refuse a page that still shows another one."""
    studio = studio_of(request)
    shown = request.headers.get(SHOWN)
    if shown is not None and shown != str(studio.opening):
        raise Told("Another table was opened meanwhile, in another tab; it is shown now.", status=409)
    return studio


async def body_of(request: Request) -> PageBody:
    """Return the mapping that a request carries, of texts and numbers that every part of kveil can take."""
    try:
        body = await request.json()
        fits = isinstance(body, dict) and all(map(_fits, _parts(body)))
    except (ValueError, RecursionError):
        fits = False
    if not fits:
        raise Told("The page sent something that it never sends itself; load it again.", status=400)
    found: PageBody = body
    return found


def _parts(whole: Any) -> Iterator[Any]:
    """Return everything inside a value, keys included; raise ValueError where it is nested as no policy is."""
    inside = [whole]
    for _ in range(MOST_DEEP):
        yield from inside
        here = [value for value in inside if isinstance(value, (dict, list))]
        inside = [part for value in here for part in ([*value, *value.values()] if isinstance(value, dict) else value)]
        if not inside:
            return
    raise ValueError("too deep")


def _fits(part: Any) -> bool:
    if isinstance(part, str):
        return part.isascii() or not any("\ud800" <= char <= "\udfff" for char in part)
    return not isinstance(part, (int, float)) or abs(part) <= MOST_NUMBER  # which NaN and infinities are not


def field(body: PageBody, name: str, kind: type | tuple[type, ...]) -> Any:
    """Return a field of a request's mapping, of the kind it must have."""
    value = body.get(name) if isinstance(body, dict) else None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Told(f"The page sent no {name}; load it again.", status=400)
    return value


def texts(body: PageBody, name: str) -> list[str]:
    """Return a field that must be a list of texts."""
    value = field(body, name, list)
    if not all(isinstance(text, str) for text in value):
        raise Told(f"The page sent no {name}; load it again.", status=400)
    return list(value)


def whole_number(text: str, name: str) -> int:
    """Return a number of an address, such as where a list goes on."""
    if not text.isdecimal() or len(text) > DIGITS:
        raise Told(f"The page sent no {name}; load it again.", status=400)
    return int(text)
