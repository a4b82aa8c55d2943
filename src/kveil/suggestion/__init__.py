"""Look at a table and suggest a policy for it: every guess with its reason, for a steward to correct."""

from kveil.suggestion.propose import Suggestion, suggest
from kveil.suggestion.roles import Guess, as_role
from kveil.suggestion.write import policy_text

__all__ = ["Guess", "Suggestion", "as_role", "policy_text", "suggest"]
