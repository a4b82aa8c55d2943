"""Anonymization as a step of a scikit-learn pipeline: levels are found on the training data and applied to any other.

    from kveil.sklearn import Anonymizer
    make_pipeline(Anonymizer(k=5), LogisticRegression()).fit(X, y)

Every column gets one level of generalization for all records, so that new records are shown in the same way. The
promise is about the training data: it is k-anonymous as ``transform`` shows it.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Self

import numpy as np
import polars as pl

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError(
        "kveil.sklearn needs scikit-learn, which is not installed; install it with pip install 'kveil[sklearn]'."
    ) from None

from kveil.errors import KveilError
from kveil.flow.anonymize import anonymize
from kveil.policy.attributes import Attribute, Intervals
from kveil.policy.keys import AlgorithmChoice, ReleaseForm
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number
from kveil.policy.privacy import KAnonymity

STEPS = 64  # of the finest intervals that numbers are cut into
MOST_LEVELS = 100_000  # combinations of levels up to which all are searched for the best
NAME = "x{}"


class Anonymizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Shows every number as the middle of an interval, so coarse that at least ``k`` training records look alike.

    ``steps`` is how many intervals the finest level cuts the training data's range of a column into; each further
    level doubles their width. ``algorithm`` is one that shows a column at one level; by default `incognito`, and
    `datafly` where there are too many columns for it. ``levels_`` has the level of each column after ``fit``,
    ``release_`` the account of the verified release that it was found by. Numbers outside of the range that was
    trained on count as its ends.
    """

    def __init__(self, k: int = 5, *, steps: int = STEPS, algorithm: str | None = None) -> None:
        self.k = k
        self.steps = steps
        self.algorithm = algorithm

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 (scikit-learn's names)
        """Find the levels under which every record of a table has at least ``k`` - 1 others that look alike."""
        table = self._numbers(X, ensure_min_samples=2)
        self.low_, self.high_ = table.min(axis=0), table.max(axis=0)
        cells = self._cells(table)
        frame = pl.DataFrame({NAME.format(i): cells[:, i] for i in range(cells.shape[1])})
        try:
            result = anonymize(frame, self._policy(frame))
        except KveilError as error:
            raise ValueError(str(error)) from None
        self.release_ = result.account
        self.levels_ = np.array([self._level(result.data[name]) for name in frame.columns], dtype=np.int64)
        return self

    def _numbers(self, table: Any, **checks: Any) -> Any:
        """Return a table as scikit-learn checks it; say of texts what to do about them, and not which they are."""
        try:
            return validate_data(self, table, dtype=np.float64, **checks)
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            raise ValueError(
                "Anonymizer shows numbers, and the table has cells that are none: encode columns of texts first, for "
                "example by OrdinalEncoder, or give Anonymizer the columns of numbers alone by ColumnTransformer."
            ) from None

    def _policy(self, frame: pl.DataFrame) -> Policy:
        top = self._top()
        widths = tuple(Decimal(1 << level) for level in range(1, top + 1)) or (Decimal(1),)
        usual = "incognito" if (top + 2) ** frame.width <= MOST_LEVELS else "datafly"
        intervals = Intervals(**{"from": Decimal(0), "to": Decimal(1 << top), "widths": widths})
        return Policy(
            attributes={name: Attribute(role="quasi-identifier", hierarchy=intervals) for name in frame.columns},
            privacy=(KAnonymity(k=self.k),),
            release=ReleaseForm(order="keep"),
            algorithm=AlgorithmChoice(name=self.algorithm or usual),
        )

    def _top(self) -> int:
        """Return the level at which one interval has all steps."""
        return max(int(np.ceil(np.log2(max(self.steps, 1)))), 0)

    def _level(self, shown: pl.Series) -> int:
        """Return how often a column's intervals were doubled, by the labels it shows."""
        label = str(shown[0])
        if label == "*":
            return self._top() + 1
        if parse_number(label) is not None:
            return 0
        low, _, high = label.partition("-")
        return int(np.log2(int(high) - int(low) + 1))

    def _cells(self, table: Any) -> Any:
        """Return the number of the finest interval that each value lies in."""
        span = self.high_ - self.low_
        share = np.divide(table - self.low_, span, out=np.zeros_like(table), where=span > 0)
        return np.clip((share * self.steps).astype(np.int64), 0, self.steps - 1)

    def transform(self, X: Any) -> Any:  # noqa: N803 (scikit-learn's names)
        """Show records at the levels that were found: each number as the middle of its interval."""
        check_is_fitted(self)
        table = self._numbers(X, reset=False)
        width = np.left_shift(1, np.minimum(self.levels_, self._top()))
        first = self._cells(table) // width * width
        middle = (first + np.minimum(first + width, self.steps)) / 2
        whole = self.levels_ > self._top()
        middle[:, whole] = self.steps / 2
        return self.low_ + middle / self.steps * (self.high_ - self.low_)
