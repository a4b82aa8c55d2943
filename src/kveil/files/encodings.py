"""Texts of other encodings: read as their owner says, and named where nobody has said it."""

from __future__ import annotations

import codecs
import re

from kveil.errors import FileError

UTF8 = "utf-8"
MARK = codecs.BOM_UTF8
# Encodings that tables still come in, those of western Europe first: where two are as likely, the first is named.
LIKELY = ("cp1252", "cp1250", "cp1251", "cp850", "mac-roman", "shift_jis", "gb18030", "euc_kr")
MOST_TEXT = 100  # bytes for one that no text has, before bytes are taken for something else
LOOK = 1 << 16  # bytes around the first one that is no UTF-8


def in_utf8(raw: bytes, encoding: str, name: str) -> bytes:
    """Return the bytes of a text in UTF-8, without a mark in front; ``encoding`` is the one they come in."""
    if _codec(encoding) == UTF8:
        text = raw.removeprefix(MARK)
        _check_utf8(text, name)
        return text
    try:
        return raw.decode(encoding).removeprefix("\ufeff").encode(UTF8)
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = raw.count(b"\n", 0, start) + 1
        raise FileError(
            f"{name}: line {line} is not {encoding}; it looks like {likely_encoding(raw, start)}: change encoding "
            "under data, or save the file as UTF-8."
        ) from None


def _codec(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise FileError(f"{encoding!r} is no encoding that Python knows; write it as in utf-8 or cp1252.") from None


def _check_utf8(raw: bytes, name: str) -> None:
    if raw.isascii():
        if b"\0" in raw[:LOOK] and raw[:LOOK].count(b"\0") * 3 > len(raw[:LOOK]):  # UTF-16 without a mark
            raise _not_utf8(raw, 0, name)
        return
    try:
        raw.decode(UTF8)
    except UnicodeDecodeError as error:
        raise _not_utf8(raw, error.start, name) from None


def _not_utf8(raw: bytes, start: int, name: str) -> FileError:
    if is_binary(raw):
        return FileError(f"{name} is no text, but a file of another kind, whatever it is called; choose a table.")
    line = raw.count(b"\n", 0, start) + 1
    likely = likely_encoding(raw, start)
    return FileError(
        f"{name}: line {line} is not UTF-8; it looks like {likely}: write encoding: {likely} under data in the policy "
        f"(kveil init: --encoding {likely}), or save the file as UTF-8."
    )


def is_binary(raw: bytes) -> bool:
    """Tell whether bytes are no text in any encoding, which has few control characters but tabs and ends of lines."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    sample = raw[:LOOK]
    if max(sample[1::2].count(0), sample[::2].count(0)) > len(sample) // 3:  # every other byte, as UTF-16 has it
        sample = sample.replace(b"\0", b"")
    controls = sum(sample.count(bytes([byte])) for byte in {*range(32), 127} - {9, 10, 12, 13, 26, 27})
    return controls * MOST_TEXT > len(sample)


def likely_encoding(raw: bytes, start: int) -> str:
    """Return the encoding in which the bytes around a place make most letters inside of words.

    A guess for people: a byte is a letter in many encodings.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if raw[1:LOOK:2].count(0) > len(raw[:LOOK]) // 3:
        return "utf-16-le"
    if raw[:LOOK:2].count(0) > len(raw[:LOOK]) // 3:
        return "utf-16-be"
    sample = raw[max(start - LOOK, 0) : start + LOOK]
    sample = sample[sample.find(b"\n") + 1 : sample.rfind(b"\n") + 1] or sample
    return max(LIKELY, key=lambda encoding: _fits(sample, encoding))


def _fits(sample: bytes, encoding: str) -> float:
    """Return how well a text reads in an encoding: by its characters beyond ASCII, better ones counted more."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return -1.0
    beyond = [character for character in text if not character.isascii()]
    if not beyond:
        return 0.0
    words = re.findall(r"[^\W\d_]+", text)
    good = 0.0
    for word in words:
        other = sum(not character.isascii() for character in word)
        mixed = 0 < other < len(word)
        latin = all(character.isascii() or "\u00c0" <= character <= "\u024f" for character in word)
        case = word[1:].islower() or word.isupper() or not word[1:]
        if not other:
            continue
        if latin:
            good += other * (0.5 + 0.4 * (mixed and other * 2 <= len(word)) + 0.1 * case)
        else:
            good += other * (0.0 if mixed else 0.6 + 0.3 * (case and len(word) > 1))
    return good / len(beyond)
