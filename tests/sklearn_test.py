"""The scikit-learn transformer: scikit-learn's own checks, and a training table that is k-anonymous as it is shown."""

import sys
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import kveil
from kveil.sklearn import Anonymizer

RANDOM = np.random.default_rng(7)
TRAIN, TEST = RANDOM.normal(size=(120, 3)), RANDOM.normal(size=(40, 3)) * 3


def test_the_checks_of_scikit_learn_pass() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # checks that need other libraries say that they are skipped
        for estimator, check in estimator_checks_generator(Anonymizer(k=2, steps=8), mark=None):
            try:
                check(estimator)
            except Exception as error:
                if type(error).__name__ != "SkipTest":
                    raise


@pytest.mark.parametrize("algorithm", [None, "datafly"])
@pytest.mark.parametrize("k", [2, 5, 20])
def test_the_training_table_is_k_anonymous_as_it_is_shown(k: int, algorithm: str | None) -> None:
    shown = Anonymizer(k=k, algorithm=algorithm).fit_transform(TRAIN)
    _, sizes = np.unique(shown, axis=0, return_counts=True)
    assert sizes.min() >= k
    assert len(sizes) > 1


def test_new_records_are_shown_as_the_training_table_was() -> None:
    fitted = Anonymizer(k=5).fit(TRAIN)
    shown = fitted.transform(TEST)
    for column in range(3):
        assert set(shown[:, column]) <= set(fitted.transform(np.sort(TRAIN, axis=0))[:, column]) | set(
            fitted.transform(np.linspace(fitted.low_, fitted.high_, 500))[:, column]
        )
    inside = np.clip(TEST, fitted.low_, fitted.high_)
    assert np.array_equal(shown, fitted.transform(inside))  # beyond the ends is at the ends
    assert fitted.release_["guarantees"][0]["holds"]


def test_it_is_a_step_of_a_pipeline() -> None:
    target = (TRAIN[:, 0] > 0).astype(int)
    model = make_pipeline(Anonymizer(k=3), LogisticRegression()).fit(TRAIN, target)
    assert model.score(TRAIN, target) > 0.8


def test_fewer_records_than_k_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer than k = 500"):
        Anonymizer(k=500).fit(TRAIN)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "kveil.sklearn")
    with pytest.raises(ImportError, match=r"pip install 'kveil\[sklearn\]'"):
        __import__("kveil.sklearn")
    assert kveil.__version__
