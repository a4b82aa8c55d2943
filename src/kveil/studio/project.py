"""A project: a folder with a policy and its hierarchy files. The policy's text is the truth, every step can be undone.

Each state has a number. Every change names the number it is based on, so that two tabs, or a tab of yesterday's
server, cannot overwrite each other. Everything is on the disk at once; undo and redo live in memory.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

from kveil.errors import FileError, KveilError
from kveil.free_form import Content
from kveil.policy.attributes import HierarchyFile
from kveil.policy.lines import Lines
from kveil.policy.model import Policy
from kveil.studio.answers import Stale, answer_error
from kveil.studio.edit import Change, compose, content, edit_text
from kveil.studio.page_data import ProjectState
from kveil.studio.yaml_places import notes_above

MOST_STEPS = 500
MOST_BYTES = 64_000_000
AS_DECIDED = "As decided."
CHECK = "CHECK: "


def save(path: Path, raw: bytes, *, mode: int = 0o600) -> None:
    """Write a file whole or not at all; a file that exists keeps its permissions."""
    try:
        if path.exists():
            mode = path.stat().st_mode & 0o777
        descriptor, name = tempfile.mkstemp(prefix=".kveil-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                os.fchmod(descriptor, mode)
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"{path.name} cannot be written ({error.strerror}); check the folder and its space.") from None


@dataclass(frozen=True)
class Step:
    """One change that can be undone: the policy before and after, and the files beside it that it touched."""

    words: str
    before: str
    after: str
    files: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    lost: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How much memory it takes, about."""
        inner = sum(len(text or "") for pair in self.files.values() for text in pair)
        return len(self.before) + len(self.after) + inner


