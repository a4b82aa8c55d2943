"""A library that is missing is named, with how it is installed."""

from __future__ import annotations

import pytest

from kveil.errors import FileError
from kveil.files.extras import import_extra


def test_what_is_there_is_returned_and_what_is_not_is_told() -> None:
    assert import_extra(lambda: 7, "such files", "seven") == 7

    def missing() -> int:
        raise ImportError("secret")

    with pytest.raises(FileError, match=r"such files need the library seven, .*pip install 'kveil\[more\]'") as caught:
        import_extra(missing, "such files", "seven", extra="more")
    assert "secret" not in str(caught.value)
