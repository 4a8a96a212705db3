"""The laws of the splitter of partly labelled data, and draws of labels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

from diffclass import DiffusionClassifier
from diffclass.evaluation import PartlyLabelledKFold, draw_per_class
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels import Gaussian


@settings(max_examples=30, deadline=None)
@given(
    codes=st.lists(st.sampled_from([-1, 0, 3, 7]), min_size=12, max_size=60),
    n_splits=st.integers(2, 5),
    shuffle=st.booleans(),
)
def test_every_label_is_tested_once_and_the_unlabelled_always_train(codes, n_splits, shuffle):
    y = np.array([*codes, 0, 3, 7, 0, 3])
    folds = list(PartlyLabelledKFold(n_splits, shuffle=shuffle, random_state=0).split(y, y))
    tested = np.sort(np.concatenate([test for _, test in folds]))
    np.testing.assert_array_equal(tested, np.flatnonzero(y != -1))
    for train, test in folds:
        assert set(np.flatnonzero(y == -1)) <= set(train)
        assert sorted([*train, *test]) == list(range(len(y)))


def test_folds_are_stratified():
    y = np.repeat([0, 1, 2], 10)
    for _, test in PartlyLabelledKFold(5, random_state=1).split(y, y):
        np.testing.assert_array_equal(np.bincount(y[test]), [2, 2, 2])


def test_folds_are_the_same_every_time():
    y = np.repeat([0, 1, -1], 20)
    first, again = (list(PartlyLabelledKFold(3).split(y, y)) for _ in range(2))
    for (_, one), (_, other) in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    in_order = PartlyLabelledKFold(3, shuffle=False).split(y, y)
    assert any((one != other).any() for (_, one), (_, other) in zip(first, in_order, strict=True))


def test_bad_folds():
    with pytest.raises(ParameterError, match="at least 2"):
        next(PartlyLabelledKFold(1).split([0, 1], [0, 1]))
    with pytest.raises(DataError, match="cannot fill"):
        next(PartlyLabelledKFold(3).split([0, 1, 2], [0, 1, -1]))


def test_a_grid_search_reaches_into_the_kernel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) + np.repeat([[0, 0], [4, 0], [0, 4]], 40, axis=0)
    truth = np.repeat(["a", "b", "c"], 40)
    y = np.where(np.arange(120) % 4 == 0, truth, "-1")
    search = GridSearchCV(
        DiffusionClassifier(n_neighbors=8, kernel=Gaussian()),
        {"kernel__bandwidth": ["self-tuning", 1.0]},
        cv=PartlyLabelledKFold(3, random_state=0),
    ).fit(X, y)
    assert search.best_score_ > 0.9
    assert (search.predict(X) == truth).mean() > 0.9


def test_draws_leave_some_of_each_class():
    codes = np.repeat([-1, 0, 1, 2], [50, 40, 7, 1])
    drawn = draw_per_class(codes, 5, random_state=0)
    np.testing.assert_array_equal(np.bincount(codes[drawn]), [5, 3, 1])
    np.testing.assert_array_equal(drawn, draw_per_class(codes, 5, random_state=0))
    with pytest.raises(ParameterError, match="n_per_class"):
        draw_per_class(codes, 0)
