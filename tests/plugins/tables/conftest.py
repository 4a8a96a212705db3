"""A folder with few, well separated rows."""

from __future__ import annotations

import numpy as np
import pytest

from .writers import write_csv, write_table

NAMES = np.array(["ant", "bee", "cat"])


@pytest.fixture(scope="session")
def blobs():
    """Rows (120, 5) of three classes, exact in float16, and the classes' names."""
    rng = np.random.default_rng(3)
    truth = np.arange(120) % 3
    means = np.array([[4, 0, 0, 1, 1], [0, 4, 0, 1, -1], [0, 0, 4, -1, 1]])
    X = means[truth] + rng.normal(size=(120, 5)) * 0.9
    return X.astype(np.float16).astype(np.float32), NAMES[truth]


@pytest.fixture
def rows(folder, blobs):
    """The folder with points.npy, twelve labels by row number in labels.csv, and truth.csv."""
    X, truth = blobs
    write_table("points.npy", X)
    write_csv("labels.csv", {"row": range(12), "class": truth[:12]})
    write_csv("truth.csv", {"row": range(120), "class": truth})
    return blobs
