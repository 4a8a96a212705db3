"""Holding labels out at random and in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import DataError
from diffclass.jobs import Holdout
from diffclass_hyperspectral.io.labels import label_regions
from diffclass_hyperspectral.jobs.evaluation import full_gap, groups_in_squares, hold_out
from diffclass_hyperspectral.jobs.evaluation.holdout import LEAST_GAP
from diffclass_hyperspectral.jobs.evaluation.squares import squares


@pytest.fixture
def fields():
    ids = np.zeros((64, 80), dtype=np.int32)
    ids[4:30, 4:76] = 1
    ids[34:62, 4:40] = 2
    ids[36:40, 50:58] = 3  # within one square of the grid
    return ids


@pytest.mark.parametrize("kind", ["random", "blocks"])
@pytest.mark.parametrize("n", [None, 5])
def test_the_two_parts_are_apart(fields, kind, n):
    split = hold_out(fields, Holdout(kind, n, 3))
    assert not (split.fit & split.test).any()
    assert not ((split.fit | split.test) & (fields == 0)).any()
    assert set(np.unique(fields[split.fit])) == {1, 2, 3}
    if n is not None:
        np.testing.assert_array_equal(np.bincount(fields[split.fit])[1:], [5, 5, 5])
    again = hold_out(fields, Holdout(kind, n, 3))
    np.testing.assert_array_equal(again.fit, split.fit)
    other = hold_out(fields, Holdout(kind, n, 4))
    assert (other.fit != split.fit).any()


def test_random_halves_hold_out_all_the_rest(fields):
    split = hold_out(fields, Holdout("random"))
    np.testing.assert_array_equal(split.fit | split.test, fields > 0)
    counts = np.bincount(fields[split.fit])[1:]
    np.testing.assert_array_equal(counts, np.bincount(fields.ravel())[1:] // 2)


@pytest.mark.parametrize("seed", range(5))
def test_the_gap_holds(fields, seed):
    split = hold_out(fields, Holdout("blocks", 8, seed))
    assert split.gap == LEAST_GAP
    fit, test = np.argwhere(split.fit), np.argwhere(split.test)
    apart = np.abs(fit[:, None] - test[None]).max(axis=2)
    assert apart.min() >= LEAST_GAP


@pytest.mark.parametrize("across", [False, True])
def test_a_class_within_one_square_is_cut_across_its_longer_side(across):
    ids = np.zeros((160, 160), dtype=np.int32)  # squares of 20 pixels
    ids[41:45, 41:59] = 1
    ids[100:160, 100:160] = 2
    split = hold_out(ids.T if across else ids, Holdout("blocks"))
    fit, test = (part.T if across else part for part in (split.fit, split.test))
    np.testing.assert_array_equal(np.argwhere(fit & (ids == 1)), np.argwhere(ids[:, :50] == 1))
    np.testing.assert_array_equal(np.unique(np.argwhere(test & (ids == 1))[:, 1]), [55, 56, 57, 58])


@pytest.mark.parametrize("seed", range(4))
def test_a_field_mostly_in_one_square_is_cut_in_two(seed):
    ids = np.zeros((160, 160), dtype=np.int32)  # squares of 20 pixels
    ids[42:56, 58:80] = 1  # two of its columns lie in the next square
    ids[100:160, 100:160] = 2
    split = hold_out(ids, Holdout("blocks", random_state=seed))
    assert np.unique(np.argwhere(split.fit & (ids == 1))[:, 1]).tolist() == list(range(58, 69))
    assert split.untested(ids) == []


def test_classes_that_cannot_be_tested_are_named(fields):
    fields[0, 0] = 9
    # the field of class 3 is 8 pixels long: both halves are nearer than the gap
    assert hold_out(fields, Holdout("blocks")).untested(fields) == [3, 9]
    assert hold_out(fields, Holdout("random")).untested(fields) == [9]


@pytest.mark.parametrize("kind", ["random", "blocks"])
def test_a_class_of_one_pixel_is_fitted_on(fields, kind):
    fields[0, 0] = 4
    assert hold_out(fields, Holdout(kind)).fit[0, 0]


def test_the_gap_ends_where_the_weight_does():
    assert full_gap(np.zeros(1)) == LEAST_GAP
    assert full_gap(np.linspace(0.5, 0.02, 30)) == 31
    assert full_gap(np.r_[np.full(12, 0.5), 0.01, 0.0]) == 13


@pytest.mark.parametrize("seed", range(3))
def test_a_gap_is_cut_to_what_the_fields_allow(fields, seed):
    fields = np.where(fields == 3, 0, fields)

    def split_at(gap, n=None):
        return hold_out(fields, Holdout("blocks", n, seed), gap=gap)

    assert split_at(40).gap < 12  # with all pixels of the blocks
    few = split_at(40, 2)
    assert LEAST_GAP < few.gap < 40
    np.testing.assert_array_equal(few.fit, split_at(0, 2).fit)
    outside = split_at(0, 2).test
    assert few.test.sum() >= 0.1 * outside.sum()
    assert len(np.unique(fields[few.test])) >= 0.75 * len(np.unique(fields[outside]))
    wider = split_at(few.gap + 1, 2)
    assert wider.gap == few.gap
    assert split_at(3).gap == 3  # below the least, as it was asked for


def test_nothing_left():
    with pytest.raises(DataError, match="no label is left to be held out of the pixels"):
        hold_out(np.array([[1, 2]], dtype=np.int32), Holdout("random"))


@pytest.mark.parametrize("kind", ["random", "blocks"])
def test_unsigned_ids_are_split_like_signed_ones(fields, kind):
    signed = hold_out(fields, Holdout(kind, 5, 1))
    unsigned = hold_out(fields.astype(np.uint8), Holdout(kind, 5, 1))
    np.testing.assert_array_equal(signed.fit, unsigned.fit)
    np.testing.assert_array_equal(signed.test, unsigned.test)


def naive_groups(ids):
    """Join regions of a class that share a square, one pair after the other."""
    regions, square = label_regions(ids), squares(ids.shape)
    joined = True
    while joined:
        joined = False
        for a in np.argwhere(ids > 0):
            for b in np.argwhere(ids == ids[tuple(a)]):
                a, b = tuple(a), tuple(b)
                if square[a] == square[b] and regions[a] != regions[b]:
                    regions[regions == regions[b]] = regions[a]
                    joined = True
    return regions


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_a_class_in_one_square_are_one_group(seed):
    random = np.random.default_rng(seed)
    ids = random.integers(1, 4, (17, 24)) * (random.random((17, 24)) < 0.15)
    found, expected = groups_in_squares(ids), naive_groups(ids)
    inside = ids > 0
    np.testing.assert_array_equal(found[~inside], -1)
    a, b = found[inside], expected[inside]
    np.testing.assert_array_equal(a[:, None] == a, b[:, None] == b)


def test_no_label_has_no_group():
    assert (groups_in_squares(np.zeros((5, 6), dtype=int)) == -1).all()


def test_segments_with_a_fitted_label_are_not_tested(fields):
    split = hold_out(fields, Holdout("blocks", 5, 1))
    row, column = np.indices(fields.shape)
    segments = np.where(column < 12, 0, 100 * (row // 5) + column // 5)
    outside = split.outside(segments)
    for row, column in np.argwhere(split.test):
        segment = segments[row, column]
        known = segment > 0 and (split.fit & (segments == segment)).any()
        assert outside.test[row, column] != known
    np.testing.assert_array_equal(outside.fit, split.fit)
    with pytest.raises(DataError, match="label more segments"):
        split.outside(np.ones_like(fields))
