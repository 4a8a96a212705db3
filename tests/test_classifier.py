"""The estimator: its contract, its answers on scenes, and hostile input."""

from __future__ import annotations

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from diffclass import (
    DataError,
    DiffusionClassifier,
    ParameterError,
    PointGraph,
    ScaleWarning,
    StoppingRule,
    UnreachedWarning,
    diffuse_labels,
    markov_operator,
    neighbors_graph,
)
from diffclass.datasets import make_tissue_scene
from diffclass.evaluation import PartlyLabelledKFold
from diffclass.kernels import Correlation, Directed, Gaussian, LocalDiscriminant, SharedNeighbors
from diffclass.label_diffusion import Labels, calibrate, map_scores
from diffclass.neighbors import ExactSearch, NNDescentSearch

ALL = pytest.mark.parametrize("labels", ["summed", "free", "absorbing"])


@parametrize_with_checks(
    [
        DiffusionClassifier(),
        DiffusionClassifier(label_mode="free"),
        DiffusionClassifier(join_features=True),
    ],
    expected_failed_checks=lambda _: {
        "check_classifiers_classes": "scikit-learn exempts its own semi-supervised classifiers "
        "from this check by name: -1 means unlabelled here"
    },
)
def test_scikit_learns_contract(estimator, check):
    with warnings.catch_warnings():
        # its random labels leave components without any, and its graphs can be uncovered
        warnings.simplefilter("ignore", UnreachedWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        check(estimator)


@pytest.fixture
def blobs(rng):
    """Three blobs of 40 points, five labels each: points, partial labels, truth."""
    truth = np.repeat([3, 7, 12], 40)
    X = rng.normal(size=(120, 4)) + np.repeat(4 * np.eye(3, 4), 40, axis=0)
    return X, np.where(np.arange(120) % 8, -1, truth), truth


# --- what it answers


@ALL
def test_is_the_functions_in_a_row(blobs, labels):
    X, y, _ = blobs
    clf = DiffusionClassifier(label_mode=labels, alpha=0.5, kernel=Gaussian(bandwidth="global"))
    clf.fit(X, y)
    A = markov_operator(X, alpha=0.5, kernel=Gaussian(bandwidth="global"))
    expected = diffuse_labels(A, y, label_mode=labels)
    assert (clf.raw_label_distributions_ == expected.posteriors).all()
    codes = np.where(y == -1, -1, np.searchsorted(expected.classes, y))
    calibration = calibrate(A, Labels.of(codes), expected)
    assert (clf.label_distributions_ == calibration.apply(expected.posteriors)).all()
    assert (clf.margin_ == expected.margin).all()
    assert clf.tau_ == expected.tau
    assert (clf.transduction_ == expected.classes[expected.codes]).all()
    assert vars(clf.kernel) == vars(Gaussian(bandwidth="global"))  # fitting leaves it alone
    assert clf.graph_.operator is clf.operator_


@ALL
def test_new_points(blobs, rng, labels):
    X, y, truth = blobs
    clf = DiffusionClassifier(label_mode=labels).fit(X, y)
    assert (clf.transduction_ == truth).mean() > 0.9
    new = X + 0.1 * rng.normal(size=X.shape)
    assert (clf.predict(new) == truth).mean() > 0.9
    probabilities = clf.raw_predict_proba(new)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(clf.novelty(new), clf.graph_.novelty(new))
    # one kernel step: the mean of the values at the neighbours
    weights = clf.graph_.kernel.extend(squared(clf.graph_.search.transform(new)), new)
    mean = weights @ diffuse_labels(clf.operator_, y, label_mode=labels).values
    np.testing.assert_allclose(probabilities, mean / mean.sum(axis=1, keepdims=True), rtol=1e-10)


def squared(graph):
    graph.data **= 2
    return graph


@ALL
@pytest.mark.parametrize("kernel", [None, Gaussian(bandwidth=0.5), Gaussian(bandwidth="global")])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_far_away_points(blobs, labels, kernel, dtype):
    X, y, _ = blobs
    clf = DiffusionClassifier(label_mode=labels, kernel=kernel).fit(X.astype(dtype), y)
    directions = np.array([[1, -1, -1, 0], [-1, 1, -1, 0], [-1, -1, 1, 0]])
    for distance in (1e2, 1e6, 1e15, 1e30, 1e200):
        far = (distance * directions).astype(dtype if distance < 1e38 else "f8")
        np.testing.assert_allclose(clf.predict_proba(far), 1 / 3, rtol=1e-5)
        if distance <= 1e6:
            assert clf.predict(far).tolist() == [3, 7, 12]


@pytest.mark.parametrize("search", [None, NNDescentSearch(), KNeighborsTransformer(n_neighbors=12)])
def test_ten_diameters_away_nothing_is_known(blobs, rng, search):
    X, y, _ = blobs
    clf = DiffusionClassifier(search=search, random_state=0).fit(X, y)
    diameter = 2 * np.linalg.norm(X - X.mean(axis=0), axis=1).max()
    directions = rng.normal(size=(30, 4))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    far = X.mean(axis=0) + 10 * diameter * directions
    np.testing.assert_allclose(clf.predict_proba(far), 1 / 3, rtol=1e-5)
    # the class is that of the points where the step leads, however far they are
    weights = clf.graph_.step_weights(far)
    expected = (weights @ clf.diffusion_.values).argmax(axis=1)
    np.testing.assert_array_equal(clf.predict(far), clf.classes_[expected])


@pytest.mark.parametrize("kernel", [None, Gaussian(bandwidth=1e-4), Gaussian(bandwidth="global")])
def test_new_points_like_the_others_are_within_reach(rng, kernel):
    X = np.concatenate([0.01 * rng.normal(size=(300, 3)), rng.standard_t(3, size=(300, 3)) + 9])
    y = np.where(np.arange(600) % 30, -1, np.arange(600) // 300)
    new = rng.permutation(600)[:200]
    old = np.setdiff1d(np.arange(600), new)
    clf = DiffusionClassifier(kernel=kernel, join_features=False).fit(X[old], y[old])
    weights = clf.graph_.step_weights(X[new])
    assert clf.graph_.novelty(X[new]).max() <= 5
    values = weights @ clf.diffusion_.values
    np.testing.assert_allclose(
        clf.raw_predict_proba(X[new]), values / values.sum(axis=1, keepdims=True), rtol=1e-10
    )


def test_answers_do_not_depend_on_company(blobs, rng):
    X, y, _ = blobs
    clf = DiffusionClassifier().fit(X, y)
    new = np.concatenate([rng.normal(size=(20, 4)), X[:3], 1e4 * np.ones((1, 4))])
    together = clf.predict_proba(new)
    for i, row in enumerate(together):
        np.testing.assert_allclose(clf.predict_proba(new[i : i + 1])[0], row, rtol=1e-12)


def test_wrong_labels_are_overturned_by_free_ones(blobs):
    X, y, _ = blobs
    y = y.copy()
    y[8] = 12
    assert DiffusionClassifier(label_mode="free", tau=40).fit(X, y).transduction_[8] == 3
    kept = DiffusionClassifier(label_mode="absorbing").fit(X, y)
    assert kept.transduction_[8] == 12
    trust = np.where(np.arange(120) == 8, 0.1, 1.0)
    doubted = DiffusionClassifier(label_mode="absorbing").fit(X, y, label_weight=trust)
    assert doubted.transduction_[8] == 3


@ALL
@pytest.mark.parametrize("names", [[3, 7], ["b", "a"], [True, False], [2.0, 1.0]])
def test_a_component_without_labels(rng, labels, names):
    X = np.concatenate([rng.normal(size=(60, 2)) + np.repeat([[0, 0], [5, 0]], 30, axis=0),
                        rng.normal([50, 0], size=(20, 2))])  # fmt: skip
    y = np.full(80, None)
    y[[0, 30]] = names
    clf = DiffusionClassifier(label_mode=labels, n_neighbors=15)
    with pytest.warns(UnreachedWarning, match="20 of 80 points"):
        clf.fit(X, y)
    assert (clf.transduction_[60:] == -1).all()
    assert all(v in names for v in clf.transduction_[:60])
    assert (clf.margin_[60:] == 0).all()
    np.testing.assert_allclose(clf.label_distributions_[60:], 0.5, atol=1e-6)
    np.testing.assert_allclose(clf.label_distributions_.sum(axis=1), 1)
    nearest = clf.classes_[clf.label_distributions_[60:].argmax(axis=1)]
    assert (nearest == names[1]).all()
    assert (clf.predict(X[60:]) == names[1]).all()
    assert (clf.predict([[49.0, 3.0]]) == names[1]).all()


def test_a_time_too_short_says_so(blobs):
    X, y, _ = blobs
    y = np.where(np.arange(120) % 40, -1, y)
    with pytest.warns(UnreachedWarning, match="by step 1; .* or tau"):
        clf = DiffusionClassifier(label_mode="free", tau=1).fit(X, y)
    assert (clf.transduction_ == -1).any()
    assert set(clf.predict(X)) <= {3, 7, 12}


@ALL
def test_tissue_whose_spectra_drift(labels):
    scene = make_tissue_scene(random_state=0)
    scores = PCA(30, random_state=0).fit_transform(scene.cube.reshape(-1, scene.cube.shape[-1]))
    X = scores / np.sqrt(scores.std(axis=0))
    y, truth = scene.labels.ravel().astype(int), scene.truth.ravel()
    clf = DiffusionClassifier(label_mode=labels, random_state=0).fit(X, np.where(y == 0, -1, y))
    assert isinstance(clf.graph_.search, NNDescentSearch)
    hidden = y == 0
    assert (clf.transduction_ == truth)[hidden].mean() > 0.95
    assert (clf.predict(X[hidden][:500]) == truth[hidden][:500]).mean() > 0.95
    # the margin knows: the surer half is nearly all right
    sure = hidden & (clf.margin_ > np.median(clf.margin_))
    assert (clf.transduction_ == truth)[sure].mean() > 0.98


# --- other ways in


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.coo_array, lambda K: K.toarray()])
def test_precomputed_affinities(blobs, form):
    X, y, _ = blobs
    expected = DiffusionClassifier(kernel=Gaussian(), join_features=False).fit(X, y)
    K = Gaussian().affinity(neighbors_graph(X), X)
    clf = DiffusionClassifier(affinity="precomputed").fit(form(K), y)
    np.testing.assert_allclose(clf.label_distributions_, expected.label_distributions_, atol=1e-12)
    X_new = X[:9] + 1e-3
    new = expected.graph_.affinities_to(X_new)
    np.testing.assert_allclose(
        clf.predict_proba(form(new)), expected.predict_proba(X_new), atol=1e-12
    )
    assert clf.n_features_in_ == 120
    assert clf.graph_.kernel is clf.graph_.search is clf.graph_.recall is None
    unknown = clf.predict_proba(form(sp.csr_array((1, 120))))
    np.testing.assert_allclose(unknown, 1 / 3, atol=1e-6)
    with pytest.raises(DataError, match="negative"):
        clf.predict(form(-new))
    with pytest.raises(ValueError, match="120 features"):
        clf.predict(form(new[:, :50]))


