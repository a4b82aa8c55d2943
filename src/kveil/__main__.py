"""Run kveil as ``python -m kveil``."""

from kveil.cli import entry

if __name__ == "__main__":
    entry()
