"""Fixtures that several test folders share."""

from __future__ import annotations

import os
from pathlib import Path

# before anything compiles: a test must not run yesterday's binary
os.environ.setdefault("DIFFCLASS_NUMBA_CACHE", "0")
# small loops on a busy machine mostly wait for their second thread to get its turn
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numba
import numpy as np
import pytest


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    """Compiled loops run on one thread, but where a test asks for more."""
    numba.set_num_threads(1)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real scenes: ``DIFFCLASS_DATA``, or ``../shared/data`` beside the project."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DIFFCLASS_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no real scenes at {folder}; set DIFFCLASS_DATA")
    return folder


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that starts the same in every test."""
    return np.random.default_rng(20050517)
