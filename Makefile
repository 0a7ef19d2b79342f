# Every target does its own set-up: a virtual environment in .venv with the pinned, hashed dependencies.
# The python3 of the path, unless it was compiled without optimisation, as pyenv does when it is not told: the tests then take a
# sixth longer (docs/decisions/0035). The system's own is taken instead, where it is new enough and can make environments.
PYTHON ?= $(shell { python3 -c 'import sys, sysconfig; sys.exit("--enable-optimizations" not in str(sysconfig.get_config_var("CONFIG_ARGS")))' && echo python3 || \
	{ /usr/bin/python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' && echo /usr/bin/python3; } || echo python3; } 2>/dev/null)
BIN := .venv/bin
DATA ?= benchmarks
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes

.DEFAULT_GOAL := help
.PHONY: new-year help run demo test lint check eval intent ablation bench faults faults-night load soak lock sbom clean

help: ## Show what can be done here
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/.run ## Start Clara on this machine: database, knowledge, worker and a chat page
	@CLARA_CHANNEL=$${CLARA_CHANNEL:-local} $(BIN)/clara up

# The stand-in needs aiohttp, which the Twilio client brings along: a test holds that the pinned dependencies of a run have it.
demo: .venv/.run ## Start Clara as on WhatsApp, with a stand-in for Twilio that shows every reply
	@$(BIN)/python -m clara_lab demo

# Four processes on two cores: a third of the time is waiting for others. Many tests start processes of their own, each of which
# would compile Clara anew where the environment forbids Python to keep what it compiled.
test: .venv/.dev ## Run every test (starts its own PostgreSQL)
	@PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 4 --dist worksteal

lint: .venv/.dev ## Check style, types and import rules
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# In an empty database of its own: what somebody published into hers, or an older schema there, is not what is measured.
eval: .venv/.run ## Ask the evaluation's questions, judge answers by every suite, and hold both against their gates
	@home=$$(mktemp -d) && chmod 755 "$$home" && trap 'rm -rf "$$home"' EXIT && export CLARA_HOME="$$home" RAG_DB_URL= && \
	$(BIN)/clara eval --compare eval/clara/baseline.json --out build/eval && \
	$(BIN)/clara eval --tier json_fallback --out build/eval && \
	$(BIN)/clara eval --answers --out build/eval

check: lint test eval ## The gate: lint, tests, evaluation

intent: .venv/.dev ## Train the models of intents, topics, danger, wishes, languages and spelling anew, after typical questions, examples or names changed
	@$(BIN)/python -m clara_lab.training.intents
	@$(BIN)/python -m clara_lab.makers.vectors
	@$(BIN)/python -m clara_lab.makers.calibration
	@$(BIN)/python -m clara_lab.training.topics
	@$(BIN)/python -m clara_lab.training.danger
	@$(BIN)/python -m clara_lab.training.wishes
	@$(BIN)/python -m clara_lab.training.language
	@$(BIN)/python -m clara_lab.training.spelling

ablation: .venv/.dev ## Compare strategies, fusions, rerankers and policies on the data sets in DATA=FOLDER
	@$(BIN)/python -m clara_lab.ablation --data $(DATA)

bench: .venv/.dev ## Measure speed and memory, and print ratios
	@$(BIN)/python -m clara_lab.speed

faults: .venv/.dev ## Kill processes at random under load, and print what was lost or doubled (SEED= replays)
	@$(BIN)/python -m tests.faults.run --messages 3000 --kills 60 $(if $(SEED),--seed $(SEED))

faults-night: .venv/.dev ## The same with ten times as much
	@$(BIN)/python -m tests.faults.run --messages 30000 --kills 600 $(if $(SEED),--seed $(SEED))

load: .venv/.dev ## 80 questions and 240 reports a second to a stand-in that answers; REAL=1: find the rate at which Clara herself does (QUESTIONS= tries one)
	@$(BIN)/python -m tests.faults.$(if $(REAL),real,load) --seconds 60 $(if $(REAL)$(QUESTIONS),$(if $(QUESTIONS),--questions $(QUESTIONS)),--questions 80)

new-year: .venv/.dev ## Play 1 January to 28 February with and without the decrees that renew figures, and print what is told
	.venv/bin/python -m pytest -q -s --no-header -p no:cacheprovider tests/integration/test_new_year.py

soak: .venv/.dev ## 20 questions a second for 20 minutes, watching memory
	@$(BIN)/python -m tests.faults.load --soak 20 --questions 20

lock: ## Renew the pinned dependencies (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q pyproject.toml --extra build --extra dev --extra lab --extra code -o requirements-dev.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header -q pyproject.toml --extra build --constraint requirements-dev.lock -o requirements.lock

sbom: .venv/.run ## Write what Clara runs on to build/sbom.cdx.json (CycloneDX), and the table of licences to docs/third-party.md
	@$(BIN)/python tools/sbom.py --out build/sbom.cdx.json --write

clean: ## Remove the virtual environment and every cache (keeps the database)
	rm -rf .venv .mypy_cache .ruff_cache .import_linter_cache .pytest_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Clara needs Python 3.11 or newer; $(PYTHON) is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	@echo "Creating the virtual environment in .venv ..."
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python's venv module is missing. On Debian or Ubuntu: apt install python3-venv"; exit 2; }

.venv/.run: .venv/bin/python requirements.lock pyproject.toml
	@echo "Installing the pinned dependencies ..."
	@$(PIP) -r requirements.lock
	@$(BIN)/python -m pip --disable-pip-version-check uninstall --quiet --yes clara 2>/dev/null # its name before 0.1.0
	@$(BIN)/python -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.dev: .venv/.run requirements-dev.lock
	@echo "Installing the tools for tests and lint ..."
	@$(PIP) -r requirements-dev.lock
	@touch $@
