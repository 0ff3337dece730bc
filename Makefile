# Two commands do everything on a machine with Python 3.11 or newer, git and make:
# `make demo` and `make test`. The first call installs the pinned set into .venv, once.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed

# A python3.11 that runs, else a python3 that is new enough; `make PYTHON=... test` names another.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach name,python3.11 python3,\
	$(shell $(name) -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && echo $(name))))

.PHONY: venv demo test lint docs bench clean

venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' || { \
		echo "crowdwise needs Python 3.11 or newer; install it, or name one: make PYTHON=/path/to/python3.11" >&2; \
		exit 1; }
	@echo "Installing the pinned packages into $(VENV), once; this takes a minute or two ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $(STAMP)

demo: $(STAMP)
	$(BIN)/crowdwise demo --out demo

test: lint
	$(BIN)/pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(STAMP)
	$(BIN)/python -m docs.cli_reference
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist site
