# Two commands do everything on a fresh machine: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test check docs bench qgis-plugin dist-check clean

$(BIN)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(BIN)/.installed
	$(BIN)/diffclass demo

test: $(BIN)/.installed
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

check: $(BIN)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q --doctest-modules --ignore-glob '*/node_modules/*' --ignore plugins/diffclass_qgis diffclass plugins

docs: $(BIN)/.installed
	$(BIN)/python .docs/build.py -o site

bench: $(BIN)/.installed
	$(BIN)/diffclass bench

# the zip holds what is committed
qgis-plugin:
	mkdir -p dist
	git archive --format=zip --output=dist/diffclass_qgis.zip --prefix=diffclass_qgis/ \
		--add-file=LICENSE HEAD:plugins/diffclass_qgis

dist-check:
	$(PYTHON) -m venv $(VENV)-dist
	$(VENV)-dist/bin/python -m pip install --quiet --disable-pip-version-check build twine
	$(VENV)-dist/bin/python .ci/check_distribution.py

clean:
	rm -rf $(VENV) $(VENV)-dist dist demo_output site .pytest_cache .mypy_cache .ruff_cache .hypothesis
