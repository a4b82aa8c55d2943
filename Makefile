PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt
INSTALLED := $(VENV)/.installed
PLAIN := $(VENV)/.compiled
DEV := $(VENV)/.installed-dev
FIGURES := $(VENV)/.installed-figures
BROWSER := $(VENV)/.installed-browser
DOCS := $(VENV)/.installed-docs
SPARK := $(VENV)/.installed-spark

# Packages are installed without bytecode, which is written as they are imported, so that the demo waits for no more
# than it uses. Where the environment forbids that, every start would compile all of them again: seconds per command.
export PYTHONDONTWRITEBYTECODE :=

# Small tests once more without the compiler: what it does not check shows up. Hashes want numbers that wrap.
UNCOMPILED := NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 --dist worksteal -m uncompiled -W 'ignore:overflow encountered:RuntimeWarning'

# Tests on Spark share one session, so one process runs them, one after another; they skip without Java or pyspark.
ON_SPARK := $(BIN)/pytest -m spark --durations=10

.PHONY: demo studio test explore studio-slow browser spark pictures lint data coverage bench growth figures-classfly figures-boundaries figures-people figures-least-loss previous joint releases replay tiny docs image clean

# The demo compiles the loops it needs; everything else compiles all of them first.
demo: $(INSTALLED)
	$(BIN)/kveil demo

studio: $(PLAIN)
	$(BIN)/kveil studio

test: lint
	$(BIN)/pytest -n 2 --dist worksteal --durations=25 -m 'not spark'
	$(UNCOMPILED)
	$(ON_SPARK)

# Tests on random input with all the examples they ask for, new ones in every run.
explore: $(DEV)
	KVEIL_EXPLORE=1 $(BIN)/pytest -n 2 --dist worksteal -m 'not spark'
	KVEIL_EXPLORE=1 $(ON_SPARK)

# 10,000 random policies that join everything a policy can say: half an hour.
joint: $(DEV)
	$(BIN)/python scripts/joint.py

# What runs write: the same as was recorded, in six ways, but for what scripts/releases-changed.toml names, with the reason.
releases: $(DEV) $(SPARK)
	$(BIN)/python scripts/releases.py --only golden,hospital --jobs 2 --compare scripts/releases.json --changed scripts/releases-changed.toml

# Every bad release that a test judges, judged again on every engine: the same findings.
replay: $(DEV) $(SPARK)
	PYTHONPATH=scripts KVEIL_NEEDS_SPARK=1 $(BIN)/pytest -q -p replayed -m 'not spark' \
		tests/redteam_test.py tests/leaks_test.py tests/faults_test.py tests/wrong_test.py tests/verifier

tiny: $(DEV)
	$(BIN)/python scripts/tiny.py

# What takes minutes and wants a quiet machine: 10,000 random edits, a million rows, trees of 10,000 leaves.
studio-slow: $(DEV) $(BROWSER)
	KVEIL_SLOW=1 $(BIN)/pytest tests/studio/edit_test.py tests/studio/large_test.py

# What tests of pages need beside Debian's chromium; they skip without it.
browser: $(BROWSER)

# What tests on Spark need beside Java 17.
spark: $(SPARK)

pictures: $(BROWSER)
	$(BIN)/python scripts/studio_pictures.py

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/house.py

data: $(PLAIN)
	$(BIN)/python scripts/fetch_data.py

coverage: $(DEV)
	$(BIN)/pytest -n 2 --dist worksteal -m 'not spark' --cov --cov-report=
	$(ON_SPARK) --cov --cov-append --cov-report=
	$(UNCOMPILED) --cov --cov-append --cov-report=term:skip-covered

bench: $(PLAIN)
	$(INSTALL) -e '.[bench,spark]'
	$(BIN)/python benchmarks/run.py --write docs/benchmarks.md

# How time and memory grow with rows, columns, leaves and k, on a quiet machine; what is measured stays in .growth, so
# that the next run goes on where one ended. MINUTES=10 ends it after ten.
growth: $(PLAIN)
	$(BIN)/python benchmarks/growth.py --minutes $(or $(MINUTES),45) --write
	$(BIN)/python benchmarks/cores.py --write

figures-classfly: $(FIGURES)
	$(BIN)/python benchmarks/figures_classfly.py

figures-boundaries: $(FIGURES)
	$(BIN)/python benchmarks/figures_boundaries.py

figures-people: $(FIGURES)
	$(BIN)/python benchmarks/figures_people.py

figures-least-loss: $(FIGURES)
	$(BIN)/python benchmarks/figures_least_loss.py
	$(BIN)/python benchmarks/figures_overlaps.py
	$(BIN)/python benchmarks/figures_overlaps.py --tiny
	$(BIN)/python benchmarks/figures_optimum.py

# Adult in months, with joiners and leavers: the price of releases that hold together. Wants `make data`.
previous: $(DEV)
	PYTHONPATH=tests $(BIN)/python benchmarks/figures_previous.py

# The documentation site, into site/.
docs: $(DOCS)
	$(BIN)/zensical build --clean
	@echo 'The site is in site/; look at it with: python3 -m http.server --directory site, at http://localhost:8000'

# An image with kveil, and its demo in it; wants a Docker daemon.
image:
	@if docker info >/dev/null 2>&1; then \
		docker build -t kveil . && docker run --rm --network none kveil demo; \
	else echo "there is no Docker daemon here: start one, then make image builds and runs the image"; fi

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "kveil needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile -e .
	touch $(INSTALLED)

$(PLAIN): $(INSTALLED)
	-$(BIN)/python -m compileall -q -j 0 $(VENV)/lib src
	$(BIN)/kveil warmup
	touch $(PLAIN)

$(DEV): $(PLAIN)
	$(INSTALL) -e '.[dev]'
	touch $(DEV)

$(BROWSER): $(PLAIN)
	$(INSTALL) -e '.[browser]'
	touch $(BROWSER)

$(SPARK): $(PLAIN)
	$(INSTALL) -e '.[spark]'
	touch $(SPARK)

$(DOCS): $(PLAIN)
	$(INSTALL) -e '.[docs]'
	touch $(DOCS)

$(FIGURES): $(PLAIN)
	$(INSTALL) -e '.[figures]'
	touch $(FIGURES)

# Numba keeps compiled loops beside the source and looks at each file's own time only: see CONTRIBUTING.
clean:
	rm -rf $(VENV) dist build site .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find src tests benchmarks -name '*.nb[ic]' -delete
