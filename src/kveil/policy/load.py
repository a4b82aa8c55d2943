"""Read a policy file: YAML whose scalars stay texts, with the line of every key at hand for errors."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from kveil.errors import PolicyError
from kveil.policy.hierarchy import read_hierarchies
from kveil.policy.model import Policy
from kveil.policy.wording import Location, policy_error

_OPTIONAL = {
    "data", "dependencies", "suppression", "individual", "release", "loss", "seed", "algorithm",
    "path", "separator", "missing", "limit", "show", "conflicts", "order", "shape",
    "hierarchy", "boundary", "weight",
}  # fmt: skip


def _construct(node: yaml.Node, name: str) -> Any:
    """Return a YAML node as texts, lists and dicts; plain scalars are never numbers, dates or booleans.

    A key with nothing behind it becomes None.
    """
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item, name) for item in node.value]
    assert isinstance(node, yaml.MappingNode)
    found: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise PolicyError(f"{name}: line {key.start_mark.line + 1}: a key must be a text.")
        if key.value == "<<" and key.style is None and isinstance(value, yaml.MappingNode):
            merged |= _construct(value, name)
            continue
        if key.value in found:
            raise PolicyError(
                f"{name}: line {key.start_mark.line + 1}: the key {key.value!r} stands twice in one mapping; keep one."
            )
        blank = isinstance(value, yaml.ScalarNode) and value.value == "" and value.style is None
        found[key.value] = None if blank else _construct(value, name)
    return merged | found


def _without_blanks(value: Any) -> Any:
    """Drop optional keys that have nothing behind them, outside trees."""
    if isinstance(value, list):
        return [_without_blanks(item) for item in value]
    if isinstance(value, dict):
        return {
            key: inner if key == "tree" else _without_blanks(inner)
            for key, inner in value.items()
            if inner is not None or key not in _OPTIONAL
        }
    return value


def _line(root: yaml.Node | None, path: Location) -> str:
    """Return ``line 12`` for the deepest node of a key path that the file has."""
    node, mark = root, root.start_mark if root else None
    for step in path:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if getattr(pair[0], "value", None) == step), None)
            if found is None:
                break
            node, mark = found[1], found[0].start_mark
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.start_mark
        else:
            break
    return f"line {mark.line + 1}" if mark else ""


def parse_policy(text: str, name: str, folder: Path) -> Policy:
    """Return the policy a YAML text writes; ``name`` stands in errors, ``folder`` is where paths start."""
    try:
        root = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "the text cannot be read"
        raise PolicyError(f"{name}: {where}this is not YAML ({problem}); check quotes, colons and indents.") from None
    if not isinstance(root, yaml.MappingNode):
        raise PolicyError(f"{name}: a policy is a YAML mapping that starts with `kveil: 1`.")
    content = _without_blanks(_construct(root, name))
    if "kveil" not in content:
        raise PolicyError(f"{name}: the key kveil is missing; start the policy with `kveil: 1`.")
    try:
        policy = Policy.model_validate(content)
    except ValidationError as error:
        raise policy_error(error, name, lambda path: _line(root, path)) from None
    except PolicyError as error:
        raise PolicyError(f"{name}: {error}") from None
    policy._folder = folder
    policy._sha256 = sha256(text.encode()).hexdigest()
    return policy


def load_policy(path: Path) -> Policy:
    """Read and check a policy file and the hierarchy files it names."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise PolicyError(f"{path.name}: the policy file cannot be read ({error.strerror}); check the path.") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PolicyError(f"{path.name}: line {line} is not UTF-8; save the policy as UTF-8.") from None
    policy = parse_policy(text, path.name, path.parent)
    policy._sha256 = sha256(raw).hexdigest()
    policy._file = path
    read_hierarchies(policy)
    return policy
