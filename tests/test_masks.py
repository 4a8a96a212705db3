"""Masked entries are unlabelled, unknown or refused; what lies under them counts for nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from diffclass import (
    DiffusionAnomaly,
    DiffusionClassifier,
    DiffusionClustering,
    DiffusionMap,
    DiffusionModes,
    diffusion_wavelets,
    markov_operator,
    suggest,
    warped_operator,
)
from diffclass.blocks import BlockClassifier
from diffclass.embedding import GeometricHarmonics
from diffclass.evaluation import (
    PartlyLabelledKFold,
    classification_scores,
    detection_curve,
    draw_per_class,
    match_classes,
    stratified_areas,
)
from diffclass.exceptions import DataError
from diffclass.label_diffusion import Labels
from diffclass.neighbors import PartialWhitening
from diffclass.regression import EigenfunctionRegressor
from diffclass.spectral import bumps

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1], 40)
X = RNG.normal(size=(80, 2)) + 8 * TRUTH[:, None]
IS_LABELLED = np.arange(80) % 10 == 0
WALK = markov_operator(X, n_neighbors=8)
WALK_OF_EQUAL = markov_operator(X[TRUTH * 40 + np.arange(80) % 20], n_neighbors=8)
MASKED = np.ma.masked_array(X, np.arange(160).reshape(80, 2) == 5)


@pytest.mark.parametrize(
    "y",
    [
        np.ma.masked_array(TRUTH, ~IS_LABELLED),
        np.ma.masked_array(np.array(["a", "b"])[TRUTH], ~IS_LABELLED),
        np.where(IS_LABELLED, np.array(["a", "b"])[TRUTH], "nan"),
        np.where(IS_LABELLED, np.array(["a", "b"])[TRUTH], "-1.0"),
        pd.Series(np.where(IS_LABELLED, np.array(["a", "b"])[TRUTH], None)).astype(str),
        pd.Series(np.where(IS_LABELLED, TRUTH, pd.NA)).astype("Int64").astype(str),
        np.where(IS_LABELLED, np.array(["2024-01-01", "2024-01-02"])[TRUTH], "NaT").astype("M8[D]"),
    ],
    ids=["numbers", "texts", "nan", "-1.0", "None", "<NA>", "NaT"],
)
@pytest.mark.filterwarnings("ignore:.*among the texts")
def test_labels(y):
    folds = PartlyLabelledKFold(2).split(X, y)
    assert np.concatenate([test for _, test in folds]).size == 8
    assert Labels.of(y).points.tolist() == np.flatnonzero(IS_LABELLED).tolist()
    found = DiffusionClassifier(random_state=0).fit(X, y)
    assert len(found.classes_) == 2
    assert (found.transduction_ == found.classes_[TRUTH]).all()
    assert found.score(X, y) == 1
    scores = classification_scores(y, found.transduction_)
    assert scores.overall_accuracy == 1
    assert scores.confusion.tolist() == [[4, 0], [0, 4]]


def test_predictions_that_are_none_count_as_wrong():
    for none, of_none in ((-1, -1), ("", "")):
        names = [1, 2] if none == -1 else ["a", "b"]
        found = [names[0], None, none, names[1], names[0]]
        scores = classification_scores([*names * 2, None], [found[0], *found[1:]])
        assert scores.per_class[of_none].n_predicted == 2
        assert scores.overall_accuracy == 0.5
    masked = np.ma.masked_array([1, 1, 2], [False, True, False])
    assert classification_scores([1, 1, 2], masked).confusion.sum() == 3
    assert classification_scores(masked, [1, 2, 2]).overall_accuracy == 1
    with pytest.raises(DataError, match="true class of no point is known"):
        classification_scores([-1, -1], [1, 2])
    assert classification_scores(["1", "2", "2"], [1, 2, 1]).confusion.tolist() == [[1, 0], [1, 1]]


def test_values():
    values = np.cos(X[:, 0])
    expected = EigenfunctionRegressor().fit(X, np.where(IS_LABELLED, values, np.nan)).fitted_
    for y in (
        np.ma.masked_array(np.where(IS_LABELLED, values, 9.0), ~IS_LABELLED),
        pd.Series(values, dtype="Float64").where(IS_LABELLED),
        pd.Series(values, dtype=object).where(IS_LABELLED, None),
    ):
        np.testing.assert_array_equal(EigenfunctionRegressor().fit(X, y).fitted_, expected)


def test_numbers_of_classes():
    codes = np.ma.masked_array(TRUTH, ~IS_LABELLED)
    assert IS_LABELLED[draw_per_class(codes, 2, random_state=0)].all()
    names = {0: None, 1: None}
    match = match_classes(codes, TRUTH, given_names={1: None}, own_names=names)
    assert match.n_given.sum() == 4


@pytest.mark.parametrize(
    "model",
    [
        DiffusionClassifier(), DiffusionMap(2), DiffusionClustering(2), DiffusionModes(),
        DiffusionAnomaly(), PartialWhitening(), EigenfunctionRegressor(), GeometricHarmonics(),
        BlockClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_points_are_refused(model):
    with pytest.raises(DataError, match=r"X is masked in 1 of 80 rows \(first: row 2\)"):
        model.fit(MASKED, TRUTH)
    np.testing.assert_array_equal(np.ma.getdata(np.ma.masked_array(X)), X)


@pytest.mark.parametrize(
    "call",
    [
        lambda y: detection_curve(y, X[:, 0]),
        lambda y: stratified_areas(y, TRUTH, {0: 10, 1: 10}),
        lambda y: GeometricHarmonics().fit(X, y.astype(float)),
        lambda y: Labels.of(TRUTH, weight=y),
        lambda f: WALK.apply(f, 3),
        lambda f: WALK @ f,
        lambda f: WALK.forward(f, 3),
        lambda f: WALK.expected_visits(f, 3),
        lambda f: WALK_OF_EQUAL.apply(f, 3),
        lambda f: WALK_OF_EQUAL.forward(f, 3),
        lambda f: WALK_OF_EQUAL.expected_visits(f, 3),
        lambda f: diffusion_wavelets(WALK).apply(f, 3),
        lambda f: diffusion_wavelets(WALK).transform(f),
        lambda f: diffusion_wavelets(WALK).smooth(f, 1),
        lambda s: warped_operator(WALK, s.reshape(-1, 1)),
        lambda f: warped_operator(WALK, np.ones((80, 1))).apply(f.reshape(-1, 1), 3),
        lambda points: bumps(WALK, points),
        lambda points: suggest(WALK, labelled=points),
        lambda some: suggest(WALK, candidates=some == 1, features=X),
    ],
)
def test_what_has_no_mark_for_unknown_is_refused(call):
    with pytest.raises(DataError, match="masked in 72 of 80 rows"):
        call(np.ma.masked_array(TRUTH, ~IS_LABELLED))
