"""The errors of kveil, all of them.

    KveilError            anything kveil refuses or cannot do; one sentence that ends with what to do
    ├── PolicyError       the policy says something that cannot be meant            (exit 2)
    │   └── Refused       an algorithm does not honour a part of the policy         (exit 2)
    ├── DataError         the table does not fit the policy, or cannot be read      (exit 2)
    │   ├── Disagreement  records of one person say different things                (exit 2)
    │   └── FileError     a file cannot be read or written                          (exit 2)
    ├── Cancelled         somebody cancelled the run, or its time was over          (exit 1)
    ├── Unmeetable        the policy is sound, the table readable, the answer is no (exit 1)
    └── NotVerified       the independent check refused a release kveil made        (exit 1)

No message may hold a value of an identifier or individual column, and none repeats the text of a library's
error: those texts quote data.
"""

from __future__ import annotations

from collections.abc import Sequence


class KveilError(Exception):
    """The root of all errors of kveil."""

    exit_code = 2


class PolicyError(KveilError):
    """A policy that is malformed or contradicts itself."""


class Refused(PolicyError):
    """A policy that asks for more than the chosen algorithm, or anything here, honours."""


class DataError(KveilError):
    """A table that does not fit its policy."""


class Disagreement(DataError):
    """Records of one person that differ in ``columns``, which a release about people can show one of.

    ``generalizable`` tells whether the policy may say that what covers all of them is shown; else a column needs
    another role.
    """

    def __init__(self, message: str, *, columns: Sequence[str] = (), generalizable: bool = False) -> None:
        super().__init__(message)
        self.columns = tuple(columns)
        self.generalizable = generalizable


class FileError(DataError):
    """A file that cannot be read or written."""


class Cancelled(KveilError):
    """A run that somebody cancelled, or whose time was over before there was anything to return."""

    exit_code = 1


class Unmeetable(KveilError):
    """A policy that this table cannot meet within the suppression limit.

    ``lost`` is how many records, or individuals, would have to be suppressed, where that is known. ``proved`` tells
    that no release whatever can meet it; else none was found.
    """

    exit_code = 1

    def __init__(self, message: str, lost: int | None = None, *, proved: bool = False) -> None:
        super().__init__(message)
        self.lost = lost
        self.proved = proved


class NotVerified(KveilError):
    """A release of kveil's own making that its verifier refused: a defect of kveil, and nothing was written."""

    exit_code = 1
