"""`kveil schema`."""

from __future__ import annotations

from kveil.cli.options import print_json


def schema() -> None:
    """Print the JSON Schema of a policy file, for editors that complete and check it."""
    from kveil.policy.model import json_schema

    print_json(json_schema())
