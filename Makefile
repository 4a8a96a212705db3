# Two commands do everything on a fresh machine: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 4
# tests start hundreds of programs, each of which would compile the package again
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test quick check style types layers doctests docs bench qgis-plugin qgis-test release-check clean

$(BIN)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(BIN)/.installed
	$(BIN)/diffclass demo

test: $(BIN)/.installed
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# own tests of the modules that have changed since this work left main, and the laws
quick: $(BIN)/.installed
	$(BIN)/python -m tests.own_files | xargs -r $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile
	grep -rl '^@given' tests | xargs $(BIN)/python -m pytest -q -n $(WORKERS) -m hypothesis

# with `make -j 2 check` the types are checked while the doctests run
check: style layers doctests types

style: $(BIN)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(BIN)/.installed
	$(BIN)/mypy

layers: $(BIN)/.installed
	$(BIN)/lint-imports

doctests: $(BIN)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q --doctest-modules --ignore-glob '*/node_modules/*' --ignore plugins/diffclass_qgis diffclass plugins

docs: $(BIN)/.installed
	rm -rf site
	$(BIN)/python -m sphinx -q -E -W -c .docs -d .docs/cache/doctrees .docs/pages site

bench: $(BIN)/.installed
	$(BIN)/diffclass bench

# RELEASE=--release: no zip while pyproject.toml lacks an address
qgis-plugin:
	$(PYTHON) .ci/build_qgis_plugin.py $(RELEASE)

# needs QGIS, which takes minutes to install, so that .ci/run does not
qgis-test: $(BIN)/.installed
	@command -v qgis_process || { echo "install QGIS first (Debian: qgis python3-qgis qgis-providers)"; exit 1; }
	$(BIN)/python -m pytest tests/plugins/qgis

# wheel and sdist, and every extra alone in environments of the lowest and the newest Python that are found
release-check:
	$(PYTHON) -m venv $(VENV)-dist
	$(VENV)-dist/bin/python -m pip install --quiet --disable-pip-version-check build twine
	$(VENV)-dist/bin/python .ci/release_check.py

clean:
	rm -rf $(VENV) $(VENV)-dist dist demo_output site .docs/cache .pytest_cache .mypy_cache .ruff_cache .hypothesis
