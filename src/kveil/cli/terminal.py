"""What the command line tells people, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kveil.algorithms.algorithm import DIVERSE, FINGERPRINTS
from kveil.attacker.attacks import Attacks, FileJoin, RatedAttack
from kveil.attacker.risk import RawRisk, risk_sentences
from kveil.attacker.sentences import percent, subject
from kveil.guarantee import EarlierGuarantee, Guarantee, NamedModel
from kveil.measures import LossFigures, Shares
from kveil.report.account import Account, BoundFigures
from kveil.verifier import Verdict
from kveil.verifier.verdict import TogetherCheck
from kveil.words import count, listing, model_in_words, plural_of, row_noun, visible

if TYPE_CHECKING:  # each loads the algorithms
    from kveil.discover.describe import TableRules
    from kveil.flow.apply import ApplyAccount
    from kveil.flow.archive import ArchiveList
    from kveil.flow.check import Check
    from kveil.flow.init import Guesses
    from kveil.report.comparison import Comparison


def safe(text: str) -> str:
    """Return a text of others as a terminal may show it: no markup, and no control character to obey."""
    return escape(visible(text))


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right")
    return table


def describe(model: NamedModel) -> str:
    """Return a model in words: ``k-anonymity (k 5) over zip, birth``."""
    return f"{model_in_words(model)} over {', '.join(model['attributes']) or 'everyone'}"


def show_guarantees(out: Console, guarantees: Sequence[Guarantee]) -> None:
    """Print a table of guarantees."""
    table = _table("guarantee", "holds", "worst", "groups")
    for guarantee in guarantees:
        mark = "[green]yes[/]" if guarantee["holds"] else "[red]NO[/]"
        worst = guarantee["worst"]
        shown = "-" if worst is None else f"{worst:,}" if isinstance(worst, int) else f"{worst:.4f}"
        table.add_row(safe(describe(guarantee)), mark, shown, f"{guarantee['groups']:,}")
    out.print(table)


def show_losses(out: Console, loss: LossFigures, by_attribute: Mapping[str, Shares]) -> None:
    """Print the losses of a release, whole and by attribute."""
    table = _table("loss", "precision", "IL per cell", "NCP")
    whole: dict[str, Shares] = {"all quasi-identifiers": loss}
    for name, row in (whole | dict(by_attribute)).items():
        shares = row["precision"], row["il_per_cell"], row["ncp"]
        table.add_row(safe(name), *(f"{share * 100:.2f} %" for share in shares))
    out.print(table)
    out.print(
        f"IL {loss['il']:,.2f} in total; discernibility {loss['discernibility']:,}; "
        f"average group {loss['average_group']:.2f} k"
    )
    if loss["sa_ncp"] is not None:
        out.print(f"SA-NCP of the generalized items {loss['sa_ncp'] * 100:.2f} %")


def show_warnings(out: Console, warnings: list[str]) -> None:
    """Print warnings, one per line."""
    for warning in warnings:
        out.print(f"[yellow]note:[/] {safe(warning)}")


def show_account(out: Console, account: Account, target: str) -> None:
    """Print what a run did."""
    records = account["records"]
    share = records["suppressed"] / records["input"] if records["input"] else 0.0
    out.print(
        f"[bold]{safe(target)}[/]: {count(records['released'], 'record')} of {records['input']:,} released, "
        f"{records['suppressed']:,} suppressed ({share:.2%}), by {safe(account['algorithm'])}"
    )
    show_guarantees(out, account["guarantees"])
    if "previous" in account:
        show_together(out, account["previous"])
    show_losses(out, account["loss"], account["loss_by_attribute"])
    show_warnings(out, account["warnings"])
    if account["bound"] is not None:
        out.print(_bound(account["bound"]))


def _bound(bound: BoundFigures) -> str:
    """Return in words what was proved, and how far the release is from it."""
    name = {"ncp": "NCP", "il": "IL", "precision": "1 − precision"}[bound["loss"]]
    least = f"{bound['at_least']:,.2f}" if bound["loss"] == "il" else f"{bound['at_least'] * 100:.2f} %"
    gap = "" if bound["gap"] is None else f"; this one loses {bound['gap'] * 100:.1f} % more than that"
    return f"bound: no release of this policy has {name} below {least}{gap}"


def show_verdict(out: Console, verdict: Verdict, *, compared: bool) -> None:
    """Print what a verification found."""
    show_guarantees(out, verdict.guarantees)
    for rule in verdict.dependencies:
        out.print(f"dependency {safe(rule['rule'])}: {'holds' if rule['holds'] else 'does not hold'}")
    if verdict.previous is not None:
        show_together(out, verdict.previous)
    if not compared:
        out.print("Truth, boundaries and unchanged cells were not checked: give --original for that.")
    show_warnings(out, verdict.warnings)
    for finding in verdict.findings:
        out.print(f"[red]found:[/] {safe(finding)}")
    out.print("[green]Everything that was checked holds.[/]" if verdict else "[red]The release does not hold.[/]")


def show_together(out: Console, together: TogetherCheck) -> None:
    """Print what several releases show together."""
    out.print(
        f"{count(together['releases'], 'release')} together show {count(together['people'], 'person')}: "
        f"{together['newcomers']:,} are new, {together['leavers']:,} no longer shown."
    )
    named: list[Guarantee] = [{**own, "model": f"together: {own['model']}"} for own in together["guarantees"]]
    for kept in together["promised"]:
        earlier: EarlierGuarantee = {**kept, "model": f"promised by {listing(kept['releases'], 2)}: {kept['model']}"}
        named.append(earlier)
    show_guarantees(out, named)
    for values in together["possible"]:
        right = f" (right for {values['right']:,})" if values["one"] else ""
        out.print(
            f"one value of {safe(values['sensitive'])} remains possible for "
            f"{count(values['one'], 'person')}{right}; for {values['changed']:,} it changed"
        )


def show_applied(out: Console, content: ApplyAccount, target: Path) -> None:
    """Print what became of new records."""
    counts, noun = content["records"] or content["individuals"], row_noun(people=not content["records"])
    assert counts is not None
    out.print(
        f"[bold]{safe(str(target))}[/]: {count(counts['released'], noun)} of {counts['input']:,} as release "
        f"{content['release']} of {safe(content['archive'])} shows such {plural_of(noun)}; {content['covered']:,} were "
        f"covered, {content['extended']:,} are in new groups, {counts['suppressed']:,} are left out; NCP "
        f"{content['loss']['ncp'] * 100:.2f} %"
    )
    if content["guarantees"]:
        out.print("Old and new together:")
        show_guarantees(out, content["guarantees"])
    show_warnings(out, content["warnings"])


def show_archive(out: Console, content: ArchiveList) -> None:
    """Print the releases of an archive."""
    table = _table("release", "made", "by", "released", "left out", "NCP")
    for entry in content["releases"]:
        counts = f"{entry['released']:,}", f"{entry['suppressed']:,}", f"{entry['ncp'] * 100:.2f} %"
        table.add_row(str(entry["number"]), safe(entry["made"]), safe(entry["algorithm"]), *counts)
    out.print(table)


def show_guesses(out: Console, content: Guesses, target: str) -> None:
    """Print what was guessed about each column."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("column", "role", "why"):
        table.add_column(column)
    for entry in content["columns"]:
        mark = "[yellow]check:[/] " if entry["doubtful"] else ""
        table.add_row(safe(entry["column"]), entry["role"], mark + safe(entry["reason"]))
    out.print(table)
    doubtful = sum(entry["doubtful"] for entry in content["columns"])
    beside = f" with {count(len(content['files']), 'hierarchy file')}" if content["files"] else ""
    out.print(f"[bold]{safe(target)}[/]{beside}: k {content['k']}, {count(doubtful, 'guess', 'guesses')} to check.")
    show_warnings(out, content["warnings"])
    if content["copy"]:
        out.print(f"{safe(content['copy'])} beside it is the table with its names, readable by you alone.")
    out.print(f"Read it, then run: kveil anonymize {safe(target)}")