def test_precomputed_affinities_are_cross_validated_by_rows_and_columns(blobs):
    X, _, truth = blobs
    K = Gaussian().affinity(neighbors_graph(X, 119), X)
    search = GridSearchCV(
        DiffusionClassifier(affinity="precomputed"), {"label_mode": ["free", "absorbing"]}, cv=3
    )
    assert search.fit(K, truth).best_score_ > 0.8


def test_a_grid_search_over_partly_labelled_points(blobs):
    X, y, truth = blobs
    search = GridSearchCV(
        make_pipeline(StandardScaler(), DiffusionClassifier(kernel=Gaussian())),
        {
            "diffusionclassifier__kernel__bandwidth": ["self-tuning", "global", 1.0],
            "diffusionclassifier__n_neighbors": [6, 12],
        },
        cv=PartlyLabelledKFold(3, random_state=0),
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.8
    assert (search.predict(X) == truth).mean() > 0.9


def every_fifth(truth):
    """Labels of a fifth of each class; the classes follow each other."""
    return np.where(np.arange(len(truth)) % 5, -1, truth)


def test_the_default_search_scores_labelled_points_only(blobs):
    X, _, truth = blobs
    grid = {"label_mode": ["summed", "absorbing"]}
    search = GridSearchCV(DiffusionClassifier(), grid, error_score="raise").fit(
        X, every_fifth(truth)
    )
    assert search.best_score_ > 0.8
    scores = cross_val_score(DiffusionClassifier(), X, every_fifth(truth), error_score="raise")
    assert scores.mean() > 0.8
    names = np.where(every_fifth(truth) < 0, "-1", np.char.add("c", truth.astype(str)))
    assert cross_val_score(DiffusionClassifier(), X, names, error_score="raise").mean() > 0.8


@pytest.mark.parametrize("unlabelled", [-1, None, np.nan, pd.NA])
def test_a_score_is_the_accuracy_at_the_labels(blobs, unlabelled):
    X, y, truth = blobs
    clf = DiffusionClassifier().fit(X, y)
    known = np.arange(120) % 3 == 0
    partly = np.where(known, truth.astype(object), unlabelled)
    expected = (clf.predict(X) == truth)[known]
    assert clf.score(X, partly) == pytest.approx(expected.mean())
    assert clf.score(X, truth) == pytest.approx((clf.predict(X) == truth).mean())
    weight = np.arange(120.0)
    assert clf.score(X, partly, weight) == pytest.approx(
        np.average(expected, weights=weight[known])
    )


def test_what_cannot_be_scored(blobs):
    X, y, _ = blobs
    clf = DiffusionClassifier().fit(X, y)
    with pytest.raises(DataError, match="no label to score"):
        clf.score(X, np.full(120, -1))
    with pytest.raises(DataError, match="119 entries; X has 120"):
        clf.score(X, y[1:])


def test_precomputed_affinities_are_scored(blobs):
    X, y, _ = blobs
    K = Gaussian().affinity(neighbors_graph(X), X)
    clf = DiffusionClassifier(affinity="precomputed").fit(K, y)
    expected = (clf.predict(K) == y)[y >= 0].mean()
    assert clf.score(K, y) == clf.score(K.toarray(), y) == pytest.approx(expected)


def test_pandas(blobs):
    X, y, _ = blobs
    frame = pd.DataFrame(X, columns=["red", "green", "blue", "nir"])
    target = pd.Series(np.where(y == -1, None, y), dtype="Int64")
    clf = DiffusionClassifier().fit(frame, target)
    assert clf.feature_names_in_.tolist() == ["red", "green", "blue", "nir"]
    assert clf.classes_.tolist() == [3, 7, 12]
    expected = DiffusionClassifier().fit(X, y)
    assert (clf.transduction_ == expected.transduction_).all()
    assert (clf.predict(frame) == expected.predict(X)).all()
    assert clf.score(frame[y > 0], y[y > 0]) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(frame[["green", "red", "blue", "nir"]])


class CountedSearch(KNeighborsTransformer):
    """Counts how often it is fitted, in all its copies."""

    fits = 0

    def fit(self, X, y=None):
        type(self).fits += 1
        return super().fit(X, y)


class SearchedByFew(LocalDiscriminant):
    """Looks for fewer neighbours, in the same features."""

    def search(self, X, n_neighbors, *, random_state=None):
        return super().search(X, 5, random_state=random_state)


def test_a_kernels_own_search_is_used(blobs):
    X, y, _ = blobs
    clf = DiffusionClassifier(kernel=SearchedByFew()).fit(X, y)
    assert clf.graph_.search.n_neighbors == 5
    np.testing.assert_array_equal(clf.operator_.affinity.indices, neighbors_graph(X, 5).indices)


@pytest.mark.parametrize(("kernel", "n_searches"), [(LocalDiscriminant(), 1), (Directed(), 2)])
def test_searches_again_only_in_other_features(blobs, monkeypatch, kernel, n_searches):
    X, y, _ = blobs
    monkeypatch.setattr(CountedSearch, "fits", 0)
    clf = DiffusionClassifier(kernel=kernel, search=CountedSearch(n_neighbors=9)).fit(X, y)
    assert CountedSearch.fits == n_searches
    searched = KNeighborsTransformer(n_neighbors=9)
    first = DiffusionClassifier(search=searched, join_features=False).fit(X, y)
    alone = markov_operator(
        X,
        kernel=clone(kernel),
        search=KNeighborsTransformer(n_neighbors=9),
        y=y,
        scores=map_scores(first.operator_, first.diffusion_.codes, len(first.classes_)),
    )
    np.testing.assert_allclose(clf.operator_.affinity.data, alone.affinity.data, rtol=1e-6)
    assert clf.predict(X[:5]).shape == (5,)


@pytest.mark.parametrize("search", [None, KNeighborsTransformer(n_neighbors=9),
                                    NNDescentSearch(9, random_state=0)])  # fmt: skip
def test_pickles_and_clones(blobs, search):
    X, y, _ = blobs
    clf = DiffusionClassifier(kernel=Gaussian(neighbor=3), search=search).fit(X, y)
    copy = pickle.loads(pickle.dumps(clf))
    assert (copy.predict_proba(X) == clf.predict_proba(X)).all()
    again = clone(clf).fit(X, y)
    assert (again.label_distributions_ == clf.label_distributions_).all()


def test_an_earlier_graph_is_used_for_other_labels(blobs, monkeypatch):
    X, y, truth = blobs
    earlier = DiffusionClassifier(random_state=0).fit(X, truth)
    changed = X.copy()
    graph = DiffusionClassifier(random_state=0).fit(changed, y).graph_
    expected = DiffusionClassifier(random_state=0).fit(X, y)
    monkeypatch.setattr("diffclass.classifier.find_neighbors", None)  # nothing is searched
    found = DiffusionClassifier(random_state=0).fit(X, y, graph=earlier.graph_)
    np.testing.assert_array_equal(found.label_distributions_, expected.label_distributions_)
    np.testing.assert_array_equal(found.predict_proba(X), expected.predict_proba(X))
    with pytest.raises(DataError, match="graph has 120 points; X has 5"):
        DiffusionClassifier().fit(X[:5], y[:5], graph=earlier.graph_)
    for others in (X[::-1], X + 1, X.astype(np.float32)):
        with pytest.raises(DataError, match="graph is of other points than X"):
            DiffusionClassifier().fit(others, y, graph=earlier.graph_)
    changed[3] += 1
    with pytest.raises(DataError, match="changed since"):
        DiffusionClassifier().fit(changed, y, graph=graph)
    with pytest.raises(ParameterError, match="depends on the labels"):
        DiffusionClassifier(kernel=LocalDiscriminant()).fit(X, y, graph=earlier.graph_)
    with pytest.raises(ParameterError, match="graph"):
        DiffusionClassifier().fit(X, y, graph=earlier)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"n_neighbors": 9}, "n_neighbors (12, now 9)"),
        ({"alpha": 1.0}, "alpha (0.0, now 1.0)"),
        ({"kernel": Gaussian()}, "kernel (SharedNeighbors("),
        ({"kernel": SharedNeighbors(power=1.0)}, "kernel (SharedNeighbors("),
        ({"kernel": Correlation(threshold=0.1)}, "now Correlation("),
        ({"kernel": SharedNeighbors(Directed(np.arange(120.0)[:, None]))}, "now SharedNeighbors("),
        ({"search": ExactSearch(9)}, "search (None, now ExactSearch(n_neighbors=9"),
        ({"search": KNeighborsTransformer(metric="cosine")}, "cosine"),
    ],
)
@pytest.mark.filterwarnings("ignore:max_degree")
def test_a_graph_of_other_parameters_is_refused(blobs, change, named):
    X, y, _ = blobs
    graph = DiffusionClassifier(random_state=0).fit(X, y).graph_
    with pytest.raises(ParameterError, match=re.escape(named)):
        DiffusionClassifier(**change).fit(X, y, graph=graph)
    own = DiffusionClassifier(**change).fit(X, y).graph_
    DiffusionClassifier(**change).fit(X, y, graph=own)
    with pytest.raises(ParameterError, match="kernel"):  # which operators have by default
        DiffusionClassifier().fit(X, y, graph=PointGraph.from_points(X))


