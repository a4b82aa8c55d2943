"""Who somebody is across tables: keyed hashes of the column that says so."""

from __future__ import annotations

import hashlib

import polars as pl

from kveil.errors import DataError, PolicyError
from kveil.files import Source
from kveil.policy.model import Policy
from kveil.words import count

DIGEST = 16  # bytes of a hash: no two of a billion people have the same
KEY_BYTES = 32  # bytes of an archive's key


def keyed_hashes(texts: pl.Series, key: bytes) -> pl.Series:
    """Return a keyed hash of every text, as hexadecimal digits; without the key nobody can test a guess."""
    hashed = [hashlib.blake2b(text.encode(), digest_size=DIGEST, key=key).hexdigest() for text in texts.to_list()]
    return pl.Series("person", hashed, dtype=pl.String)


def key_check(key: bytes) -> str:
    """Return what tells that a key is the right one, and not what it is."""
    return hashlib.blake2b(b"kveil archive", digest_size=DIGEST, key=key).hexdigest()


def key_column_of(policy: Policy) -> str:
    """Return the column that says who somebody is across tables; raise PolicyError where the policy names none."""
    if policy.key_column is None:
        raise PolicyError(
            "the policy does not say who somebody is in another table; name the identifier that does with data.key, "
            "or give a column role individual."
        )
    return policy.key_column


def key_texts(source: Source, policy: Policy) -> pl.Series:
    """Return who every row of a table is: a text per record, or per person where the policy names individuals.

    Persons are in the order of their first record. Raises PolicyError where the policy names no such column, DataError
    where it does not tell people apart; neither repeats a value of it.
    """
    column = key_column_of(policy)
    texts = source.texts(column)
    absent = int((texts.is_null() | texts.is_in(list(policy.data.missing))).sum())
    if absent:
        raise DataError(
            f"{source.name}: {column} says who somebody is, but is missing in {count(absent, 'record')}; fill it in or "
            "take those records out."
        )
    if policy.individual_column is not None and policy.individual_column != column:
        texts = _of_persons(texts, source.texts(policy.individual_column), source.name, column)
    elif policy.individual_column is not None:
        texts = texts.unique(maintain_order=True)
    twice = len(texts) - texts.n_unique()
    if twice:
        raise DataError(
            f"{source.name}: {column} says who somebody is, but {count(twice, 'row')} repeat what another has; give "
            "the column role individual if people have several records, or name another data.key."
        )
    return texts


def _of_persons(texts: pl.Series, persons: pl.Series, where: str, column: str) -> pl.Series:
    """Return one text per person, which must be the same in all of a person's records."""
    frame = pl.DataFrame({"person": persons, "text": texts})
    each = frame.group_by("person", maintain_order=True).agg(
        pl.col("text").first(), pl.col("text").n_unique().alias("n")
    )
    several = int((each["n"] > 1).sum())
    if several:
        raise DataError(
            f"{where}: {column} says who somebody is, but differs within {count(several, 'person')}; name another "
            "data.key, or leave it out to go by the individual."
        )
    return each["text"]
