# One verb per target; `make` alone lists them.
.DEFAULT_GOAL := help
PYTHON ?=
export PYTHON
BIN := .venv/bin
# Without its own bytecode, pytest would rewrite each test's assertions in each worker again.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest --durations=30
# The tests of a file share its fixtures; tests/conftest.py sets the order of the files.
AT_ONCE := --dist loadfile --no-loadscope-reorder -n
# These have their own targets.
APART := $(addprefix tests/,airflow/scenarios benches browser containers faults mutations production recipes wheel)
# What starts Spark is in these, and in tests/contracts.
SPARKS := $(addprefix tests/,cli decoding operations protocol)

.PHONY: help setup s3 demo up down test test-fast test-spark test-contracts test-on-spark test-recipes test-benches test-airflow test-browser screenshots test-faults test-mutations test-production test-containers test-wheel env compose-check soak check format bench bench-places bench-airflow bench-scale bench-wide bench-formats bench-kinds bench-hot bench-state public-schemas simulate lock wheel sbom audit clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-14s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup:  ## Install what is missing: virtual environment and jars (every other target calls it)
	@local/setup.sh

s3:  ## Also install what Spark needs for a warehouse on S3 (13 MB)
	@local/setup.sh s3

demo: setup  ## Run the pipeline on real data: broker, Airflow, Spark, Delta, and a report
	@$(BIN)/python -m local.demo

up: setup  ## Start the broker, a Spark server and Airflow in the background; print address and login
	@$(BIN)/python -m local.stack up

down:  ## Stop what `make up` started
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m local.stack down; fi

# More workers than cores: its tests often wait for brokers.
test: setup  ## All tests without Spark, and one Spark test of each kind
	$(PYTEST) $(AT_ONCE) 4 -m 'seam or not spark' $(addprefix --ignore ,$(APART))

PART ?= 0/1
test-spark: setup  ## The other Spark tests: every type and format, altered tables, servers; PART=2/3: some
	SLUICE_TEST_PART=$(PART) $(PYTEST) $(AT_ONCE) 2 -m 'spark and not seam' $(SPARKS)

test-contracts: setup  ## Hold the tests' lake without Spark, and Spark's, to one contract
	$(PYTEST) -m spark tests/contracts

test-fast: setup  ## The quick tests only: values and DAG rules, in forty seconds
	$(PYTEST) $(AT_ONCE) 2 -m 'not patient' --hypothesis-profile=quick tests/unit tests/airflow/rules

test-recipes: setup  ## Run every command of docs/operations.md, every page of docs/sources, and the specs of docs/state.md; PART=1/2: some
	SLUICE_TEST_PART=$(PART) $(PYTEST) tests/recipes

test-benches: setup  ## Run each benchmark with a few records; PART=2/4: some
	SLUICE_TEST_PART=$(PART) $(PYTEST) tests/benches

test-on-spark: setup  ## Run on Spark what `make test` runs without it; PART=2/5: some
	SLUICE_TEST_LAKE=spark SLUICE_TEST_PART=$(PART) $(PYTEST) $(AT_ONCE) 2 -m 'deciding and not spark' $(SPARKS)

test-airflow: setup  ## What operators do in Airflow: resets, backfills, forms, tasks that are ended; PART=1/2: some
	SLUICE_TEST_PART=$(PART) $(PYTEST) $(AT_ONCE) 2 tests/airflow/scenarios

test-browser: setup  ## The page in Airflow, in Chromium: the machine's, else Playwright's own
	$(PYTEST) tests/browser

screenshots: setup  ## The same, and take the pictures of docs/screenshots again
	SLUICE_SCREENSHOTS=1 $(PYTEST) tests/browser/test_page.py

FAULTS ?=
test-faults: setup  ## Exactness under faults: killed, frozen, doubled processes; FAULTS=zombies: some
	SLUICE_TEST_PART=$(PART) $(PYTEST) $(AT_ONCE) 2 $(if $(FAULTS),-k '$(FAULTS)') tests/faults

test-mutations: setup  ## Break the protocol on purpose: the oracle must turn red; PART=1/2: some
	SLUICE_TEST_PART=$(PART) $(PYTEST) -n 2 tests/mutations

AIRFLOW ?=
test-wheel: wheel  ## The wheel alone, in the oldest and the newest Airflow that it takes; AIRFLOW=3.2.2: one
	$(PYTEST) $(if $(AIRFLOW),-k '$(AIRFLOW)') tests/wheel