@pytest.mark.parametrize("kind", [np.asarray, pd.Series, pd.DataFrame, np.ndarray.tolist])
@pytest.mark.parametrize("dtype", [float, object])
def test_a_graph_of_other_values_of_a_kernel_is_refused(blobs, kind, dtype):
    X, y, _ = blobs
    F = X[:, 0].astype(dtype)
    changed = F.copy()
    changed[len(F) // 2] += 1.0  # which the words that print a long column leave out
    kernel, other = (Directed(kind(values)) for values in (F, changed))
    graph = DiffusionClassifier(kernel=kernel).fit(X, y).graph_
    assert DiffusionClassifier(kernel=Directed(kind(F))).fit(X, y, graph=graph).graph_ is graph
    with pytest.raises(ParameterError, match="kernel"):
        DiffusionClassifier(kernel=other).fit(X, y, graph=graph)


def test_a_graph_of_the_same_parameters_in_other_words_is_taken(blobs):
    X, y, _ = blobs
    graph = DiffusionClassifier(random_state=0).fit(X, y).graph_
    for kernel in ("shared", SharedNeighbors(Gaussian()), SharedNeighbors()):
        model = DiffusionClassifier(kernel=kernel, tau=4, random_state=1)  # the search is exact
        assert model.fit(X, y, graph=graph).graph_ is graph
    wide = np.random.default_rng(0).normal(size=(4200, 12)).astype(np.float32)
    labels = np.where(np.arange(4200) < 20, np.arange(4200) % 2, -1)
    graph = DiffusionClassifier(random_state=0).fit(wide, labels).graph_
    with pytest.raises(ParameterError, match="random_state"):
        DiffusionClassifier(random_state=1).fit(wide, labels, graph=graph)
    K = PointGraph.from_points(X).operator.affinity
    known = DiffusionClassifier(affinity="precomputed").fit(K, y).graph_
    with pytest.raises(ParameterError, match="alpha"):
        DiffusionClassifier(affinity="precomputed", alpha=1.0).fit(K, y, graph=known)


@pytest.mark.filterwarnings("ignore:max_degree")
def test_correlation(blobs):
    X, y, truth = blobs
    clf = DiffusionClassifier(kernel=Correlation(threshold=0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedWarning)
        clf.fit(X, y)
    assert (clf.transduction_ == truth).mean() > 0.7
    assert (clf.predict(10 * X) == truth).mean() > 0.7


# --- hostile input


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 2, 3])
@ALL
def test_hardly_any_points(n, dtype, labels):
    X = np.arange(n, dtype=dtype)[:, None]
    clf = DiffusionClassifier(label_mode=labels).fit(X, [5] + [-1] * (n - 1))
    assert clf.transduction_.tolist() == [5] * n
    assert clf.predict([[100.0]]).tolist() == [5]
    assert clf.predict_proba(X).tolist() == [[1.0]] * n


