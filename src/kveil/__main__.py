"""Run kveil as ``python -m kveil``."""

from kveil.cli import main

if __name__ == "__main__":
    main()