def show_comparison(out: Console, content: Comparison) -> None:
    """Print what each algorithm made of a table."""
    asked = content.prediction
    extra = ([] if content.queries is None else ["count error"]) + ([] if asked is None else [asked["measure"]])
    others = sorted({name for entry in content.algorithms for name in entry.get("others", {})})
    extra += map(safe, others)
    table = _table("algorithm", content.loss, "suppressed", "groups", *extra, "seconds")
    for entry in content.algorithms:
        if entry["solved"]:
            loss = entry["loss"][content.loss]
            shown = f"{loss:,.2f}" if content.loss == "il" else f"{loss * 100:.2f} %"
            mark = "" if entry["holds"] else " [red](not verified)[/]"
            name = safe(entry["algorithm"])
            name = f"[bold]{name}[/]" if entry["algorithm"] == content.best else name
            share = f"{entry['suppressed']:,} ({entry['suppressed_share']:.2%})"
            error = entry.get("query_error")
            worth = ["-" if error is None else f"{error['median'] * 100:.1f} %"] if content.queries is not None else []
            if asked is not None:
                worth.append("-" if entry["prediction"] is None else f"{entry['prediction']:.3f}")
            worth += [f"{entry['others'][other]:.4g}" for other in others]
            table.add_row(name + mark, shown, share, f"{entry['groups']:,}", *worth, f"{entry['seconds']:.2f}")
        else:
            table.add_row(safe(entry["algorithm"]), "-", "-", "-", *["-"] * len(extra), f"{entry['seconds']:.2f}")
    out.print(table)
    for entry in content.algorithms:
        if reason := entry.get("reason"):
            out.print(f"{safe(entry['algorithm'])}: {safe(reason)}")
    if content.queries is not None:
        out.print(f"count error: the median over {content.queries}.")
    if asked is not None:
        told = f"{asked['measure']} of {safe(asked['column'])} on {asked['held_out']:,} original records held out"
        out.print(f"{told}; trained on the others as they were it is {asked['original']:.3f}.")
    if content.best:
        word = "highest" if content.loss == "precision" else "smallest"
        out.print(f"{content.best} has the {word} {content.loss} of these.")


