"""What a policy reads that is more than a file, and to which of it somebody has agreed: queries, and servers.

A policy may come from anywhere. Its query runs, and its server gets a password, only after somebody has seen which.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kveil.databases.address import Address, Place, parse_place
from kveil.databases.servers import check_words
from kveil.errors import KveilError
from kveil.studio.page_data import ToConfirm
from kveil.words import visible


def needed_consent(place: Place) -> str | None:
    """Return what somebody must agree to before a place is read: a server, or this very query of this very database.

    None for a file, and for a table in one.
    """
    if not isinstance(place, Address) or place.system == "spark":
        return None
    if place.query is None and place.system != "postgresql":
        return None
    return "\n".join((place.system, place.server or str(place.file.resolve()), place.query or ""))


class Consents:
    """The queries and servers that somebody typed here, or was shown and agreed to, as long as the studio runs."""

    def __init__(self) -> None:
        self.given: set[str] = set()

    def give(self, named: str, folder: Path) -> None:
        """Take note that somebody has agreed to what a policy in a folder names so.

        Raises DataError where a server's address says more than a policy may: an eye passes over that.
        """
        place = _place(named, folder)
        needed = None if place is None else needed_consent(place)
        if isinstance(place, Address) and place.system == "postgresql":
            check_words(place)
        if needed is not None:
            self.given.add(needed)

    def wanted(self, named: str, folder: Path) -> ToConfirm | None:
        """Return what a policy in a folder names and nobody has agreed to yet."""
        place = _place(named, folder)
        if not isinstance(place, Address) or needed_consent(place) in (None, *self.given):
            return None
        shown = None if place.query is None else visible(place.query)  # no sign may turn or hide what follows it
        return {"database": visible(place.server or place.file.name), "query": shown}

    def covers(self, named: str, folder: Path) -> bool:
        """Tell whether what a policy in a folder names needs consent, and has it."""
        place = _place(named, folder)
        return place is not None and needed_consent(place) in self.given

    def covers_server(self, named: str, folder: Path) -> bool:
        """Tell whether a server is named whose password may be used."""
        place = _place(named, folder)
        return isinstance(place, Address) and place.system == "postgresql" and needed_consent(place) in self.given


def refusal(place: Address, given: Iterable[str]) -> str | None:
    """Return why a place is not read; None where nobody needs to agree, or somebody has."""
    if needed_consent(place) in (None, *given):
        return None
    what = "reads its table by a query" if place.query is not None else "names a server"
    return f"the policy {what}, and nobody has agreed to that yet; look at it on File."


def _place(named: str, folder: Path) -> Place | None:
    """Return the place that a text names, None where it names none: whoever reads it tells why."""
    try:
        return parse_place(named, folder=folder)
    except KveilError:
        return None
