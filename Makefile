# Weir: `make run` brings everything up, `make test` checks everything.
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help setup setup-tests setup-unit run test test-unit test-long lint

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## Prepare Java and the virtual environment
	@./setup.sh

setup-tests: ## The same, with what the tests need
	@./setup.sh --tests

run: setup ## Bring everything up on this machine and print the address (ARGS="--port 9000" ...)
	@exec $(BIN)/weir demo $(ARGS)

# Groups of tests that share a system, a web server or a file run on one worker each. Spark's
# group begins first and mostly waits, so one worker more than there are cores pays off.
PARALLEL := -n 3 --dist loadscope --no-loadscope-reorder

test: setup-tests lint ## Lint and run every test (ARGS="-m spark", -m "unit or contract", ...)
	@exec $(BIN)/python -m pytest $(PARALLEL) $(ARGS)

setup-unit:
	@./setup.sh --unit

test-unit: setup-unit ## The tests that need neither Spark nor Redis nor a browser
	@exec $(BIN)/python -m pytest -n auto --dist loadscope --no-loadscope-reorder tests/unit weir $(ARGS)

# Not in `make test`, as it takes hours: every property and every request of the API's
# description with twenty times as many examples, and the demo's inbox watched live.
test-long: setup-tests ## Twenty times as many examples of every property and API request
	@WEIR_TEST_EXAMPLES=20 exec $(BIN)/python -m pytest $(PARALLEL) -m "unit or contract" --timeout 7200 $(ARGS)
	@WEIR_TEST_EXAMPLES=20 exec $(BIN)/python -m pytest -n 0 tests/integration/test_calm_demo.py \
	  tests/integration/test_slices.py tests/integration/test_rescue.py \
	  tests/integration/test_workloads.py --timeout 1800

lint: setup-tests ## ruff, mypy --strict, import-linter, ESLint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@if [ -d tests/scripts/node_modules ]; then \
	  tests/scripts/node_modules/.bin/eslint --config tests/scripts/eslint.config.mjs assets tests/scripts; \
	else echo "Node is not there: the scripts in assets/ are not checked."; fi
