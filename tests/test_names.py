"""Marks and names: what is no class stays none, what is one stays itself, in texts and values."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from diffclass.exceptions import DataError
from diffclass.names import is_mark, marks, near_name, read_names, same_names, written_name
from diffclass.targets import encode_labels

VALUES = [
    None, float("nan"), np.float32("nan"), np.float16("nan"), np.nan, pd.NA, pd.NaT, -1, -1.0,
    np.int8(-1), np.float16(-1), np.datetime64("NaT"), np.timedelta64("NaT"), np.ma.masked,
]  # fmt: skip
TEXTS = ["", " ", "-1", "-1.0", "nan", "NaN", "None", "<NA>", "NaT"]
NAMES = ["NA", "N/A", "null", "NULL", "none", "NAN", "0", "-0", "-2", "1.10", "007", "true", "b "]


@pytest.mark.parametrize("value", [*VALUES, *TEXTS, *(text.encode() for text in TEXTS)], ids=repr)
def test_marks(value):
    assert is_mark(value)


@pytest.mark.parametrize("value", [*NAMES, 0, 255, False, True, np.inf, ("a", 1), b"NA"], ids=repr)
def test_names(value):
    assert not is_mark(value)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_texts_of_a_mark_are_are_marks(value):
    if value is not np.ma.masked:
        assert is_mark(str(value))
        assert is_mark(np.array([value], dtype=object).astype(str)[0])
        assert is_mark(pd.Series([value, "a"], dtype=object).astype(str)[0])


@pytest.mark.filterwarnings("ignore:.*there is no class")
@pytest.mark.parametrize(
    "y",
    [
        np.array([*TEXTS, "a", "NA"]),
        np.array([*TEXTS, "a", "NA"], dtype="S"),
        np.array([*TEXTS, "a", "NA"], dtype=object),
        np.array([*VALUES[:-1], "a", "NA"], dtype=object),
        np.array([*TEXTS, "a", "NA"], dtype=np.dtypes.StringDType()),
        pd.Series([*TEXTS, "a", "NA"]),
        pd.Series([*VALUES[:-1], "a", "NA"]).astype(str),
        pd.Series([*TEXTS, "a", "NA"], dtype="category"),
        np.ma.masked_array(["x", "y", "a", "NA"], [1, 1, 0, 0]),
        np.ma.masked_array([["x"], ["y"], ["a"], ["NA"]], [[1], [1], [0], [0]])[:, 0],
    ],
    ids=lambda y: str(y.dtype),
)
def test_one_list_of_marks_for_labels_of_every_type(y):
    classes, codes = encode_labels(y)
    assert [str(name, "ascii") if isinstance(name, bytes) else name for name in classes] == [
        "NA",
        "a",
    ]
    assert codes.tolist() == [-1] * (len(y) - 2) + [1, 0]


@pytest.mark.parametrize(
    "kind", [np.int8, np.int64, np.uint8, np.float16, np.float64, bool, "M8[s]"]
)
def test_masks_of_every_type(kind):
    y = np.ma.masked_array(np.array([0, 1, 1, 0]).astype(kind), [False, False, True, True])
    assert encode_labels(y)[1].tolist() == [0, 1, -1, -1]
    with_column = np.ma.masked_array(np.zeros((3, 1)), [[1], [0], [1]])
    with pytest.warns(Warning, match="column-vector"):
        assert encode_labels(with_column)[1].tolist() == [-1, 0, -1]


def test_a_date_that_is_none():
    dates = np.array(["2024-01-01", "NaT", "2023-01-01"], dtype="M8[D]")
    assert encode_labels(dates)[1].tolist() == [1, -1, 0]


def test_a_word_that_is_a_mark_is_said_at_the_callers_line():
    with pytest.warns(UserWarning, match="'None' and 'nan' among the texts mean") as said:
        marks(np.array(["nan", "None", "a", "-1", ""]))
    assert [one.filename for one in said] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        marks(np.array(["NA", "-1", ""]))
        marks(np.array([np.nan, None, "a"], dtype=object))


def test_classes_that_differ_by_blanks_alone_are_refused():
    with pytest.raises(DataError, match=r"'b' and 'b ' differ by the blanks"):
        encode_labels(["a", "b", "b "])
    assert encode_labels(["a", " b "])[0].tolist() == [" b ", "a"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2", "-3", "0", ""], [2, -3, 0, None]),
        (["2.0", "5.0", "10.0", "nan", "-1.0"], [2, 5, 10, None, None]),
        (["2.0", "5"], ["2.0", "5"]),
        (["2", "b"], ["2", "b"]),
        ([" 12", "3 "], [12, 3]),
        (["007", "7"], ["007", "7"]),
        (["9" * 18, "9" * 19], ["9" * 18, "9" * 19]),
        (["\u0661", "\u0662"], ["\u0661", "\u0662"]),  # digits of Arabic,
        (["-1", None, ""], [None, None, None]),
        ([], []),
    ],
)
@pytest.mark.filterwarnings("ignore:'nan' among")
def test_texts_as_they_are_read(texts, expected):
    found = read_names(texts).tolist()
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


def test_missing_values_of_others_are_names_and_said():
    with pytest.warns(UserWarning, match="'NA' is the name of a class"):
        assert read_names(["NA", "wood"]).tolist() == ["NA", "wood"]
    with pytest.raises(DataError, match="'NA' stands among whole numbers"):
        read_names(["1", "NA", "2"])


nasty = st.one_of(
    st.sampled_from([*NAMES, *TEXTS, "2", "2.0", " 2", "True", "a,b", 'a"b', "a|b", "a\nb", "ä"]),
    st.text(max_size=4),
)


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.lists(one, min_size=1, max_size=5)
        for one in (nasty, st.integers(-5, 2**60), st.booleans(), st.just(0.5))
    )
)
@example(["NA", "N/A"])
@example([2, 5])
@example(["2", "2.0"])
@pytest.mark.filterwarnings("ignore:.*there is no class", "ignore:.*leave the entry empty")
def test_names_are_read_as_they_were_written_or_refused(names):
    """A class read from a text is the one that was written, or nothing is written or read."""
    try:
        written = [written_name(name) for name in names]
        read = read_names(written)
        is_one = same_names(set(read), set(names), sides=("the file", "the labels"))
    except DataError:
        return
    assert all(is_one[value] == name for value, name in zip(read, names, strict=True))


@pytest.mark.parametrize("name", [*TEXTS, -1, None, "a\0b", "\udc80"])
def test_names_that_no_text_holds_are_refused(name):
    with pytest.raises(DataError):
        written_name(name)


def test_names_of_two_sides():
    sides = ("the scores", "the labels")
    assert same_names(["2", "b", "x"], [2, 5], sides=sides) == {"2": 2}
    assert same_names([True, "a "], ["a", "true"], sides=sides) == {True: "true", "a ": "a"}
    assert same_names([1, "1"], ["1", 1], sides=sides) == {1: 1, "1": "1"}
    assert same_names([True], [1], sides=sides) == {}
    assert same_names([0.5], ["0.5"], sides=sides) == {0.5: "0.5"}
    with pytest.raises(DataError, match=r"2 of the scores may be '2' or '2.0' of the labels"):
        same_names([2], ["2", "2.0"], sides=sides)
    with pytest.raises(DataError, match=r"'2' of the labels may be '2' or '2.0' of the scores"):
        same_names(["2", "2.0"], ["2"], sides=sides)


def test_a_misspelling_is_named():
    assert near_name("K3", ["k1", "k3"]) == "k3"
    assert near_name("watr", ["water", "wood"]) == "water"
    assert near_name(12, [3, 7]) is None
