"""Which table a use reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from kveil.errors import DataError
from kveil.flow.steps.places import input_path
from support import make_policy


def test_what_is_given_comes_before_what_the_policy_names() -> None:
    policy = make_policy(data={"path": "table.csv"}).within(Path("folder"))
    assert input_path(policy, Path("other.csv")) == Path("other.csv")
    assert input_path(policy, None) == Path("folder/table.csv")
    with pytest.raises(DataError, match=r"names no data\.path; add it, or give --input"):
        input_path(make_policy(), None)
