# Three commands do everything, set-up included: `make demo`, `make test` and `make docs`.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
DEMO := .venv/.demo
FLAX := .venv-flax
BILL := .venv-bill

CHECK_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "oddkout needs Python 3.11 or later, got " + sys.version.split()[0] + "; run: make PYTHON=python3.11")'

.PHONY: demo test fuzz chaos load test-flax flax-environment lint docs bench bill constraints clean

demo: $(DEMO)  ## the main job on embedded data
	$(BIN)/oddkout compare --out runs/demo

# One thread a process: two processes on two cores beat two threads in one.
test: $(INSTALLED)  ## all tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --durations 25 --durations-min 5

MINUTES ?= 15
SEED ?= 1

fuzz: $(INSTALLED)  ## damaged files for every reader, for MINUTES from SEED; see results/fuzz.jsonl
	OMP_NUM_THREADS=1 PYTHONPATH=src:tests nice -n 19 $(BIN)/python -m hostile.fuzz \
		--minutes $(MINUTES) --seed $(SEED)

chaos: $(INSTALLED)  ## kills and other faults, for MINUTES from SEED; results/chaos.jsonl
	OMP_NUM_THREADS=1 PYTHONPATH=src:tests nice -n 19 $(BIN)/python -m hostile.chaos \
		--minutes $(MINUTES) --seed $(SEED)

load: $(INSTALLED)  ## much data at once: time and memory; results/load.jsonl
	$(BIN)/python benchmarks/load.py
	$(BIN)/python benchmarks/load.py --clean

test-flax: $(FLAX)/.installed  ## tests of oddkout.flax, with JAX
	$(FLAX)/bin/python -c 'import flax, jax'
	OMP_NUM_THREADS=1 $(FLAX)/bin/python -m pytest -q tests/test_flax.py \
		'tests/test_documentation.py::test_every_block_of_the_page_runs[docs/flax.md]'

lint: $(INSTALLED)  ## format, rules, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(INSTALLED)  ## the documentation site, in site/; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(INSTALLED)  ## speed, as ratios within one run
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/members.py
	$(BIN)/python benchmarks/estimator.py

bill: $(INSTALLED) $(BILL)/.installed  ## bill of materials (CycloneDX) of the tested environment
	mkdir -p dist
	$(BILL)/bin/cyclonedx-py environment --pyproject pyproject.toml --mc-type library \
		--output-reproducible --short-PURLs -o dist/oddkout.cdx.json $(BIN)/python

# The demo needs a few packages only; an environment with everything serves, too.
$(DEMO): pyproject.toml constraints.txt
	@$(CHECK_PYTHON)
	test -f $(INSTALLED) || { $(PYTHON) -m venv .venv && \
		$(BIN)/pip install -q -c constraints.txt -e '.[cli,data,plot]'; }
	touch $@

$(INSTALLED): pyproject.toml constraints.txt
	@$(CHECK_PYTHON)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt -e '.[all,dev]'
	touch $@

# JAX is large and for one module: it gets an environment that borrows everything else of .venv.
flax-environment: $(FLAX)/.installed

$(FLAX)/.installed: $(INSTALLED)
	$(BIN)/python -m venv $(FLAX)
	$(BIN)/python -c 'import site; print(*site.getsitepackages())' \
		> $$($(FLAX)/bin/python -c 'import site; print(*site.getsitepackages())')/borrowed.pth
	$(FLAX)/bin/pip install -q --retries 1 -c constraints.txt flax jax
	touch $@

$(BILL)/.installed:
	$(PYTHON) -m venv $(BILL)
	$(BILL)/bin/pip install -q cyclonedx-bom
	touch $@

constraints: $(INSTALLED) $(FLAX)/.installed  ## write these versions down, after upgrading them
	$(FLAX)/bin/pip freeze --exclude-editable | sed 's/+cpu//' > constraints.txt
	touch $(INSTALLED) $(FLAX)/.installed

clean:
	rm -rf .venv $(FLAX) $(BILL)
