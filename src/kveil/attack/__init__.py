"""10 THE ATTACKER: what somebody with some knowledge gets out of a table, before and after its release.

It works on texts, like the verifier, and shares nothing with the algorithms.
"""

from kveil.attack.play import ASSUMPTION, play
from kveil.attack.words import sentences

__all__ = ["ASSUMPTION", "play", "sentences"]
