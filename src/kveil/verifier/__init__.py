"""Check releases by their texts, independently of what made them.

It repeats the models on purpose and shares no code with what it verifies: it knows the policy, and the texts.
"""

from kveil.verifier.release import verify_release
from kveil.verifier.verdict import Verdict

__all__ = ["Verdict", "verify_release"]
