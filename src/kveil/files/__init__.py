"""Read and write: CSV, Parquet and Arrow in; the same out, atomically, leaking nothing.

Texts stay texts: nothing in a CSV is ever read as a number. Messages of libraries are never passed on, since
they quote the data.
"""

from __future__ import annotations

from kveil.files.beside import Beside, look_beside
from kveil.files.dataset import dataset_files, is_dataset
from kveil.files.reading import Source, check_columns, kind_of, parse_table, read_table
from kveil.files.spilled import sink_parquet
from kveil.files.stored import StoredSource, open_stored
from kveil.files.texts import TEXT_TYPES, as_texts, exact_values, fresh, item_texts, text_of
from kveil.files.writing import Outputs, as_json, default_release, joined_items, write_table

__all__ = [
    "TEXT_TYPES",
    "Beside",
    "Outputs",
    "Source",
    "StoredSource",
    "as_json",
    "as_texts",
    "check_columns",
    "dataset_files",
    "default_release",
    "exact_values",
    "fresh",
    "is_dataset",
    "item_texts",
    "joined_items",
    "kind_of",
    "look_beside",
    "open_stored",
    "parse_table",
    "read_table",
    "sink_parquet",
    "text_of",
    "write_table",
]
