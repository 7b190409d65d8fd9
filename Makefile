# Two commands do everything: `make demo` and `make test`.
# They need Python 3.11 or newer and make; the rest is installed into .venv.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo quick test test-slow lint types imports tests quick-tests fuzz bench bench-partial bench-search bench-inference bench-surface bench-scale bench-real bench-compare docs clean

help:  ## show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "unshuffle needs Python 3.11 or newer, found " + sys.version.split()[0] + "; run: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	@touch $@

.venv/package: .venv/created pyproject.toml
	@echo "Installing unshuffle into .venv (once) ..."
	$(INSTALL) --editable .
	@touch $@

.venv/dev: .venv/package
	@echo "Installing the development tools into .venv (once) ..."
	$(INSTALL) --editable ".[dev]"
	@touch $@

.venv/demo: .venv/created pyproject.toml
	@echo "Installing unshuffle into .venv (once) ..."
	$(INSTALL) --editable ".[plots]"
	@touch .venv/package $@

demo: .venv/demo  ## fit the shipped data and compare
	$(BIN)/unshuffle demo

quick: lint types imports quick-tests  ## in about a minute: lint, types, imports, unit tests

test: lint types imports tests  ## everything that must hold

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/dev
	$(BIN)/mypy

imports: .venv/dev
	$(BIN)/lint-imports
	$(BIN)/deptry src

tests: .venv/dev
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

quick-tests: .venv/dev
	$(BIN)/python -m pytest -n 2 -m "not (slow or browser or dask or doctest or long)"

test-slow: .venv/dev  ## the tests that take minutes: coverage of intervals
	$(BIN)/python -m pytest -n 2 -m slow

fuzz: .venv/dev  ## ten thousand odd calls: only clear errors may come back
	$(BIN)/python tests/fuzzing.py 10000

bench: .venv/dev  ## speed beside C and plain NumPy, memory, first call
	$(BIN)/python -m benchmarks.run

bench-partial: .venv/dev  ## pairings that are mostly right, beside Huber, RANSAC and others
	$(BIN)/python -m benchmarks.partial

bench-search: .venv/dev  ## global search and default estimator, beside OLS, Huber, hard EM and others
	$(INSTALL) --editable ".[bench]"
	$(BIN)/python -m benchmarks.search

bench-inference: .venv/dev  ## coverage of intervals, verdicts on fresh seeds, what they cost
	$(BIN)/python -m benchmarks.inference
	$(BIN)/python -m benchmarks.bootstrap
	$(BIN)/python -m benchmarks.posterior

bench-surface: .venv/dev  ## the command line: help, fit, predict, reading a large table
	$(BIN)/python -m benchmarks.surface

bench-scale: .venv/dev  ## large data: precision per second, time, memory, threads
	$(BIN)/python -m benchmarks.scale
	$(BIN)/python -m benchmarks.scale_dask

bench-real: .venv/dev  ## 248 real tables with labels out of place, beside OLS, Huber and others
	$(INSTALL) --editable ".[bench]"
	$(BIN)/python -m benchmarks.real

bench-compare: .venv/dev  ## times and memory of the working tree over those of BASE=<commit>
	$(BIN)/python -m benchmarks.compare $(BASE) $(OPTIONS)

docs: .venv/package  ## the documentation, every example executed, in docs/_build/html
	$(INSTALL) --editable ".[docs]"
	rm -rf docs/_build docs/examples docs/reference
	$(BIN)/python -m docs.tables --check
	$(BIN)/python -m docs.readme & readme=$$!; \
	$(BIN)/python -m sphinx --quiet -W --keep-going -b html docs docs/_build/html; built=$$?; \
	wait $$readme && exit $$built
	@echo "Open docs/_build/html/index.html"

clean:  ## remove what the targets made
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis benchmarks/results docs/_build docs/examples docs/reference
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
