"""What a steward should look at, though nothing is broken."""

from kveil.report.warn.bounds import exact_bounds
from kveil.report.warn.cells import release_warnings
from kveil.report.warn.evidence import Evidence, evidence_of
from kveil.report.warn.followers import following_columns
from kveil.report.warn.promises import empty_promises, one_persons_rows, uniform_groups, values_of_everybody
from kveil.report.warn.sensitive_values import alike_values, marks_of_missing
from kveil.report.warn.sheets import sheets_left_aside

__all__ = ["Evidence", "evidence_of", "owners_warnings", "release_warnings", "sheets_left_aside"]


def owners_warnings(evidence: Evidence) -> list[str]:
    """Return where a policy promises less than its owner may think, reckoned with the original: not for publication."""
    return [
        *empty_promises(evidence.policy),
        *alike_values(evidence),
        *marks_of_missing(evidence),
        *one_persons_rows(evidence),
        *uniform_groups(evidence),
        *values_of_everybody(evidence),
        *following_columns(evidence),
        *exact_bounds(evidence),
    ]
