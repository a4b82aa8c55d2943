"""How well a model that is trained on a release predicts original records that it has never seen.

A third of the records is held out before anything is released. A model is trained on each release of the others, one
more on the others as they were, and all are tested on what was held out. A generalized value is what it stands for: a
share of each of its leaves. scikit-learn does the training, out of the extra `sklearn`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
import polars as pl

from kveil.arrays import Floats, Longs
from kveil.errors import DataError, PolicyError
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.policy.numbers import parse_number
from kveil.table.solution import Solution
from kveil.table.table import Table
from kveil.table.tree import Tree
from kveil.utility.leaf_runs import LeafRuns, spans_of_solution
from kveil.words import did_you_mean, listing

HELD_OUT = 3  # one record of so many
BINS = 30  # runs of leaves that a quasi-identifier becomes features of; as many texts of another column
CLASSES = 20  # more values of a column of numbers are predicted as numbers
LEAST = 60  # records


class PredictionFigures(TypedDict):
    """What was predicted: the column, the score's name, the score without anonymization, and how many were held out."""

    column: str
    measure: str
    original: float
    held_out: int


@dataclass(frozen=True)
class Question:
    """A column to predict: the part of the table that is released, and the part that is held out."""

    column: str
    train: Source
    test: Source
    numeric: bool

    @property
    def measure(self) -> str:
        """The score: R² for numbers, AUC for two values, accuracy for more."""
        return "R²" if self.numeric else "AUC" if self.train.texts(self.column).n_unique() == 2 else "accuracy"


def ask(source: Source, policy: Policy, column: str) -> Question:
    """Hold out a third of a table; raise where the column cannot be predicted from a release."""
    if column not in policy.attributes:
        hint = did_you_mean(column, policy.attributes)
        raise PolicyError(f"--predict names {column!r}, which is no attribute of the policy{hint or '.'}")
    role = policy.attributes[column].role
    if role not in {"sensitive", "insensitive"}:
        able = policy.with_role("sensitive") + policy.with_role("insensitive")
        raise PolicyError(
            f"--predict names {column}, a column of role {role}, which is not released as it is; name one of "
            f"{listing(able) or 'those that are, of which there is none'}."
        )
    if policy.with_role("individual"):
        raise PolicyError("--predict is for one record per person; leave it out where the policy names individuals.")
    if source.rows < LEAST:
        raise DataError(f"--predict needs at least {LEAST} records, and {source.name} has {source.rows}; leave it out.")
    order = np.random.default_rng(int(policy.seed)).permutation(source.rows)
    cut = source.rows // HELD_OUT
    texts = source.texts(column).drop_nulls().unique().to_list()
    numeric = len(texts) > CLASSES and all(parse_number(text) is not None for text in texts)
    if len(texts) < 2:
        raise DataError(f"--predict names {column}, which has one value only; name another column.")
    train, test = (_rows_of(source, np.sort(rows)) for rows in (order[cut:], order[:cut]))
    return Question(column, train, test, numeric)


def _rows_of(source: Source, rows: Longs) -> Source:
    return replace(source, frame=source.frame[rows], native=None)


