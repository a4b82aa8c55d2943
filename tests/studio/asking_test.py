"""What a request says is read with care."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kveil.studio.answers import Told
from kveil.studio.asking import body_of, field, texts


class Asked:
    """A request that carries these bytes, as far as reading goes."""

    def __init__(self, body: Any) -> None:
        self.body = body

    async def json(self) -> Any:
        if isinstance(self.body, Exception):
            raise self.body
        return self.body


def test_a_request_carries_a_mapping() -> None:
    assert asyncio.run(body_of(Asked({"a": 1}))) == {"a": 1}  # type: ignore[arg-type]
    for wrong in ([1], "x", None, ValueError("no JSON")):
        with pytest.raises(Told) as told:
            asyncio.run(body_of(Asked(wrong)))  # type: ignore[arg-type]
        assert told.value.status == 400


@pytest.mark.parametrize(("value", "kind"), [("1", int), (True, int), (None, str), (1, str), ({}, list)])
def test_a_field_of_another_kind_is_refused_by_its_name(value: Any, kind: type) -> None:
    with pytest.raises(Told, match="sent no version"):
        field({"version": value}, "version", kind)
    with pytest.raises(Told, match="sent no version"):
        field({}, "version", kind)


def test_fields_of_the_right_kind_are_given() -> None:
    assert field({"n": 3}, "n", int) == 3
    assert field({"n": True}, "n", bool) is True
    assert texts({"names": ["a", "b"]}, "names") == ["a", "b"]
    with pytest.raises(Told, match="sent no names"):
        texts({"names": ["a", 1]}, "names")
