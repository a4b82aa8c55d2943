"""The tree of errors, and how a run ends by each."""

from __future__ import annotations

import re

from kveil import errors
from kveil.errors import KveilError, Unmeetable


def test_every_error_stands_in_the_drawn_tree_with_its_exit_code() -> None:
    drawn = dict(re.findall(r"── (\w+) .*\(exit (\d)\)", errors.__doc__ or ""))
    made = {
        name: str(kind.exit_code)
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, KveilError) and kind is not KveilError
    }
    assert drawn == made


def test_an_answer_of_no_says_how_many_and_whether_it_is_proved() -> None:
    error = Unmeetable("no.", 7, proved=True)
    assert (str(error), error.lost, error.proved) == ("no.", 7, True)
    assert (Unmeetable("no.").lost, Unmeetable("no.").proved) == (None, False)
