# Everything here needs only Python 3.11 or newer and its pip; PYTHON names another than python3.

PYTHON ?= python3
PRESET ?= two_player
PYTEST_ARGS ?=
PLAY_ARGS ?=
BOARDS ?= 200
SEED ?= 1
python := .venv/bin/python
client := examples/club/spades_client

# Tests and checks start Django but serve nobody, so any key does; a service needs one of its own.
key := SECRET_KEY=$${SECRET_KEY:-for-tests-and-checks-only-never-for-a-service}
# What a shell happens to export must not change what is tested.
embedded := env -u DATABASE_URL -u REDIS_URL -u BROKER_URL -u OPEN_REGISTRATION -u DEBUG -u ALLOWED_HOSTS

# A process for each core; each has a database of its own.
processes := -n logical --maxprocesses 4 --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help venv venv-run play serve test test-postgres lint style types arrows migrations current-schema schema rules leaks soak \
	games openspiel shuffles mutants boards bench bench-library client club requirements clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */\1\t/' | expand -t 16

venv: ## build .venv with everything, when it is not already there
	@PYTHON="$(PYTHON)" .ci/venv dev

venv-run:
	@PYTHON="$(PYTHON)" .ci/venv run

play: venv-run ## play a whole game through the HTTP API (PRESET=standard: with three bots)
	$(python) -m clients.play --preset $(PRESET) $(PLAY_ARGS)

serve: venv-run ## serve on SQLite, or on what DATABASE_URL and REDIS_URL name (PORT=8000)
	$(python) manage.py serve $(if $(PORT),--port $(PORT))

test: venv ## run the tests on SQLite, with no server of any kind
	$(embedded) $(key) $(python) -m pytest $(processes) $(PYTEST_ARGS)

test-postgres: export DATABASE_URL ?= postgres://postgres@127.0.0.1:5432/spades
test-postgres: export REDIS_URL ?= redis://127.0.0.1:6379/1
test-postgres: venv ## run the same tests on DATABASE_URL and REDIS_URL
	env -u BROKER_URL $(key) $(python) -m pytest $(processes) $(PYTEST_ARGS)

# Each check on its own, so that `make --keep-going lint` tells all that is wrong.
lint: style types arrows migrations current-schema ## style, types, arrows between packages, migrations, the schema

style: venv
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types: venv client
	$(embedded) $(key) .venv/bin/mypy

arrows: venv
	.venv/bin/lint-imports --no-cache

migrations: venv
	$(embedded) $(key) DATABASE_URL=sqlite://:memory: $(python) manage.py makemigrations --check --dry-run

current-schema: venv
	$(embedded) $(key) $(python) manage.py spectacular --validate --fail-on-warn --file .venv/schema.yaml
	@diff -u openapi/schema.yaml .venv/schema.yaml || { echo 'openapi/schema.yaml is old: run make schema' >&2; exit 1; }

schema: venv ## write openapi/schema.yaml anew
	@mkdir -p openapi
	$(embedded) $(key) $(python) manage.py spectacular --validate --fail-on-warn --file openapi/schema.yaml

rules: venv ## write docs/rules.md anew from docs/rules.md.in, the catalogue of options and the worked cases
	$(embedded) $(key) $(python) -m tests.docs.book

leaks: venv ## look for leaks in thousands of deals of every preset, write tests/results/leaks.json
	$(embedded) $(key) $(python) -m tests.leaks

soak: venv ## play hundreds of games of bots, rebuild each from its actions, write tests/results/soak.json
	$(embedded) $(key) $(python) -m tests.soak

openspiel: venv ## play 20,000 deals beside OpenSpiel, write tests/results/openspiel.json
	$(embedded) $(key) $(python) -m tests.openspiel

games: venv ## play hundreds of games of every preset, rebuild each from its actions, write tests/results/games.json
	$(embedded) $(key) $(python) -m tests.whole_games

shuffles: venv ## shuffle 100,000 packs and count cards by place, write tests/results/shuffles.json
	$(embedded) $(key) $(python) -m tests.shuffles

mutants: venv ## change the library in thousands of ways, tell what no test notices, write tests/results/mutants.json
	$(embedded) $(key) nice -n 19 $(python) -m tests.mutants

# Made anew when the schema or the generator is another one.
client: venv $(client)/installed ## generate the Python client that examples/club stands on
$(client)/installed: openapi/schema.yaml examples/club/client.yml requirements/dev.txt
	@rm -rf $(client)
	.venv/bin/openapi-python-client generate --path openapi/schema.yaml --config examples/club/client.yml --meta none \
		--output-path $(client) --fail-on-warning
	@touch $@

club: venv client ## keep a club evening through the API with the generated client, kill it half way, check the standings
	$(embedded) $(key) $(python) -m tests.examples.evening

boards: venv-run ## compare the bots steady and random on duplicate boards (BOARDS=200 SEED=1)
	$(python) -m bots.arena --preset standard --boards $(BOARDS) --seed $(SEED)

bench: venv ## measure plays and views over HTTP against the floor
	$(python) -m benchmarks.http

bench-library: venv ## measure whole deals of the library beside OpenSpiel
	$(python) -m benchmarks.library

requirements: ## pin requirements/*.in anew (needs uv)
	uv pip compile $(pin) --upgrade requirements/run.in -o requirements/run.txt
	uv pip compile $(pin) --upgrade requirements/dev.in -o requirements/dev.txt
pin := --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url

clean: ## remove the environment and what tools left; var/ stays
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist *.egg-info $(client)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
