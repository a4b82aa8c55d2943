"""Platforms on which private files would not be private are refused."""

from __future__ import annotations

import sys

import pytest

from kveil.platforms import check_platform


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_linux_and_macos_are_fine(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    check_platform()


def test_windows_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="install it inside WSL"):
        check_platform()
