"""`kveil init`: look at a file, suggest a policy, make sure that it runs, write it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

from kveil.algorithms.registry import algorithms_honouring
from kveil.choose import MOST_EFFORT, Allowance, trials
from kveil.databases import Place
from kveil.errors import DataError, FileError, KveilError, NotVerified
from kveil.files import PLAIN_LAYOUT, FileLayout, Outputs, Source, kind_of, with_likely_points, write_table
from kveil.files.without_names import read_headless
from kveil.flow.steps.cancelling import check_process
from kveil.flow.steps.inputs import read_any
from kveil.flow.steps.outputs import check_new
from kveil.frames import from_frame
from kveil.policy.model import Policy
from kveil.policy.yaml_text import scalar
from kveil.progress import Progress, silent
from kveil.report.warn.sheets import sheets_left_aside
from kveil.suggestion import Suggestion, policy_text, suggest
from kveil.suggestion.propose import Correct
from kveil.suggestion.write import path_from_folder
from kveil.table.encode import encode
from kveil.table.table import Table

LIMITS = ("0.05", "0.2", "1")
FEW_MODELS = 3
PATIENCE = 60.0  # seconds
SMALL = 2_000  # records


class GuessedColumn(TypedDict):
    """What was guessed about a column, why, where its hierarchy comes from, and whether somebody should look at it."""

    column: str
    role: str
    reason: str
    hierarchy: str | None
    doubtful: bool


class Guesses(TypedDict):
    """A suggested policy as plain data: the guesses it is made of, its text, and the names of files beside it."""

    columns: list[GuessedColumn]
    k: int
    files: list[str]
    copy: str | None
    policy: str
    warnings: list[str]


@dataclass(frozen=True)
class SuggestedPolicy:
    """A suggested policy: its text, the hierarchy files beside it, and the guesses it is made of."""

    suggestion: Suggestion
    text: str
    files: dict[str, str]
    copy: str | None = None  # the table with names, where they were given by hand

    @property
    def policy(self) -> Policy:
        """The policy that the text writes."""
        return Policy.parse(self.text, "the suggested policy", Path(), self.files)

    def as_json(self) -> Guesses:
        """Return the guesses as plain data, with the policy's text."""
        return {
            "columns": [
                {
                    "column": guess.name,
                    "role": guess.role,
                    "reason": guess.reason,
                    "hierarchy": None if guess.way is None else guess.way.reason,
                    "doubtful": guess.doubtful or (guess.way is not None and guess.way.doubtful),
                }
                for guess in self.suggestion.guesses
            ],
            "k": self.suggestion.k,
            "files": sorted(self.files),
            "copy": self.copy,
            "policy": self.text,
            "warnings": sheets_left_aside(self.suggestion.source),
        }


def _read_back(started: SuggestedPolicy, folder: Path) -> Table:
    """Make sure that the policy reads and that every value has its place in it."""
    try:
        policy = Policy.parse(started.text, "the suggested policy", folder, started.files)
        return encode(started.suggestion.source, policy)
    except KveilError as error:
        raise NotVerified(
            f"kveil suggested a policy that does not run ({str(error).rstrip('.')}); nothing was written. This is a "
            "defect of kveil: please report it."
        ) from None


def _can_be_met(table: Table) -> bool:
    """Tell whether some algorithm meets the policy; on a large table, one that takes too long is taken to.

    On a small one nothing takes long but compiling loops for the first time, which proves nothing.
    """
    honoured = algorithms_honouring(table.policy)
    # One whose effort may explode proves nothing by taking long, and has no time limit on a small table.
    able = [a for a in honoured if a.effort is None or a.effort(table) <= MOST_EFFORT] or honoured
    able.sort(key=lambda algorithm: algorithm.name != "mondrian")  # the quickest of those that honour most
    patience = PATIENCE if table.records > SMALL else None
    ran = trials(table, able, {}, silent, Allowance(patience))
    return any(trial.solved is not None or trial.late for trial in ran)


def suggest_policy(frame: Any) -> SuggestedPolicy:
    """Look at a pandas, Polars or PyArrow table and suggest a policy that runs on it.

    ``policy`` of what is returned is the policy, ``text`` the commented file that writes it; every line is a guess.
    """
    check_process()
    return _suggested(suggest(with_likely_points(from_frame(frame))), None, Path(), None)


@dataclass(frozen=True)
class FileForm:
    """What a file does not say of itself: how it is laid out, and names for columns that it has none of.

    Where names are given, the lines that the layout skips stand above the first record.
    """

    columns: Sequence[str] | None = None
    layout: FileLayout = PLAIN_LAYOUT


