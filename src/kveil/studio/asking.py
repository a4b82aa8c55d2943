"""What a request says, read with care: a page of another version, or a stranger, may have sent it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request

from kveil.studio.answers import Told
from kveil.studio.studio import Studio

PageBody = dict[str, Any]  # what a request says, before its fields are looked at


def studio_of(request: Request) -> Studio:
    """Return the studio that a request is made to."""
    studio: Studio = request.app.state.studio
    return studio


async def body_of(request: Request) -> PageBody:
    """Return the mapping that a request carries."""
    try:
        body = await request.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise Told("The page sent something that is no JSON mapping; load it again.", status=400)
    return body


def field(body: PageBody, name: str, kind: type | tuple[type, ...]) -> Any:
    """Return a field of a request's mapping, of the kind it must have."""
    value = body.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Told(f"The page sent no {name}; load it again.", status=400)
    return value


def texts(body: PageBody, name: str) -> list[str]:
    """Return a field that must be a list of texts."""
    value = field(body, name, list)
    if not all(isinstance(text, str) for text in value):
        raise Told(f"The page sent no {name}; load it again.", status=400)
    return list(value)