@dataclass
class Project:
    """An open policy: its file, its text, and the steps that led here."""

    path: Path
    text: str
    _: KW_ONLY
    number: int = 1
    steps: list[Step] = field(default_factory=list)
    done: int = 0  # steps that are in force; those behind it were undone
    suggested: set[str] = field(default_factory=set)  # notes that kveil wrote, which a decision makes stale
    seen: bytes = b""  # what was last read from, or written to, the disk
    _shown: tuple[tuple[int, dict[str, str]], ProjectState] | None = None  # the state as it was last shown
    _content: tuple[str, Content] | None = None  # what a text says, for the text that was last asked about
    _trees: dict[tuple[str, str], Lines | None] = field(default_factory=dict)  # by file and when it was changed

    @classmethod
    def opened(cls, path: Path) -> Project:
        """Open a policy file, whatever its state; a text that is no policy can be mended in the page."""
        raw = _read(path)
        return cls(path, _decoded(raw, path.name), seen=raw)

    @property
    def folder(self) -> Path:
        """The folder that the policy's paths start from."""
        return self.path.parent

    @property
    def content(self) -> Content:
        """What the text says, as plain data; nobody changes it."""
        if self._content is None or self._content[0] != self.text:
            self._content = self.text, content(self.text)
        return self._content[1]

    @property
    def attributes(self) -> Content:
        """What the text says of each column; nothing where it says that in a form that no policy has."""
        attributes = self.content.get("attributes")
        return attributes if isinstance(attributes, dict) else {}

    def file(self, name: str) -> str | None:
        """Return a file beside the policy, None where there is none."""
        path = self.folder / name
        return _decoded(_read(path), name) if path.exists() else None

    # ------------------------------------------------------------------------------------------ changing

    def expect(self, number: int) -> None:
        """Refuse a change that is based on another state than this one."""
        if number != self.number:
            raise Stale

    def change(self, changes: list[Change], words: str) -> None:
        """Make changes that the form asks for."""
        done = edit_text(self.text, changes)
        if done.text != self.text:
            self.take(self.after_roles(done.text, changes), words, lost=done.lost)

    def take(
        self, text: str, words: str, *, files: Mapping[str, str] | None = None, lost: tuple[str, ...] = ()
    ) -> None:
        """Take a new text, with files beside the policy that change with it, as one step; it must be YAML."""
        compose(text)
        touched = {name: (self.file(name), new) for name, new in (files or {}).items()}
        step = Step(words, self.text, text, touched, lost)
        self._write(text, {name: after for name, (_, after) in touched.items()})
        del self.steps[self.done :]
        self.steps.append(step)
        while len(self.steps) > MOST_STEPS or (len(self.steps) > 1 and sum(s.size for s in self.steps) > MOST_BYTES):
            del self.steps[0]
        self.done = len(self.steps)

    def undo(self) -> str | None:
        """Take the last step back; return its words."""
        if not self.done:
            return None
        step = self.steps[self.done - 1]
        self._write(step.before, {name: before for name, (before, _) in step.files.items()})
        self.done -= 1
        return step.words

    def redo(self) -> str | None:
        """Make the step that was last taken back; return its words."""
        if self.done == len(self.steps):
            return None
        step = self.steps[self.done]
        self._write(step.after, {name: after for name, (_, after) in step.files.items()})
        self.done += 1
        return step.words

    def _write(self, text: str, files: Mapping[str, str | None]) -> None:
        for name, new in files.items():
            if new is None:
                (self.folder / name).unlink(missing_ok=True)
            else:
                save(self.folder / name, new.encode())
        raw = text.encode()
        save(self.path, raw)
        self.text, self.seen = text, raw
        self.number += 1

    def look(self) -> bool:
        """Take up a change that an editor made to the file; return whether there was one."""
        try:
            raw = self.path.read_bytes()
        except OSError:
            return False
        if raw == self.seen:
            return False
        self.seen = raw
        try:
            text = _decoded(raw, self.path.name)
            compose(text)
        except KveilError:
            return False  # half-written, perhaps; it is looked at again
        del self.steps[self.done :]
        self.steps.append(Step("changed outside this page", self.text, text))
        self.done = len(self.steps)
        self.text = text
        self.number += 1
        return True

    def after_roles(self, text: str, changes: list[Change]) -> str:
        """Replace the reasons that kveil suggested for roles which were now decided; words of people stay."""
        names = [
            str(c.path[1]) for c in changes if c.path[0] == "attributes" and len(c.path) >= 3 and c.path[2] == "role"
        ]
        return self.decided(text, names) if names else text

    def decided(self, text: str, names: list[str], *, looked_right: bool = False) -> str:
        """Return a text in which columns are no longer marked as guesses: what was suggested has been decided."""
        notes = notes_above(text, _attribute_keys(text))
        for name in sorted((n for n in names if n in notes), key=lambda n: -notes[n].start):
            note = notes[name]
            if looked_right or note.words not in self.suggested:
                new = text[note.start : note.end].replace(CHECK, "")
            else:
                lines = text[note.start : note.end].splitlines(keepends=True)
                indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
                end = "\r\n" if lines[-1].endswith("\r\n") else "\n"
                new = f"{indent}# {AS_DECIDED}{end}"
            text = text[: note.start] + new + text[note.end :]
        return text

    def noted(self) -> set[str]:
        """Return the words that stand above columns."""
        return {note.words for note in notes_above(self.text, _attribute_keys(self.text)).values()}

    # ------------------------------------------------------------------------------------------ showing

    def state(self) -> ProjectState:
        """Return everything the page shows of the policy: text, content, what is wrong with it, steps."""
        stamps = self.stamps()
        if self._shown is not None and self._shown[0] == (self.number, stamps):
            return self._shown[1]
        error = None
        try:
            self._check(stamps)
        except KveilError as wrong:
            error = answer_error(wrong)
        notes = notes_above(self.text, _attribute_keys(self.text))
        shown: ProjectState = {
            "number": self.number,
            "name": self.path.name,
            "path": str(self.path),
            "shown": f"{self.folder.name}/{self.path.name}",
            "folder": str(self.folder),
            "text": self.text,
            "content": self.content,
            "error": error,
            "notes": {name: note.words.replace(CHECK, "") for name, note in notes.items()},
            "deciding": [name for name, note in notes.items() if CHECK in note.words],
            "undo": self.steps[self.done - 1].words if self.done else None,
            "redo": self.steps[self.done].words if self.done < len(self.steps) else None,
            "steps": [{"words": s.words, "lost": list(s.lost)} for s in self.steps],
            "done": self.done,
            "trees": stamps,
        }
        self._shown = ((self.number, stamps), shown)
        return shown

    def stamps(self) -> dict[str, str]:
        """Return when each hierarchy file that the policy names was last changed."""
        found = {}
        for attribute in self.attributes.values():
            named = attribute.get("hierarchy") if isinstance(attribute, dict) else None
            if isinstance(named, str):
                try:
                    stat = (self.folder / named).stat()
                    found[named] = f"{stat.st_mtime_ns}-{stat.st_size}"
                except (OSError, ValueError):
                    found[named] = "absent"
        return found

    def _check(self, stamps: dict[str, str]) -> None:
        """Check the policy with its hierarchies; files that did not change are not read again."""
        policy = Policy.parse(self.text, self.path.name, self.folder)
        files = {
            name: attribute.hierarchy.path
            for name, attribute in policy.attributes.items()
            if isinstance(attribute.hierarchy, HierarchyFile)
        }
        stamped = {name: (file, stamps.get(file, "")) for name, file in files.items()}
        known = {name: self._trees.get(stamp) for name, stamp in stamped.items()}
        policy.know_lines({name: lines for name, lines in known.items() if lines is not None})
        policy.read_hierarchies()
        self._trees = {stamp: policy.fixed_lines(name) for name, stamp in stamped.items()}


def _attribute_keys(text: str) -> list[Any]:
    for key, value in compose(text).value:
        if key.value == "attributes" and hasattr(value, "value") and isinstance(value.value, list):
            return [pair[0] for pair in value.value if isinstance(pair, tuple)]
    return []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"{path.name} cannot be read ({error.strerror}); check the path.") from None


def _decoded(raw: bytes, name: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FileError(f"{name}: line {line} is not UTF-8; save the file as UTF-8.") from None
