"""Where tests find things: the project, the papers' worked examples, and real data beside the project."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
SHARED = ROOT.parent / "shared" / "data"
ADULT = SHARED / "adult"