def show_attacks(out: Console, content: Attacks) -> None:
    """Print attacks: a table of rates, then each in words."""
    out.print(safe(content.assumption))
    table = _table("attack", "before", "after", "at worst")
    for attack in content.attacks:
        if isinstance(attack, (RatedAttack, FileJoin)) and attack.before is not None and attack.after is not None:
            rates = attack.before.rate, attack.after.rate, attack.after.worst
            table.add_row(safe(f"{attack.attack}: {subject(attack)}"), *map(percent, rates))
    out.print(table)
    for attack in content.attacks:
        out.print(f"- [bold]{attack.attack}[/]: {safe(attack.sentence)}")


def _show_levels(out: Console, risk: RawRisk) -> None:
    """Print how many rows are in groups below k when one attribute alone goes up its hierarchy."""
    most = max((len(entry["below_k"]) for entry in risk["levels"]), default=0)
    if not any(entry["below_k"][0] for entry in risk["levels"]):
        return
    table = _table("in groups below k", "as it is", *(f"{level} up" for level in range(1, most)))
    for entry in risk["levels"]:
        cells = [f"{number:,}" for number in entry["below_k"]]
        table.add_row(f"with {safe(entry['attribute'])}", *cells, *[""] * (most - len(cells)))
    out.print(table)


def show_check(out: Console, content: Check) -> None:
    """Print what a policy forces on a table before any run."""
    noun = row_noun(people=content["individuals"] is not None)
    rows = content["records"] if content["individuals"] is None else content["individuals"]
    for sentence in risk_sentences(content["risk"]):
        out.print(safe(sentence))
    _show_levels(out, content["risk"])
    boundaries = content["boundaries"]
    for part in boundaries["components"]:
        over = ", ".join(part["attributes"]) or "everyone"
        out.print(
            f"{safe(over)}: {count(part['groups'], 'group')} within the boundaries, the "
            f"smallest of {part['smallest']:,}; {part['too_small']:,} have fewer than {count(part['needs'], 'member')}"
        )
    out.print(
        f"{count(boundaries['never_kept'], noun)} of {rows:,} can never be kept; the limit allows "
        f"{boundaries['limit']:,} to be suppressed"
    )
    if boundaries["falling"] > boundaries["never_kept"]:
        out.print(
            f"{count(boundaries['falling'], noun)} fall where every group that fails at its limits is dropped whole"
        )
    if boundaries["attributes"]:
        table = _table("never kept", "without it", "with it alone", "one level up", "that saves")
        for entry in boundaries["attributes"]:
            figures = (entry[key] for key in ("without", "alone", "one_level_up", "saves"))
            table.add_row(f"boundary of {safe(entry['attribute'])}", *(f"{figure:,}" for figure in figures))
        out.print(table)
    show_warnings(out, content["warnings"])
    for sentence in content["impossible"]:
        out.print(f"[red]impossible:[/] {safe(sentence)}")
    if content["possible"]:
        names = ", ".join(content["algorithms"]) or "no algorithm of this version"
        out.print(f"[green]Nothing was found that makes the policy impossible.[/] It is honoured by {names}.")


