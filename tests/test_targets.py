"""Partly labelled targets of every kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from diffclass.exceptions import DataError
from diffclass.targets import decode_labels, encode_groups, encode_labels, labels_per_class

N = -1


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        ([3, 7, -1, 3], [3, 7], [0, 1, N, 0]),
        (np.array([7, -1], dtype=np.int8), [7], [0, N]),
        (np.array([7, 0], dtype=np.uint8), [0, 7], [1, 0]),
        (np.array([7, -1], dtype=">i4"), [7], [0, N]),
        ([2.0, float("nan"), -1.0], [2.0], [0, N, N]),
        ([True, False, True], [False, True], [1, 0, 1]),
        (["soy", -1, "corn", None], ["corn", "soy"], [1, N, 0, N]),
        (np.array(["soy", "-1", "corn"]), ["corn", "soy"], [1, N, 0]),
        (np.array([b"soy", b"-1"]), [b"soy"], [0, N]),
        (np.array(["soy", "-1"], dtype=np.dtypes.StringDType()), ["soy"], [0, N]),
        (np.array([3, None, -1], dtype=object), [3], [0, N, N]),
        (np.array(["a", float("nan"), -1.0], dtype=object), ["a"], [0, N, N]),
        (np.array([1.0, -1.0, np.float32(-1)], dtype=object), [1.0], [0, N, N]),
        ([1, 2, None], [1, 2], [0, 1, N]),
        ([True, None], [True], [0, N]),
        ([], [], []),
    ],
)
def test_encodes(y, classes, codes):
    got_classes, got_codes = encode_labels(y)
    assert list(got_classes) == classes
    assert got_codes.tolist() == codes
    assert got_codes.dtype == np.int64


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (pd.Series([3, None, 7], dtype="Int64"), [3, 7], [0, N, 1]),
        (pd.Series(["b", pd.NA, "a"], dtype="string"), ["a", "b"], [1, N, 0]),
        (pd.Series(["b", None, "a"]), ["a", "b"], [1, N, 0]),
        (pd.Series(["b", None, "-1"], dtype="category"), ["b"], [0, N, N]),
        (pd.Series([1.0, np.nan, -1.0]), [1.0], [0, N, N]),
        (pd.Series([True, pd.NA], dtype="boolean"), [True], [0, N]),
        (pd.array([3, None], dtype="Int64"), [3], [0, N]),
        (pd.Categorical(["b", None]), ["b"], [0, N]),
        (pd.Index(["b", "a"]), ["a", "b"], [1, 0]),
    ],
)
def test_encodes_pandas(y, classes, codes):
    got_classes, got_codes = encode_labels(y)
    assert list(got_classes) == classes
    assert got_codes.tolist() == codes


def test_whole_numbers_in_objects_become_numbers():
    """Else scikit-learn's scores call them a target of unknown kind."""
    assert encode_labels(np.array([3, None, 7], dtype=object))[0].dtype.kind == "i"
    assert encode_labels(pd.Series([3, None], dtype="Int64"))[0].dtype.kind == "i"
    assert encode_labels(["3", None])[0].dtype == object


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector"):
        classes, codes = encode_labels([[3], [-1]])
    assert classes.tolist() == [3]
    assert codes.tolist() == [0, N]
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert encode_labels(pd.DataFrame({"y": ["a", None]}))[1].tolist() == [0, N]


@pytest.mark.parametrize("y", [[[1, 2], [3, 4]], 5, np.zeros((2, 2, 2))])
def test_refuses_other_shapes(y):
    with pytest.raises(DataError, match="one value per point"):
        encode_labels(y)


@pytest.mark.parametrize(
    "y", [["a", 3, -1], [b"a", "a"], [("a", 1), 3], [True, 1, None], [False, 0.0]]
)
def test_refuses_mixed_kinds(y):
    with pytest.raises(DataError, match="y mixes"):
        encode_labels(np.fromiter(y, dtype=object))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from([-1, 3, 7, 12]), min_size=1), st.randoms(use_true_random=False))
def test_naming_and_order_do_not_matter(y, random):
    classes, codes = encode_labels(y)
    names = {-1: None, 3: "a", 7: "b", 12: "c"}
    named, named_codes = encode_labels(np.array([names[v] for v in y], dtype=object))
    assert [names[c] for c in classes] == named.tolist()
    assert codes.tolist() == named_codes.tolist()
    order = list(range(len(y)))
    random.shuffle(order)
    assert encode_labels([y[i] for i in order])[1].tolist() == codes[order].tolist()


CODES = np.array([0, 0, -1, 0, 1, 1])


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (None, [0, 1, -1, 2, 3, 4]),
        ([5, 5, 5, 2, 5, 5], [1, 1, -1, 0, 2, 2]),  # never across classes
        (["a", "a", "a", None, None, None], [0, 0, -1, 1, 2, 3]),
        ([-1] * 6, [0, 1, -1, 2, 3, 4]),
        (pd.Series([np.nan, 1.0, 1.0, 1.0, np.nan, np.nan]), [1, 0, -1, 0, 2, 3]),
    ],
    ids=["none", "numbers", "names", "own", "pandas"],
)
def test_groups_of_labels(groups, expected):
    numbers = encode_groups(groups, CODES)
    assert numbers[2] == -1
    same = np.equal.outer(numbers, numbers)
    np.testing.assert_array_equal(same, np.equal.outer(expected, expected))
    assert set(numbers) == set(expected)


def test_a_group_counts_as_one_label():
    assert labels_per_class(CODES) == 2.5
    assert labels_per_class(CODES, encode_groups([7] * 6, CODES)) == 1


def test_groups_of_another_length_are_refused():
    with pytest.raises(DataError, match="groups has 5 entries"):
        encode_groups([1] * 5, CODES)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
@pytest.mark.parametrize("bits", [0, 1])
def test_the_largest_classes_stay_as_they_are(dtype, bits):
    kind = np.dtype(dtype)
    largest = np.iinfo(kind).max >> bits if kind.kind in "iu" else np.finfo(kind).max
    classes = np.array([2, largest - 1], dtype=kind)
    found = decode_labels(classes, np.array([1, -1, 0]))
    assert found.tolist() == [classes.tolist()[1], -1, 2]
