"""What notebooks show: small tables, escaped, without scripts or styles of other places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple, TypedDict

from kveil.guarantee import Guarantee
from kveil.words import model_in_words

_CELL = 'style="text-align:left;padding:0.2em 0.8em"'


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    columns = "".join(f'<th scope="col" {_CELL}>{escape(text)}</th>' for text in head)
    body = "".join("<tr>" + "".join(f"<td {_CELL}>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<table><caption style="text-align:left;font-weight:bold">{escape(title)}</caption>'
        f"<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
    )


def _percent(share: float) -> str:
    return f"{share * 100:.2f} %"


def _worst(worst: float | int | None) -> str:
    return "-" if worst is None else f"{worst:,}" if isinstance(worst, int) else f"{worst:.4f}"


def _guarantees(guarantees: Iterable[Guarantee]) -> str:
    rows = [
        (
            model_in_words(guarantee),
            ", ".join(guarantee["attributes"]) or "everyone",
            "yes" if guarantee["holds"] else "NO",
            _worst(guarantee["worst"]),
            f"{guarantee['groups']:,}",
        )
        for guarantee in guarantees
    ]
    return _table("Guarantees", ("guarantee", "over", "holds", "worst", "groups"), rows)


def _list(title: str, texts: list[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<p><b>{escape(title)}</b></p><ul>{items}</ul>" if texts else ""


class TrialRow(NamedTuple):
    """What one algorithm of a comparison came to; ``reason`` says why there is no release, where there is none."""

    algorithm: str
    seconds: float
    loss: float | None = None
    suppressed: int = 0
    suppressed_share: float = 0.0
    groups: int = 0
    reason: str = ""


def comparison_html(measure: str, trials: Iterable[TrialRow], best: str | None) -> str:
    """Return a comparison as a table; ``measure`` is the loss that the policy minimizes."""
    rows = []
    for trial in trials:
        if trial.loss is None:
            rows.append((trial.algorithm, trial.reason, "-", "-", f"{trial.seconds:.2f}"))
            continue
        rows.append(
            (
                trial.algorithm + (" (best)" if trial.algorithm == best else ""),
                f"{trial.loss:,.2f}" if measure == "il" else _percent(trial.loss),
                f"{trial.suppressed:,} ({_percent(trial.suppressed_share)})",
                f"{trial.groups:,}",
                f"{trial.seconds:.2f}",
            )
        )
    return _table("Comparison", ("algorithm", measure, "suppressed", "groups", "seconds"), rows)


class LossRow(NamedTuple):
    """The losses of a release in what all cells may lose: over all quasi-identifiers, or in one."""

    precision: float
    il_per_cell: float
    ncp: float


def account_html(
    released: str, made: str, guarantees: Iterable[Guarantee], losses: Mapping[str, LossRow], warnings: list[str]
) -> str:
    """Return a result: what was released, and by what it was made, what holds, what was lost in which column."""
    rows = [(name, *map(_percent, loss)) for name, loss in losses.items()]
    return (
        f"<p><b>{escape(released)}</b>, {escape(made)}</p>"
        + _guarantees(guarantees)
        + _table("Loss", ("", "precision", "IL per cell", "NCP"), rows)
        + _list("Warnings", warnings)
    )


def verdict_html(
    guarantees: Iterable[Guarantee], rules: Mapping[str, bool], findings: list[str], warnings: list[str]
) -> str:
    """Return a verdict: whether it holds, the guarantees, the declared rules, and what was found."""
    head = "The release does not hold." if findings else "Everything that was checked holds."
    rows = [(rule, "yes" if holds else "NO") for rule, holds in rules.items()]
    return (
        f"<p><b>{head}</b></p>"
        + _list("Found", findings)
        + _guarantees(guarantees)
        + (_table("Dependencies", ("rule", "holds"), rows) if rows else "")
        + _list("Warnings", warnings)
    )


class PolicyOutline(TypedDict):
    """A policy as rows for people: a row per attribute, with its role, hierarchy and boundary, and one per model."""

    attributes: Sequence[tuple[str, str, str, str]]
    privacy: Sequence[tuple[str, str, str]]
    dependencies: list[str]
    limit: float
    algorithm: str


def policy_html(outline: PolicyOutline) -> str:
    """Return a policy: what each column is, and what must hold."""
    return (
        _table("Attributes", ("attribute", "role", "hierarchy", "boundary"), outline["attributes"])
        + _table("Privacy", ("model", "over", "settings"), outline["privacy"])
        + _list("Dependencies", outline["dependencies"])
        + f"<p>At most {outline['limit'] * 100:g} % suppressed, algorithm {escape(outline['algorithm'])}.</p>"
    )
