"""Every key that a policy may have can be set by the form's requests and by text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from policy_keys import keys_in, keys_of_columns_and_promises
from running_studio import Running

POLICIES = [file.read_text() for file in sorted((Path(__file__).parent / "policies").glob("*.yaml"))]


def _said(text: str) -> Any:
    return yaml.load(text, Loader=yaml.BaseLoader)


def _leaves(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every key path that ends in a text or a list, as a form would set it; lists are set whole."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*above, key))
    else:
        yield above, value


def test_the_five_policies_have_every_key_of_columns_and_promises() -> None:
    used = set().union(*(keys_in(_said(text)) for text in POLICIES))
    assert keys_of_columns_and_promises() - used == set()


def test_every_key_can_be_set_by_text(studio: Running) -> None:
    for text in POLICIES:
        state = studio.ask("PUT", "policy/text", {"number": studio.number, "text": text})
        assert state["project"]["error"] is None
        assert state["project"]["content"] == _said(text)
        assert (studio.folder / "policy.yaml").read_text() == text


def test_every_key_can_be_set_by_the_forms_requests_one_by_one(studio: Running) -> None:
    for text in POLICIES:
        studio.ask("PUT", "policy/text", {"number": studio.number, "text": "# nothing yet\nkveil: 1\n"})
        for path, value in _leaves(_said(text)):
            studio.edit({"path": list(path), "value": value})
        state = studio.ask("GET", "state")["project"]
        assert state["content"] == _said(text)
        assert state["error"] is None
        assert state["text"].startswith("# nothing yet\n")
