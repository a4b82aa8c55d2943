"""Policies and hierarchies from and to other tools: ARX, ANJANA, pyCANON.

Files of others are read, never run, and fail closed: what is not understood is refused or told, not guessed.
"""
