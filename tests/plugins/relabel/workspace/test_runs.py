"""Pixels to runs, and runs to pixels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diffclass.exceptions import ParameterError
from diffclass_relabel.workspace.pixels import pixels_of, runs_of


@given(st.sets(st.integers(0, 99)))
def test_there_and_back(pixels):
    wanted = sorted(pixels)
    runs = runs_of(np.array(wanted, dtype=int))
    assert sum(runs[1::2]) == len(wanted)
    if wanted:
        assert pixels_of(runs, 100).tolist() == wanted


@given(st.lists(st.tuples(st.integers(0, 49), st.integers(1, 50)), min_size=1))
def test_any_order_and_overlap(pairs):
    runs = [value for pair in pairs for value in pair]
    wanted = sorted({p for start, length in pairs for p in range(start, start + length)})
    assert pixels_of(runs, 99).tolist() == wanted


def test_runs_are_as_long_as_can_be():
    assert runs_of(np.array([0, 1, 2, 7, 9, 10])) == [0, 3, 7, 1, 9, 2]


def test_many_runs_over_one_place_cost_no_more_than_the_image():
    assert len(pixels_of([0, 1000] * 100_000, 1000)) == 1000


@pytest.mark.parametrize(
    "runs",
    [
        [], [1], [1, 2, 3], [0, 0], [0, -1], [-1, 2], [9, 2], [10, 1], [0, 11],
    ],
)  # fmt: skip
def test_refused(runs):
    with pytest.raises(ParameterError, match="pixel"):
        pixels_of(runs, 10)
