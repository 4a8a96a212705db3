"""Cells, bins and duplicates beyond one block."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.blocks import BlockArrays, Scratch, partition
from diffclass.blocks.cell_bins import CellBins
from diffclass.neighbors import ExactSearch
from diffclass.neighbors.nodes import row_hashes


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(4000, 3)).astype(np.float32)


def test_gaps_are_distances_to_the_planes_between_cells(points):
    centers = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [-2, 0, 1]], dtype=np.float32)
    offset = np.array([0.5, -1, 0], dtype=np.float32)
    spacing = np.array([0.5, 2, 0.3, 1], dtype=np.float32)
    bins = np.array([0, 0, 1, 2])
    cells = CellBins(offset, centers, bins, np.empty(0, np.uint64), spacing)
    found = cells.gaps_of(points[:50])
    for point, gaps in zip(points[:50].astype(float) - offset, found, strict=True):
        squared = ((point - centers) ** 2).sum(axis=1)
        own = squared.argmin()
        between = np.linalg.norm(centers - centers[own], axis=1)
        between[own] = 1
        gap = (squared - squared[own]) / (2 * between) / spacing[own]
        expected = np.array([gap[:2].min(), gap[2], gap[3]])
        expected[bins[own]] = 0
        np.testing.assert_allclose(gaps, expected, rtol=1e-4, atol=1e-5)


def test_bins_hold_equal_numbers_of_near_points(points):
    cells = CellBins.of_sample(points, len(points), 500, np.random.RandomState(0))
    assert cells.n_bins == 8
    assert (np.diff(cells.bins) >= 0).all()
    home = cells.gaps_of(points).argmin(axis=1)
    sizes = np.bincount(home)
    assert sizes.min() > 350
    assert sizes.max() < 650
    within = sum(np.var(points[home == b], axis=0).sum() * sizes[b] for b in range(8))
    assert within < 0.5 * np.var(points, axis=0).sum() * len(points)


def with_reach(points: np.ndarray, block_points: int) -> tuple[CellBins, np.ndarray]:
    """Return cells with their reach, and the true neighbours of all points."""
    cells = CellBins.of_sample(points, len(points), block_points, np.random.RandomState(0))
    near = ExactSearch(12).fit_transform(points).indices.reshape(len(points), 12)
    return cells.with_reach(points[::3], points[near[::3]]), near


def test_gaps_are_in_units_of_what_lies_around(points):
    points[::2] *= 0.001
    cells, near = with_reach(points, 500)
    farthest = np.linalg.norm(points[near] - points[:, None], axis=2).max(axis=1)
    own = np.concatenate([cell for _, cell, _ in cells.gaps(points)])
    for cell in np.unique(own[::3]):
        around = farthest[own == cell]
        assert around.min() < cells.spacing[cell] * 1.001
        assert around.max() > cells.spacing[cell] * 0.999
    assert cells.spacing.max() > 300 * cells.spacing.min()
    n_overlap = np.count_nonzero(cells.gaps_of(points) <= cells.reach) - len(points)
    assert n_overlap < 1.2 * len(points)


@pytest.mark.parametrize("n_features", [1, 2, 3, 6])
def test_pairs_of_other_bins_are_searched_together_however_few_they_are(n_features):
    points = np.random.default_rng(0).random((6000, n_features)).astype(np.float32)
    cells, near = with_reach(points, 1500)
    gaps = cells.gaps_of(points)
    home, within = gaps.argmin(axis=1), gaps <= cells.reach
    crosses = home[near] != home[:, None]
    together = (within[:, None] & within[near]).any(axis=2)
    assert n_features > 1 or crosses.mean() < 0.02  # of all pairs
    assert together[crosses].mean() > 0.96  # 0.97 are aimed at
    assert within.sum() < {1: 1.1, 2: 1.25, 3: 1.35, 6: 2}[n_features] * len(points)


def test_fillers_are_points_that_would_take_much_of_a_block(points):
    points[:1500] = 0
    points[2000:2030] = 1
    cells = CellBins.of_sample(points, len(points), 500, np.random.RandomState(0))
    assert cells.fillers.tolist() == row_hashes(points[:1]).tolist()
    assert cells.n_bins == 5  # of the other 2,500 points
    assert np.array_equal(cells.is_filler(row_hashes(points)), np.arange(4000) < 1500)


@pytest.mark.parametrize("at_once", [10**6, 700])
def test_frequent_hashes_are_counted_over_all_slices(at_once, points, tmp_path, monkeypatch):
    monkeypatch.setattr(partition, "_AT_ONCE", at_once)
    points[::500] = points[0]  # 8 times
    points[1::1000] = points[1]  # 4 times
    slices = BlockArrays(Scratch(tmp_path), (0, 1300, 2600, 4000))
    for s in range(3):
        slices.save("cells/slice.hashes", s, np.sort(row_hashes(points[slices.own(s)])))
    found = {most: partition.frequent_hashes(slices, most) for most in (3, 4, 8)}
    assert found[3].tolist() == np.sort(row_hashes(points[:2])).tolist()
    assert found[4].tolist() == row_hashes(points[:1]).tolist()
    assert found[8].tolist() == []
