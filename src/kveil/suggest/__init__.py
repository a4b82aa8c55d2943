"""Look at a table and suggest a policy for it: every guess with its reason, for a steward to correct."""

from kveil.suggest.propose import Suggestion, suggest
from kveil.suggest.roles import Guess, as_role
from kveil.suggest.write import policy_text

__all__ = ["Guess", "Suggestion", "as_role", "policy_text", "suggest"]
