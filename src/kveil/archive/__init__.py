"""Archives: what later releases need to know of earlier ones, in a private folder.

An archive has one key and any number of releases. Each release is one file: its policy with the hierarchies, the
release itself, receipt, account, the owner's mapping, and for every released row a keyed hash of who that is. Nothing
else of the original is in it. See docs/several-releases.md.
"""

from __future__ import annotations

from kveil.archive.archive import Archive, open_archives
from kveil.archive.entry import Archived, Entry
from kveil.archive.integrity import check_archive
from kveil.archive.people import key_texts, keyed_hashes

__all__ = ["Archive", "Archived", "Entry", "check_archive", "key_texts", "keyed_hashes", "open_archives"]
