"""Read and write: the files people have in; the same kinds out, atomically, leaking nothing.

Texts stay texts: nothing in a CSV is ever read as a number. Messages of libraries are never passed on, since
they quote the data.
"""

from __future__ import annotations

from kveil.files.codebook import Codebook
from kveil.files.column_files import ShownCells, open_file_path, sink_parquet
from kveil.files.csv_reading import EarlyText, cut_early
from kveil.files.csv_writing import joined_items
from kveil.files.dataset import dataset_files, is_dataset
from kveil.files.decimals import numbers_with_commas, with_commas, with_likely_points, with_points
from kveil.files.disk_tables import CategorySource, SharedSource, StoredSource, as_categories, number_texts, open_stored
from kveil.files.layout import PLAIN_LAYOUT, FileLayout, check_layout
from kveil.files.metadata import Beside, look_beside
from kveil.files.reading import parse_early, parse_table, read_table
from kveil.files.repeated_lines import RepeatedSource, read_repeated
from kveil.files.room import free_memory
from kveil.files.source import Source, check_columns, check_plain_names, check_written, kind_of
from kveil.files.texts import TEXT_TYPES, as_texts, exact_values, frame_of, item_texts, strip_column, text_of
from kveil.files.writing import Outputs, as_json, default_release, write_table
from kveil.suffixes import suffix_of

__all__ = [
    "PLAIN_LAYOUT",
    "TEXT_TYPES",
    "Beside",
    "CategorySource",
    "Codebook",
    "EarlyText",
    "FileLayout",
    "Outputs",
    "RepeatedSource",
    "SharedSource",
    "ShownCells",
    "Source",
    "StoredSource",
    "as_categories",
    "as_json",
    "as_texts",
    "check_columns",
    "check_layout",
    "check_plain_names",
    "check_written",
    "cut_early",
    "dataset_files",
    "default_release",
    "exact_values",
    "frame_of",
    "free_memory",
    "is_dataset",
    "item_texts",
    "joined_items",
    "kind_of",
    "look_beside",
    "number_texts",
    "numbers_with_commas",
    "open_file_path",
    "open_stored",
    "parse_early",
    "parse_table",
    "read_repeated",
    "read_table",
    "sink_parquet",
    "strip_column",
    "suffix_of",
    "text_of",
    "with_commas",
    "with_likely_points",
    "with_points",
    "write_table",
]
