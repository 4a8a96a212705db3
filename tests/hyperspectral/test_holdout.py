"""Which labels are fitted on and which are held out."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import DataError
from diffclass_hyperspectral.holdout import GAP, hold_out

FIELDS = np.kron(np.array([[1, 2, 3], [2, 0, 1]]), np.ones((24, 24), dtype=int))


def nearest(a, b):
    """Least number of rows and columns between a pixel of one mask and one of the other."""
    p, q = np.argwhere(a), np.argwhere(b)
    return min(np.abs(q - place).max(axis=1).min() for place in p)


@pytest.mark.parametrize("kind", ["random", "blocks"])
@pytest.mark.parametrize("labels_per_class", [None, 5])
def test_parts_are_labelled_disjoint_and_hold_every_class(kind, labels_per_class):
    split = hold_out(FIELDS, kind=kind, labels_per_class=labels_per_class, seed=1)
    assert split.kind == kind
    assert not (split.fit & split.test).any()
    assert (FIELDS[split.fit | split.test] > 0).all()
    for part in (split.fit, split.test):
        assert np.unique(FIELDS[part]).tolist() == [1, 2, 3]
    if labels_per_class:
        assert np.bincount(FIELDS[split.fit]).tolist() == [0, 5, 5, 5]


@pytest.mark.parametrize("seed", range(5))
def test_blocks_keep_the_gap(seed):
    split = hold_out(FIELDS, kind="blocks", seed=seed)
    assert split.gap == GAP
    assert nearest(split.fit, split.test) >= GAP


def test_random_uses_all_that_it_does_not_fit_on():
    split = hold_out(FIELDS, labels_per_class=3)
    np.testing.assert_array_equal(split.fit | split.test, FIELDS > 0)
    assert split.gap == 0


def test_random_takes_half_without_a_number():
    split = hold_out(FIELDS)
    for class_id in (1, 2, 3):
        assert split.fit[FIELDS == class_id].mean() == 0.5


@pytest.mark.parametrize("kind", ["random", "blocks"])
def test_the_seed_decides(kind):
    first, again, other = (
        hold_out(FIELDS, kind=kind, labels_per_class=9, seed=seed) for seed in (4, 4, 5)
    )
    np.testing.assert_array_equal(first.fit, again.fit)
    np.testing.assert_array_equal(first.test, again.test)
    assert (first.fit != other.fit).any()


@pytest.mark.parametrize("axis", [0, 1])
def test_a_class_within_one_square_is_cut_across_its_longer_side(axis):
    ids = np.zeros((160, 160), dtype=int)  # squares of 20 pixels
    ids[41:45, 41:59] = 1
    ids[100:160, 100:160] = 2
    ids = ids if axis == 1 else ids.T
    split = hold_out(ids, kind="blocks")
    of_one = split.fit & (ids == 1)
    assert of_one.sum() == 4 * 9
    assert np.ptp(np.argwhere(of_one)[:, axis]) == 8
    assert nearest(of_one, split.test & (ids == 1)) >= GAP


@pytest.mark.parametrize("kind", ["random", "blocks"])
def test_a_class_of_one_pixel_is_fitted_on(kind):
    ids = FIELDS.copy()
    ids[0, 0] = 4
    split = hold_out(ids, kind=kind)
    assert split.fit[0, 0]


@pytest.mark.parametrize("kind", ["random", "blocks"])
def test_nothing_left_to_test(kind):
    ids = np.zeros((40, 40), dtype=int)
    ids[3, 3], ids[30, 30] = 1, 2
    with pytest.raises(DataError, match="no labelled pixel is left"):
        hold_out(ids, kind=kind)