SHAPE ?=
SERVERS ?= versitygw toxiproxy docker-compose apicurio
test-production: s3  ## Compose, Postgres, Spark cluster, S3, secured Kafka; SHAPE=test_s3: some
	@local/servers.sh $(SERVERS)
	SLUICE_TEST_PART=$(PART) $(PYTEST) $(AT_ONCE) 2 $(if $(SHAPE),-k '$(SHAPE)') tests/production

test-containers: setup  ## Build the image, and run docker-compose.yml on this machine's Docker engine
	@local/servers.sh docker-compose
	$(PYTEST) tests/containers

env: setup  ## Write random secrets for docker-compose.yml into .env, unless it is there
	@$(BIN)/python -m local.secrets_file

compose-check: setup  ## Check docker-compose.yml, on every profile, with and without .env
	@local/servers.sh docker-compose
	$(PYTEST) tests/production/test_compose_file.py

MINUTES ?= 10
soak: setup  ## Run a pipeline under random faults for MINUTES=10; SEED=7 repeats a run
	@$(BIN)/python -m tests.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

WORKERS ?= 2
simulate: setup  ## Random histories of a pipeline in memory, judged at every step: MINUTES=5 SEED=7
	@PYTHONHASHSEED=0 $(BIN)/python -m tests.simulation --minutes $(MINUTES) --workers $(WORKERS) --keep build/histories $(if $(SEED),--seed $(SEED)) $(if $(TELL),--tell)

check: setup  ## Lint, formatting, types, and which folder may import which
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

format: setup  ## Format the sources, and fix what the linter can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup  ## Compare with plain Spark, availableNow and the raw limit: about an hour (docs/performance.md)
	@$(BIN)/python -m local.bench --json build/bench.json

bench-places: s3  ## What a batch costs in a bucket and on a cluster, compared with one machine: half an hour
	@local/servers.sh versitygw
	@$(BIN)/python -m local.bench.places --json build/bench_places.json

bench-airflow: setup  ## DAG runs on a warm Spark server: one, one with no new records, 100 at once
	@$(BIN)/python -m local.bench.dag_runs --json build/bench_airflow.json

bench-scale: setup  ## What a step costs on large tables: a year of batches, 10,000 partitions, 1,000 pipelines
	@$(BIN)/python -m local.bench.scale

bench-wide: setup  ## What statistics cost on a table of 200 columns: five minutes
	@$(BIN)/python -m local.bench.wide_tables --json build/bench_wide_tables.json

bench-formats: setup  ## Compare each format with plain Spark: decoding, Kafka to Delta, a look-up: fifteen minutes
	@$(BIN)/python -m local.bench.formats --json build/bench_formats.json
	@$(BIN)/python -m local.bench.formats_to_tables --json build/bench_formats_to_tables.json

bench-kinds: setup  ## Compare ten pipelines on a topic of ten kinds with one that lands all: fifteen minutes
	@$(BIN)/python -m local.bench.kinds --json build/bench_kinds.json

bench-hot: setup  ## Compare one partition with four, cold and on a warm Spark server: fifteen minutes
	@$(BIN)/python -m local.bench.hot_partition --json build/bench_hot_partition.json

bench-state: setup  ## Compare state tables with the MERGE that people write by hand: two hours
	@$(BIN)/python -m local.bench.state --growth --json build/bench_state.json

public-schemas: setup  ## Check the schemas in packages of PyPI and npm as a pipeline's, and count them (needs npm)
	@$(BIN)/python -m tests.public_schemas

lock: setup  ## Compile requirements*.in into requirements*.txt, list the jars' checksums
	$(BIN)/uv pip compile --quiet --generate-hashes --python-version 3.11 requirements.in -o requirements.txt
	$(BIN)/uv pip compile --quiet --generate-hashes --python-version 3.11 requirements-dev.in -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --generate-hashes --python-version 3.11 requirements-sbom.in -o requirements-sbom.txt
	@$(BIN)/python -m local.jar_checksums renew

wheel: s3  ## Build the package, with our compiled classes, into dist/
	@local/wheel.sh

sbom: s3  ## The bill of materials (CycloneDX) in build/sbom.json, and docs/licences.md
	@local/sbom.sh

audit: setup  ## Compare the locks and all jars with known vulnerabilities; ARGS=--online: only with OSV's answer
	@$(BIN)/python -m local.audit $(ARGS)

clean: down  ## Remove what the targets created: .venv, build, caches
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
