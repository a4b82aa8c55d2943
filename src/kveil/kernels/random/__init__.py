"""Numbers drawn by chance, the same ones from the same seed on every machine."""
