# `make book` and `make test` set everything up by themselves, in .venv; `make help` lists the rest.
PROFILE ?= paper
PYTHON ?=
PY := .venv/bin/python
READY := .venv/ready
CANDIDATES := python3.12 python3.11 python3.13 python3

# One thread per numerical library: trials run side by side instead, and results do not depend on the machine.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export SOURCE_DATE_EPOCH := 0
# Every module is compiled once, not by each process that imports it.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help env book pdf picture lab publish refresh test test-all test-browser commands lint bench peers lock clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1@\2/p' Makefile | awk -F@ '{printf "%-12s %s\n", $$1, $$2}'

env: $(READY) ## set up .venv from requirements.lock

book: $(READY) ## execute what has changed, build its pages (PROFILE=quick or paper, the default; STRICT=1)
	$(PY) -m lib.book build --profile $(PROFILE) $(if $(STRICT),--strict) $(if $(filter paper,$(PROFILE)),--pdf)

pdf: book ## the whole book as one PDF beside its pages, too (needs Chromium)
	$(PY) -m lib.book pdf --profile $(PROFILE)

picture: book ## the title page's picture and findings, for README, from the pages at the papers' scale
	for theme in light dark; do cp _build/paper/html/_images/fig-title-picture-$$theme.svg assets/title-$$theme.svg; done
	$(PY) -m lib.book findings

lab: $(READY) ## open the chapters in JupyterLab (installs requirements-lab.lock)
	.venv/bin/uv pip install --quiet --python $(PY) --require-hashes -r requirements-lab.lock
	JUPYTER_PREFER_ENV_PATH=1 $(PY) -m jupyterlab --ServerApp.preferred_dir=chapters

publish: $(READY) ## run what has changed as published and store the outputs in the notebooks
	$(PY) -m lib.book publish

refresh: $(READY) ## run all notebooks at the quick scale and store the outputs that make test compares
	$(PY) -m lib.book refresh

test: lint ## lint, all notebooks, a strict quick build and the unit tests
	$(CHECK) -m "not slow"

test-all: lint ## as make test, and the slow tests: killed runs, clusters, arbitrary input
	$(CHECK)

test-browser: $(READY) ## the pages of the last build in a real browser (needs Chromium)
	$(PY) -m pytest -n 2 --dist loadscope tests/browser

commands: $(READY) ## run every command that the chapters print (about half an hour)
	RUN_COMMANDS=1 $(PY) -m pytest -rs tests/test_commands.py -k test_each_command_works

lint: $(READY) ## ruff: rules and format, modules and notebooks
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

bench: $(READY) ## compare speed with other libraries, measure growth (installs requirements-bench.lock)
	$(install_peers)
	$(PY) -m tests.benchmarks.run
	$(PY) -m tests.benchmarks.scaling
	$(PY) -m tests.benchmarks.chapters

peers: $(READY) ## compare results with other libraries (installs requirements-bench.lock), and with Weka 3.6 where Java is
	$(install_peers)
	$(PY) -m pytest -rs tests/peers

lock: $(READY) ## resolve the lock files anew from pyproject.toml
	$(call compile,requirements.lock,$(EXTRAS))
	$(call compile,requirements-bench.lock,$(EXTRAS) --extra bench --constraint requirements.lock)
	$(call compile,requirements-lab.lock,$(EXTRAS) --extra lab --constraint requirements.lock)

clean: ## remove everything that was built; .venv stays
	rm -rf _build .pytest_cache .ruff_cache .hypothesis lib/__pycache__/numba

# One session; tests/conftest.py says what stays together.
CHECK = $(PY) -m pytest --nbval --nbval-current-env --nbval-sanitize-with=tests/nbval_sanitize.cfg \
  -p no:cacheprovider -n 2 _build/nbval tests

install_peers = .venv/bin/uv pip install --quiet --python $(PY) --require-hashes -r requirements-bench.lock

EXTRAS = --extra book --extra test --extra scale

compile = .venv/bin/uv pip compile --quiet --universal --generate-hashes --no-annotate --no-emit-index-url \
  --no-emit-find-links --no-header $(2) pyproject.toml -o $(1)

# An environment runs the code of the folder that it was made in, wherever it is copied or moved to with the book. So
# READY holds that folder, and in another one the environment is made anew.
$(READY): export FOLDER = $(CURDIR)
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

# uv comes out of the lock itself, with its hashes, and then installs the rest.
$(READY): requirements.lock pyproject.toml
	@found=; for python in $(if $(PYTHON),"$$PYTHON",$(CANDIDATES)); do \
	  "$$python" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null \
	    && found=$$python && break; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "This book needs Python 3.11, 3.12 or 3.13 with venv. On Debian: apt install python3 python3-venv" >&2; \
	  echo "If Python is elsewhere: make PYTHON=/path/to/python" >&2; exit 1; \
	fi; \
	made_in=$$(cat $(READY) 2>/dev/null); rm -f $(READY); \
	[ "$$made_in" = "$$FOLDER" ] && [ -x $(PY) ] && $(PY) -c '' 2>/dev/null || "$$found" -m venv --clear .venv
	awk '/^uv==/ {on = 1} on {print} on && !/\\$$/ {exit}' requirements.lock > .venv/uv.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.lock
	.venv/bin/uv pip install --quiet --python $(PY) --require-hashes -r requirements.lock
	.venv/bin/uv pip install --quiet --python $(PY) --no-deps --no-build-isolation -e .
	@printf '%s\n' "$$FOLDER" > $(READY)
