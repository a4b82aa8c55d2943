"""A small table with a policy that says who is who, for the tests of archives."""

from __future__ import annotations

from pathlib import Path

import pytest

from small_archives import KEYED
from support import write_policy, write_rows


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a folder with the table and the policy."""
    write_rows(tmp_path / "t.csv")
    write_policy(tmp_path, data=KEYED)
    return tmp_path
