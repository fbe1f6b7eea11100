# On a fresh machine with Python >= 3.11, git and make, each of these does all of its own set-up.
PY ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench setup clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tabferry needs Python 3.11 or newer; set PY=/path/to/python3.11")'
	test -x $(BIN)/python || $(PY) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --editable . --group dev
	touch $@

demo: setup
	$(BIN)/python -P -m bridge demo

test: setup
	$(BIN)/python -m pytest

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m benchmarks
