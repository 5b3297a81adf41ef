# Weir: `make run` brings everything up, `make test` checks everything.
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help setup setup-tests run test test-unit lint

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## Prepare Java and the virtual environment
	@./setup.sh

setup-tests: ## The same, with what the tests need
	@./setup.sh --tests

run: setup ## Bring everything up on this machine and print the address (ARGS="--port 9000" ...)
	@exec $(BIN)/weir demo $(ARGS)

test: setup-tests lint ## Lint and run every test (ARGS="-m 'not spark'" for a part)
	@exec $(BIN)/python -m pytest $(ARGS)

test-unit: setup-tests ## The tests that need neither Spark nor Redis nor a browser
	@exec $(BIN)/python -m pytest -n auto tests/unit weir $(ARGS)

lint: setup-tests ## ruff, mypy --strict, import-linter, ESLint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@if [ -d tests/scripts/node_modules ]; then \
	  tests/scripts/node_modules/.bin/eslint --config tests/scripts/eslint.config.mjs assets tests/scripts; \
	else echo "Node is not there: the scripts in assets/ are not checked."; fi
