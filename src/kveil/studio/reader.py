"""The process that holds the table: questions come in as lines of JSON, answers go out the same way.

It is a child of the server, so that the server stays small and a table too large takes down one process only. It ends
when its standard input does. Values of columns that name people are never in an answer unless they were asked for.
"""

from __future__ import annotations

import json
import os
import sys

from kveil.errors import KveilError
from kveil.studio.answers import answer_error, defect_of
from kveil.studio.page_data import ReaderAnswer


def main() -> None:
    """Answer questions until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints must not stand among the answers
    from kveil.studio.policy_questions import PolicyDesk
    from kveil.studio.tables import TableAt

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # a library that panics quotes what it was working on
    desk = PolicyDesk()
    for line in sys.stdin:
        question = json.loads(line)
        given = question["with"]
        desk.agreed = frozenset(question["agreed"])
        answer: ReaderAnswer = {"id": question["id"]}
        try:
            if "table" in given:
                given["table"] = TableAt.said(**given["table"])
            answer["answer"] = getattr(desk, f"on_{question['ask']}")(**given)
        except KveilError as error:
            answer["refused"] = answer_error(error)
        except MemoryError:
            told = "There is not enough memory for this table; take fewer columns."
            answer["refused"] = {"told": told, "kind": "memory"}
        except BaseException as error:  # polars' panics are no Exception
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            answer["defect"] = defect_of(error)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
