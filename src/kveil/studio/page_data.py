"""What the page gets as JSON, by the names that it reads; the processes that make and hand it on agree by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NotRequired, Required, TypedDict

from kveil.free_form import Content, JsonObject, JsonSchema
from kveil.policy.written import WrittenBuilder

if TYPE_CHECKING:  # the server stays small: what reckons is loaded by the process that holds the table
    from kveil.flow.check import AttributeCheck, PartCheck, PromiseCheck

# ------------------------------------------------------------------------------------------------ refusals


class ColumnsAtOdds(TypedDict):
    """Columns of which a person's records say different things; whether the policy may ask for what covers all."""

    columns: list[str]
    generalizable: bool


class MoreTold(TypedDict, total=False):
    """What a refusal says besides its sentence: its kind, and the line, encoding, file or columns that it is about."""

    kind: str
    line: int | None
    encoding: str | None
    path: str
    disagreement: ColumnsAtOdds


class ToldError(MoreTold):
    """A refusal as the page takes it."""

    told: str


# ------------------------------------------------------------------------------------------------ tables


class TableAsked(TypedDict):
    """Where a table is and how its texts are read, as the process that holds it asks for it."""

    data: Content
    folder: str
    names: list[str]
    opened: int


class ColumnNumbers(TypedDict):
    """A column: how many values it has, None where they are no texts, and how many cells are missing."""

    name: str
    values: int | None
    missing: int


class TableNumbers(TypedDict):
    """What a table is, and every column's numbers; no value of it."""

    name: str
    rows: int
    kind: str
    separator: str | None
    columns: list[ColumnNumbers]


class ReadTable(TableNumbers):
    """The table of the open policy; ``given`` is what the policy says of it."""

    error: None
    given: Content


class ToConfirm(TypedDict):
    """What somebody must look at before it runs: a query, None where it is a table of a server, and its database."""

    database: str
    query: str | None


class UnreadTable(TypedDict):
    """A table that cannot be read, why, the encoding that it seems to be in, and what is to be confirmed first."""

    columns: list[ColumnNumbers]
    rows: int
    name: str
    given: Content | None
    error: str
    encoding: str | None
    confirm: ToConfirm | None


OpenTable = ReadTable | UnreadTable


class ValueCounts(TypedDict):
    """Some values of a column with how often each occurs, and how many values there are."""

    of: int
    values: list[list[str | int]]
    hidden: NotRequired[bool]


class ColumnBins(TypedDict):
    """The numbers of a column in equal parts; ``other`` texts are none, and may be all there are."""

    numbers: bool
    low: NotRequired[float]
    high: NotRequired[float]
    whole: NotRequired[bool]
    width: NotRequired[float]
    bins: NotRequired[list[int]]
    other: int


class SampleRows(TypedDict):
    """The first records; a hidden cell is None."""

    columns: list[str]
    rows: list[list[str | None]]


class ComparedRows(TypedDict):
    """Some records: of every cell what it was and what is released."""

    columns: list[str]
    rows: list[list[list[str]]]


# ------------------------------------------------------------------------------------------------ suggestions and steps


class PolicyFiles(TypedDict):
    """A policy's text, and the files that it names."""

    text: str
    files: dict[str, str]


class SuggestedSteps(TypedDict, total=False):
    """Steps for a column: a builder, or the lines of a tree; and why so."""

    builder: WrittenBuilder
    lines: Sequence[Sequence[str]]
    reason: str


class StepsTree(TypedDict):
    """The tree of a column by its nodes; ranges have none."""

    ranges: bool
    built: NotRequired[bool]
    labels: NotRequired[list[str]]
    parents: NotRequired[list[int]]
    records_below: NotRequired[list[int]]
    values: int
    records: int
    missing: int
    unknown: NotRequired[list[list[str | int]]]
    unknown_values: NotRequired[int]
    unknown_records: NotRequired[int]


class StepsLines(TypedDict):
    """A column's tree as lines, and values that it does not know."""

    lines: list[list[str]]
    unknown: list[str]


class StepsPreview(TypedDict):
    """The ways up of some values, the records of the coarsest groups, and how many values are not known."""

    ways: list[list[str]]
    groups: list[tuple[str, int]]
    unknown: int


# ------------------------------------------------------------------------------------------------ the live check


