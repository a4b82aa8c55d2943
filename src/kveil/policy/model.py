"""A policy as a whole: its keys, checked together, with the hierarchies they name.

Every class is part of the public API; a policy built from them is checked exactly like a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import PrivateAttr, model_validator

from kveil.errors import PolicyError
from kveil.free_form import Content, JsonSchema
from kveil.policy.attributes import HierarchyFile, Tree
from kveil.policy.checks import check_labels, check_policy
from kveil.policy.hierarchy import WaysUp, parse_hierarchy, read_hierarchy_file
from kveil.policy.keys import PolicyKeys
from kveil.policy.lines import Lines, check_lines, collapse
from kveil.policy.load import Document, read_document


class Policy(PolicyKeys):
    """What must hold for a release; read it with `load`, or build it from kveil's classes."""

    if TYPE_CHECKING:  # plain data is taken, too, and checked as it comes

        def __init__(self, /, **values: Any) -> None: ...

    _folder: Path = PrivateAttr(default_factory=Path)
    _sha256: str | None = PrivateAttr(default=None)
    _file: Path | None = PrivateAttr(default=None)
    _content: Content | None = PrivateAttr(default=None)  # the keys as a file writes them
    _texts: dict[str, str] = PrivateAttr(default_factory=dict)  # hierarchy files that are not on the disk, by path
    _lines: dict[str, Lines | None] = PrivateAttr(default_factory=dict)  # hierarchies that do not depend on data

    @model_validator(mode="after")
    def _as_a_whole(self) -> Self:
        check_policy(self)
        return self

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read and check a policy file, with every hierarchy file it names.

        Raises PolicyError with the line, the key path, what was found and what is allowed.
        """
        path = Path(path)
        return cls.of_file(read_document(path), path)

    @classmethod
    def of_file(cls, document: Document, path: Path) -> Policy:
        """Check what the YAML of a policy file says, with every hierarchy file it names."""
        policy = cls._of_document(document, path.parent)
        policy._file = path
        policy.read_hierarchies()
        return policy

    @classmethod
    def parse(cls, text: str, name: str, folder: Path, files: Mapping[str, str] | None = None) -> Policy:
        """Return the policy a YAML text writes; ``name`` stands in errors, ``folder`` is where paths start.

        ``files`` are texts of hierarchy files that are not on the disk, by the path that the policy gives them.
        """
        policy = cls._of_document(Document.parse(text, name), folder)
        policy._texts.update(files or {})
        return policy

    @classmethod
    def _of_document(cls, document: Document, folder: Path) -> Policy:
        policy = cls.read(document.content, document.name, line_of=document.line_of)
        policy._folder = folder
        policy._sha256 = document.sha256
        policy._content = document.content
        return policy

    def within(self, folder: Path) -> Policy:
        """Return the policy with relative paths that start from a folder."""
        policy = self.model_copy()
        policy._folder = folder
        return policy

    @property
    def folder(self) -> Path:
        """The folder that relative paths in the policy start from."""
        return self._folder

    @property
    def files(self) -> list[Path]:
        """The files a policy was read from: its own and those of its hierarchies."""
        named = [a.hierarchy.path for a in self.attributes.values() if isinstance(a.hierarchy, HierarchyFile)]
        return [*([self._file] if self._file else []), *(self._folder / path for path in named)]

    @property
    def sha256(self) -> str:
        """The hash of the policy file as read, or of the policy as JSON where there is no file."""
        if self._sha256 is not None:
            return self._sha256
        return sha256(self.model_dump_json(by_alias=True).encode()).hexdigest()

    @property
    def content(self) -> Content:
        """The keys as a file writes them, which reading the file again gives this policy, but for what was replaced.

        Raises PolicyError where the policy was not read from a file.
        """
        if self._content is None:
            raise PolicyError("the policy was made in Python and has no text to keep; write it as a file and load it.")
        return deepcopy(self._content)

    def know_lines(self, known: Mapping[str, Lines]) -> None:
        """Take the hierarchies of some attributes as known, so that their files are not read again."""
        self._lines.update(known)

    def fixed_lines(self, name: str) -> Lines | None:
        """Return the hierarchy of an attribute that does not depend on data: a file or a `tree`; else None."""
        if name not in self._lines:
            spec = self.attributes[name].hierarchy
            lines: Lines | None = None
            if isinstance(spec, HierarchyFile) and spec.path in self._texts:
                lines = parse_hierarchy(self._texts[spec.path], spec.path)
            elif isinstance(spec, HierarchyFile):
                lines = read_hierarchy_file(self._folder / spec.path, quoted=self._may_quote(name))
            elif isinstance(spec, Tree):
                written = check_lines(map(collapse, spec.paths()), f"attributes.{name}.hierarchy")
                lines = Lines(written, written[0][-1], built=False)
            self._lines[name] = lines
        return self._lines[name]

    def ways_up(self, name: str, values: Iterable[str]) -> WaysUp:
        """Return every value's way up an attribute's hierarchy; ``values`` are the distinct ones of a column.

        They decide how `intervals` are written, and are the leaves where a builder makes the hierarchy.
        """
        return WaysUp(self.attributes[name].hierarchy, self.fixed_lines(name), frozenset(self.data.missing), values)

    def read_hierarchies(self) -> None:
        """Read every hierarchy file, and check what the policy says about its nodes."""
        for name, attribute in self.attributes.items():
            lines = self.fixed_lines(name)
            check_labels(name, attribute, lines, self.data.missing, quoted=self._may_quote(name))

    def _may_quote(self, name: str) -> bool:
        """Tell whether errors may show labels of an attribute's hierarchy: not of files outside the policy's folder."""
        spec = self.attributes[name].hierarchy
        if not isinstance(spec, HierarchyFile):
            return True
        return (self._folder / spec.path).resolve().is_relative_to(self._folder.resolve())

    def _repr_html_(self) -> str:
        from kveil.notebook import policy_html

        return policy_html(self.outline())


def json_schema() -> JsonSchema:
    """Return the JSON Schema of a policy file, for editors."""
    schema = Policy.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "kveil policy"
    schema["required"] = ["kveil", "attributes", "privacy"]
    return schema