def show_rules(out: Console, content: TableRules) -> None:
    """Print the dependencies of a table: the declared ones, with groups that break them, and those that hold."""
    out.print(f"[bold]{safe(content['data'])}[/]: {count(content['records'], 'record')}")
    for rule in content["declared"]:
        mark = "[green]holds[/]" if rule["holds"] else f"[red]broken by {count(rule['broken'], 'left side')}[/]"
        out.print(f"declared {safe(rule['rule'])}: {mark}")
        for group in rule["groups"]:
            left = ", ".join(_value(value) for value in group["left"].values())
            right = "; ".join(", ".join(_value(value) for value in side.values()) for side in group["right"])
            more = " …" if group["right_sides"] > len(group["right"]) else ""
            sides = count(group["right_sides"], "right side")
            out.print(f"  {safe(left)}: {sides} in {count(group['records'], 'record')}: {safe(right)}{more}")
        out.print(f"  in a release: {safe(rule['kept'])}")
    if content["constant"]:
        out.print(f"constant: {safe(', '.join(content['constant']))}")
    keys = dict.fromkeys(", ".join(found["left"]) for found in content["functional"] if found["key"])
    if keys:
        out.print(f"tell all records apart: {safe('; '.join(keys))}")
    rights: dict[str, list[str]] = {}
    for found in content["functional"]:
        if not found["key"]:
            rights.setdefault(", ".join(found["left"]), []).extend(found["right"])
    for left, determined in rights.items():
        out.print(f"functional {safe(f'{left} -> ' + ', '.join(determined))}")
    for spread in content["multivalued"]:
        out.print(f"multivalued {safe(spread['rule'])}")
    if not content["functional"] and not content["multivalued"]:
        out.print("No rule holds among these columns.")
    if content["left_out"]:
        out.print(f"Not looked at: {safe(', '.join(content['left_out']))}; choose with --columns.")


def _value(value: str | None) -> str:
    return "(missing)" if value is None else value


ONE = "1"  # marks kl-diversity that holds for l = 1 alone

# Parts of a policy by the short names that fit above a column.
PARTS = {
    "many": "several constraints",
    "bounds": "boundaries",
    "width": "max_width",
    "ranges": "ranges",
    "l": "l-diversity",
    "p": "p-sensitive",
    "α": "alpha-k",
    "t": "t-closeness",
    "k,l": "kl-diversity",
    "k^m": "k-km-anonymity",
    "rules": "dependencies",
    "people": "individuals",
}


class ListedAlgorithm(TypedDict):
    """An algorithm as it is listed: what it honours, which options it has, whose it is."""

    name: str
    honours: list[str]
    options: list[str]
    summary: str
    paper: str
    package: str | None


def show_algorithms(out: Console, algorithms: Sequence[ListedAlgorithm]) -> None:
    """Print the algorithms there are, and as a table of its own what each honours."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("algorithm")
    table.add_column("what it does, and whose idea it is")
    for algorithm in algorithms:
        table.add_row(safe(algorithm["name"]), safe(f"{algorithm['summary']} ({algorithm['paper']})"))
    table.add_row("auto", "runs all that honour the policy and keeps the smallest loss")
    out.print(table)
    out.print()
    honours = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    honours.add_column("honours, beside k")
    for part in PARTS:
        honours.add_column(part, justify="center")
    for algorithm in algorithms:
        honours.add_row(safe(algorithm["name"]), *(_mark(part, algorithm["honours"]) for part in PARTS.values()))
    out.print(honours)
    legend = [f"{short}: {part}" for short, part in PARTS.items() if short != part]
    out.print(f"[dim]{', '.join(legend)}; {ONE}: with l 1 only[/dim]")


def _mark(part: str, honours: list[str]) -> str:
    if part not in honours:
        return "·"
    return ONE if part == FINGERPRINTS and DIVERSE not in honours else "x"