class NeverKept(TypedDict):
    """Whether a policy can be kept at all: who can never be kept, and which methods can do it."""

    possible: bool
    impossible: list[str]
    impossible_promises: list[PromiseCheck]
    noun: str
    plural: str
    records: int
    never_kept: int
    allowed: int
    algorithms: list[str]
    seconds: float


class ProposedPromise(TypedDict):
    """A promise that the table's rows and values allow, None where they allow none; why not the one asked about."""

    model: Content | None
    why: str | None


class LimitCosts(TypedDict):
    """What each limit costs: who could be kept without it, and with it one step looser."""

    falling: int
    attributes: list[AttributeCheck]
    components: list[PartCheck]
    seconds_of_limits: float


class CheckWaiting(TypedDict):
    """A check that is not done: none, running, or stale, with the seconds that the last one took."""

    state: str
    seconds: NotRequired[float]


class CheckDone(NeverKept):
    """A check of the policy's state ``number``; ``looking`` where the limits are yet to be told."""

    state: str
    number: int
    whole: bool
    looking: bool


class CheckSoon(CheckDone):
    """A check before the limits are looked at, and the seconds that this took the last time."""

    attributes: list[AttributeCheck]
    seconds_of_limits: float


class CheckWhole(CheckDone, LimitCosts):
    """A check with what the limits cost."""


class CheckRefused(ToldError):
    """A check that the policy or the table refused."""

    state: str
    number: int


LiveCheck = CheckWaiting | CheckSoon | CheckWhole | CheckRefused


class Method(TypedDict):
    """An algorithm: what it is, and the schema of its options."""

    name: str
    summary: str
    paper: str
    options: JsonSchema


# ------------------------------------------------------------------------------------------------ jobs and releases


class TellingJob(TypedDict):
    """One run of the command line; ``compared`` has methods that are done, each with the losses of its search."""

    number: int
    kind: str
    state: str
    stage: str
    done: float
    losses: list[tuple[float, float]]
    compared: list[JsonObject]
    told: str
    result: JsonObject | None
    code: int | None
    run: str | None
    seconds: float


class ShownJob(TellingJob):
    """A job of the open table; ``current`` where nothing that its answer depends on has changed since it began."""

    current: bool


class JobElsewhere(TypedDict):
    """A job that is under way for another table, and the policy that opens this one."""

    kind: str
    shown: str
    path: str | None


class RunFile(TypedDict):
    """A file of a release, and whether it may be published."""

    name: str
    size: int
    publish: bool


class ListedRun(TypedDict):
    """A release with its files, the account or receipt as it was written, and the command that makes it again."""

    run: str
    account: JsonObject
    files: list[RunFile]
    command: str
    same_policy: bool


# ------------------------------------------------------------------------------------------------ the project


class FolderEntry(TypedDict):
    """A folder, policy, table or database that can be opened."""

    name: str
    path: str
    kind: str
    size: int | None


class FolderList(TypedDict):
    """A folder's entries; ``one_table`` where they may be parts of one."""

    under: str
    up: str | None
    entries: list[FolderEntry]
    parts: int
    one_table: bool


class ShownStep(TypedDict):
    """One change of the policy, and the comments that went with it."""

    words: str
    lost: list[str]


class ProjectState(TypedDict):
    """Everything the page shows of the policy."""

    number: int
    name: str
    path: str
    shown: str
    folder: str
    text: str
    content: Content
    error: ToldError | None
    notes: dict[str, str]
    deciding: list[str]
    undo: str | None
    redo: str | None
    steps: list[ShownStep]
    done: int
    trees: dict[str, str]


class StudioState(TypedDict):
    """Everything a page needs to start with; ``words`` where a step was taken back or made again.

    Each opening of a table has a number, so that nothing of one table is shown with another; ``told`` counts what pages
    were told, so that of two states the newer one is known.
    """

    root: str
    told: int
    opening: int
    project: ProjectState | None
    table: OpenTable | None
    check: LiveCheck
    jobs: list[ShownJob]
    elsewhere: list[JobElsewhere]
    command: str | None
    words: NotRequired[str]


class Catalogue(TypedDict):
    """What a policy may say."""

    schema: JsonSchema
    algorithms: Sequence[str]
    tables: list[str]
    promises: JsonObject
    worst: JsonObject
    attacks: JsonObject


# ------------------------------------------------------------------------------------------------ the reader


class ReaderAnswer(TypedDict, total=False):
    """A line of the process that holds the table: the answer to a question, or why there is none."""

    id: Required[int]
    answer: object
    refused: ToldError
    defect: str
