"""Compiled loops are kept on disk: read-only installations, many processes, damage, full disks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import diffclass

# prints how many loops were compiled, and a sum by two versions of one loop
LOOPS = """
import warnings
import numpy as np
import numba.core.event as event

class Counter(event.Listener):
    n = 0
    def on_start(self, started):
        self.n += "diffclass" in started.data["dispatcher"].py_func.__module__
    def on_end(self, ended): ...

event.register("numba:compile", counter := Counter())
from diffclass._compiled.graphs import row_sums
total = 0
with warnings.catch_warnings(record=True) as said:
    for dtype in (np.float32, np.float64):
        row_sums(np.array([0, 2, 3]), np.arange(3, dtype=dtype), out := np.empty(2))
        total += out.sum()
for one in said:
    print(one.message)
print(counter.n, total)
"""


def environment(**more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    return kept | {"DIFFCLASS_NUMBA_CACHE": "1"} | more


def start(**more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-B", "-c", LOOPS],
        env=environment(**more),
        cwd=Path(__file__).parent,  # not where the sources are, which would come first
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines_of(process: subprocess.Popen[str]) -> list[str]:
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    assert errors == ""
    return said.splitlines()


def run(**more: str) -> list[str]:
    return lines_of(start(**more))


@pytest.fixture
def read_only(tmp_path: Path) -> dict[str, str]:
    """The environment of an installation whose folder refuses a cache, even from root."""
    package = tmp_path / "installed" / "diffclass"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(diffclass.__file__).parent, package, ignore=ignored)
    (package / "_compiled" / "__pycache__").touch()  # a file where the folder would be
    return {"PYTHONPATH": str(package.parent), "HOME": str(tmp_path / "home")}


@pytest.fixture(scope="module")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A folder with the loops of one start, and what that start printed."""
    folder = tmp_path_factory.mktemp("kept")
    return folder, run(NUMBA_CACHE_DIR=str(folder))[0].split()


@pytest.fixture
def kept(first_start: tuple[Path, list[str]], tmp_path: Path) -> list[Path]:
    """The files of that start, in the folder of a test."""
    shutil.copytree(first_start[0], tmp_path, dirs_exist_ok=True)
    return sorted(tmp_path.rglob("*.nbc"))


def test_the_second_start_compiles_nothing(first_start, kept, tmp_path):
    n_compiled, total = first_start[1]
    assert int(n_compiled) == 3
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[0].split() == ["0", total]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the user's cache is not under HOME")
def test_a_read_only_installation_keeps_loops_for_the_user(read_only, tmp_path):
    assert run(**read_only)[0].split()[0] != "0"
    assert list((tmp_path / "home").rglob("graphs.*.nbc"))
    assert run(**read_only)[0].split()[0] == "0"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the user's cache is not under HOME")
def test_no_writable_folder_is_said_once(read_only, tmp_path):
    (tmp_path / "home").touch()
    hint, result = run(**read_only)
    assert "NUMBA_CACHE_DIR" in hint
    assert result.split()[0] != "0"


def test_four_processes_may_start_at_once(tmp_path):
    together = [start(NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(4)]
    totals = {lines_of(process)[0].split()[1] for process in together}
    n_compiled, total = run(NUMBA_CACHE_DIR=str(tmp_path))[0].split()
    assert (n_compiled, {total}) == ("0", totals)
    assert all(path.suffix == ".nbc" for path in tmp_path.rglob("*.*") if path.is_file())


def test_damaged_files_are_compiled_again(first_start, kept, tmp_path):
    for i, path in enumerate(kept):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 255
        path.write_bytes([b"", content[: len(content) // 2], content][i % 3])
    again = run(NUMBA_CACHE_DIR=str(tmp_path))[0].split()
    assert int(again[0]) >= 2
    assert again[1] == first_start[1][1]
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[0].split()[0] == "0"
    assert sorted(tmp_path.rglob("*.nbc")) == kept


def test_loops_of_other_sources_are_removed(kept, tmp_path):
    for path in kept:
        loop, tag, _, signature, suffix = path.name.rsplit(".", 4)
        path.rename(path.with_name(f"{loop}.{tag}.0123456789abcdef.{signature}.{suffix}"))
    run(NUMBA_CACHE_DIR=str(tmp_path))
    assert sorted(tmp_path.rglob("*.nbc")) == kept


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_full_disk_is_said_once(tmp_path):
    code = """
import pathlib
def full(path, content):
    with open("/dev/full", "wb", buffering=0) as device:
        device.write(content)
pathlib.Path.write_bytes = full
"""
    done = subprocess.run(
        [sys.executable, "-B", "-c", code + LOOPS],
        env=environment(NUMBA_CACHE_DIR=str(tmp_path)),
        capture_output=True,
        text=True,
    )
    hint, result = done.stdout.splitlines()
    assert "No space left" in hint
    assert result.split()[0] != "0"
