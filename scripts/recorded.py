"""The command line of scripts that record what kveil makes now, and say later what differs."""

from __future__ import annotations

import argparse
import json
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path


def asked_for(
    doc: str | None, sets: Iterable[str], *, more: Callable[[argparse.ArgumentParser], None] = lambda _: None
) -> argparse.Namespace:
    """Return what the command line asks for: `--write FILE`, `--compare FILE`, what may differ, `--only` some sets.

    ``more`` adds a script's own options.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--changed", type=Path, help="TOML: what may differ, each with its reason")
    parser.add_argument("--only", default=",".join(sets))
    more(parser)
    return parser.parse_args()


def settle(options: argparse.Namespace, seen: dict[str, str], noun: str, tell: Callable[[str, str, str], None]) -> int:
    """Write or compare what was seen; ``tell`` prints a difference: its name, what was, what is."""
    if options.write:
        options.write.write_text(json.dumps(seen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if not options.compare:
        return 0
    before = json.loads(options.compare.read_text(encoding="utf-8"))
    reasons = tomllib.loads(options.changed.read_text(encoding="utf-8")) if options.changed else {}
    return compare(before, seen, reasons, noun, tell)


def compare(
    before: dict[str, str],
    seen: dict[str, str],
    reasons: dict[str, str],
    noun: str,
    tell: Callable[[str, str, str], None],
) -> int:
    """Return 1 where something differs without a reason, or has a reason and does not differ; else 0."""
    other = [name for name, value in seen.items() if before.get(name) != value]
    wrong = [name for name in other if name not in reasons]
    stale = [name for name in reasons if name in seen and name not in other]
    for name in wrong:
        tell(name, str(before.get(name)), seen[name])
    for name in stale:
        print(f"{name} is said to have changed ({reasons[name]}), and has not")
    meant = len(other) - len(wrong)
    print(
        f"{len(seen) - len(other)} of {len(seen)} {noun} are what they were, {meant} differ for a reason that is given"
    )
    return 1 if wrong or stale else 0
