"""A release that holds together with earlier ones: what people showed before becomes an attribute that stays as it is.

Whoever has all releases tells people apart by what they showed in each, not being shown included. So the groups of a
new release must lie within people who looked alike before (`past`), which a search keeps by a fixed attribute per look
(`fixed`); and whoever is not shown now, since they left the table or are withheld, must be as many and as diverse among
those they looked alike with (`withhold`). The verifier checks both by code of its own.
"""
