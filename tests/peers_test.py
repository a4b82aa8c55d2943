"""What the peers' own tests and data showed, a section per point."""

from __future__ import annotations

# 1: auto ends when it is told to

# 2: a label that holds another value

# 3: least-loss under t-closeness

# 4: scripts of ANJANA that strip blanks

# 5: files of ARX
