"""Read the YAML of a policy: scalars stay texts, with the line of every key at hand for errors."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml

from kveil.errors import PolicyError
from kveil.free_form import Content
from kveil.policy.wording import Location, utf8_text

_OPTIONAL = {
    "data", "dependencies", "suppression", "individual", "release", "loss", "seed", "algorithm",
    "path", "separator", "missing", "key", "sheet", "skip", "previous", "limit", "show", "conflicts", "order", "shape",
    "hierarchy", "boundary", "weight",
}  # fmt: skip
DEEPEST = 100  # brackets inside of brackets
MOST_NODES = 1_000_000  # texts, lists and mappings that a policy comes to once its aliases are written out


class _TooDeep(Exception):
    """Brackets are nested more deeply than anybody writes them."""


class _Loader(yaml.BaseLoader):
    """PyYAML's reader of texts; what it looks ahead for takes time quadratic in the depth of brackets, so it stops."""

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:  # noqa: N803 (PyYAML's name)
        if self.flow_level >= DEEPEST:
            raise _TooDeep
        super().fetch_flow_collection_start(TokenClass)


@dataclass(frozen=True)
class Document:
    """A policy as its YAML says it: texts, lists and dicts, and where each of them stands."""

    name: str
    content: Content
    root: yaml.Node
    sha256: str

    @classmethod
    def parse(cls, text: str, name: str) -> Document:
        """Return what a YAML text says; ``name`` stands in errors."""
        try:
            root = yaml.compose(text, Loader=_Loader)
            if not isinstance(root, yaml.MappingNode):
                raise PolicyError(f"{name}: a policy is a YAML mapping that starts with `kveil: 1`.")
            if _size(root, name) > MOST_NODES:
                raise PolicyError(
                    f"{name}: with its aliases written out it has more than {MOST_NODES:,} texts; write large trees "
                    "as hierarchy files."
                )
            content = _without_blanks(_construct(root, name))
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
            problem = getattr(error, "problem", None) or "the text cannot be read"
            raise PolicyError(
                f"{name}: {where}this is not YAML ({problem}); check quotes, colons and indents."
            ) from None
        except (RecursionError, _TooDeep):
            raise PolicyError(
                f"{name}: it is nested too deeply to be read; write deep trees as hierarchy files."
            ) from None
        if "kveil" not in content:
            raise PolicyError(f"{name}: the key kveil is missing; start the policy with `kveil: 1`.")
        return cls(name, content, root, sha256(text.encode()).hexdigest())

    def line_of(self, path: Location) -> str:
        """Return ``line 12`` for the deepest node of a key path that the file has."""
        node, mark = self.root, self.root.start_mark
        for step in path:
            if isinstance(node, yaml.MappingNode):
                pair = next((pair for pair in node.value if getattr(pair[0], "value", None) == step), None)
                if pair is None:
                    break
                node, mark = pair[1], pair[0].start_mark
            elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
                node = node.value[step]
                mark = node.start_mark
            else:
                break
        return f"line {mark.line + 1}" if mark else ""


def read_document(path: Path) -> Document:
    """Read the YAML of a policy file."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise PolicyError(f"{path.name}: the policy file cannot be read ({error.strerror}); check the path.") from None
    found = Document.parse(utf8_text(raw, path.name, "policy"), path.name)
    return Document(found.name, found.content, found.root, sha256(raw).hexdigest())


def _size(root: yaml.Node, name: str) -> int:
    """Return how many nodes a document has once every alias is written out, without writing them out."""
    sizes: dict[int, int | None] = {}  # None while a node is being counted: whoever meets it there is inside of it

    def count(node: yaml.Node) -> int:
        size = sizes.get(id(node), 0)
        if size is None:
            raise PolicyError(
                f"{name}: line {node.start_mark.line + 1}: an alias stands inside of what it repeats; write it out."
            )
        if not size:
            sizes[id(node)] = None
            inner = node.value if isinstance(node, yaml.SequenceNode) else ()
            if isinstance(node, yaml.MappingNode):
                inner = [part for pair in node.value for part in pair]
            size = sizes[id(node)] = 1 + sum(map(count, inner))
        return size

    return count(root)


def _construct(node: yaml.Node, name: str) -> Any:
    """Return a YAML node as texts, lists and dicts; plain scalars are never numbers, dates or booleans.

    A key with nothing behind it becomes None.
    """
    if isinstance(node, yaml.ScalarNode):
        return str(node.value)
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item, name) for item in node.value]
    assert isinstance(node, yaml.MappingNode)
    written: Content = {}
    merged: Content = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise PolicyError(f"{name}: line {key.start_mark.line + 1}: a key must be a text.")
        if key.value == "<<" and key.style is None and isinstance(value, yaml.MappingNode):
            merged |= _construct(value, name)
            continue
        if key.value in written:
            raise PolicyError(
                f"{name}: line {key.start_mark.line + 1}: the key {key.value!r} stands twice in one mapping; keep one."
            )
        blank = isinstance(value, yaml.ScalarNode) and value.value == "" and value.style is None
        written[key.value] = None if blank else _construct(value, name)
    return merged | written


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
