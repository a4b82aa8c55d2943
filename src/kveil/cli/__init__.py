"""The command line. Nothing heavy is imported before a command needs it.

`main` runs a command and can be called in any process. `entry` is for a process of its own alone: it changes how that
process collects garbage, imports and ends.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from pathlib import Path
from typing import Any, NoReturn

import typer

from kveil.cli.app import app, app_for
from kveil.cli.interrupt import interruptible
from kveil.errors import KveilError
from kveil.platforms import check_platform, hide_unused, let_blas_sleep
from kveil.words import visible

__all__ = ["app", "entry", "main"]

PACKAGE = Path(__file__).resolve().parents[1]
SWITCHED = 0.0005  # seconds after which a thread lets another one go on


def _fail(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"kveil: {visible(message)}\n")
    sys.stderr.flush()
    raise SystemExit(code)


def _misused(error: Any) -> NoReturn:
    """Say a usage error of Typer's in one line; where there were no arguments at all, the help is out already."""
    if type(error).__name__ == "NoArgsIsHelpError":
        raise SystemExit(2)
    message = " ".join(error.format_message().split())
    # Click and Typer both suggest, of several in other words.
    message = re.sub(r"( Did you mean .*?\?)(?:\1|\s*\(Did you mean [^)]*\))+", r"\1", message).rstrip(".")
    command = error.ctx.command_path if error.ctx else "kveil"
    _fail(f"{message}; see {command} --help.", 2)


def _where(error: BaseException) -> str:
    """Return the last line of kveil's own that an error passed through; its text may quote data and is not told."""
    place = "kveil"
    trace = error.__traceback__
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename).resolve()
        if file.is_relative_to(PACKAGE):
            place = f"{file.name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def main() -> None:
    """Run the command line; every error is one sentence on standard error, never a traceback."""
    code = 0
    try:
        check_platform()
    except ImportError as error:
        _fail(str(error), 2)
    try:
        with interruptible():
            code = app_for(sys.argv[1:])(standalone_mode=False) or 0
    except KveilError as error:
        _fail(str(error), error.exit_code)
    except MemoryError:
        _fail("there is not enough memory for this table; take a larger machine or fewer columns.", 2)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        _fail(f"the system refused ({reason}); check the disk and where standard output leads.", 2)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars' panics are no Exception
        if isinstance(error, typer.BadParameter.__bases__):
            _misused(error)
        if sys.flags.dev_mode:
            raise
        kind = type(error).__name__
        _fail(
            f"this is a defect of kveil ({kind} in {_where(error)}); please report that. For the whole trace, "
            "which may quote data, run python -X dev -m kveil.",
            2,
        )
    if code == 130:
        _fail("stopped before the end; run it again.", code)
    raise SystemExit(code)


def entry() -> None:
    """Run the command line as a process of its own, which ends at once when all is done and written.

    Taking millions of cells apart one by one, only to end, would cost a sixth of a second. So would looking for
    circles among them again and again: hierarchies are made of many small texts and have none. Numba looks for the
    BLAS of SciPy and for coverage, which no loop here calls: hidden from it, that saves a quarter of a second. A thread
    that comes back from reading a table need not wait long for the one that loads Numba meanwhile. The threads of
    NumPy's BLAS would keep a core busy for a tenth of a second, with waiting. None of this is done to a program that
    imports kveil.
    """
    gc.set_threshold(1_000_000)
    sys.setswitchinterval(SWITCHED)
    hide_unused()
    let_blas_sleep()
    try:
        main()
    except SystemExit as left:
        if left.code not in (0, None):
            raise
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:  # the reader of a pipe has gone: end as Python ends
            raise left from None
        atexit._run_exitfuncs()
        os._exit(0)