LONGEST_KEY = 1000  # characters as YAML writes them; its readers look no further than 1,024 for the end of a key


def start(
    data: Place,
    output: Path | None,
    *,
    force: bool = False,
    correct: Correct | None = None,
    form: FileForm = FileForm(),  # noqa: B008 (frozen)
    progress: Progress = silent,
) -> SuggestedPolicy:
    """Suggest a policy for a file and write it, with its hierarchy files, where an output is named.

    Nothing that exists is replaced unless forced, since somebody may have worked on it, and never the table itself. A
    file without a line of names is given some by its ``form``; a copy with them is written beside the policy, which
    then speaks of the copy.
    """
    copy = None if form.columns is None else _copy_of(data, output)
    read = [data] if isinstance(data, Path) else []
    check_new([path for path in (output, copy) if path is not None], read, force=force)
    folder = output.parent if output is not None else Path.cwd()
    progress("reading")
    source = _read(data, form)
    _check_names(source)
    progress("looking at the columns")
    suggestion = suggest(source, correct)
    progress("trying the policy")
    started = replace(_suggested(suggestion, copy or data, folder, output), copy=None if copy is None else copy.name)
    check_new([folder / name for name in started.files], read, force=force)
    if output is not None:
        with Outputs() as outputs:
            for name, content in started.files.items():
                outputs.write(outputs.open(folder / name), content.encode())
            if copy is not None:
                write_table(source.frame, outputs.open(copy, private=True), copy, separator=source.separator)
            outputs.write(outputs.open(output), started.text.encode())
            outputs.commit()
    return started


def _read(data: Place, form: FileForm) -> Source:
    """Read a table; where its line of names cannot be used, say how to give other names."""
    if form.columns is not None:
        if not isinstance(data, Path):
            raise DataError("a table of a database has names of columns; leave --columns out.")
        if form.layout.sheet is not None:
            raise DataError("a sheet of a workbook has names of columns in a row of its own; leave --columns out.")
        return replace(
            read_headless(data, form.columns, skip=form.layout.skip, encoding=form.layout.encoding), encoding="utf-8"
        )  # as the copy is
    try:
        return with_likely_points(read_any(data, layout=form.layout))
    except FileError:  # it is not there, or no table: other names for its columns would not help
        raise
    except DataError as error:
        if not isinstance(data, Path) or not data.is_file() or kind_of(data) != "csv":
            raise  # its names do not stand in a line that could be left out
        above = form.layout.skip + 1
        raise DataError(
            f"{str(error).rstrip('.')}, or name all columns with --columns and leave that line out with --skip {above}."
        ) from None


def _check_names(source: Source) -> None:
    """Raise DataError where a column's name is too long for a key of YAML."""
    for number, name in enumerate(source.frame.columns, start=1):
        if len(scalar(name)) > LONGEST_KEY:
            raise DataError(
                f"{source.name}: the name of column {number} takes {len(scalar(name)):,} characters in a policy, "
                f"which can have names of up to {LONGEST_KEY:,}; give it a shorter one."
            )


def _copy_of(data: Place, output: Path | None) -> Path:
    """Return where the copy with names goes."""
    if output is None:
        raise FileError("--columns writes a copy of the table with its names beside the policy; give -o too.")
    return output.parent / f"{data.stem if isinstance(data, Path) else 'table'}-named.csv"


def _written(data: Place | None, folder: Path) -> str | None:
    """Return a table's place as a policy in a folder writes it."""
    if data is None:
        return None
    return path_from_folder(data, folder) if isinstance(data, Path) else data.written_from(folder)


def _suggested(suggestion: Suggestion, data: Place | None, folder: Path, output: Path | None) -> SuggestedPolicy:
    """Return the policy with the first suppression limit under which it can be met.

    Where the table cannot keep a model for every sensitive attribute, it is asked for those of a few.
    """
    asked = sum(model.model is not None for model in suggestion.models)
    tried = [(asked, limit) for limit in LIMITS[:-1]] if asked > FEW_MODELS else []
    tried += [(min(asked, FEW_MODELS), limit) for limit in LIMITS]
    for most, limit in tried:
        limited = replace(suggestion, limit=limit, most=most)
        text, files = policy_text(limited, _written(data, folder), None if output is None else output.stem)
        started = SuggestedPolicy(limited, text, files)
        if _can_be_met(_read_back(started, folder)):
            break
    return started
