"""What newcomers met on tables that nobody here had seen, a section per point."""

from __future__ import annotations

# D1: the attack on values that are shown as they are

# D2: two tables, one screen

# D3: labels that are true when read

# D4: why l cannot be had

# D5: which column gives which back

# D6: what SPSS and Stata files say of their columns

# D8: types that the README's uses rely on

# D9: small things