@ALL
@pytest.mark.parametrize("n_features", [1, 40])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "u1"])
def test_all_points_equal(labels, n_features, dtype):
    X = np.full((60, n_features), 7, dtype=dtype)
    y = np.where(np.arange(60) < 3, [0, 0, 1] + [-1] * 57, -1)
    with pytest.warns(UserWarning, match="no point of the map is of the class 1"):
        clf = DiffusionClassifier(label_mode=labels).fit(X, y)
    assert np.isfinite(clf.label_distributions_).all()
    assert (clf.transduction_ == 0).all()
    assert np.isfinite(clf.predict_proba(X[:2])).all()
    assert np.isfinite(clf.predict_proba(X[:2] + 1)).all()


@ALL
def test_constant_features_and_one_neighbor(blobs, labels):
    X, y, _ = blobs
    X = np.column_stack([np.full(120, 1e6), X, np.zeros(120)])
    expected = DiffusionClassifier(label_mode=labels).fit(X[:, 1:5], y)
    clf = DiffusionClassifier(label_mode=labels).fit(X, y)
    np.testing.assert_allclose(clf.label_distributions_, expected.label_distributions_, atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedWarning)
        alone = DiffusionClassifier(label_mode=labels, n_neighbors=1).fit(X, y)
    np.testing.assert_allclose(alone.label_distributions_.sum(axis=1), 1)


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1e9, 1e30])
@pytest.mark.parametrize("kernel", [None, Gaussian(bandwidth="global"), Correlation(threshold=0.5)])
@pytest.mark.filterwarnings("ignore:max_degree")
def test_units_do_not_matter(blobs, scale, kernel):
    X, y, _ = blobs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreachedWarning)
        expected = DiffusionClassifier(kernel=kernel).fit(X, y)
        clf = DiffusionClassifier(kernel=kernel).fit(scale * X, y)
    np.testing.assert_allclose(
        clf.label_distributions_, expected.label_distributions_, rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(
        clf.predict_proba(scale * X), expected.predict_proba(X), rtol=1e-6, atol=1e-9
    )


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter_in_single_precision(blobs, scale):
    X, y, _ = blobs
    expected = DiffusionClassifier().fit(X, y)
    clf = DiffusionClassifier().fit((scale * X).astype("f4"), y)
    np.testing.assert_allclose(clf.label_distributions_, expected.label_distributions_, atol=1e-3)


@pytest.mark.parametrize(
    "change",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        lambda X: X.astype(">f8"),
        lambda X: X.tolist(),
        lambda X: X.astype(object),
    ],
    ids=["Fortran", "strided", "big-endian", "list", "object"],
)
def test_layout_does_not_matter(blobs, change):
    X, y, _ = blobs
    expected = DiffusionClassifier().fit(X, y)
    clf = DiffusionClassifier().fit(change(X), y.astype(">i8"))
    assert (clf.label_distributions_ == expected.label_distributions_).all()
    assert (clf.predict_proba(change(X)) == expected.predict_proba(X)).all()


