"""Cleaning class maps against naive twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from diffclass.exceptions import DataError, ParameterError
from diffclass_hyperspectral.jobs.classification import Cleanup
from diffclass_hyperspectral.jobs.classification.cleanup import (
    CleanupReport,
    majority_filter,
    merge_small_segments,
    segments_of,
)


def naive_majority(ids, width):
    out, half = ids.copy(), width // 2
    for row, column in np.argwhere(ids):
        window = ids[max(row - half, 0) : row + half + 1, max(column - half, 0) : column + half + 1]
        votes = np.bincount(window[window > 0])
        if votes[ids[row, column]] < votes.max():
            out[row, column] = votes.argmax()
    return out


def naive_segments(ids):
    segments = []
    for value in np.unique(ids[ids > 0]):
        numbers, n = ndimage.label(ids == value)
        segments += [(int((numbers == k).sum()), value, numbers == k) for k in range(1, n + 1)]
    return segments


def naive_merge(ids, min_area):
    """One segment at a time: the smallest that has a neighbour, in a tie the first."""
    ids = ids.copy()
    while True:
        best = None
        for size, value, member in naive_segments(ids):
            lengths = np.zeros(ids.max() + 1, dtype=int)
            for row, column in np.argwhere(member):
                for r, c in (
                    (row - 1, column),
                    (row + 1, column),
                    (row, column - 1),
                    (row, column + 1),
                ):
                    if 0 <= r < ids.shape[0] and 0 <= c < ids.shape[1]:
                        lengths[ids[r, c]] += not member[r, c]
            lengths[[0, value]] = 0
            if size < min_area and lengths.any() and (best is None or size < best[0]):
                best = size, member, lengths.argmax()
        if best is None:
            return ids
        ids[best[1]] = best[2]


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    ids = np.kron(rng.integers(1, 5, (4, 5)), np.ones((8, 8), dtype=np.int32)).astype(np.int32)
    noise = rng.random(ids.shape)
    ids = np.where(noise < 0.15, rng.integers(1, 5, ids.shape), ids)
    return np.where(noise > 0.95, 0, ids).astype(np.int32)


@pytest.mark.parametrize("width", [3, 5, 9])
def test_majority_is_the_naive_one(noisy, width):
    found = majority_filter(noisy, width)
    np.testing.assert_array_equal(found, naive_majority(noisy, width))
    np.testing.assert_array_equal(found == 0, noisy == 0)
    assert found.dtype == noisy.dtype


def test_segments_are_scipys(noisy):
    numbers = segments_of(noisy)
    expected = sorted(size for size, _, _ in naive_segments(noisy))
    assert sorted(np.bincount(numbers[noisy > 0])[np.unique(numbers[noisy > 0])]) == expected


@pytest.mark.parametrize("min_area", [2, 5, 40])
def test_small_segments_are_gone(noisy, min_area):
    merged = merge_small_segments(noisy, min_area)
    np.testing.assert_array_equal(merged == 0, noisy == 0)
    assert merged.dtype == noisy.dtype
    sizes = [size for size, _, _ in naive_segments(merged)]
    assert min(sizes) >= min_area
    np.testing.assert_array_equal(merge_small_segments(merged, min_area), merged)


@pytest.mark.parametrize("seed", range(6))
def test_distinct_small_segments_merge_like_naive_ones(seed):
    # sizes that differ leave no choice in the order
    rng = np.random.default_rng(seed)
    ids = np.kron(rng.integers(1, 4, (2, 2)), np.ones((7, 7), dtype=int))
    ids[2, 2], ids[9, 3:5], ids[4:7, 10] = rng.permutation([1, 2, 3])
    ids[12, 9:13] = rng.integers(1, 4)
    ids[0, :2] = 0
    np.testing.assert_array_equal(merge_small_segments(ids, 6), naive_merge(ids, 6))


def test_the_longest_border_counts_by_class():
    # the middle touches class 1 twice by one edge, class 2 once, class 3 once
    ids = np.array([[1, 1, 3], [2, 4, 1], [2, 3, 3]])
    assert merge_small_segments(ids, 2)[1, 1] == 1


def test_a_segment_among_nothing_stays():
    ids = np.zeros((5, 5), dtype=np.int32)
    ids[2, 2] = 3
    cleaned, report = Cleanup(min_area=4).apply(ids, np.ones((5, 5)))
    np.testing.assert_array_equal(cleaned, ids)
    assert report == CleanupReport(Cleanup(min_area=4), small_segments_left=1)
    assert not merge_small_segments(ids * 0, 4).any()


def test_each_step_is_counted(noisy):
    margin = np.random.default_rng(1).random(noisy.shape)
    margin[0, 0] = np.nan
    cleaned, report = Cleanup(0.1, 3, 12).apply(noisy, margin)
    unknown = (noisy > 0) & (margin < 0.1)
    kept = np.where(unknown, 0, noisy)
    smooth = naive_majority(kept, 3)
    assert report.below_margin == unknown.sum()
    assert report.by_majority == (smooth != kept).sum()
    assert report.by_min_area == (cleaned != smooth).sum() > 0
    np.testing.assert_array_equal(cleaned == 0, kept == 0)


def test_nothing_by_default(noisy):
    cleaned, report = Cleanup().apply(noisy, np.zeros(noisy.shape))
    np.testing.assert_array_equal(cleaned, noisy)
    assert report == CleanupReport(Cleanup())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"majority": 4}, "odd"),
        ({"majority": 0}, "odd"),
        ({"min_area": 0}, "at least 1"),
        ({"min_margin": 1.5}, "at least 0 and at most 1"),
    ],
)
def test_wrong_options(options, says):
    with pytest.raises(ParameterError, match=says):
        Cleanup(**options)


def test_each_segment_takes_the_class_of_most_of_its_pixels(noisy):
    segments = np.random.default_rng(2).integers(0, 60, noisy.shape)
    cleaned, report = Cleanup(segments=segments).apply(noisy, np.ones(noisy.shape))
    expected = noisy.copy()
    for segment in range(1, 60):
        member = (segments == segment) & (noisy > 0)
        if member.any():
            expected[member] = np.bincount(noisy[member]).argmax()
    np.testing.assert_array_equal(cleaned, expected)
    assert report.by_segments == (expected != noisy).sum() > 0
    assert "segments" not in report.to_dict()  # a picture
    nothing, _ = Cleanup(segments=segments * 0).apply(noisy, np.ones(noisy.shape))
    np.testing.assert_array_equal(nothing, noisy)
    with pytest.raises(DataError, match="give those of this scene"):
        Cleanup(segments=segments[1:]).apply(noisy, np.ones(noisy.shape))
