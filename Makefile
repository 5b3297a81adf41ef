# Weir: `make run` brings everything up, `make test` checks everything.
PYTHON_BIN := .venv/bin/python
.DEFAULT_GOAL := help
.PHONY: help setup setup-tests run test test-unit lint

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## Prepare the virtual environment and Java
	@./setup.sh

setup-tests: ## The same, and Chromium for the browser tests
	@./setup.sh --tests

run: setup ## Bring everything up on this machine and print the address (ARGS="--port 9000" ...)
	@exec $(PYTHON_BIN) app.py $(ARGS)

test: setup-tests lint ## Lint and run every test: unit, contract, integration, browser
	@exec $(PYTHON_BIN) -m pytest

test-unit: setup ## The tests that need neither Spark nor Redis nor a browser
	@exec $(PYTHON_BIN) -m pytest tests/unit controllers

lint: setup ## ruff, mypy --strict on controllers/, import-linter
	@.venv/bin/ruff check .
	@.venv/bin/ruff format --check .
	@.venv/bin/mypy
	@PYTHONPATH=. .venv/bin/lint-imports
