"""The command line of scripts that record what kveil makes now, and say later what differs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path


def asked_for(doc: str | None, sets: Iterable[str]) -> argparse.Namespace:
    """Return what the command line asks for: `--write FILE`, `--compare FILE`, `--only` some of the sets."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--compare", type=Path)
    parser.add_argument("--only", default=",".join(sets))
    return parser.parse_args()


def settle(options: argparse.Namespace, seen: dict[str, str], noun: str, tell: Callable[[str, str, str], None]) -> int:
    """Write or compare what was seen; ``tell`` prints a difference: its name, what was, what is."""
    if options.write:
        options.write.write_text(json.dumps(seen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if not options.compare:
        return 0
    before = json.loads(options.compare.read_text(encoding="utf-8"))
    other = [name for name, value in seen.items() if before.get(name) != value]
    for name in other:
        tell(name, str(before.get(name)), seen[name])
    print(f"{len(seen) - len(other)} of {len(seen)} {noun} are what they were")
    return 1 if other else 0
