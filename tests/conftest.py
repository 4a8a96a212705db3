"""Fixtures that several test folders share."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

# small work on a busy machine mostly waits for its second thread to get its turn
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest

from diffclass._compiled import loops

# programs that a shell starts in the background ignore Ctrl-C, and so would all that tests start
signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW_AS_MANY = 20  # tests of the usual length take as long as one that is marked slow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that no process works alone on one at the end."""
    lengths: Counter[Path] = Counter()
    for item in items:
        lengths[item.path] += SLOW_AS_MANY if item.get_closest_marker("slow") else 1
    items.sort(key=lambda item: -lengths[item.path])  # keeps the order within a file


@pytest.fixture
def shared_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], AbstractContextManager[None]]:
    """A ``with`` block in which so many threads share every loop, even the smallest."""
    monkeypatch.setattr(loops, "SHARE_BYTES", 1)
    monkeypatch.setattr(loops, "PATIENCE", 0.0)
    return loops.threads


@pytest.fixture(scope="session", autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Programs keep their state in a temporary folder instead of the user's."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def process_as_it_was() -> Iterator[None]:
    """Every test leaves the process as it found it: which test follows in it is chance."""
    path, folder, variables = [*sys.path], Path.cwd(), dict(os.environ)
    yield
    left = [*sys.path], Path.cwd(), {name: os.environ.get(name) for name in variables}
    left[2]["PYTEST_CURRENT_TEST"] = variables["PYTEST_CURRENT_TEST"]
    # further variables are set by libraries when they are imported
    assert left == (path, folder, variables), "put back what this test changed (see monkeypatch)"


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real scenes: ``DIFFCLASS_DATA``, or ``../shared/data`` next to the project."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DIFFCLASS_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no real scenes at {folder}; set DIFFCLASS_DATA")
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that starts the same in every test."""
    return np.random.default_rng(20050517)


@pytest.fixture
def disk_of(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a disk of a size, such as "256k", and returns its folder; else skips the test."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
        if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("only the system's administrator may mount a disk")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
