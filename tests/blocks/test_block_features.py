"""Features that join a map in blocks, beside those of the map in memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from diffclass import DiffusionClassifier
from diffclass.blocks import BlockClassifier, BlockOperator
from diffclass.exceptions import ParameterError


@pytest.fixture(scope="module")
def overlapping():
    """Three overlapping clouds in five dimensions, each point once or twice, and 18 labels."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 3, 5000)
    X = (random.normal(size=(5000, 5)) + 2.5 * np.eye(5)[:3][truth]).astype(np.float32)
    y = np.full(5000, -1)
    for c in range(3):
        y[random.choice(np.flatnonzero(truth == c), 6, replace=False)] = c
    return X, y, truth


@pytest.fixture(scope="module")
def fresh(overlapping):
    """The model of those points and labels, without a folder."""
    X, y, _ = overlapping
    return BlockClassifier(random_state=0).fit(X, y)


@pytest.mark.parametrize("doubled", [False, True])
def test_the_map_is_that_of_memory(overlapping, fresh, doubled):
    X, y, truth = overlapping
    if doubled:  # equal points are one node
        X, y, truth = (np.concatenate([part, part[:2000]]) for part in (X, y, truth))
        y[5000:] = -1
    whole = DiffusionClassifier(random_state=0).fit(X, y)
    blocks = BlockClassifier(random_state=0).fit(X, y) if doubled else fresh
    assert blocks.feature_opinion_.weight == pytest.approx(whole.feature_opinion_.weight, abs=0.1)
    assert (blocks.transduction_ == whole.transduction_).mean() > 0.995
    difference = np.abs(blocks.raw_label_distributions_ - whole.raw_label_distributions_)
    assert np.median(difference) < 0.02
    assert blocks.calibration_.n_held_out == whole.calibration_.n_held_out
    ratio = blocks.calibration_.temperature / whole.calibration_.temperature
    assert 0.7 < ratio < 1.4
    right = blocks.transduction_ == truth
    alone = BlockClassifier(random_state=0, join_features=False).fit(X, y)
    assert right.mean() > (alone.transduction_ == truth).mean()
    assert alone.feature_opinion_ is None


def test_rows_of_the_map_are_one_result(fresh):
    found = fresh.diffusion_
    np.testing.assert_allclose(found.posteriors.sum(axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(found.codes, found.posteriors.argmax(axis=1))
    np.testing.assert_allclose(found.probability, found.posteriors.max(axis=1), atol=1e-6)
    two = np.sort(found.posteriors, axis=1)[:, -2:]
    np.testing.assert_allclose(found.margin, two[:, 1] - two[:, 0], atol=1e-6)


def test_a_folder_is_taken_over(overlapping, fresh, tmp_path):
    """The same labels give the same map, others theirs."""
    X, y, _ = overlapping
    half = np.where(np.arange(len(y)) % 2, y, -1)
    expected = [
        np.array(model.raw_label_distributions_)
        for model in (fresh, BlockClassifier(random_state=0).fit(X, half), fresh)
    ]
    assert not np.array_equal(*expected[:2])
    for labels, known in zip((y, half, y), expected, strict=True):
        model = BlockClassifier(random_state=0, scratch=tmp_path).fit(X, labels)
        np.testing.assert_array_equal(model.raw_label_distributions_, known)


WISHES = {
    "met already": ((np.full(3, 0.2), np.full(3, 0.5)), "equal"),
    "matched": ([1, 1, 1], "matched"),
    "borders move": ([1.2, 1, 1], "matched"),
    "of one class": (([0.36, 0, 0], [0.38, 1, 1]), "matched"),
    "refused": ([0.9, 0.05, 0.05], "equal"),
}


@pytest.fixture(scope="module")
def shared_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kept")


@pytest.mark.parametrize(("wish", "weighting"), WISHES.values(), ids=WISHES)
def test_sizes_are_those_of_memory(overlapping, monkeypatch, shared_folder, wish, weighting):
    """The joined map is brought to sizes, on several blocks, and taken over from their folder.

    The folder is that of all sizes: the graph is built once.
    """
    X, y, _ = overlapping
    whole = DiffusionClassifier(random_state=0, class_prior=wish).fit(X, y)
    assert whole.diffusion_.weighting == weighting
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", 2000)
    monkeypatch.setattr("diffclass.blocks.plan.LEAST_BLOCK", 1000)
    monkeypatch.setattr(BlockOperator, "joined", lambda operator, n_blocks: operator)
    for _ in range(2):
        blocks = BlockClassifier(random_state=0, class_prior=wish, scratch=shared_folder).fit(X, y)
        assert blocks.facts_["n_blocks"] > 2
        assert blocks.diffusion_.weighting == weighting
        assert blocks.feature_opinion_.weight == pytest.approx(
            whole.feature_opinion_.weight, abs=0.1
        )
        assert (blocks.transduction_ == whole.transduction_).mean() > 0.99
        np.testing.assert_array_equal(
            blocks.diffusion_.codes, blocks.raw_label_distributions_.argmax(axis=1)
        )
        ratio = blocks.calibration_.temperature / whole.calibration_.temperature
        assert 0.7 < ratio < 1.4


def test_a_folder_holds_the_maps_of_several_wishes(overlapping, fresh, tmp_path):
    X, y, _ = overlapping
    wishes = [WISHES[name][0] for name in ("matched", "of one class")]
    alone = [BlockClassifier(random_state=0, class_prior=wish).fit(X, y) for wish in wishes]
    for wish, known in [*zip([*wishes, None], [*alone, fresh], strict=True)] * 2:
        model = BlockClassifier(random_state=0, class_prior=wish, scratch=tmp_path).fit(X, y)
        np.testing.assert_array_equal(
            model.raw_label_distributions_, known.raw_label_distributions_
        )
        assert model.calibration_.temperature == known.calibration_.temperature


@pytest.mark.parametrize("given", [{"tau": 12}, {"tau": "margin"}, {"label_mode": "absorbing"}])
def test_the_walk_decides_alone_where_something_is_asked_of_it(overlapping, given):
    X, y, _ = overlapping
    assert BlockClassifier(random_state=0, **given).fit(X, y).feature_opinion_ is None
    assert BlockClassifier(random_state=0, join_features=True, **given).fit(X, y).feature_opinion_
    with pytest.raises(ParameterError, match="join_features"):
        BlockClassifier(join_features=1).fit(X, y)


def test_one_label_per_class_says_nothing():
    X, truth = load_digits(return_X_y=True)
    y = np.full(len(X), -1)
    y[np.unique(truth, return_index=True)[1]] = np.arange(10)
    joined, alone = (
        BlockClassifier(random_state=0, join_features=join).fit(X, y) for join in ("auto", False)
    )
    assert joined.feature_opinion_ is None
    np.testing.assert_array_equal(joined.transduction_, alone.transduction_)
