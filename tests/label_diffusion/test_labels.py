"""Labels are checked once, and are the same in any order of the points."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion import Labels
from diffclass.targets import decode_labels

Y = np.array(["soy", "", "corn", "corn", ""], dtype=object)
Y[[1, 4]] = -1
PARTS = ("points", "codes", "weight", "groups")


def test_labels_hold_what_is_labelled():
    labels = Labels.of(Y, [0.5, 9, 1, 0, -9], ["a", None, "b", "b", "b"])
    assert labels.classes.tolist() == ["corn", "soy"]
    assert labels.points.tolist() == [0, 2, 3]
    assert labels.codes.tolist() == [1, 0, 0]
    assert labels.weight.tolist() == [0.5, 1, 0]
    assert labels.counted.tolist() == [True, True, False]
    assert labels.groups.tolist() == [1, 0, 0]
    assert labels.per_class == 1
    assert decode_labels(labels.classes, labels.codes_of_points).tolist() == Y.tolist()


def test_another_order_moves_the_labels_with_their_points(rng):
    weight, groups, places = rng.random(5), rng.integers(2, size=5), rng.permutation(5)
    moved = Labels.of(Y, weight, groups).moved(places)
    order = np.argsort(places)
    alone = Labels.of(Y[order], weight[order], groups[order])
    for part in PARTS:
        np.testing.assert_array_equal(getattr(moved, part), getattr(alone, part))


def test_some_labels_leave_the_classes_as_they_are():
    some = Labels.of(Y).only(np.array([False, True, False]))
    assert (some.points.tolist(), some.codes.tolist(), some.n_classes) == ([2], [0], 2)


def test_bad_labels_get_one_clear_error():
    with pytest.raises(DataError, match="no label"):
        Labels.of([-1, -1])
    with pytest.raises(DataError, match="groups has 1 entries"):
        Labels.of(Y, groups=[1])
    with pytest.raises(ParameterError, match=r"label_weight has shape \(1,\)"):
        Labels.of(Y, [1])
    with pytest.raises(ParameterError, match="between 0 and 1"):
        Labels.of(Y, [2, 1, 1, 1, 1])
    with pytest.raises(ParameterError, match="0 for every label of some class"):
        Labels.of(Y, [0, 1, 1, 1, 1])
    with pytest.raises(DataError, match="y has 5 entries; the operator has 7"):
        Labels.of(Y).check_number(7)
