# make demo      the whole job on real input, offline, with a page to look at
# make test      the tests, two at once; PYTEST_ARGS='tests/q2 -x' runs some of them
# make coverage  the tests, and which lines of the sources they ran
# make bench     times batched Q2 against one question at a time
# make lint      ruff and mypy
# make docs      the documentation as a site, in outputs/docs
# make clean     removes what these built, and all results in outputs
#
# Each target except clean first builds .venv from scratch if it is missing, incomplete, or was
# made for other requirements, another Python or another folder. Override PYTHON or TORCH to
# choose your own; pip's settings (such as PIP_FIND_LINKS, for a CPU build of torch) apply as
# usual.

PYTHON ?= $(shell python3.11 -c 'print("python3.11")' 2>/dev/null || echo python3)
TORCH ?= torch==2.13.0
PYTEST_ARGS ?=
# How many tests run at once, each on one core and in up to 2 GB. The tests of a file share what
# they have loaded, so they run in one worker; tests/conftest.py says which files come first.
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/python -m pip -qq --no-input --disable-pip-version-check
INSTALL := $(PIP) install --no-warn-conflicts
LOCKED := $(INSTALL) --no-deps --no-build-isolation --use-pep517 --require-hashes

# The stamp's name says what .venv was built from. It is written last, so an interrupted build
# leaves none and the next build starts over.
PARLAI := parlai_q2/parlai/requirements.txt
KEY := $(shell { cat requirements/*.txt $(PARLAI) setup.py pyproject.toml; \
	echo '$(CURDIR) $(TORCH)'; $(PYTHON) -VV; } | cksum | cut -d ' ' -f 1)
BUILT := $(VENV)/built-$(KEY)
LINTERS := $(VENV)/linters-$(KEY)

# Their coverage is measured and reported apart from that of the core.
ADAPTERS := parlai_q2/scripts/*,parlai_q2/parlai/*,agents/*,tasks/*,zoo/*

.PHONY: demo test coverage bench lint docs venv clean

demo: $(BUILT)
	@$(BIN)/parlai_q2 demo

test: $(BUILT)
	@$(PYTEST) $(PYTEST_ARGS)

coverage: $(BUILT)
	@$(PYTEST) --cov --cov-report= $(PYTEST_ARGS)
	@echo 'ParlAI adapters and recipes:'
	@$(BIN)/python -m coverage report --skip-covered --include '$(ADAPTERS)'
	@echo 'The core:'
	@$(BIN)/python -m coverage report --skip-covered --omit '$(ADAPTERS)' --fail-under 95

bench: $(BUILT)
	@$(BIN)/parlai_q2 bench

lint: $(LINTERS)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(BUILT)
	@$(BIN)/python -m sphinx -W --keep-going -q -c docs . outputs/docs
	@echo 'outputs/docs/index.html'

venv: $(BUILT)

$(BUILT):
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 10) <= v <= (3, 12) else \
		f"requirements/lock.txt is for Python 3.10 to 3.12, and this is {v[0]}.{v[1]}. Run: make PYTHON=python3.11")'
	@echo '[1/6] $(VENV), by $(PYTHON)'
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)
	@echo '[2/6] setuptools'
	@$(LOCKED) -r requirements/build.txt
	@echo '[3/6] what parlai_q2 and ParlAI run with (requirements/lock.txt, $(PARLAI))'
	@$(LOCKED) -r requirements/lock.txt -r $(PARLAI)
	@echo '[4/6] $(TORCH)'
	@$(INSTALL) '$(TORCH)'
	@echo '[5/6] what the tests need (requirements/test.txt)'
	@$(LOCKED) -r requirements/test.txt
	@echo '[6/6] parlai_q2'
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(LINTERS): $(BUILT)
	@echo 'ruff and mypy (requirements/dev.txt)'
	@$(LOCKED) -r requirements/dev.txt
	@touch $@

clean:
	@rm -rf $(VENV) .venv-core .venv-oldest build dist *.egg-info outputs .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@rm -f .coverage .coverage.*
