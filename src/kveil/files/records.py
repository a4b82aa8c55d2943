"""The records of a CSV, by our own rules: Python's reader has a limit for fields that belongs to the whole process."""

from __future__ import annotations

from collections.abc import Iterator


class BrokenRecord(Exception):
    """A record that is no CSV: a quote that is not closed rightly, or a carriage return that ends no line."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def records(
    text: str, separator: str, *, strict: bool = True, skip_blanks: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Give every record with the number of its first line; a blank line is a record of no fields.

    Lines end with ``\\n`` or ``\\r\\n``. A field that starts with a quote ends with one, doubled quotes inside; a quote
    inside another field is data. What is broken raises BrokenRecord, or is taken as it stands where not ``strict``.
    ``skip_blanks`` are those in front of a field.
    """
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    at = 0
    while at < len(lines):
        line = lines[at]
        if '"' in line:
            record = _Record(lines, at, strict=strict, skip_blanks=skip_blanks)
            yield at + 1, record.fields(separator)
            at = record.at + 1
            continue
        yield at + 1, _plain(line, separator, at + 1, strict=strict)
        at += 1


def _plain(line: str, separator: str, number: int, *, strict: bool) -> list[str]:
    line = line.rstrip("\r")
    if strict and "\r" in line:
        raise BrokenRecord(number)
    return line.split(separator) if line else []


class _Record:
    """One record with quotes, which may run over several lines; ``at`` is the line it has come to."""

    def __init__(self, lines: list[str], at: int, *, strict: bool, skip_blanks: bool) -> None:
        self.lines = lines
        self.first = self.at = at
        self.strict = strict
        self.skip_blanks = skip_blanks
        self.place = 0

    def fields(self, separator: str) -> list[str]:
        """Return the record's fields."""
        fields = []
        while True:
            while self.skip_blanks and self.lines[self.at].startswith(" ", self.place):
                self.place += 1
            quoted = self.lines[self.at].startswith('"', self.place)
            inside = self._inside_quotes() if quoted else ""
            line = self.lines[self.at]
            end = line.find(separator, self.place)
            rest = line[self.place :].rstrip("\r") if end < 0 else line[self.place : end]
            if self.strict and ("\r" in rest or (quoted and rest)):
                raise BrokenRecord(self.first + 1)
            fields.append(inside + rest)
            if end < 0:
                return fields
            self.place = end + 1

    def _inside_quotes(self) -> str:
        """Return what stands from an opening quote to its closing one, and go on behind that."""
        parts = []
        self.place += 1
        while True:
            line = self.lines[self.at]
            quote = line.find('"', self.place)
            if quote >= 0:
                parts.append(line[self.place : quote])
                self.place = quote + 1
                if not line.startswith('"', self.place):
                    return "".join(parts)
                parts.append('"')
                self.place += 1
                continue
            parts.append(line[self.place :])
            self.place = 0
            if self.at + 1 == len(self.lines):
                if self.strict:
                    raise BrokenRecord(self.first + 1)
                self.place = len(line)
                return "".join(parts)
            parts.append("\n")
            self.at += 1
