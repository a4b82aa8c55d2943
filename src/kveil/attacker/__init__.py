"""The attacker: what somebody with some knowledge gets out of a table, before and after its release.

It works on texts, like the verifier, and shares nothing with the algorithms.
"""
