"""What the page asks about the policy as a whole: what it forces on its table, methods, and what a release shows."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from kveil.errors import Refused
from kveil.files import Source, with_points
from kveil.free_form import Content, JsonSchema
from kveil.policy.model import Policy
from kveil.studio.edit import Change, edit_text
from kveil.studio.page_data import ComparedRows, LimitCosts, Method, NeverKept, ProposedPromise
from kveil.studio.proposals import weaker_promises
from kveil.studio.questions import Desk
from kveil.studio.tables import TableAt
from kveil.words import plural_of

if TYPE_CHECKING:
    from kveil.table.table import Table

BESIDES = {"suppression", "release", "algorithm", "loss", "seed"}  # what no table is encoded by


class PolicyDesk(Desk):
    """Answers questions about a table under its policy; the encoded table of the last one is remembered."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: tuple[Source, Any, Table] | None = None
        self.held: Source | None = None  # the table that was last encoded, its numbers with decimal points

    def _encoded(self, text: str, name: str, folder: str, opened: int) -> Table:
        """Return the table under a policy; where limits of trees alone changed, nothing is encoded again."""
        from kveil.table.encode import encode

        policy = Policy.parse(text, name, Path(folder))
        policy.read_hierarchies()
        source = self._open(TableAt.of(policy, opened=opened))
        unlimited = _without_limits(policy)
        if self.encoded is not None and self.encoded[0] is source and self.encoded[1] == unlimited:
            table = _bounded(self.encoded[2], policy)
            if table is not None:
                return table
        self.encoded = None
        self.held = with_points(source, policy.numeric, policy.data.missing, decimal=policy.data.decimal)
        table = encode(self.held, policy)
        self.encoded = (source, unlimited, table)
        return table

    def on_never_kept(self, text: str, name: str, folder: str, opened: int) -> NeverKept:
        """Return whether the policy can be kept at all: who can never be kept, and which methods can do it."""
        from kveil.algorithms.impossible import WhyImpossible
        from kveil.algorithms.proofs import count_never_kept, never_kept
        from kveil.algorithms.registry import algorithms_honouring
        from kveil.flow.steps.inputs import check_own_rules
        from kveil.policy.components import most_suppressed

        started, first = perf_counter() - self.reading, self.encoded is None
        table = self._encoded(text, name, folder, opened)
        if first:  # what comes once for a table says nothing about the next click
            started = perf_counter() - self.reading
        assert self.held is not None
        check_own_rules(self.held, table.policy)
        out, allowed = count_never_kept(table), most_suppressed(table.policy, table.records)
        falling = table.count(never_kept(table, certain=False)) if allowed == 0 else 0
        why = WhyImpossible.of(self.held.name, table, out=out, falling=falling)
        try:
            able = [algorithm.name for algorithm in algorithms_honouring(table.policy)]
        except Refused:
            able = []
        return {
            "possible": not why.sentences,
            "impossible": why.sentences,
            "impossible_promises": [{"privacy": each.position, "why": each.why} for each in why.promises],
            "noun": table.noun,
            "plural": plural_of(table.noun),
            "records": table.records,
            "never_kept": out,
            "allowed": allowed,
            "algorithms": able,
            "seconds": perf_counter() - self.reading - started,
        }

    def on_proposal(self, text: str, name: str, folder: str, opened: int, model: Content) -> ProposedPromise:
        """Return a promise of a kind that the table's rows and values allow: as it is, else the nearest weaker one."""
        from kveil.algorithms.impossible import promises_beyond_rows, promises_beyond_values

        def said(asked: Content) -> str:
            everybody = {"model": "k-anonymity", "k": 2}  # who covers what others may know, whatever else is promised
            return edit_text(text, [Change(("privacy",), [everybody, asked])]).text

        kept = self.encoded, self.held  # of the policy itself, which is asked about again sooner
        try:
            table = self._encoded(said(model), name, folder, opened)
            assert self.held is not None
            where = self.held.name
        finally:
            self.encoded, self.held = kept
        names = model.get("sensitive")
        counted = table.sensitive.get(names) if isinstance(names, str) else None
        values = None if counted is None else counted.known
        why = None
        for asked in weaker_promises(model, rows=table.records, values=values):
            promises = Policy.parse(said(asked), name, Path(folder)).privacy[-1:]
            alone = table.changed(policy=table.policy.model_copy(update={"privacy": promises}))
            found = [*promises_beyond_rows(where, alone), *promises_beyond_values(where, alone)]
            if not found:
                return {"model": asked, "why": why}
            why = why or found[0].why
        return {"model": None, "why": why}

    def on_limits(self, text: str, name: str, folder: str, opened: int) -> LimitCosts:
        """Return what each limit costs: who could be kept without it, and with it one step looser."""
        from kveil.flow.check import check_boundaries

        started = perf_counter() - self.reading
        boundaries = check_boundaries(self._encoded(text, name, folder, opened))
        return {
            "falling": boundaries["falling"],
            "attributes": boundaries["attributes"],
            "components": boundaries["components"],
            "seconds_of_limits": perf_counter() - self.reading - started,
        }

    def on_methods(self) -> list[Method]:
        """Return the algorithms, with what each is and which options it has."""
        from kveil.algorithms.least_loss.refine_options import RefineOptions
        from kveil.algorithms.registry import ALGORITHMS

        refine = RefineOptions.model_json_schema()

        def options(schema: JsonSchema) -> JsonSchema:
            return schema | {"properties": schema.get("properties", {}) | refine.get("properties", {})}

        return [
            {
                "name": algorithm.name,
                "summary": algorithm.summary,
                "paper": algorithm.paper,
                "options": options(algorithm.options.model_json_schema()),
            }
            for algorithm in ALGORITHMS
        ]

    # ------------------------------------------------------------------------------------------ results

    def on_compared(self, text: str, name: str, folder: str, release: str, opened: int) -> ComparedRows:
        """Return some released rows beside the records they were, by the owner's file beside the release."""
        from kveil.flow.steps.inputs import read_release
        from kveil.report.owner import Owner

        policy = Policy.parse(text, name, Path(folder))
        if policy.individual_column is not None:
            return {"columns": [], "rows": []}
        source = self._open(TableAt.of(policy, opened=opened))
        shown = read_release(policy, Path(release))
        rows = Owner.load(Path(release).with_name("owner.json")).rows
        columns = [c for c in policy.quasi_identifiers if c in shown.frame.columns]
        places = [int(i * (len(rows) - 1) / 7) for i in range(8)] if len(rows) > 8 else list(range(len(rows)))
        before = {c: source.texts(c) for c in columns}
        after = {c: shown.texts(c) for c in columns}
        found = [[[before[c][int(rows[place])] or "", after[c][place] or ""] for c in columns] for place in places]
        return {"columns": columns, "rows": found}

    def on_public_report(self, text: str, name: str, folder: str, receipt: Any, release: str) -> str:
        """Return the report for everybody: only what the release and the receipt tell anyway."""
        from kveil.flow.steps.inputs import read_release
        from kveil.report.page import public_page

        policy = Policy.parse(text, name, Path(folder))
        policy.read_hierarchies()
        shown = read_release(policy, Path(release))
        return public_page(policy, receipt, shown)


def _without_limits(policy: Policy) -> Any:
    """Return what a table is encoded by: the policy without limits of trees, and the lines of its hierarchy files."""
    said = policy.model_dump(exclude=BESIDES)
    for attribute in said["attributes"].values():
        limit = attribute.get("boundary")
        if isinstance(limit, dict) and limit.get("form") != "max_width":
            attribute["boundary"] = None
    return said, {name: policy.fixed_lines(name) for name in policy.quasi_identifiers}


def _bounded(table: Table, policy: Policy) -> Table | None:
    """Return an encoded table under a policy whose limits differ; None where it must be encoded again."""
    from kveil.table.tree import Tree

    if table.persons is not None:  # people whose records disagree are judged by their limits
        return None
    trees = []
    for name, tree in zip(table.names, table.trees, strict=True):
        attribute = policy.attributes[name]
        if isinstance(tree, Tree):
            tree = tree.bounded(attribute)
        trees.append(tree)
    return table.changed(policy=policy, trees=tuple(trees))
