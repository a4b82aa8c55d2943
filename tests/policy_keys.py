"""The keys that a policy may have, from its schema, and those that one has."""

from __future__ import annotations

from typing import Any

from kveil.policy.model import json_schema

COLUMNS = {"attributes", "tree"}  # their own keys are names of columns and of groups
SETTINGS = ("data", "individual", "release", "suppression")  # mappings of plain values


def settings_of_the_schema() -> dict[tuple[str, ...], dict[str, Any]]:
    """Return the keys with plain values, which the page shows as they stand in the schema: path and schema of each."""
    schema = json_schema()
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for name, part in schema["properties"].items():
        inside = part
        while "$ref" in inside:
            inside = schema["$defs"][inside["$ref"].rsplit("/", 1)[1]]
        if name in SETTINGS:
            found |= {(name, key): _given(below) for key, below in inside["properties"].items()}
        elif name not in ("kveil", "attributes", "privacy", "dependencies", "algorithm"):
            found[name,] = _given(inside)
    return found


def _given(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a key where it is given: one that may be absent has nothing as an alternative."""
    chosen: dict[str, Any] = next((one for one in schema.get("anyOf", []) if one.get("type") != "null"), schema)
    return chosen


def keys_of_columns_and_promises() -> set[str]:
    """Return every key that the schema names for columns and models, at any depth."""
    schema = json_schema()
    found: set[str] = set()

    def walk(part: Any) -> None:
        if isinstance(part, dict):
            properties = part.get("properties")
            if isinstance(properties, dict):
                found.update(properties)
            for inner in part.values():
                walk(inner)
        elif isinstance(part, list):
            for inner in part:
                walk(inner)

    plain = {schema["properties"][name]["$ref"].rsplit("/", 1)[1] for name in SETTINGS}
    walk([part for name, part in schema["$defs"].items() if name not in plain])
    return found


def keys_in(said: Any, *, names: bool = False) -> set[str]:
    """Return every key of a policy's content; names of columns and groups are no keys."""
    if isinstance(said, list):
        return set().union(*(keys_in(inner) for inner in said), set())
    if not isinstance(said, dict):
        return set()
    own = set() if names else set(said)
    below = (keys_in(inner, names=key in COLUMNS and not names) for key, inner in said.items() if key != "tree")
    return own.union(*below)
