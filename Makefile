# Two commands do everything, set-up included: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test lint bench constraints clean

demo: $(INSTALLED)  ## the main job on embedded data
	$(BIN)/python examples/digits.py

# One thread a process: two processes on two cores beat two threads in one.
test: $(INSTALLED)  ## all tests
	OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2

lint: $(INSTALLED)  ## format, rules, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(INSTALLED)  ## speed, as ratios within one run
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/evaluation.py
	$(BIN)/python benchmarks/training.py

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "oddkout needs Python 3.11 or later, got " + sys.version.split()[0] + "; run: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -c constraints.txt -e '.[all,dev]'
	touch $@

constraints: $(INSTALLED)  ## write the versions of this environment down, after upgrading it
	$(BIN)/pip freeze --exclude-editable | sed 's/+cpu//' > constraints.txt
	touch $(INSTALLED)

clean:
	rm -rf .venv
