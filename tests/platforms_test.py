"""Platforms on which private files would not be private are refused."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kveil.platforms import UNUSED, check_platform, hide_unused, let_blas_sleep, show_unused


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


def test_what_a_host_says_of_blas_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "26")
    let_blas_sleep()
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "26"
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT")
    let_blas_sleep()
    assert os.environ["OPENBLAS_THREAD_TIMEOUT"] == "4"


def test_the_command_line_says_it_before_numpy_is_imported() -> None:
    script = """
import os, sys
sys.argv = ["kveil", "--version"]
from kveil import cli
cli.main = lambda: print("numpy" in sys.modules, os.environ["OPENBLAS_THREAD_TIMEOUT"])
cli.entry()
"""
    environ = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=environ)
    assert done.stdout.split() == ["False", "4"], done.stderr
