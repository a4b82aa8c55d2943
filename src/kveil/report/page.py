"""The report as one HTML file: nothing is loaded from anywhere, and every text is escaped."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from kveil.attacker.attacks import RatedAttack
from kveil.attacker.play import play
from kveil.attacker.sentences import percent, picture_line
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.progress import Progress, silent
from kveil.report import figures
from kveil.report.account import Account
from kveil.report.comparison import Comparison
from kveil.report.owner import Owner
from kveil.report.receipt import Receipt
from kveil.report.story import Story, tell_owner, tell_public
from kveil.version import __version__

SPACE = "\u00a0"  # a number and its sign stay on one line


def _percent(share: float) -> str:
    if 0 < share < 0.0005:
        return f"under 0.1{SPACE}%"
    return f"{share * 100:.1f}".removesuffix(".0") + f"{SPACE}%"


def _rate(share: float) -> str:
    return percent(share).replace(" %", f"{SPACE}%")


def _number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": _percent,
        "rate": _rate,
        "number": _number,
        "code": _code,
    }
    return environment


def _svg(picture: str) -> Markup:
    return Markup(picture)  # made by vl-convert, which escapes texts


def _code(text: str) -> Markup:
    """Return a sentence with what stands in backticks as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def owners_page(
    policy: Policy,
    account: Account,
    release: Source,
    original: Source,
    owner: Owner,
    *,
    progress: Progress = silent,
) -> str:
    """Return the report of a release for the owner of the data, as HTML: original and attacks included."""
    attacks = play(policy, original, release, owner.rows, progress=progress)
    progress("drawing")
    reasons = {reason: len(rows) for reason, rows in owner.suppressed.items()}
    return _report_page(tell_owner(policy, account, release, original, reasons, attacks))


def public_page(policy: Policy, receipt: Receipt, release: Source) -> str:
    """Return the report of a release that may be published, as HTML: made from receipt, policy and release alone."""
    return _report_page(tell_public(policy, receipt, release))


def _report_page(story: Story) -> str:
    return (
        _environment()
        .get_template("report.html")
        .render(
            story=story,
            pictures=_pictures(story),
            version=__version__,
            today=date.today().isoformat(),
            told=json.dumps(story.told, indent=2, ensure_ascii=False),
            policy_hash=story.told["sha256"]["policy"],
        )
    )


def _pictures(story: Story) -> dict[str, Markup]:
    """Return the drawings of a report by name."""
    pictures: dict[str, Markup] = {}
    for column in story.columns:
        bars = [*column.after, *(column.before.bars if column.before else ())]
        most = max((records for _, records in bars), default=1)
        if column.before is not None:
            told = f"{column.name} before: {column.before.values:,} values"
            before = figures.bars(column.before.bars, "original", figures.BEFORE, most, told)
            pictures[f"before {column.name}"] = _svg(before)
        told = f"{column.name} in the release: {column.labels:,} values"
        pictures[f"after {column.name}"] = _svg(figures.bars(column.after, "release", figures.AFTER, most, told))
    groups = story.groups
    if groups.bars:
        told = f"{groups.groups:,} groups, the smallest of {groups.smallest:,}, the largest of {groups.largest:,}"
        pictures["groups"] = _svg(figures.sizes(groups.bars, story.noun, told))
    drawn = [
        (line, attack.before.rate, attack.after.rate)
        for attack in (story.owner.attacks.attacks if story.owner else ())
        if isinstance(attack, RatedAttack) and attack.after.targets and (line := picture_line(attack))
    ]
    if drawn:
        told = "; ".join(f"{name}: {percent(before)} before, {percent(after)} after" for name, before, after in drawn)
        pictures["attacks"] = _svg(figures.attacks(drawn, told))
    return pictures


def comparison_page(policy: Policy, comparison: Comparison) -> str:
    """Return a comparison of algorithms as HTML."""
    measure = comparison.loss
    solved = [entry for entry in comparison.algorithms if entry["solved"]]
    shares = measure != "il"
    drawn: list[tuple[str, str, bool, list[tuple[str, float]]]] = [
        ("loss", measure, shares, [(entry["algorithm"], entry["loss"][measure]) for entry in solved]),
        ("suppressed", "left out", True, [(entry["algorithm"], entry["suppressed_share"]) for entry in solved]),
        ("time", "seconds", False, [(entry["algorithm"], entry["seconds"]) for entry in solved]),
    ]
    if comparison.queries:
        counts = [(entry["algorithm"], error["median"]) for entry in solved if (error := entry["query_error"])]
        drawn.insert(1, ("counts", "count error", True, counts))
    pictures = {
        name: _svg(
            figures.dots(rows, title, f"{title}: " + "; ".join(f"{a} {value:.4g}" for a, value in rows), share=share)
        )
        for name, title, share, rows in drawn
        if rows
    }
    return (
        _environment()
        .get_template("comparison.html")
        .render(
            comparison=comparison, measure=measure, pictures=pictures, version=__version__, policy_hash=policy.sha256
        )
    )
