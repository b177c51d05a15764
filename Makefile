SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PEER_NAMES := $(patsubst requirements/peers/%.in,%,$(wildcard requirements/peers/*.in))
LOCKER := .venv-lock
SETUP := $(VENV)/.handrail-setup
SUITE := .mcp-suite/.installed
PIP := pip --disable-pip-version-check --no-input -qq

# One worker more than cores, since many tests wait for other processes; at most four, since many start servers
# of their own. Snapshots are compared, never written.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS ?= --numprocesses=$(shell echo $$(($(CORES) < 3 ? $(CORES) + 1 : 4))) --dist=worksteal --inline-snapshot=disable
# What was compiled once is not compiled again in each of a thousand processes.
unexport PYTHONDONTWRITEBYTECODE
CORPORA := $(abspath $(or $(HANDRAIL_CORPORA),../shared/data))

.PHONY: help browser sandbox screens setup run test lint format types corpora soak bench docs coverage-req lock clean distclean

help:  ## this list
	@echo "Handrail: make <target>"
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)$$/  \1|\2/p' Makefile | while IFS='|' read -r target text; do \
	  printf '  %-14s %s\n' "$$target" "$$text"; done
	@echo "  ARGS=\"...\" is handed on to what a target runs: make test ARGS=\"-k approval\""

# A new environment holds exactly the lock; it is made again when the lock or pyproject.toml changes.
define make_venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "make: $(PYTHON) is missing or older than 3.11; name another one with PYTHON=python3.13" >&2; exit 1; }
	@test -x $(1)/bin/pip || $(PYTHON) -m venv --clear $(1) || { \
	  echo "make: $(PYTHON) cannot create an environment; on Debian: apt-get install python3-venv" >&2; exit 1; }
endef

$(SETUP): pyproject.toml requirements/dev.txt hatch_build.py src/handrail/doors/web/packages/package-lock.json
	@echo "make: setting up $(VENV) from the hashed lock; this takes about two minutes"
	$(call make_venv,$(VENV))
	@$(BIN)/$(PIP) install --require-hashes --no-deps -r requirements/dev.txt
	@$(BIN)/$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

# Each peer has an environment and a lock of its own, so that none holds another's version back.
$(PEERS)/%/.handrail-setup: requirements/peers/%.txt
	@echo "make: setting up $(PEERS)/$* from its hashed lock"
	$(call make_venv,$(PEERS)/$*)
	@$(PEERS)/$*/bin/$(PIP) install --require-hashes --no-deps -r $<
	@touch $@

# The protocol's own conformance suite, for the tests of MCP.
$(SUITE): $(SETUP) tests/mcp_suite/package.json tests/mcp_suite/package-lock.json
	@$(BIN)/python -m tests.mcp_suite.packages
	@touch $@

# A browser for the tests of the pages: the one of this machine, or Debian's.
browser:
	@command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "make: installing chromium for the tests of the pages"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	  else \
	    echo "make: the tests of the pages need Chromium; on Debian: apt-get install chromium" >&2; exit 1; \
	  fi; }

# The shell's sandbox, which the tests of the workspace tools and the benchmark of the shell need too.
sandbox:
	@command -v bwrap >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "make: installing bubblewrap for the tests of the shell"; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq bubblewrap >/dev/null; \
	  else \
	    echo "make: the tests of the shell need bubblewrap; on Debian: apt-get install bubblewrap" >&2; exit 1; \
	  fi; }

setup: $(SETUP)  ## the environment in .venv, from the hashed lock
	@:

run: setup  ## the server with example tools, at http://127.0.0.1:8000
	@mkdir -p build
	@$(BIN)/handrail serve --demo --database sqlite:///build/demo.db $(ARGS)

test: setup $(SUITE) browser sandbox  ## every test but the corpora, the soak and the long ones
	@$(BIN)/python -m pytest $(WORKERS) -m "not long" $(ARGS)

lint: setup  ## rules, format and the direction of imports
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-logo

format: setup  ## repairs what `make lint` can repair by itself
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: setup  ## mypy, strict
	@$(BIN)/mypy src tests scripts $(wildcard benchmarks docs_src examples)

corpora: setup  ## the tests on public data sets, from HANDRAIL_CORPORA or ../shared/data
	@if [ -d "$(CORPORA)" ]; then \
	  HANDRAIL_CORPORA="$(CORPORA)" $(BIN)/python -m pytest $(WORKERS) --timeout=600 tests/corpora $(ARGS); \
	elif [ -n "$${HANDRAIL_CORPORA:-}" ]; then \
	  echo "corpora: HANDRAIL_CORPORA is set, but there is no such folder" >&2; exit 1; \
	else \
	  echo "corpora: NOT RUN, the data sets are absent; set HANDRAIL_CORPORA to their folder"; \
	fi

# What may share the machine comes first, the longest of it at the beginning; then what asserts times, by itself.
soak: setup $(SUITE) browser sandbox  ## the long seeded fault and load runs
	@$(BIN)/python -m pytest $(WORKERS) --dist=load --maxschedchunk=1 --timeout=900 \
	  --override-ini="norecursedirs=.* build dist __pycache__ tests/corpora" \
	  -m "(soak or long) and not alone" $(ARGS) $(unless_asked)
	@$(BIN)/python -m pytest --timeout=900 -m alone tests/soak $(ARGS) $(unless_asked)

# Whoever asks for some tests only may find none of them here.
unless_asked = $(if $(ARGS),|| [ $$? -eq 5 ])

bench: setup sandbox $(PEER_NAMES:%=$(PEERS)/%/.handrail-setup)  ## the speed table with its peers; fails on a missed budget
	@$(BIN)/python benchmarks/run.py --peers $(PEERS) $(ARGS)

screens: setup browser  ## takes the pictures of the pages in docs/screens anew
	@HANDRAIL_SCREENS=write $(BIN)/python -m pytest tests/soak/test_screenshots.py $(ARGS)

docs: setup  ## runs the code of README and docs
	@$(BIN)/python -m pytest tests/docs $(ARGS)

coverage-req: setup  ## requirements without a proving test; GROUP=TD,BY-04 must have none
	@$(BIN)/python scripts/coverage_req.py $(if $(GROUP),--group $(GROUP)) $(ARGS)

lock:  ## resolves the lock files again; newest versions with LOCK=--upgrade
	$(call make_venv,$(LOCKER))
	@$(LOCKER)/bin/$(PIP) install --upgrade uv
	@$(call compile,dev,pyproject.toml --extra all --extra dev)
	@$(foreach peer,$(PEER_NAMES),$(call compile,peers/$(peer),requirements/peers/$(peer).in) && )true

compile = $(LOCKER)/bin/uv pip compile --quiet --no-config --no-strip-extras --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" $(LOCK) \
  --output-file requirements/$(1).txt $(2) && echo "lock: requirements/$(1).txt"

clean:  ## caches and what was built
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage benchmarks/results
	@find . -path './.venv*' -prune -o -name __pycache__ -type d -print0 | xargs -0 rm -rf

distclean: clean  ## the environments too
	@rm -rf $(VENV) $(PEERS) $(LOCKER) $(dir $(SUITE)) .web-packages src/handrail/doors/web/static/vendor
