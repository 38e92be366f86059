# make results   set up everything and run the quick start (or CONFIG=…)
# make test      set up everything and run the tests
# make check     format, lint, types, workflow lint
# make browser   set up what the tests in a real browser need besides Chromium
# make figures   redraw everything from existing results; no model, no network
# make lock      pin the newest versions that fit again
# make clean     remove results and figures (asks nothing)

PYTHON ?= python3
VENV ?= .venv
CORES ?= 16
CONFIG ?= config/config.yaml
BIN := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)

.PHONY: results test check browser figures lock clean setup weights help

help:
	@sed -n 's/^# //p' Makefile

$(BIN)/.ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps -e .
	touch $@

setup: $(BIN)/.ready

weights: setup
	$(BIN)/lcbgrid model fetch qwen-coder-0.5b

results: weights
	$(BIN)/snakemake -j $(CORES) --configfile $(CONFIG) -- results/all

figures: setup
	$(BIN)/snakemake -j 1 --configfile $(CONFIG) -- figures

browser: setup
	$(BIN)/python -m pip install --quiet -c requirements.lock -e '.[browser]'

test: setup
	$(BIN)/python -m pytest -n auto --dist worksteal

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lcbgrid config generate --check
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

lock: setup
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra embedded --python-version 3.11 \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-header --upgrade -o requirements.lock

clean:
	rm -rf results figures
