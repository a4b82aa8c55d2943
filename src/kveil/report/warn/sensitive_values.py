"""Sensitive values that models count as different, or as values, though nobody would."""

from __future__ import annotations

import unicodedata
from decimal import Decimal, InvalidOperation

from kveil.policy.privacy import sensitive_of
from kveil.report.warn.evidence import Evidence
from kveil.words import count, listing

# Letters of other alphabets that look like Latin ones, as small letters.
_CYRILLIC = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455\u04bb",
    "abekmhopctyxijsh",
)
_GREEK = str.maketrans("\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7", "abeikvoptux")
_MARKS = frozenset(
    {"?", "-", "--", ".", "na", "n/a", "n.a.", "nan", "nil", "null", "none", "missing", "unknown", "unk", "undefined"}
    | {"unspecified", "#n/a", "<na>", "(null)", "not recorded", "not available", "not known", "no data"}
)
SHOWN = 5


def plain_form(text: str) -> str:
    """Return what is left of a value when case, blanks, invisible and look-alike letters and ways of numbers are one.

    `HIV`, `hiv`, `HIV ` and the same with a Cyrillic letter are one value, and so are `1`, `1.0`, `01`, `+1` and `1e0`.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    visible = "".join(c for c in folded if unicodedata.category(c) not in {"Cf", "Cc"} or c.isspace())
    plain = " ".join(visible.split()).translate(_CYRILLIC).translate(_GREEK)
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return plain
    return str(number.normalize()) if number.is_finite() and abs(number.adjusted()) < 100 else plain


def _counted(evidence: Evidence) -> dict[str, list[str]]:
    """Return the sensitive attributes that models count, with their values in the original, missing apart."""
    policy = evidence.policy
    names = dict.fromkeys(name for model in policy.privacy for name in sensitive_of(model))
    missing = set(policy.data.missing)
    return {
        name: [text for text in evidence.original.texts(name).drop_nulls().unique().to_list() if text not in missing]
        for name in names
        if name in evidence.original.columns
    }


def alike_values(evidence: Evidence) -> list[str]:
    """Warn of values that are the same but for how they are written: each counts as one more for diversity."""
    warnings = []
    for name, values in _counted(evidence).items():
        forms: dict[str, int] = {}
        for value in values:
            form = plain_form(value)
            forms[form] = forms.get(form, 0) + 1
        alike = sum(number for number in forms.values() if number > 1)
        if alike:
            warnings.append(
                f"{alike:,} values of {name} are the same but for case, blanks, look-alike letters or how a number is "
                "written, and models count them as different: make them one in the data."
            )
    return warnings


def marks_of_missing(evidence: Evidence) -> list[str]:
    """Warn of values that look like marks of missing and are not declared: they count as values."""
    warnings = []
    for name, values in _counted(evidence).items():
        marks = sorted(value for value in values if " ".join(value.casefold().split()) in _MARKS)
        if marks:
            shown = listing([f"`{mark}`" for mark in marks], SHOWN)
            warnings.append(
                f"{count(len(marks), 'value')} of {name} may mean that nothing is known ({shown}), and models count "
                f"{'it' if len(marks) == 1 else 'them'} as a value: list such texts under data.missing."
            )
    return warnings
