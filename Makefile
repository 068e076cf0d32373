# On a fresh machine with Python 3.11+, a C++20 compiler and pip; `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml CMakeLists.txt $(wildcard src/core/*)
CXX_FILES := $(wildcard src/core/*.cpp src/core/*.hpp)

.DEFAULT_GOAL := help
.PHONY: $(shell grep -oE '^[a-z-]+:' $(MAKEFILE_LIST) | tr -d :)

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /    make \1\t/' | expand -t 24

demo: $(VENV)/.demo  ## build, learn from a drifting stream, save a picture
	$(BIN)/dfop demo

test: lint check  ## everything that must pass: the checks of lint, then all tests but the slow proofs

test-fast: $(VENV)/.dev  ## the quick tests of every room, in less than a minute
	$(BIN)/python -m pytest -q -n 2 -m "not slow and not thorough"

# Matrix products of NumPy and our own kernel round differently on different processors. The numeric
# tests must pass with each: OPENBLAS_CORETYPE chooses NumPy's kernel, DFOP_KERNEL ours.
NUMERIC := tests/core tests/model tests/faces tests/hostile tests/insight
test-kernels: $(VENV)/.dev  ## the numeric tests as on other processors
	for core in Nehalem Sandybridge Haswell Zen; do \
	    echo "OPENBLAS_CORETYPE=$$core"; \
	    OPENBLAS_CORETYPE=$$core $(BIN)/python -m pytest -q -n 2 -m "not slow" $(NUMERIC) || exit 1; \
	done
	DFOP_KERNEL=baseline $(BIN)/python -m pytest -q -n 2 -m "not slow" $(NUMERIC)

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

lint: $(VENV)/.dev  ## ruff, clang-format, mypy, the import check; changes nothing
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## mend what ruff and clang-format can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

hooks: $(VENV)/.dev  ## check what you commit, at every commit
	$(BIN)/pre-commit install

check: $(VENV)/.dev  ## the tests alone
	$(BIN)/python -m pytest -n 3 -m "not slow"  # some wait for others most of the time

kills: $(VENV)/.dev  ## kill, fill up and fuzz `dfop learn`, the long form
	$(BIN)/python -m pytest -m slow --timeout 7200 tests/checkpoints tests/cli

proofs: $(VENV)/.dev  ## slow proofs (long streams); their last results are in docs/proofs.md
	$(BIN)/python -m pytest -m slow --timeout 3600

automatic: $(VENV)/.dev  ## the automatic learner on every stream; refreshes docs/results/automatic*
	rm -rf dfop-paper-automatic
	$(BIN)/dfop paper automatic --results dfop-paper-automatic
	cp dfop-paper-automatic/automatic*.csv dfop-paper-automatic/automatic.md dfop-paper-automatic/automatic.png docs/results
	$(BIN)/python docs/pictures/draw.py

bench: $(VENV)/.bench  ## the benchmark; writes benchmarks/results*
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/cli.py

default: $(VENV)/.dev  ## speed of the default learner on an idle machine; writes benchmarks/results-default.md
	$(BIN)/python benchmarks/default.py

choose: $(VENV)/.dev  ## what each kind of expert is worth on generated families; writes benchmarks/results-choose*.md
	$(BIN)/python benchmarks/choose.py
	$(BIN)/python benchmarks/choose.py --rows 20000 --seeds 1 --only turning_plane recurring wandering_numbers curves_that_change --out benchmarks/results-choose-long.md

own-experts: $(VENV)/.bench  ## LightGBM retrained, alone and as an expert of the default; writes benchmarks/results-own-experts.md
	$(BIN)/python benchmarks/own_experts.py

alarms:  ## alarms beside the detectors of River and CapyMOA (needs Java); writes benchmarks/results-alarms.md
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet '.[peers]'
	.venv-peers/bin/python benchmarks/alarms.py $(SYSTEMS)

late: $(VENV)/.dev  ## labels that come late on the paper's streams; writes benchmarks/results-late.md
	$(BIN)/python benchmarks/late.py > benchmarks/results-late.md

delayed: $(VENV)/.dev  ## labels 50 rows late, against the default as it was; writes benchmarks/results-delayed.md
	$(BIN)/python benchmarks/delayed.py > benchmarks/results-delayed.md

before: $(VENV)/.dev  ## time a row and scores, against the default before the wider pool; writes benchmarks/results-before.md
	$(BIN)/python benchmarks/before.py > benchmarks/results-before.md

sketch: $(VENV)/.dev  ## less storage: Spam and generated text; writes benchmarks/results-sketch.md
	$(BIN)/python benchmarks/sketch.py > benchmarks/results-sketch.md

few: $(VENV)/.dev  ## the small automatic bank of a model per key; writes benchmarks/results-few.md
	$(BIN)/python benchmarks/few.py > benchmarks/results-few.md

monitor: $(VENV)/.dev  ## what a monitor costs a single filter; writes benchmarks/results-monitor.md
	$(BIN)/python benchmarks/monitor.py > benchmarks/results-monitor.md

calibration: $(VENV)/.dev  ## whether probabilities come true; writes benchmarks/results-calibration.md
	$(BIN)/python benchmarks/calibration.py > benchmarks/results-calibration.md

rare: $(VENV)/.dev  ## how well rare events are ranked; writes benchmarks/results-rare.md
	$(BIN)/python benchmarks/rare.py > benchmarks/results-rare.md

partial-fit: $(VENV)/.dev  ## whether partial_fit forgets: scikit-learn's learners and ours after a change
	$(BIN)/python benchmarks/partial_fit.py

# In a venv of their own: CapyMOA (Java) pins pandas 2. A killed run goes on where it was.
PEERS := .venv-peers
peers:  ## the default against other stream learners (needs Java); writes benchmarks/results-peers*, results-families*
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet '.[peers]'
	cd benchmarks && ../$(PEERS)/bin/python -m peers paper
	cd benchmarks && ../$(PEERS)/bin/python -m peers families

# In a venv of their own: PySpark needs pandas 2.
SPARK := .venv-spark
$(SPARK)/.made: $(SOURCES)
	$(PYTHON) -m venv $(SPARK)
	$(SPARK)/bin/python -m pip install --quiet --editable '.[spark]' pytest pytest-timeout hypothesis --config-settings=build-dir=build/spark
	touch $@

test-spark: $(SPARK)/.made  ## the tests of dfop.spark (needs Java 17)
	$(SPARK)/bin/python -m pytest -q -m "not slow" tests/spark

spark-kills: $(SPARK)/.made  ## machines of Spark are killed at random moments, 20 runs; results are in docs/proofs.md
	$(SPARK)/bin/python -m pytest -m slow --timeout 7200 tests/spark

bench-spark: $(SPARK)/.made  ## Spark against one process; writes benchmarks/results-spark.md
	$(SPARK)/bin/python benchmarks/spark.py

# AddressSanitizer keeps freed memory for a while, so tests of how much there is cannot pass.
SAN := .venv-sanitize
sanitize:  ## the tests that reach the C++, with it under AddressSanitizer and UBSan
	$(PYTHON) -m venv $(SAN)
	$(SAN)/bin/python -m pip install --quiet --upgrade pip
	$(SAN)/bin/python -m pip install --quiet '.[dev]' --config-settings=cmake.define.DFOP_SANITIZE=ON --config-settings=build-dir=build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	$(SAN)/bin/python -m pytest -m "not slow" -p no:cacheprovider --timeout 1800 --capture=sys \
	-k "not memory_does_not_grow and not a_process_grows" \
	$(NUMERIC) tests/rows tests/files --ignore tests/faces/test_sklearn_contract.py

clean:  ## remove everything that was built
	rm -rf $(VENV) .venv-sanitize .venv-peers .venv-spark build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
