"""What releases of other tools have that is no disclosure: identifiers that they keep as columns of stars."""

from __future__ import annotations

from dataclasses import replace

from kveil.files import Source
from kveil.policy.attributes import STAR
from kveil.policy.model import Policy


def shows_stars_alone(release: Source, name: str) -> bool:
    """Tell whether every cell of a column shows `*`, where the column was read."""
    return name in release.frame.columns and bool((release.texts(name).fill_null("") == STAR).all())


def without_starred_identifiers(release: Source, policy: Policy) -> tuple[Source, list[str]]:
    """Return a release without identifiers that show nothing but `*`, and a hint about each."""
    starred = [
        name
        for name, attribute in policy.attributes.items()
        if attribute.role in {"identifier", "individual"} and shows_stars_alone(release, name)
    ]
    hints = [
        f"{name} has role {policy.attributes[name].role} and shows `*` in every row: nobody learns anything from it; "
        "drop the column before you publish."
        for name in starred
    ]
    return replace(release, frame=release.frame.drop(starred)), hints
