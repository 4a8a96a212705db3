"""The process that compiles beside a first run."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing, suppress

import pytest

from diffclass._compiled import _numba_internals, loops
from diffclass.command_line import first_run
from diffclass.command_line.first_run import CompilingBeside


@pytest.mark.slow
def test_compiles_what_comes_after_the_search(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "DIFFCLASS_NUMBA_CACHE": "1"}
    subprocess.run([sys.executable, "-c", first_run._CODE], env=environment, check=True)
    compiled = {path.name.split(".cpython")[0] for path in tmp_path.rglob("*.nbc")}
    walk = "columns.row_scaled_product", "graphs.merged_rows", "gaussians.join"
    assert compiled.issuperset(walk)
    assert not [
        name for name in compiled if name.startswith(("cell_tree.enter", "cell_tree.halve"))
    ]


@pytest.mark.parametrize(
    ("kept", "threads", "begins"), [(0, 2, True), (0, 1, False), (9, 2, False)]
)
def test_begins_where_nothing_is_compiled_and_ends_with_the_run(monkeypatch, kept, threads, begins):
    monkeypatch.setattr(_numba_internals, "n_kept", lambda: kept)
    monkeypatch.setattr(loops, "allowed_threads", lambda: threads)
    monkeypatch.setattr(first_run, "_CODE", "import time; time.sleep(600)")
    with suppress(KeyboardInterrupt), closing(CompilingBeside()) as beside:
        beside.start()
        process = beside._process
        beside.start()  # for each loop
        assert beside._process is process
        assert (process is not None) == begins
        raise KeyboardInterrupt
    assert process is None or process.poll() is not None


def test_without_a_start_nothing_ends():
    CompilingBeside().close()
