# Two commands do everything on a fresh machine with Python 3.11+, a C++20 compiler and pip:
#   make demo    build, learn from a drifting stream, save a picture
#   make test    build with the development tools, then all checks and tests
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/core/*)

.PHONY: demo test lint check bench forests proofs automatic sanitize clean

demo: $(VENV)/.demo
	$(BIN)/dfop demo

test: lint check

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dfop needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[cli,plot]'
	touch $@

$(VENV)/.dev: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 -m "not slow"

# Slow proofs; their last results are in docs/proofs.md.
proofs: $(VENV)/.dev
	$(BIN)/python -m pytest -m slow --timeout 3600

# The automatic learner on every stream (DFOP_DATA, or downloads); refreshes docs/results/automatic*.
automatic: $(VENV)/.dev
	rm -rf dfop-paper-automatic
	$(BIN)/dfop paper automatic --results dfop-paper-automatic
	cp dfop-paper-automatic/automatic*.csv dfop-paper-automatic/automatic.md dfop-paper-automatic/automatic.png docs/results
	$(BIN)/python docs/pictures/draw.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

# The automatic learner against forests, in a venv of their own: CapyMOA (Java) pins pandas 2.
FOREST := .venv-forests
forests:
	$(PYTHON) -m venv $(FOREST)
	$(FOREST)/bin/python -m pip install --quiet '.[bench,forests]'
	$(FOREST)/bin/python benchmarks/automatic.py

# The tests that reach the C++, with it under AddressSanitizer and UBSan, in a venv of their own.
SAN := .venv-sanitize
sanitize:
	$(PYTHON) -m venv $(SAN)
	$(SAN)/bin/python -m pip install --quiet --upgrade pip
	$(SAN)/bin/python -m pip install --quiet '.[dev]' --config-settings=cmake.define.DFOP_SANITIZE=ON --config-settings=build-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	$(SAN)/bin/python -m pytest -m "not slow" -p no:cacheprovider --timeout 1800 \
	tests/core tests/hostile $(filter-out tests/test_sklearn_contract.py,$(wildcard tests/test_*.py))

clean:
	rm -rf $(VENV) .venv-sanitize .venv-forests build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
