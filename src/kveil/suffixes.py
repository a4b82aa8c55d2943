"""What the end of a file's name says of it; for those who list files as well as for those who read them."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

Kind = Literal["csv", "parquet", "arrow", "excel", "spss", "stata", "sas"]

SUFFIXES: dict[str, Kind] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".sav": "spss",
    ".zsav": "spss",
    ".dta": "stata",
    ".sas7bdat": "sas",
    ".xpt": "sas",
}
WRITTEN = frozenset(SUFFIXES) - {".xlsm", ".xlsb", ".xls", ".ods", ".zsav", ".sas7bdat", ".xpt"}
PACKED = (".gz", ".zst")  # behind the suffix of a CSV
LABELLED: tuple[Kind, ...] = ("spss", "stata", "sas")  # kinds whose codes may have labels


def suffix_of(path: Path) -> str:
    """Return a file's suffix in small letters, `.csv.gz` with both its parts."""
    last = path.suffix.lower()
    return Path(path.stem).suffix.lower() + last if last in PACKED else last


def plain_suffix(suffix: str) -> str:
    """Return a suffix without the part that says how the file is packed."""
    return suffix.removesuffix(".gz").removesuffix(".zst")
