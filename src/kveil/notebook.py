"""What notebooks show: small tables, escaped, without scripts or styles of other places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from kveil.words import model_in_words, row_noun

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


def _worst(worst: Any) -> str:
    return "-" if worst is None else f"{worst:,}" if isinstance(worst, int) else f"{worst:.4f}"


def _guarantees(guarantees: Iterable[Mapping[str, Any]]) -> str:
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


def comparison_html(content: dict[str, Any]) -> str:
    """Return a comparison as a table."""
    measure = content["loss"]
    rows = []
    for entry in content["algorithms"]:
        if entry["solved"]:
            loss = entry["loss"][measure]
            rows.append(
                (
                    entry["algorithm"] + (" (best)" if entry["algorithm"] == content["best"] else ""),
                    f"{loss:,.2f}" if measure == "il" else _percent(loss),
                    f"{entry['suppressed']:,} ({_percent(entry['suppressed_share'])})",
                    f"{entry['groups']:,}",
                    f"{entry['seconds']:.2f}",
                )
            )
        else:
            rows.append((entry["algorithm"], entry["reason"], "-", "-", f"{entry['seconds']:.2f}"))
    return _table("Comparison", ("algorithm", measure, "suppressed", "groups", "seconds"), rows)


def account_html(account: Mapping[str, Any]) -> str:
    """Return a result by its account: what was released, what holds, what was lost."""
    counts = account["individuals"] or account["records"]
    noun = row_noun(individuals=bool(account["individuals"])) + "s"
    losses = {"all quasi-identifiers": account["loss"]} | account["loss_by_attribute"]
    rows = [
        (name, _percent(loss["precision"]), _percent(loss["il_per_cell"]), _percent(loss["ncp"]))
        for name, loss in losses.items()
    ]
    return (
        f"<p><b>{counts['released']:,} of {counts['input']:,} {noun} released</b>, {counts['suppressed']:,} suppressed "
        f"by {escape(account['algorithm'])}, verified</p>"
        + _guarantees(account["guarantees"])
        + _table("Loss", ("", "precision", "IL per cell", "NCP"), rows)
        + _list("Warnings", account["warnings"])
    )


def verdict_html(content: dict[str, Any]) -> str:
    """Return a verdict: whether it holds, the guarantees, and what was found."""
    head = "Everything that was checked holds." if content["holds"] else "The release does not hold."
    rules = [(d["rule"], "yes" if d["holds"] else "NO") for d in content["dependencies"]]
    return (
        f"<p><b>{head}</b></p>"
        + _list("Found", content["findings"])
        + _guarantees(content["guarantees"])
        + (_table("Dependencies", ("rule", "holds"), rules) if rules else "")
        + _list("Warnings", content["warnings"])
    )


def policy_html(content: dict[str, Any]) -> str:
    """Return a policy: what each column is, and what must hold; ``content`` is what `Policy.outline` gives."""
    return (
        _table("Attributes", ("attribute", "role", "hierarchy", "boundary"), content["attributes"])
        + _table("Privacy", ("model", "over", "settings"), content["privacy"])
        + _list("Dependencies", content["dependencies"])
        + f"<p>At most {content['limit'] * 100:g} % suppressed, algorithm {escape(content['algorithm'])}.</p>"
    )
