"""Labels are checked once, and are the same in any order of the points."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from diffclass.exceptions import DataError, ParameterError
from diffclass.label_diffusion import Labels
from diffclass.neighbors import Nodes
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
    for y, says in (([0.5, -1], "continuous"), ([np.inf, -1], "infinity")):
        with pytest.raises(DataError, match=says):  # of every classifier, also in blocks
            Labels.of(y)
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


def marked(classes, mark, *, every=20, n=300, **kind):
    """Return labels of one class after the other at some points, and a mark at all others."""
    y = np.full(n, mark, **kind)
    y[::every] = np.resize(np.array(classes, dtype=y.dtype), len(y[::every]))
    return y


@pytest.mark.parametrize(
    "y",
    [
        marked([1, 2, 3], 0),
        marked([1, 2, 3], 0, every=2).astype(float)[1:],
        marked([1], 0),
        pd.Series(marked([1, 2], 0, dtype=np.uint8), dtype="UInt8"),
    ],
)
def test_a_value_that_looks_like_unlabelled_is_told(y):
    with pytest.warns(UserWarning, match="use -1 there"):
        assert len(Labels.of(y).points) == len(y)


@pytest.mark.parametrize(
    "y",
    [
        marked([b"a", b"b"], b"", dtype="S1"),
        marked(["a", "b"], "", dtype="U1"),
        marked(["a", "b"], "", dtype=object),
        pd.Series(marked(["a", "b"], "", dtype=object)),
        np.ma.masked_equal(marked([1, 2, 3], 0), 0),
    ],
)
def test_empty_texts_and_masks_are_unlabelled(y):
    assert Labels.of(y).points.tolist() == list(range(0, 300, 20))


@pytest.mark.parametrize(
    "y",
    [
        marked([1, 2, 3], -1),
        marked([0, 1, 2], -1),
        marked([-1, 0, 1], 0),  # who marks with -1 means 0
        marked([0, 1], 2),
        marked([1], 0, every=3),  # one of two classes may be rare
        marked([1, 2], 0, every=1),
        marked([True], False, dtype=bool),
        np.zeros(10, dtype=int),
    ],
)
def test_classes_are_not_taken_for_unlabelled(y):
    Labels.of(y)  # warnings are errors here


def test_at_a_node_a_class_is_a_hint_where_no_label_is_given():
    nodes = Nodes.of(np.array([[0.0], [0.0], [1.0], [1.0], [2.0], [2.0]]))
    labels = Labels(
        6, np.array([0, 1]), np.arange(6), np.array([0, 0, 1, 1, 0, 1]),
        np.array([1, 0.1, 0.1, 0.1, 0.1, 1]), np.arange(6),
        np.array([False, True, True, True, True, False]),
    )  # fmt: skip
    found = labels.at_nodes(nodes)
    assert found.points.tolist() == [0, 1, 2, 2]
    assert found.codes.tolist() == [0, 1, 0, 1]
    assert found.given.tolist() == [True, False, False, True]
