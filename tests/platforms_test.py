"""Platforms on which private files would not be private are refused."""

from __future__ import annotations

import sys

import pytest

from kveil.platforms import UNUSED, check_platform, hide_unused, show_unused


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_linux_and_macos_are_fine(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    check_platform()


def test_windows_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="install it inside WSL"):
        check_platform()


def test_only_what_the_command_line_hid_is_shown_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in UNUSED:
        monkeypatch.delitem(sys.modules, name, raising=False)
    hide_unused()
    assert [sys.modules[name] for name in UNUSED] == [None] * len(UNUSED)
    show_unused()
    assert not set(UNUSED) & set(sys.modules)


def test_what_a_host_hid_stays_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    show_unused()
    assert sys.modules["scipy"] is None
    hide_unused()
    show_unused()
    assert sys.modules["scipy"] is None
