"""What the peers' own tests and data showed, a section per point."""

from __future__ import annotations

import polars as pl
import pytest

import kveil

# 1: auto ends when it is told to

# 2: a label that holds another value

PLACES = {"South": 2, "Peru": 3, "Chile": 3, "France": 4, "Spain": 4}


def released_places(tree: object, algorithm: str, *, k: int = 4, limit: float = 0.2) -> set[str]:
    """Return the labels of a release of people of some places."""
    places = [place for place, number in PLACES.items() for _ in range(number)]
    policy = kveil.Policy(
        kveil=1,
        attributes={"place": {"role": "quasi-identifier", "hierarchy": {"tree": tree}}},
        privacy=[{"model": "k-anonymity", "k": k}],
        suppression={"limit": limit},
        algorithm=algorithm,
    )
    return set(kveil.anonymize(pl.DataFrame({"place": places}), policy).data["place"])


@pytest.mark.parametrize("algorithm", ["incognito", "datafly", "least-loss", "auto"])
def test_2_a_label_that_shares_a_word_with_a_value_ends_no_run(algorithm: str) -> None:
    world = {"*": {"Asia": ["South"], "South America": ["Peru", "Chile"], "Europe": ["France", "Spain"]}}
    shown = released_places(world, algorithm)
    assert "South America" in shown
    assert shown <= {"South America", "Europe", "France", "Spain"}


RUNS = {"World": {"Rest": ["South", "France", "Spain"], "Chile … Peru": ["Chile", "Peru"]}}


@pytest.mark.parametrize("algorithm", ["incognito", "datafly", "auto"])
def test_2_what_names_a_rare_value_is_passed_over_for_what_does_not(algorithm: str) -> None:
    """Fewer than k have Peru and Chile, so that a label may not name them; above them there is another one."""
    assert released_places(RUNS, algorithm, k=5, limit=0) == {"World"}


@pytest.mark.parametrize("algorithm", ["incognito", "datafly", "mondrian", "auto"])
def test_2_where_nothing_else_is_found_the_label_is_to_be_renamed(algorithm: str) -> None:
    runs = {"World": {"South … Spain": list(PLACES)}}
    limit = {"place": {"role": "quasi-identifier", "hierarchy": {"tree": runs}, "boundary": {"level": 1}}}
    places = [place for place, number in PLACES.items() for _ in range(number)]
    policy = kveil.Policy(kveil=1, attributes=limit, privacy=[{"model": "k-anonymity", "k": 5}], algorithm=algorithm)
    with pytest.raises(kveil.PolicyError, match="rename such labels"):
        kveil.anonymize(pl.DataFrame({"place": places}), policy)


# 3: least-loss under t-closeness

# 4: scripts of ANJANA that strip blanks

# 5: files of ARX
