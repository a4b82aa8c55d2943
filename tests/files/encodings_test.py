"""Texts of other encodings, read as their owner says and named where nobody has."""

from __future__ import annotations

import pytest

from kveil.errors import FileError
from kveil.files.encodings import in_utf8, likely_encoding

WESTERN = "name,ort\nJürgen,Köln\nFrançoise,Orléans\n"
RUSSIAN = "имя,город\nИван,Москва\nОльга,Казань\n"


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "cp1252", "utf-16", "utf-8-sig"])
def test_texts_are_the_same_in_every_encoding(encoding: str) -> None:
    assert in_utf8(WESTERN.encode(encoding), encoding, "t.csv").decode() == WESTERN


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(WESTERN, "cp1252"), (RUSSIAN, "cp1251"), (WESTERN, "utf-16-le"), (WESTERN, "utf-16-be")],
)
def test_the_likely_encoding_is_named(text: str, encoding: str) -> None:
    with pytest.raises(FileError, match=f"it looks like {encoding}: write encoding: {encoding} under data"):
        in_utf8(text.encode(encoding), "utf-8", "t.csv")


def test_a_wrong_encoding_is_told_with_the_line() -> None:
    with pytest.raises(FileError, match=r"t\.csv: line 2 is not UTF-8"):
        in_utf8(WESTERN.encode("cp1252"), "utf-8", "t.csv")
    with pytest.raises(FileError, match="line 2 is not ascii"):
        in_utf8(WESTERN.encode(), "ascii", "t.csv")
    with pytest.raises(FileError, match="is no encoding that Python knows"):
        in_utf8(b"a", "utf-9", "t.csv")
    assert likely_encoding(b"\xff\xfea\x00", 0) == "utf-16"
