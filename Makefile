# Every target makes its own environment: `make demo` and `make test` work on a fresh clone.
PYTHON ?= python3
BIN := .venv/bin
# For processes that share the cores: threads of OpenMP wait for each other without sleeping. Those of BLAS are two,
# for the tests that see them held to one.
ONE_CORE_EACH := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=2
# Which build of torch: sentence encoders take any, and one for the processor alone is much smaller.
TORCH ?= torch

.PHONY: demo test test-lowest attack lint format bench bench-groups bench-plsa bench-sparse-lsa \
	bench-search bench-vectors bench-fold-in bench-peers bench-peers-encoders docs clean

.venv/core: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "laconic needs Python 3.11 or newer; say which with make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --prefer-binary --editable '.[serve]'
	@touch $@

.venv/dev: .venv/core
	$(BIN)/python -m pip install --quiet --prefer-binary --editable '.[dev]'
	@touch $@

.venv/bench: .venv/dev
	$(BIN)/python -m pip install --quiet --prefer-binary --editable '.[bench]'
	@touch $@

.venv/peers: .venv/dev
	$(BIN)/python -m pip install --quiet --prefer-binary --editable '.[peers]'
	@touch $@

.venv/encoders: .venv/peers
	$(BIN)/python -m pip install --quiet --prefer-binary $(TORCH)
	$(BIN)/python -m pip install --quiet --prefer-binary --editable '.[encoders]'
	$(BIN)/python -m pip install --quiet --prefer-binary --no-deps 'turftopic>=0.28'
	@touch $@

.venv/docs: .venv/dev
	$(BIN)/python -m pip install --quiet --prefer-binary --editable '.[docs]'
	@touch $@

demo: .venv/core  ## topics of the Python standard library's documentation
	$(BIN)/laconic demo -o demo-model

# A Chromium for the tests in a browser: the system's, or apt's, or Playwright's own; without any they are skipped.
.venv/chromium: .venv/dev
	@(for name in chromium chromium-browser google-chrome google-chrome-stable; do \
			command -v $$name >/dev/null && exit; done; exit 1) || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq >/dev/null 2>&1 && apt-get install -y -qq chromium >/dev/null 2>&1; } || \
		$(BIN)/playwright install chromium >/dev/null 2>&1 || \
		echo "no Chromium can be had here: the tests in a browser will be skipped"
	@touch $@

test: .venv/dev .venv/chromium  ## the whole suite, on every core; a part with TESTS="tests/cli -k fit"
	$(ONE_CORE_EACH) $(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal $(TESTS)

.venv-lowest/dev: pyproject.toml
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade pip
	.venv-lowest/bin/python tests/lowest_versions.py pyproject.toml > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --prefer-binary --constraint .venv-lowest/constraints.txt --editable '.[test]'
	@touch $@

test-lowest: .venv-lowest/dev  ## the suite with the lowest versions that pyproject.toml declares; a part with TESTS=...
	$(ONE_CORE_EACH) .venv-lowest/bin/python -m pytest -n logical --maxprocesses 8 --dist worksteal \
		-W ignore::DeprecationWarning $(TESTS)  # old packages use what newer ones around them deprecate

# How many mutants of each kind of directory, and which.
MUTANTS ?= 2000
SEED ?= 0

attack: .venv/dev  ## what the suite tries in small, at length: hostile files, killed processes, failing disks, bombs (an hour or two)
	PYTHONPATH=tests:tests/attack $(BIN)/python tests/attack/attack.py --mutants $(MUTANTS) --seed $(SEED)
	directory=$$(mktemp -d) && PYTHONPATH=tests:tests/attack $(BIN)/python tests/attack/kills.py $$directory/model 300; \
		rm -rf $$directory
	LACONIC_ATTACK=long $(BIN)/python -m pytest -q tests/attack/test_failing_disk.py tests/corpus/test_reader_limits.py
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/checked $(BIN)/python -m pytest -q tests/kernels tests/search/test_search_trees.py

lint: .venv/dev  ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/dev  ## laconic beside its peers, in one process
	$(BIN)/python -m benchmarks.rlsi

bench-groups: .venv/bench  ## group models at the scale of Wikipedia (an hour and a half, 24 GB)
	$(BIN)/python -m benchmarks.group_scale

bench-plsa: .venv/bench  ## the probabilistic models beside their peers (some minutes)
	$(BIN)/python -m benchmarks.plsa

bench-sparse-lsa: .venv/bench  ## Sparse LSA beside singular vectors and its paper's algorithm (needs the data)
	$(BIN)/python -m benchmarks.sparse_lsa

bench-search: .venv/bench  ## search among a million documents beside bm25s (some minutes, 8 GB)
	$(BIN)/python -m benchmarks.search

bench-fold-in: .venv/dev  ## one document at a time (a minute)
	$(BIN)/python -m benchmarks.bench_fold_in

bench-peers: .venv/peers  ## laconic beside the topic models that people use (an hour; needs the data)
	$(BIN)/python -m benchmarks.peers --page docs/performance-peers.md

bench-peers-encoders: .venv/encoders  ## with those that need sentence vectors, too (hours; a gigabyte of packages)
	$(BIN)/python -m benchmarks.peers --page docs/performance-peers.md

bench-vectors: .venv/encoders  ## search by words, topics and sentence vectors (ten minutes; a gigabyte of packages; needs the data)
	$(BIN)/python -m benchmarks.vectors --page docs/performance-vectors.md

docs: .venv/docs  ## the manual, as HTML in docs/_build/html
	$(BIN)/sphinx-build -q -W -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean:
	rm -rf .venv .venv-lowest demo-model demo-model.html docs/_build