def test_read_only_memory_maps(blobs, tmp_path):
    X, y, _ = blobs
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    y.flags.writeable = False
    clf = DiffusionClassifier().fit(mapped, y)
    assert (clf.predict(mapped) == DiffusionClassifier().fit(X, y).predict(X)).all()


@ALL
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("distance", [30, 1e3, 1e6])
def test_an_outlier_is_classified(blobs, labels, dtype, distance):
    X, y, _ = blobs
    X = np.concatenate([X, [[0, distance, 0, 0]]]).astype(dtype)
    clf = DiffusionClassifier(label_mode=labels).fit(X, np.append(y, -1))
    assert clf.transduction_[-1] == 7
    assert clf.predict(2 * X[-1:]).tolist() == [7]


def test_an_outlier_spoils_nothing(blobs):
    X, y, _ = blobs
    expected = DiffusionClassifier().fit(X, y)
    spoilt = np.concatenate([X, [[-9999.0] * 4]])
    clf = DiffusionClassifier().fit(spoilt, np.append(y, -1))
    assert (clf.transduction_[:-1] == expected.transduction_).mean() > 0.97
    assert clf.transduction_[-1] in (3, 7, 12, -1)


def test_label_weights_of_zero(blobs):
    X, y, _ = blobs
    weight = np.zeros(120)
    weight[[0, 40, 80]] = 1
    clf = DiffusionClassifier().fit(X, y, label_weight=weight)
    fewer = DiffusionClassifier().fit(X, np.where(weight > 0, y, -1))
    assert (clf.classes_ == fewer.classes_).all()
    assert np.isfinite(clf.label_distributions_).all()


