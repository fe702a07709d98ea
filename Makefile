# Each target makes .venv when it is missing or when the pins changed, and then does its work.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEVICE ?= cpu

.PHONY: help paper-checks test lint types audit formal docs bench record pin clean

help:
	@echo "make paper-checks   check the library's theorems against simulation (pytest paper_checks)"
	@echo "make test           test the software (pytest tests)"
	@echo "make lint           ruff and sentences, in seconds"
	@echo "make types          pyright, in one to two minutes"
	@echo "make audit          slow checks: attacks, mutation, many more drawn instances (WHOLE=--whole: all cases)"
	@echo "make formal         where Rocq is installed: compile what is formal, write the record theorems/formal.json, run the tests of it"
	@echo "make docs           build the site into build/docs, offline; warnings are errors"
	@echo "make bench          time ours against plain ways (DEVICE=cuda: training on a card); writes BENCHMARKS.md"
	@echo "make record         run the checks and canaries, and write what the report shows of them"
	@echo "make pin            write the digests, certificates, maps and findings of what changed"

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $(READY)

paper-checks: $(READY)
	$(BIN)/python -m pytest paper_checks $(ARGS)

test: $(READY)
	$(BIN)/python -m pytest tests $(ARGS)

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m tests.sentences

types: $(READY)
	$(BIN)/pyright --threads

# The seed is the commit's, so that every commit draws anew, and a failure repeats.
audit: $(READY)
	$(BIN)/python -m pytest tests --audit $(WHOLE) -m audit --seed $$((0x0$$(git rev-parse --short=8 HEAD 2>/dev/null))) $(ARGS)
	$(BIN)/python -m pytest paper_checks -m audit --seed $$((0x0$$(git rev-parse --short=8 HEAD 2>/dev/null))) $(ARGS)

# It installs nothing: where coqc is missing it names the Debian packages. ARGS=--all compiles what is on record too.
formal: $(READY)
	$(BIN)/python -m verify.formal build/formal $(ARGS)
	$(BIN)/python -m pytest tests --formal -m "formal and not audit"

docs: $(READY)
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs build/docs $(ARGS)

# A run writes its measurements into its rows' files, tests/benchmarks/rows/, and BENCHMARKS.md shows these: ARGS="-k recursion"
# measures some anew, and the others stay.
BENCHMARKED := build/benchmarks/$(shell date -u +%Y%m%dT%H%M%S).json
BENCHMARKS := $(BIN)/python -m pytest tests/benchmarks -o python_files='bench_*.py' -o python_functions='bench_*' -p no:xdist
bench: $(READY)
	rm -rf build/benchmarks/growth
	mkdir -p build/benchmarks/growth
	$(BENCHMARKS) --device $(DEVICE) --benchmark-json $(BENCHMARKED) $(ARGS)
	$(BENCHMARKS) --collect-only --quiet > build/benchmarks/names
	$(BIN)/python -m tests.benchmarks.page $(BENCHMARKED) < build/benchmarks/names > BENCHMARKS.md.new
	mv BENCHMARKS.md.new BENCHMARKS.md
	cp -R build/benchmarks/growth/. tests/benchmarks/growth/

record: $(READY)
	$(BIN)/python -m pytest paper_checks -m "audit or not audit" $(ARGS)
	$(BIN)/python -m pytest tests/theorems --audit -m "audit or not audit" -k canary --record paper_checks/recorded.json

pin: $(READY)
	$(BIN)/verify pin $(ARGS)

clean:
	rm -rf .venv
