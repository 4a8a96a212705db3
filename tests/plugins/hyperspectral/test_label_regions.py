"""Labelled pixels that touch are one observation."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from diffclass_hyperspectral.io.labels import label_regions


def neighbours(shape, row, column):
    for r in range(max(0, row - 1), min(shape[0], row + 2)):
        for c in range(max(0, column - 1), min(shape[1], column + 2)):
            yield r, c


def naive_regions(ids):
    regions = np.full(ids.shape, -1)
    found = 0
    for start in zip(*np.nonzero(ids), strict=True):
        if regions[start] >= 0:
            continue
        waiting = [start]
        while waiting:
            here = waiting.pop()
            if regions[here] < 0 and ids[here] == ids[start]:
                regions[here] = found
                waiting += neighbours(ids.shape, *here)
        found += 1
    return regions


@given(arrays(np.int64, (6, 7), elements=st.integers(0, 2)))
@settings(max_examples=50, deadline=None)
def test_regions_are_what_can_be_walked_within_a_class(ids):
    found, expected = label_regions(ids), naive_regions(ids)
    assert found.max() == expected.max()
    np.testing.assert_array_equal(np.equal.outer(found, found), np.equal.outer(expected, expected))
