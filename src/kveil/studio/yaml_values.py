"""Values as YAML writes them, in flow style: read back they are the same texts, whatever they hold."""

from __future__ import annotations

import re
from typing import Any

from kveil.policy.yaml_text import flow_text

_PLAIN = re.compile(r"\w[\w./+%-]*( [\w./+%-]+)*")


def quote_text(text: str) -> str:
    """Return a text in double quotes, everything that cannot be printed escaped."""
    parts = []
    for sign in text:
        if sign in '"\\':
            parts.append("\\" + sign)
        elif sign.isprintable():
            parts.append(sign)
        else:
            number = ord(sign)
            parts.append(f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}")
    return '"' + "".join(parts) + '"'


def scalar_as_quoted(text: str | None, *, style: str | None = None) -> str:
    """Return a text as YAML writes it, in the quotes it had, else in quotes unless that cannot be needed."""
    if text is None:
        return ""
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return text if style is None and _PLAIN.fullmatch(text) else quote_text(text)


def flow(value: Any) -> str:
    """Return a value on one line."""
    return flow_text(value, write=scalar_as_quoted)