# --- refusals


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"alpha": -1}, "alpha"),
        ({"label_mode": "sticky"}, "label_mode"),
        ({"tau": "late"}, "tau"),
        ({"tau": 0}, "tau"),
        ({"tau": StoppingRule(max_time=0)}, r"tau\.max_time = 0; it has to be a whole number"),
        ({"affinity": "cosine"}, "'precomputed'"),
        ({"class_prior": [1]}, "3 classes"),
        ({"affinity": "precomputed", "join_features": True}, "has none"),
    ],
)
def test_refuses_parameters(blobs, parameters, message):
    X, y, _ = blobs
    with pytest.raises(ParameterError, match=message):
        DiffusionClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1] * 120, "no label"),
        ([1] * 119, "119 entries"),
        ([0.5] * 120, "continuous"),
        ([np.inf] * 120, "infinity"),
        (["a", 3] * 60, "mixes int and str"),
        (None, "requires y"),
        (np.ones((120, 2)), "one value per point"),
    ],
)
def test_refuses_labels(blobs, y, message):
    with pytest.raises(DataError, match=message):
        DiffusionClassifier().fit(blobs[0], y)


def test_refuses_points(blobs):
    X, y, _ = blobs
    with pytest.raises(TypeError, match="Sparse data was passed"):
        DiffusionClassifier().fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="NaN"):
        DiffusionClassifier().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(NotFittedError):
        DiffusionClassifier().predict(X)
    with pytest.raises(ValueError, match="4 features"):
        DiffusionClassifier().fit(X, y).predict(X[:, :3])
    for name, hint in (("sample_weight", "; label_weight says"), ("weights", "$")):
        with pytest.raises(TypeError, match=f"'{name}'{hint}"):
            DiffusionClassifier().fit(X, y, **{name: np.ones(120)})


