"""Adult, the census of 1994 as UCI has it: its rows as tests use them, and trees over its columns."""

from __future__ import annotations

from functools import cache
from typing import Any

import polars as pl
import pytest

from places import missing, place_of

ADULT = place_of("adult/adult.data")
needs_adult = pytest.mark.skipif(not ADULT.exists(), reason=missing("adult/adult.data"))

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "class",
)  # fmt: skip
# The eight quasi-identifiers of the literature, in the order of ARX's copy of the table.
QUASI = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation")

HIERARCHIES: dict[str, Any] = {
    "age": {"intervals": {"from": 0, "to": 99, "widths": [5, 10, 20]}},
    "education": {
        "tree": {
            "*": {
                "No diploma": {
                    "Primary": ["Preschool", "1st-4th", "5th-6th"],
                    "Secondary": ["7th-8th", "9th", "10th", "11th", "12th"],
                },
                "Diploma": {
                    "School": ["HS-grad", "Some-college"],
                    "Vocational": ["Assoc-voc", "Assoc-acdm", "Prof-school"],
                    "University": ["Bachelors", "Masters", "Doctorate"],
                },
            }
        }
    },
    "marital-status": {
        "tree": {
            "*": {
                "Married": ["Married-civ-spouse", "Married-AF-spouse"],
                "Not married": ["Never-married", "Divorced", "Separated", "Widowed", "Married-spouse-absent"],
            }
        }
    },
    "workclass": {
        "tree": {
            "*": {
                "Public": ["Federal-gov", "Local-gov", "State-gov"],
                "Own account": ["Self-emp-inc", "Self-emp-not-inc"],
                "Employee": ["Private"],
                "Unpaid": ["Without-pay", "Never-worked"],
            }
        }
    },
    "occupation": {
        "tree": {
            "*": {
                "Office": ["Adm-clerical", "Exec-managerial", "Prof-specialty", "Sales", "Tech-support"],
                "Manual": [
                    "Craft-repair", "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Transport-moving",
                ],
                "Service": ["Armed-Forces", "Other-service", "Priv-house-serv", "Protective-serv"],
            }
        }
    },
    "native-country": {
        "tree": {
            "*": {
                "North America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)", "Puerto-Rico"],
                "Latin America": [
                    "Columbia", "Cuba", "Dominican-Republic", "Ecuador", "El-Salvador", "Guatemala", "Haiti",
                    "Honduras", "Jamaica", "Mexico", "Nicaragua", "Peru", "Trinadad&Tobago",
                ],
                "Europe": [
                    "England", "France", "Germany", "Greece", "Holand-Netherlands", "Hungary", "Ireland", "Italy",
                    "Poland", "Portugal", "Scotland", "Yugoslavia",
                ],
                "Asia": [
                    "Cambodia", "China", "Hong", "India", "Iran", "Japan", "Laos", "Philippines", "Taiwan", "Thailand",
                    "Vietnam",
                ],
                "Not told": ["South"],
            }
        }
    },
}  # fmt: skip


@cache
def raw_rows() -> pl.DataFrame:
    """All rows of the UCI file, with `?` for what is missing."""
    rows = [line.split(", ") for line in ADULT.read_text(encoding="utf-8").splitlines() if line]
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")


@cache
def complete_rows() -> pl.DataFrame:
    """The rows without a missing value, with the quasi-identifiers and the class, as ARX publishes them."""
    complete = raw_rows().filter(~pl.any_horizontal(pl.all() == "?"))
    return complete.select(*QUASI, pl.col("class").alias("salary-class"))


def attributes_of(**more: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The attributes of a policy over the complete rows; ``more`` adds keys to single columns."""
    found: dict[str, dict[str, Any]] = {"salary-class": {"role": "sensitive"}}
    for name in QUASI:
        hierarchy = {"hierarchy": HIERARCHIES[name]} if name in HIERARCHIES else {}
        found[name] = {"role": "quasi-identifier"} | hierarchy | more.get(name.replace("-", "_"), {})
    return found