@dataclass(frozen=True)
class Examiner:
    """Scores releases of one table: features of the records held out are made once."""

    question: Question
    table: Table
    original: float

    @classmethod
    def of(cls, question: Question, table: Table) -> Examiner:
        """Train on the records as they were, for comparison."""
        examiner = cls(question, table, 0.0)
        leaves = table.leaves.astype(np.int64)
        whole = LeafRuns(leaves, leaves, np.arange(table.rows), tuple(t.leaves for t in table.trees))
        return replace(examiner, original=examiner._score(whole))

    def figures(self) -> PredictionFigures:
        """Return what is asked, and the score without anonymization."""
        question = self.question
        return {
            "column": question.column,
            "measure": question.measure,
            "original": self.original,
            "held_out": question.test.rows,
        }

    def score(self, solution: Solution) -> float | None:
        """Return the score of a model trained on a release; None where too little of it is left to learn from."""
        runs = spans_of_solution(self.table, solution)
        return self._score(runs) if len(runs.rows) else None

    def _score(self, runs: LeafRuns) -> float:
        train, test = self.question.train, self.question.test
        policy = self.table.policy
        others = [
            name
            for name in policy.with_role("insensitive") + policy.with_role("sensitive")
            if name != self.question.column
        ]
        seen = [_spread(runs.first[i], runs.last[i], n) for i, n in enumerate(runs.leaves)]
        asked = [
            _spread(leaf, leaf, tree.leaves) for leaf, tree in zip(self._leaves(test), self.table.trees, strict=True)
        ]
        for name in others:
            columns = _unchanged(train.texts(name)[runs.rows], test.texts(name))
            seen.append(columns[0])
            asked.append(columns[1])
        if not seen:
            raise DataError("--predict has no released column to predict from; leave it out.")
        target = train.texts(self.question.column)[runs.rows].fill_null("").to_list()
        truth = test.texts(self.question.column).fill_null("").to_list()
        return _fit_and_score(np.hstack(seen), target, np.hstack(asked), truth, self.question.measure)

    def _leaves(self, test: Source) -> list[Longs]:
        """Return the leaves of the records held out, -1 for values that the released part has not."""
        found = []
        for name, tree in zip(self.table.names, self.table.trees, strict=True):
            if isinstance(tree, Tree):
                place = {tree.labels[node]: leaf for leaf, node in enumerate(tree.leaf_nodes.tolist())}
            else:
                place = {str(number): leaf for leaf, number in enumerate(tree.numbers)}
            gone = -1 if tree.missing is None else tree.missing
            missing = dict.fromkeys(self.table.policy.data.missing, gone)
            texts = test.texts(name).fill_null(self.table.policy.data.missing[0]).to_list()
            found.append(np.array([missing.get(text, place.get(text, -1)) for text in texts], dtype=np.int64))
        return found


def _spread(first: Any, last: Any, leaves: int) -> Floats:
    """Return for every row how its run of leaves spreads over bins of them, and where its middle lies; 0 for -1."""
    bins = min(leaves, BINS)
    edges = np.linspace(0, leaves, bins + 1)
    low, high = np.asarray(first, dtype=np.float64)[:, None], np.asarray(last, dtype=np.float64)[:, None] + 1
    inside = np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1])
    shares = np.maximum(inside, 0) / (high - low)
    middle = (low + high) / 2 / max(leaves, 1)
    known = low >= 0
    return np.where(known, np.hstack([shares, middle]), 0.0)


def _unchanged(train: pl.Series, test: pl.Series) -> tuple[Floats, Floats]:
    """Return the features of a column that is released as it is: numbers as such, texts by the most frequent ones."""
    distinct = train.drop_nulls().unique().to_list()
    numbers = {text: parse_number(text) for text in distinct}
    if len(distinct) > CLASSES and all(number is not None for number in numbers.values()):
        return _numbers(train), _numbers(test)
    top = train.drop_nulls().value_counts(sort=True).head(BINS)[:, 0].to_list()

    def flags(texts: pl.Series) -> Floats:
        return np.array([[float(text == value) for value in top] for text in texts.to_list()]).reshape(
            len(texts), len(top)
        )

    return flags(train), flags(test)


def _numbers(texts: pl.Series) -> Floats:
    values = [parse_number(text) if text is not None else None for text in texts.to_list()]
    return np.array([[0.0, 1.0] if value is None else [float(value), 0.0] for value in values]).reshape(len(texts), 2)


def _fit_and_score(seen: Floats, target: list[str], asked: Floats, truth: list[str], measure: str) -> float:
    try:
        from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
        from sklearn.metrics import accuracy_score, r2_score, roc_auc_score
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError:
        raise DataError("--predict needs scikit-learn; install it with pip install 'kveil[sklearn]'.") from None
    if measure == "R²":
        values = [[float(parse_number(text) or 0) for text in texts] for texts in (target, truth)]
        model = make_pipeline(StandardScaler(), Ridge()).fit(seen, values[0])
        return float(r2_score(values[1], model.predict(asked)))
    if len(set(target)) < 2:  # suppression left one value alone: nothing can be told apart
        return 0.5 if measure == "AUC" else float(np.mean([text == target[0] for text in truth]))
    if measure == "AUC":
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(seen, target)
        return float(roc_auc_score([text == model.classes_[1] for text in truth], model.predict_proba(asked)[:, 1]))
    model = make_pipeline(StandardScaler(), RidgeClassifier()).fit(seen, target)  # of many classes the quickest
    return float(accuracy_score(truth, model.predict(asked)))
