"""What `kveil.anonymize` returns: a verified release in memory."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic

import numpy as np
import polars as pl

from kveil.arrays import Longs
from kveil.engines.memory import numbers_held
from kveil.errors import DataError
from kveil.files import Outputs, Source, frame_of
from kveil.frames import FrameT, from_frame
from kveil.kernels.grouping.members import members_by_group
from kveil.policy.model import Policy
from kveil.report.account import Account
from kveil.report.owner import Owner
from kveil.report.receipt import Receipt
from kveil.verifier.rows import release_rows
from kveil.words import plural_of, row_noun


def without_names(source: Source, policy: Policy) -> Source:
    """Return the columns of a table that a release may show, and numbers in place of who individuals are.

    That is what the owner's report is drawn from; identifiers are not in it.
    """
    columns = [source.frame[name] for name in policy.released]
    if policy.individual_column is not None:
        texts = source.texts(policy.individual_column)
        columns.append(texts.cast(pl.Categorical).to_physical().alias(policy.individual_column))
    return replace(source, frame=frame_of(columns), native=None, sha256=None)


@dataclass(frozen=True)
class Group:
    """Records, or people, that a release shows alike: what each quasi-identifier shows, and their rows in the release.

    Rows are counted from 0; a row of nothing but stars is suppressed.
    """

    shown: dict[str, str]
    rows: Longs

    @property
    def size(self) -> int:
        """How many rows look alike."""
        return len(self.rows)


@dataclass(frozen=True, repr=False)
class Result(Generic[FrameT]):
    """A verified release in memory.

    ``data`` and ``receipt`` may be published; ``account`` is the owner's whole story of the run, and ``owner`` the way
    back to the input. A result keeps no identifier of the original, and a pickled one nothing of it but that way back.
    """

    data: FrameT
    policy: Policy
    account: Account
    receipt: Receipt
    owner: Owner | None
    _original: Source | None = field(default=None, compare=False)

    @cached_property
    def groups(self) -> list[Group]:
        """The equivalence classes of the release over all quasi-identifiers, in the order of their first row."""
        rows = release_rows(from_frame(self.data), self.policy)
        names = rows.texts.columns
        number = (
            rows.texts.select(pl.struct(names).rank("dense")).to_series().to_numpy().astype(np.int64)
            if names
            else np.ones(rows.height, dtype=np.int64)
        )
        of_line = number[rows.row_of]
        members = sorted(members_by_group(of_line).without_empty().split(), key=lambda lines: int(lines[0]))
        shown = (rows.texts.row(int(rows.row_of[lines[0]]), named=True) for lines in members)
        return [Group(texts, lines) for texts, lines in zip(shown, members, strict=True)]

    def report(self, path: str | Path, *, public: bool = False, original: Any = None) -> None:
        """Write the report as one HTML file, for the owner's eyes; ``public`` only what the release tells anyway.

        A result that was pickled has no original: give the table again as ``original`` for the owner's report.
        """
        from kveil.report.page import owners_page, public_page

        release = numbers_held(from_frame(self.data), self.policy)  # as the original is held
        if public:
            page = public_page(self.policy, self.receipt, release)
        else:
            source = self._original
            if original is not None:
                source = numbers_held(without_names(from_frame(original), self.policy), self.policy)
            if source is None:
                raise DataError(
                    "a result that was pickled has no original to draw the owner's report from; give it as "
                    "original=…, or write the report with public=True."
                )
            assert self.owner is not None, "only a frame of Spark has no way back, and no report"
            page = owners_page(self.policy, self.account, release, source, self.owner)
        with Outputs() as outputs:
            outputs.write(outputs.open(Path(path), private=not public), page.encode())
            outputs.commit()

    def __getstate__(self) -> object:
        return {name: value for name, value in self.__dict__.items() if name != "groups"} | {"_original": None}

    def __repr__(self) -> str:
        counts = self.account["individuals"] or self.account["records"]
        noun = plural_of(row_noun(people=bool(self.account["individuals"])))
        return (
            f"Result({counts['released']:,} of {counts['input']:,} {noun} released by {self.account['algorithm']}, "
            "verified)"
        )

    def _repr_html_(self) -> str:
        from kveil.notebook import LossRow, account_html

        account = self.account
        counts = account["individuals"] or account["records"]
        noun = plural_of(row_noun(people=bool(account["individuals"])))
        losses = {"all quasi-identifiers": account["loss"], **account["loss_by_attribute"]}
        return account_html(
            f"{counts['released']:,} of {counts['input']:,} {noun} released",
            f"{counts['suppressed']:,} suppressed by {account['algorithm']}, verified",
            account["guarantees"],
            {name: LossRow(loss["precision"], loss["il_per_cell"], loss["ncp"]) for name, loss in losses.items()},
            account["warnings"],
        )
