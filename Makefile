PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: demo test lint bench figures-classfly figures-boundaries figures-people figures-least-loss clean

demo: $(STAMP)
	$(BIN)/kveil demo

test: lint
	$(BIN)/pytest -n 2

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[bench]'
	$(BIN)/python benchmarks/run.py --write docs/benchmarks.md

figures-classfly: $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[figures]'
	$(BIN)/python benchmarks/figures_classfly.py

figures-boundaries: $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[figures]'
	$(BIN)/python benchmarks/figures_boundaries.py

figures-people: $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[figures]'
	$(BIN)/python benchmarks/figures_people.py

figures-least-loss: $(STAMP)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[figures]'
	$(BIN)/python benchmarks/figures_least_loss.py
	$(BIN)/python benchmarks/figures_overlaps.py
	$(BIN)/python benchmarks/figures_overlaps.py --tiny

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "kveil needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	$(BIN)/kveil warmup
	touch $(STAMP)

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .import_linter_cache .hypothesis
