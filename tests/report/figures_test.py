"""Pictures: what they show is told, in order, and stands inside a page without disturbing another picture."""

from __future__ import annotations

import re

from kveil.report import figures


def texts(svg: str) -> list[str]:
    """Return the texts that a picture shows, in their order."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def marks(svg: str) -> list[str]:
    """Return what each mark of a picture says of itself."""
    return re.findall(r'<path aria-label="([^"]*)"', svg)


def test_a_picture_says_what_it_shows_whatever_names_hold() -> None:
    svg = figures.bars([("x", 1)], "release", figures.AFTER, 1, 'a "b" <c> & \\1')
    assert svg.startswith('<svg role="img" aria-label="a &quot;b&quot; &lt;c&gt; &amp; \\1" ')
    assert "xmlns" not in svg
    assert "http" not in svg


def test_bars_are_in_the_order_given_and_hold_their_numbers() -> None:
    svg = figures.bars([("b", 30), ("a", 5), ("<c>", 10)], "original", figures.BEFORE, 40, "told")
    shown = texts(svg)
    assert [text for text in shown if text in ("a", "b", "&lt;c&gt;")] == ["b", "a", "&lt;c&gt;"]
    assert "original" in shown
    assert [int(re.findall(r"records: (\d+)", mark)[0]) for mark in marks(svg) if "records" in mark] == [30, 5, 10]
    assert figures.BEFORE in svg
    assert figures.AFTER not in svg


def test_groups_are_drawn_by_size_in_the_order_given() -> None:
    shown = texts(figures.sizes([("1", 4), ("10–19", 7), ("2", 1)], "people", "told"))
    assert [text for text in shown if text in ("1", "10–19", "2")][:3] == ["1", "10–19", "2"]
    assert "people" in shown


def test_an_attack_is_two_points_before_and_after() -> None:
    svg = figures.attacks([("Finding a row", 1.0, 0.25), ("Guessing", 0.5, 0.5)], "told")
    points = [mark for mark in marks(svg) if "when:" in mark]
    assert sum("when: original" in mark for mark in points) == 2
    assert sum("when: release" in mark for mark in points) == 2
    assert {"Finding a row", "Guessing"} <= set(texts(svg))


def test_dots_are_shares_or_numbers() -> None:
    rows = [("datafly", 0.5), ("mondrian", 0.25)]
    assert any("%" in text for text in texts(figures.dots(rows, "ncp", "told", share=True)))
    assert not any("%" in text for text in texts(figures.dots(rows, "seconds", "told", share=False)))


def test_two_pictures_of_a_page_share_no_name() -> None:
    one = figures.bars([("x", 1)], "release", figures.AFTER, 1, "one")
    other = figures.bars([("x", 1)], "release", figures.AFTER, 1, "other")
    named = [set(re.findall(r'\bid="([^"]+)"', svg)) for svg in (one, other)]
    assert named[0].isdisjoint(named[1])