def fit_to(X):
    """Fit to a label of each of two classes; warnings are errors."""
    y = np.full(len(X), -1)
    y[:2] = 0, 1
    DiffusionClassifier(label_mode="absorbing", tau=50).fit(X, y)


@pytest.mark.filterwarnings("ignore::diffclass.UnreachedWarning")
@pytest.mark.parametrize("n_features", [2, 3, 20, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_that_count_for_nothing_are_told(rng, n_features, dtype):
    X = rng.normal(size=(400, n_features))
    small = np.arange(n_features) >= n_features / 2
    fit_to((X * np.where(small, 1e-2, 1)).astype(dtype))
    for scale in (1e-9, 1e-6, 1e-3):  # relative to the others
        with pytest.warns(
            ScaleWarning, match=rf"{small.sum()} of {n_features} features .* nothing"
        ):
            fit_to((X * np.where(small, scale, 1e3)).astype(dtype))


@pytest.mark.filterwarnings("ignore::diffclass.UnreachedWarning")
def test_components_of_spectra_count(rng):
    """The last ones hold noise alone, as they should."""
    spectra = make_tissue_scene(random_state=0).cube.reshape(-1, 60)
    fit_to(PCA().fit_transform(spectra))


@pytest.mark.filterwarnings("ignore::diffclass.UnreachedWarning")
def test_outliers_do_not_make_the_other_features_small(rng):
    X = rng.normal(size=(100, 4))
    X[0, 1] = 1e9
    fit_to(X)


@pytest.mark.filterwarnings("ignore::diffclass.UnreachedWarning")
def test_constant_features_are_no_small_ones(rng):
    X = rng.normal(size=(100, 4)) + 1e3
    X[:, 2:] = [5.0, 0.1]
    fit_to(X)


def test_what_no_label_reaches_is_uniform_whatever_classes_are_kept():
    X, truth = make_blobs([60, 60, 60], centers=[[0, 0], [60, 0], [0, 60]], random_state=0)
    y = np.where((np.arange(180) % 10 == 0) & (truth < 2), truth + np.arange(180) // 30 % 2, -1)
    unreached = truth == 2
    for kept in (None, 2):
        with pytest.warns(UnreachedWarning):
            model = DiffusionClassifier(kept_classes=kept).fit(X, y)
        for name in ("raw_label_distributions_", "label_distributions_"):
            rows = sp.csr_array(getattr(model, name)).toarray()
            np.testing.assert_allclose(rows.sum(axis=1), 1)
            np.testing.assert_allclose(rows[unreached], 1 / rows.shape[1])
        sets = sp.csr_array(model.transductive_set(level=0.9)).toarray()
        assert sets[unreached].all()
        assert sets.any(axis=1).all()


def test_what_is_given_beside_scores_alone_is_refused():
    X, truth = make_blobs(120, random_state=0)
    scores = np.eye(3)[truth]
    for more in ({"groups": truth}, {"label_weight": np.ones(120)}):
        with pytest.raises(ParameterError, match="groups and label_weight are those of labels"):
            DiffusionClassifier().fit(X, None, score_prior=scores, **more)


@pytest.mark.parametrize("seed", ["a", -1, 1.5, np.random.default_rng(0)], ids=str)
def test_seeds_that_are_none_are_refused_at_any_size(seed):
    X, truth = make_blobs(60, random_state=0)
    with pytest.raises(ParameterError, match="random_state = "):
        DiffusionClassifier(random_state=seed).fit(X, truth)


def test_a_class_that_the_map_loses_is_told():
    """A label in the middle of a cluster whose other labels outweigh it."""
    X, truth = make_blobs([60, 60], centers=[[0, 0], [6, 0]], random_state=0)
    y = truth.copy()
    y[3] = 2
    weight = np.where(y == 2, 0.01, 1)
    with pytest.warns(UserWarning, match="no point of the map is of the class 2"):
        DiffusionClassifier(label_mode="absorbing").fit(X, y, label_weight=weight)


def test_names_of_features_have_to_match():

    X, truth = make_blobs(60, random_state=0)
    model = DiffusionClassifier().fit(pd.DataFrame(X, columns=["a", "b"]), truth)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(X, columns=["b", "a"]))
