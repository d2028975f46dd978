# Every target creates .venv if it is missing, with uv if installed, else with pip.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo up test test-wide coverage check sbom bench truth chaos mutants fuzz pywb clients recipes docs docs-test lock clean

demo: .venv/run
	$(BIN)/messor demo $(if $(CI),--once)

up: .venv/run
	$(BIN)/messor up

# Tests start many processes; without bytecode each would compile everything again.
test: export PYTHONDONTWRITEBYTECODE :=
test: .venv/dev
	$(BIN)/pytest -n 4 --dist loadgroup -m "not alone and not wide"
	$(BIN)/pytest -m "alone and not wide" $$(grep -rl --include='*.py' 'mark\.alone' tests)

# More examples of what `make test` tries, and what takes minutes; continuous integration runs both.
test-wide: export PYTHONDONTWRITEBYTECODE :=
test-wide: .venv/dev
	$(BIN)/pytest -n 4 --dist loadgroup -m "wide and not alone" $$(grep -rl --include='*.py' 'mark\.wide' tests)
	$(BIN)/pytest -m "alone and wide" $$(grep -rl --include='*.py' 'mark\.alone' tests)

# What the tests reach, also in the processes that they start; the total is the last line.
coverage: .venv/dev
	mkdir -p build/coverage
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -n 4 --dist loadgroup -m "not alone and not wide"
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/bench
	$(BIN)/python -m bench.run
	-$(BIN)/python -m bench.robots

# Scores what is read from pages on the external corpora, beside the best libraries.
truth: .venv/bench
	$(BIN)/python -m bench.truth --write docs/truth.md

chaos: .venv/dev
	$(BIN)/python -m chaos.run

# Breaks required behaviour on purpose; every named test must notice.
mutants: .venv/dev
	$(BIN)/python -m mutants.run

# Bill of materials (CycloneDX), and known vulnerabilities if the advisory service can be reached.
sbom: .venv/dev
	mkdir -p dist
	$(BIN)/cyclonedx-py requirements requirements.txt --output-reproducible --of JSON -o dist/messor.cdx.json
	$(BIN)/python .ci/audit.py requirements.txt

fuzz: .venv/dev
	$(BIN)/python -m fuzz.run --minutes 10

# pywb replays the archive in tests, clients call the API and run the examples of docs, Scrapy and Dagster use our
# client; without them those tests are skipped.
pywb: .venv-pywb/done
clients: .venv-clients/done .venv-clients/npm
# firecrawl-mcp is an npm package; the node that runs it is a wheel among the pins.
.venv-clients/npm: .venv-clients/done tests/api/firecrawl/node/package-lock.json
	cp tests/api/firecrawl/node/package*.json .venv-clients/
	cd .venv-clients && PATH="$$PWD/bin:$$PATH" npm ci --silent --ignore-scripts --no-audit --no-fund
	touch $@
recipes: .venv-recipes/done

# The site of the documentation in build/site; a link that leads nowhere fails.
docs: .venv-docs/done
	.venv-docs/bin/python -m mkdocs build --quiet --strict --config-file deploy/docs/mkdocs.yml

# Runs the commands and snippets of the documentation in an installation over the simulated web.
docs-test: .venv/dev
	$(BIN)/pytest -m "wide or not wide" tests/docs/test_snippets.py tests/docs/test_running.py tests/docs/test_webhooks.py tests/client/test_guide.py

.venv-%/done: requirements-%.txt
	if command -v uv >/dev/null; then \
	  uv venv -q --clear --python $(PYTHON) .venv-$* && \
	  uv pip install -q --python .venv-$*/bin/python --no-deps --require-hashes -r $<; \
	else \
	  $(PYTHON) -m venv --clear .venv-$* && \
	  .venv-$*/bin/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r $<; \
	fi
	touch $@

# Pins with hashes, from pyproject.toml; no registry host is named. They are complete, and installed with
# --no-deps: some versions of pip would resolve `sqlalchemy[asyncio]==2.1.8` and another package's `SQLAlchemy>=2`
# apart, and refuse all once a newer release is out.
lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --strip-extras -q -o requirements.txt
	uv pip compile pyproject.toml --universal --python-version 3.11 --extra broker --extra clickhouse --extra s3 --generate-hashes --no-header --no-annotate --strip-extras -q -o requirements-image.txt
	uv pip compile pyproject.toml --universal --python-version 3.11 --group dev --generate-hashes --no-header --no-annotate --strip-extras -q -o requirements-dev.txt
	uv pip compile pyproject.toml --universal --python-version 3.11 --group dev --group bench --generate-hashes --no-header --no-annotate --strip-extras -q -o requirements-bench.txt
	uv pip compile --group pywb --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --strip-extras -q -o requirements-pywb.txt
	uv pip compile --group recipes --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --strip-extras -q -o requirements-recipes.txt
	uv pip compile --group docs --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --strip-extras -q -o requirements-docs.txt
	uv pip compile --group clients --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --strip-extras -q -o requirements-clients.txt

# $(1): requirements file. Messor and the simulated web are installed as editable, without further dependencies.
define install
	test -x $(BIN)/python || if command -v uv >/dev/null; then uv venv -q --python $(PYTHON) .venv; else $(PYTHON) -m venv .venv; fi
	if command -v uv >/dev/null; then \
	  uv pip install -q --python $(BIN)/python --no-deps --require-hashes -r $(1) && uv pip install -q --python $(BIN)/python --no-deps -e . -e packages/simweb; \
	else \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r $(1) && \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e . -e packages/simweb; \
	fi
	touch $@
endef

.venv/run: requirements.txt pyproject.toml hatch_build.py
	$(call install,requirements.txt)

.venv/dev: requirements-dev.txt pyproject.toml hatch_build.py
	$(call install,requirements-dev.txt)
	touch .venv/run

.venv/bench: requirements-bench.txt pyproject.toml hatch_build.py
	$(call install,requirements-bench.txt)
	touch .venv/run .venv/dev

clean:
	rm -rf .venv .venv-* build dist .mypy_cache .ruff_cache .pytest_cache
