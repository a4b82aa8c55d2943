"""Java's serialization as plain data: what the grammar has, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from arx_settings import BOUNDS, JAVA, SET, dates, in_order, intervals, settings
from kveil.errors import FileError, KveilError
from kveil.exchange.java_stream import JavaObject, read_java, unwrap
from kveil.flow.exchange import import_hierarchy


def read(name: str, written: bytes | None = None, **fields: object) -> JavaObject:
    return read_java(JAVA.start + JAVA.object(name, fields, written), "x.ahs")


def test_fields_of_every_kind_are_read() -> None:
    found = read("a.B", whole=-7, real=0.5, yes=True, sign="é", text=JAVA.string("grün"), none=JAVA.null)
    assert found.name == "a.B"
    assert found.fields == {"whole": -7, "real": 0.5, "yes": True, "sign": ord("é"), "text": "grün", "none": None}


def test_objects_lists_and_mappings_stand_for_what_they_hold() -> None:
    items = JAVA.listed([JAVA.string("a"), JAVA.number(3), JAVA.number(0.25)])
    found = read("a.B", items=items, pairs=JAVA.mapped([(JAVA.string("k"), JAVA.number(5))]), one=JAVA.number(9))
    assert [unwrap(item) for item in unwrap(found.fields["items"])] == ["a", 3, 0.25]
    assert {key: unwrap(value) for key, value in unwrap(found.fields["pairs"]).items()} == {"k": 5}
    assert unwrap(found.fields["one"]) == 9
    assert unwrap(found) is found  # an object of a class that is not known stays one


def test_arrays_and_constants_are_read() -> None:
    array = JAVA.array("[Ljava.lang.String;", [JAVA.string("a"), JAVA.string("b")])
    found = read("a.B", array=array, order=JAVA.enum("LEFT"))
    assert found.fields["array"] == ["a", "b"]
    assert "LEFT" in (found.fields["order"], getattr(found.fields["order"], "value", None))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"PK",
        JAVA.start,
        JAVA.start + JAVA.string("a text is no object"),
        JAVA.start + b"\x71\x00\x7e\x00\x00",  # refers to what has not come yet
        JAVA.start + JAVA.array("[I", [])[:-4] + b"\x7f\xff\xff\xff",  # longer than the file
        JAVA.start + JAVA.object("a.B", {"x": 1})[:-2],
    ],
)
def test_what_is_not_in_the_grammar_is_refused_by_the_files_name(raw: bytes) -> None:
    with pytest.raises(FileError, match=r"x\.ahs"):
        read_java(raw, "x.ahs")


def test_objects_inside_of_objects_have_an_end() -> None:
    raw = JAVA.null
    for _ in range(5000):
        raw = JAVA.object("a.B", {"x": raw})
    with pytest.raises(FileError):
        read_java(JAVA.start + raw, "x.ahs")


def test_bytes_that_are_cut_off_or_changed_are_read_or_refused_by_name(tmp_path: Path) -> None:
    for whole in (
        intervals([(0, 5, BOUNDS), (5, 7, BOUNDS)], [[(2, BOUNDS)]], upper=(7, 8, 9)),
        in_order([[(2, SET)]], ("a", "b", "c")),
        dates("YEAR"),
    ):
        assert import_hierarchy(settings(tmp_path, whole)).text
        tried, told = 0, []
        for at in range(0, len(whole), 7):
            for raw in (whole[:at], whole[:at] + b"\x71" + whole[at + 1 :], whole[:at] + b"\xff" + whole[at + 1 :]):
                tried += 1
                try:
                    import_hierarchy(settings(tmp_path, raw))
                except KveilError as error:  # and nothing else
                    told.append(str(error))
        assert all("age.ahs" in sentence for sentence in told)
        assert len(told) > tried / 3  # every file that is cut off, at least
