"""Frames of pandas and polars given to the estimators in Python."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import DiffusionClassifier, DiffusionMap

LIBRARIES = ["pandas", "polars"]


@pytest.fixture
def labelled(blobs):
    X, truth = blobs
    return X, np.where(np.arange(120) < 12, truth, "-1")


def frame_of(library, X):
    return pytest.importorskip(library).DataFrame(
        {f"x{i}": column.astype(np.float64) for i, column in enumerate(X.T)}
    )


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_classifier(library, labelled):
    X, y = labelled
    frame = frame_of(library, X)
    expected = DiffusionClassifier(random_state=0).fit(X.astype(np.float64), y)
    found = DiffusionClassifier(random_state=0).fit(frame, y)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    assert found.feature_names_in_.tolist() == [f"x{i}" for i in range(5)]
    np.testing.assert_array_equal(found.predict(frame[:9]), expected.predict(X[:9].astype(float)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_map(library, labelled):
    X, _ = labelled
    expected = DiffusionMap(2, random_state=0).fit_transform(X.astype(np.float64))
    found = DiffusionMap(2, random_state=0).fit_transform(frame_of(library, X))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", ["words", "numbers", "bools"])
def test_a_series_with_missing_values(library, kind, labelled):
    module = pytest.importorskip(library)
    X, y = labelled
    numbers = np.unique(y, return_inverse=True)[1] - 1
    values = {
        "words": [None if one == "-1" else str(one) for one in y],
        "numbers": [None if one < 0 else int(one) for one in numbers],
        "bools": [None if one < 0 else bool(one) for one in numbers],
    }[kind]
    expected = DiffusionClassifier(random_state=0).fit(X, np.array(values, dtype=object))
    made = [module.Series(values)]
    if library == "pandas":
        made = [module.Series(values, dtype=object)]
        own = {"words": "string", "numbers": "Int64", "bools": "boolean"}[kind]
        made += [module.Series(values, dtype=own)]
        if kind == "words":
            made += [module.Series(values, dtype="category")]
        if kind == "numbers":
            made += [module.Series(values, dtype="float64")]
    for series in made:
        found = DiffusionClassifier(random_state=0).fit(X, series)
        assert found.classes_.tolist() == expected.classes_.tolist(), series.dtype
        assert found.transduction_.tolist() == expected.transduction_.tolist(), series.dtype


def test_an_index_is_not_looked_at(labelled):
    pd = pytest.importorskip("pandas")
    X, y = labelled
    index = np.arange(120)[::-1] + 7
    series = pd.Series(y, index=index).replace("-1", None)
    found = DiffusionClassifier(random_state=0).fit(
        pd.DataFrame(X, index=index).add_prefix("x"), series
    )
    expected = DiffusionClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)


@pytest.mark.parametrize("missing", ["float64", "Float64"])
def test_missing_features_are_refused(missing, labelled):
    pd = pytest.importorskip("pandas")
    X, y = labelled
    frame = pd.DataFrame(X.astype(np.float64)).add_prefix("x").astype(missing)
    frame.iloc[3, 1] = None
    for model in (DiffusionClassifier(), DiffusionMap(2)):
        with pytest.raises(ValueError, match=r"NaN|NA"):
            model.fit(frame, y)


def test_words_are_refused(labelled):
    pd = pytest.importorskip("pandas")
    X, y = labelled
    frame = pd.DataFrame(X).add_prefix("x").assign(name="w")
    for model in (DiffusionClassifier(), DiffusionMap(2)):
        with pytest.raises(ValueError, match="'w'"):
            model.fit(frame, y)
