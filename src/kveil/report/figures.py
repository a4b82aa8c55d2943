"""Pictures as inline SVG: Vega-Lite drawn by vl-convert, in colours that follow the page.

Texts take the page's own colour and marks the page's variables, so that one picture serves light, dark and paper.
Every picture has a text that says what it shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from typing import Any

VegaLite = dict[str, Any]  # a picture, or a part of one, in the words of Vega-Lite
BEFORE, AFTER = "var(--before)", "var(--after)"
_CONFIG: VegaLite = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "domainColor": "var(--line)",
        "tickColor": "var(--line)",
        "gridColor": "var(--line)",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 170,
    },
    "legend": {"labelColor": "currentColor", "titleColor": "currentColor", "labelFontSize": 12, "orient": "top"},
    "title": {"color": "currentColor", "fontSize": 13, "anchor": "start", "fontWeight": "bold"},
}


# The browser's letters may be wider than those the labels were measured with, so that they get room to spare.
_LABELS = {"title": None, "ticks": False, "minExtent": 132, "maxExtent": 132, "labelLimit": 112, "labelPadding": 4}
_BESIDE_POINTS = {"labelPadding": 12}  # a point at 0 is as wide as a letter, and lies on the axis


def draw_svg(spec: VegaLite, told: str) -> str:
    """Return a Vega-Lite specification as an SVG that can stand inside a page."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(vl_spec={"config": _CONFIG, **spec}, vl_version="5.20")
    svg = re.sub(r'\sxmlns(:xlink)?="[^"]*"', "", svg)
    own = sha256((told + json.dumps(spec)).encode()).hexdigest()[:10]  # no two pictures of a page may share a name
    svg = re.sub(r"\b(clip|gradient_)\d+", lambda match: f"{own}-{match[0]}", svg)
    label = escape(told, quote=True)  # a name may hold a backslash, so that no pattern is made of it
    return svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)


def bars(rows: Sequence[tuple[str, int]], title: str, colour: str, most: int, told: str) -> str:
    """Return horizontal bars, one per label, in the order given, on a scale up to ``most``."""
    values = [{"label": label, "records": records} for label, records in rows]
    spec = {
        "title": title,
        "width": 250,
        "height": {"step": 19},
        "data": {"values": values},
        "mark": {"type": "bar", "color": colour, "cornerRadiusEnd": 2, "height": {"band": 0.75}},
        "encoding": {
            "y": {"field": "label", "type": "nominal", "sort": None, "axis": _LABELS},
            "x": {
                "field": "records",
                "type": "quantitative",
                "scale": {"domain": [0, max(most, 1)]},
                "axis": {"title": None, "tickCount": 4},
            },
        },
    }
    return draw_svg(spec, told)


def sizes(rows: Sequence[tuple[str, int]], noun: str, told: str) -> str:
    """Return how many records, or people, are in groups of which size."""
    spec = {
        "width": 520,
        "height": 200,
        "data": {"values": [{"size": size, "records": records} for size, records in rows]},
        "mark": {"type": "bar", "color": AFTER, "cornerRadiusEnd": 2},
        "encoding": {
            "x": {
                "field": "size",
                "type": "nominal",
                "sort": None,
                "axis": {"title": "size of the group", "labelAngle": 0, "labelOverlap": True},
            },
            "y": {
                "field": "records",
                "type": "quantitative",
                "axis": {"title": noun, "tickCount": 5, "titlePadding": 16, "minExtent": 40},
            },
        },
    }
    return draw_svg(spec, told)


def attacks(rows: Sequence[tuple[str, float, float]], told: str) -> str:
    """Return attacks as two points each, before and after, on one line."""
    long = [
        {"attack": name, "when": when, "rate": rate}
        for name, before, after in rows
        for when, rate in (("original", before), ("release", after))
    ]
    spec = {
        "width": 420,
        "height": {"step": 26},
        "data": {"values": long},
        "encoding": {
            "y": {
                "field": "attack",
                "type": "nominal",
                "sort": None,
                "axis": {"title": None, "labelLimit": 320, "minExtent": 384, "ticks": False, **_BESIDE_POINTS},
            },
            "x": {
                "field": "rate",
                "type": "quantitative",
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%", "title": "success of the attacker", "tickCount": 5},
            },
        },
        "layer": [
            {
                "mark": {"type": "line", "color": "var(--line)", "strokeWidth": 3},
                "encoding": {"detail": {"field": "attack"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
                "encoding": {
                    "color": {
                        "field": "when",
                        "scale": {"domain": ["original", "release"], "range": [BEFORE, AFTER]},
                        "legend": {"title": None},
                    },
                    "shape": {
                        "field": "when",
                        "scale": {"domain": ["original", "release"], "range": ["circle", "diamond"]},
                        "legend": {"title": None},
                    },
                },
            },
        ],
    }
    return draw_svg(spec, told)


def dots(rows: Sequence[tuple[str, float]], title: str, told: str, *, share: bool) -> str:
    """Return algorithms as points, one per line in the order given, so that no two names are in each other's way."""
    axis: VegaLite = {"title": title, "tickCount": 5}
    if share:
        axis["format"] = ".1%"
    spec = {
        "width": 300,
        "height": {"step": 22},
        "data": {"values": [{"algorithm": name, "value": value} for name, value in rows]},
        "encoding": {
            "y": {
                "field": "algorithm",
                "type": "nominal",
                "sort": None,
                "axis": {**_LABELS, **_BESIDE_POINTS, "grid": True},
            },
            "x": {"field": "value", "type": "quantitative", "scale": {"zero": True}, "axis": axis},
        },
        "mark": {"type": "point", "filled": True, "size": 110, "color": AFTER, "opacity": 1},
    }
    return draw_svg(spec, told)
