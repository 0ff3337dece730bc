# Two commands do everything on a machine with Python 3.11 or newer, git and make:
# `make demo` and `make test`. The first call installs the pinned set into .venv, once.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed

# A python3.11 that runs, else a python3 that is new enough; `make PYTHON=... test` names another.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach name,python3.11 python3,\
	$(shell $(name) -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && echo $(name))))

.PHONY: venv demo test lint docs bench lock audit soak fuzz clean

venv: $(STAMP)

$(STAMP): pyproject.toml constraints.txt requirements.lock
	@$(or $(PYTHON),false) -c '$(NEW_ENOUGH)' || { \
		echo "crowdwise needs Python 3.11 or newer; install it, or name one: make PYTHON=/path/to/python3.11" >&2; \
		exit 1; }
	@echo "Installing the pinned packages into $(VENV), once; this takes a minute or two ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes --requirement requirements.lock
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

# The hashes of what is pinned, and the bill of materials; asks the package index.
lock: $(STAMP)
	$(BIN)/python -m supply.lock
	$(BIN)/python -m supply.sbom

# Known vulnerabilities of the pins, by a folder of OSV's files: make audit CROWDWISE_OSV=folder
audit: $(STAMP)
	$(BIN)/python -m supply.audit

# A thousand trainings in one process.
soak: $(STAMP)
	$(BIN)/python -m tests.robustness.soak --fits 1000

# Ten minutes for each reader of files from elsewhere; atheris stays outside the environment.
FUZZ_SECONDS := 600
fuzz: $(STAMP)
	test -d build/atheris || $(BIN)/python -m pip install --quiet --no-deps --target build/atheris atheris==3.0.0
	for target in labels features run checkpoint; do \
		PYTHONPATH=build/atheris $(BIN)/python -m tests.robustness.fuzz $$target \
			-max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

clean:
	rm -rf $(VENV) build dist site
