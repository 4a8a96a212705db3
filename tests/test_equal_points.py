"""Equal points are one node with a mass: the dense walk over all copies, and equal results."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsTransformer

from diffclass import (
    DiffusionAnomaly,
    DiffusionClassifier,
    DiffusionClustering,
    DiffusionMap,
    DiffusionModes,
    EigenfunctionRegressor,
    GeometricHarmonics,
    MarkovOperator,
    PointGraph,
    Warp,
    diffuse_labels,
    leading_eigenpairs,
    markov_operator,
    suggest,
    warped_operator,
)
from diffclass.blocks import BlockClassifier, BlockOperator
from diffclass.blocks.cell_bins import CellBins
from diffclass.exceptions import ParameterError
from diffclass.kernels import (
    AlongField,
    Correlation,
    Directed,
    Gaussian,
    LocalCovariance,
    LocalDiscriminant,
    SharedNeighbors,
)
from diffclass.label_diffusion import Labels, calibrate, map_scores
from diffclass.neighbors import ExactSearch, Nodes, RadiusSearch
from diffclass.relabel.coarsening import coarsen
from diffclass.spectral.distances import squared_distances_to_equilibrium
from tests.naive import squared_distances

SITES = np.random.default_rng(3).normal(size=(40, 3)) + 2 * np.eye(3)[np.arange(40) % 3]
CLASSES = np.arange(40) % 3
COPIES = np.where(np.arange(40) % 4 == 1, 1 + np.arange(40), 1)  # up to 38 of a site


def copied(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points with copies in any order, and the site of each."""
    site = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(SITES)), COPIES))
    return SITES[site], site


def labels_of(site: np.ndarray, n_labelled: int = 9) -> np.ndarray:
    """A label at one copy of some sites."""
    y = np.full(len(site), -1)
    first = np.unique(site, return_index=True)[1][:n_labelled]
    y[first] = CLASSES[site[first]]
    return y


def twin(A: MarkovOperator, X: np.ndarray, site: np.ndarray, **options) -> MarkovOperator:
    """The walk over all copies, with all edges between equal points."""
    distinct = markov_operator(SITES, **options)
    K = PointGraph.from_points(SITES, **{**options, "alpha": 0.0}).operator.affinity.toarray()
    assert len(A) == len(distinct) < len(X)
    return MarkovOperator.from_affinity(K[site][:, site], alpha=options.get("alpha", 0.0))


OPTIONS = [
    {"n_neighbors": 8},
    {"n_neighbors": 8, "kernel": SharedNeighbors()},
    {"n_neighbors": 8, "kernel": Gaussian(bandwidth="global"), "alpha": 1.0},
    {"n_neighbors": 8, "kernel": LocalCovariance(), "alpha": 0.5},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_the_walk_is_that_over_all_copies(options, rng):
    X, site = copied()
    A = markov_operator(X, **options)
    full = twin(A, X, site, **options)
    assert A.n_points == len(X)
    np.testing.assert_allclose(A.at_points(A.degrees / A.mass), full.degrees)
    np.testing.assert_allclose(A.at_points(A.density), full.density)
    pi = A.stationary_distribution
    np.testing.assert_allclose(A.at_points(pi / A.mass), full.stationary_distribution)
    f = rng.normal(size=(len(X), 2))
    for t in (0, 1, 3, 80):
        np.testing.assert_allclose(A.apply(f, t), full.apply(f, t), atol=1e-9)
        np.testing.assert_allclose(A.forward(f, t), full.forward(f, t), atol=1e-9)
        for found, expected in zip(
            A.expected_visits(f, t), full.expected_visits(f, t), strict=True
        ):
            np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(A.apply(f[:, 0], [0, 2]), full.apply(f[:, 0], [0, 2]), atol=1e-9)
    np.testing.assert_array_equal(A.at_points(A.components), full.components)
    few, many = (leading_eigenpairs(walk, 5, random_state=0) for walk in (A, full))
    np.testing.assert_allclose(few.eigenvalues, many.eigenvalues, atol=1e-6)
    np.testing.assert_allclose(np.abs(A.at_points(few.right)), np.abs(many.right), atol=1e-3)
    np.testing.assert_allclose(
        A.at_points(squared_distances_to_equilibrium(A)),
        squared_distances_to_equilibrium(full),
    )


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"tau": 5},
        {"tau": "margin"},
        {"label_mode": "free"},
        {"label_mode": "free-l1"},
        {"label_mode": "summed"},
        {"label_mode": "absorbing", "tau": 20_000},
        {"class_prior": [0.2, 0.5, 0.3]},
        {"kept_classes": 2},
    ],
)
@pytest.mark.parametrize("options", OPTIONS[:3])
def test_the_map_is_that_over_all_copies_with_all_their_labels(options, how):
    X, site = copied()
    y = labels_of(site)
    A = markov_operator(X, **options)
    full = twin(A, X, site, **options)
    found = diffuse_labels(A, y, **how)
    of_site = np.full(len(SITES), -1)
    of_site[site[y >= 0]] = y[y >= 0]
    groups = np.where(of_site[site] >= 0, site, -1)  # the copies of a site are one observation
    expected = diffuse_labels(full, of_site[site], groups=groups, **how)
    assert (found.tau, found.weighting) == (expected.tau, expected.weighting)
    np.testing.assert_array_equal(found.codes, expected.codes)
    np.testing.assert_allclose(found.margin, expected.margin, atol=1e-6)
    values = [np.asarray(d.posteriors.toarray() if d.kept_classes else d.posteriors)
              for d in (found, expected)]  # fmt: skip
    np.testing.assert_allclose(*values, atol=1e-6)
    for part in ("times", "margin", "coverage", "cut"):
        np.testing.assert_allclose(
            getattr(found.curve, part), getattr(expected.curve, part), atol=1e-9
        )


@pytest.mark.parametrize("mode", ["free", "free-l1", "absorbing"])
@pytest.mark.parametrize("floor", [0.0, 0.4])
def test_warped_walks_are_those_over_all_copies(mode, floor):
    X, site = copied()
    y = labels_of(site)
    A = markov_operator(X, n_neighbors=8)
    of_site = np.full(len(SITES), -1)
    of_site[site[y >= 0]] = y[y >= 0]
    scores = np.random.default_rng(1).random((len(SITES), 3))[site]
    how = {"floor": floor, "forward_exponent": 0.25}
    walks = (
        (warped_operator(A, scores, y=y, **how), y),
        (
            warped_operator(twin(A, X, site, n_neighbors=8), scores, y=of_site[site], **how),
            of_site[site],
        ),
    )
    found, expected = (diffuse_labels(*walk, label_mode=mode, tau=7) for walk in walks)
    np.testing.assert_allclose(found.posteriors, expected.posteriors, atol=1e-9)


def results(X: np.ndarray, site: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """What estimators say of each point."""
    model = DiffusionClassifier(n_neighbors=8, random_state=0).fit(X, y)
    known = np.where(y >= 0, SITES[site, 0], np.nan)
    values = np.sin(SITES[site, 1])
    few = {"n_neighbors": 8}
    directed = DiffusionClassifier(kernel=SharedNeighbors(Directed()), **few).fit(X, y)
    joined = DiffusionClassifier(join_features=True, **few).fit(X, y)
    hinted = DiffusionClassifier(**few).fit(X, y, score_prior=np.eye(3)[CLASSES[site]])
    return {
        "classes": model.transduction_,
        "probabilities": model.label_distributions_,
        "margins": model.margin_,
        "prediction": model.predict_proba(X),
        "sets": model.transductive_set(),
        "directed": directed.transduction_,
        "joined": joined.label_distributions_,
        "hinted": hinted.label_distributions_,
        "coordinates": DiffusionMap(2).fit_transform(X),
        "clusters": DiffusionClustering(3).fit(X).labels_,
        "outliers": DiffusionClustering(3).fit(X).outliers_,
        "modes": DiffusionModes(3).fit(X).labels_,
        "anomalies": DiffusionAnomaly(n_neighbors=8).fit(X).scores_,
        "new anomalies": DiffusionAnomaly(n_neighbors=8).fit(X).score_samples(X),
        "harmonics": GeometricHarmonics(n_neighbors=8).fit(X, values).predict(X),
        "regression": EigenfunctionRegressor().fit(X, known).fitted_,
    }


def test_equal_points_have_equal_results_in_any_order():
    X, site = copied()
    y = labels_of(site)
    found = results(X, site, y)
    first = np.unique(site, return_index=True)[1]
    order = np.random.default_rng(1).permutation(len(X))
    again = results(X[order], site[order], y[order])
    for name, values in found.items():
        np.testing.assert_array_equal(values, values[first][site], err_msg=name)
        if name == "coordinates":
            values, again[name] = np.abs(values), np.abs(again[name])
        elif name in ("clusters", "modes"):  # which may have other numbers
            values, again[name] = ((of[:, None] == of).mean(axis=1) for of in (values, again[name]))
        np.testing.assert_allclose(again[name], values[order], atol=1e-6, err_msg=name)


def test_new_points_at_the_place_of_fitted_ones_are_these():
    X, site = copied()
    y = labels_of(site)
    for options in ({}, {"label_mode": "free"}, {"join_features": True}, {"kept_classes": 2}):
        model = DiffusionClassifier(n_neighbors=8, **options).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), model.transduction_)
        raw = model.raw_label_distributions_
        raw = raw.toarray() if options.get("kept_classes") else raw
        np.testing.assert_allclose(model.raw_predict_proba(X), raw, atol=1e-12)
        near = model.predict_proba(X + 1e-3)
        assert np.isfinite(near).all()
        assert not np.array_equal(near, model.predict_proba(X))


WAYS = {
    "Correlation": lambda site: {"kernel": Correlation()},
    "Directed by scores": lambda site: {"kernel": Directed()},
    "Directed": lambda site: {"kernel": Directed(SITES[site, 0])},
    "AlongField": lambda site: {"kernel": AlongField(SITES[site])},
    "LocalDiscriminant": lambda site: {"kernel": LocalDiscriminant()},
    "LocalDiscriminant of Directed": lambda site: {"kernel": LocalDiscriminant(Directed())},
    "radius": lambda site: {"search": RadiusSearch(3.0)},
    "radius, few": lambda site: {"search": RadiusSearch(3.0, max_degree=9)},
    "of scikit-learn": lambda site: {"search": KNeighborsTransformer(n_neighbors=9)},
    "warped": lambda site: {"warp": Warp(rounds=1)},
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("way", WAYS)
def test_so_are_they_by_every_kernel_and_search(way, dtype):
    X, site = copied()
    X, y = X.astype(dtype), labels_of(site)
    for tau in (1, 9, "auto"):
        model = DiffusionClassifier(n_neighbors=8, tau=tau, random_state=0, **WAYS[way](site))
        there = model.fit(X, y).transduction_ >= 0
        assert there.sum() > 20
        found, raw = model.predict_proba(X)[there], model.label_distributions_[there]
        np.testing.assert_allclose(found, raw, atol=1e-6)
        np.testing.assert_array_equal(model.predict(X)[there], model.transduction_[there])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("way", WAYS)
def test_a_class_that_is_outnumbered_at_its_only_place_is_no_error(way):
    X, site = copied()
    y = labels_of(site)
    where = np.flatnonzero(site == np.bincount(site).argmax())
    y[where[:3]] = 0, 0, 7
    model = DiffusionClassifier(n_neighbors=8, random_state=0, **WAYS[way](site)).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2, 7]
    assert np.isfinite(model.label_distributions_).all()
    known = model.label_distributions_[where[0]]
    assert known[0] > known[3] > 0


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 999),
    label_mode=st.sampled_from(["absorbing", "free", "free-l1", "summed"]),
    tau=st.sampled_from([1, 40, 100_000]),
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ties_go_to_the_first_class_on_the_map_and_in_every_prediction(seed, label_mode, tau):
    random = np.random.default_rng(seed)
    half = np.unique(random.integers(1, 9, (7, 2)) * [1.0, 0.5], axis=0)
    X = np.concatenate([half, -half, [[0.0, 0.0]]])  # one side is the image of the other
    y = np.full(len(X), -1)
    y[0], y[len(half)] = 0, 1
    how = {"label_mode": label_mode, "tau": tau, "n_neighbors": 5}
    model = DiffusionClassifier(**how).fit(X, y)
    there = model.transduction_ >= 0
    for found in (model.label_distributions_, model.raw_label_distributions_):
        np.testing.assert_array_equal(found.argmax(axis=1)[there], model.transduction_[there])
    np.testing.assert_array_equal(model.predict(X)[there], model.transduction_[there])
    assert model.predict([[0.0, 0.0]]) == 0


@settings(max_examples=20, deadline=None)
@given(
    n_sites=st.integers(2, 7),
    n_copies=st.integers(1, 60),
    label_mode=st.sampled_from(["auto", "absorbing"]),
    seed=st.integers(0, 99),
)
def test_a_label_holds_for_all_copies(n_sites, n_copies, label_mode, seed):
    random = np.random.default_rng(seed)
    sites = random.normal(size=(n_sites, 2))
    site = random.permutation(np.repeat(np.arange(n_sites), n_copies))
    y = np.full(len(site), -1)
    y[np.unique(site, return_index=True)[1]] = np.unique(site)
    model = DiffusionClassifier(label_mode=label_mode, random_state=0).fit(sites[site], y)
    np.testing.assert_array_equal(model.transduction_, site)
    np.testing.assert_array_equal(model.predict(sites), np.arange(n_sites))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-0.0, 0.0, 1.5])), min_size=1))
def test_nodes(rows):
    X = np.array(rows, dtype=float)
    nodes = Nodes.of(X)
    _, first, counts = np.unique(X + 0.0, axis=0, return_index=True, return_counts=True)
    if len(first) == len(X):
        assert nodes is None
        return
    np.testing.assert_array_equal(nodes.first, np.sort(first))
    np.testing.assert_array_equal(nodes.mass, counts[np.argsort(first)])
    np.testing.assert_array_equal(X[nodes.first][nodes.of_points], X)
    np.testing.assert_allclose(nodes.means(X), X[nodes.first])
    order = np.random.default_rng(0).permutation(len(nodes))
    moved = nodes.renumbered(order)
    np.testing.assert_array_equal(X[moved.first][moved.of_points], X)


def test_contradicting_labels_of_equal_points_count_in_part():
    nodes = Nodes.of(np.array([[0.0], [0.0], [0.0], [0.0], [1.0]]))
    labels = Labels.of([5, 5, 7, -1, 7], weight=[0.5, 1, 0.5, 1, 0.25]).at_nodes(nodes)
    np.testing.assert_array_equal(labels.points, [0, 0, 1])
    np.testing.assert_array_equal(labels.codes, [1, 0, 1])
    np.testing.assert_allclose(labels.weight, [0.25, 0.75, 0.25])
    np.testing.assert_array_equal(labels.codes_of_points, [0, 1])
    np.testing.assert_array_equal(labels.strongest.codes, [0, 1])
    X, site = copied()
    where = np.flatnonzero(site == 5)
    y = labels_of(site)
    y[where[:3]] = [2, 2, 1]
    for mode, dtype in itertools.product(("absorbing", "free", "summed"), (np.float32, np.float64)):
        model = DiffusionClassifier(label_mode=mode, n_neighbors=8).fit(X.astype(dtype), y)
        assert set(model.transduction_[where]) == {2}
        assert set(model.predict(X[where])) == {2}
        assert np.isfinite(model.label_distributions_).all()
    absorbing = DiffusionClassifier(label_mode="absorbing", n_neighbors=8).fit(X, y)
    np.testing.assert_allclose(
        absorbing.raw_label_distributions_[where[0]], [0, 1 / 3, 2 / 3], atol=1e-12
    )
    late = DiffusionClassifier(label_mode="absorbing", tau=30_000, n_neighbors=8).fit(X, y)
    assert late.transduction_[where[0]] == 2


@pytest.mark.filterwarnings("ignore::diffclass.exceptions.UnreachedWarning")
def test_between_two_labels_out_of_reach_the_order_of_points_does_not_count():
    X = np.concatenate([[-64, 64], [-0.5, 0.5], [-65, 65]])[:, None]
    for y in ([0, 1, -1, -1, 0, 1], [1, 0, -1, -1, 1, 0]):
        model = DiffusionClassifier(n_neighbors=1).fit(X, y)
        assert set(model.transduction_[2:4]) == {-1}
        assert model.predict([[0.0]])[0] == 0


def test_operators_take_labels_and_maps_of_points_or_of_nodes():
    X, site = copied()
    A, y = markov_operator(X, n_neighbors=8), labels_of(site)
    found, nodes = diffuse_labels(A, y), A.nodes
    of_nodes = diffuse_labels(A, A.at_nodes(np.where(y >= 0, CLASSES[site], -1)[nodes.first]))
    assert found.codes.shape == (len(X),)
    assert of_nodes.codes.shape == (len(A),)
    scores = map_scores(A, found.codes, 3)
    np.testing.assert_array_equal(
        scores, map_scores(A, A.at_nodes(found.codes), 3)[nodes.of_points]
    )
    calibration = calibrate(A, Labels.of(y), found)
    assert calibration.apply(found.posteriors).shape == (len(X), 3)
    labelled = np.flatnonzero(y >= 0)
    for rule, features in itertools.product(("coverage", "margin"), (X, None)):
        points = suggest(A, found, labelled, 5, rule=rule, features=features).points
        assert len(set(site[points])) == 5
        assert not set(site[points]) & set(site[labelled])
    wanted = np.isin(np.arange(len(X)), np.flatnonzero(site == 37)[3:])
    (point,) = suggest(A, found, labelled, 2, candidates=wanted, features=X).points
    assert point == np.flatnonzero(wanted)[0]
    coarse = coarsen(A, X, n_neighbors=2)
    assert len(coarse.aggregates) == len(X)
    np.testing.assert_array_equal(
        coarse.aggregates, coarse.aggregates[nodes.first][nodes.of_points]
    )


def test_more_clusters_or_coordinates_than_distinct_points_are_refused():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], 20, axis=0)
    with pytest.raises(ParameterError, match="3 distinct points"):
        DiffusionClustering(4).fit(X)
    with pytest.raises(ParameterError, match="3 distinct points"):
        DiffusionMap(3).fit(X)
    labels = DiffusionClustering(3).fit(X).labels_
    assert len(np.unique(labels)) == 3
    np.testing.assert_array_equal(labels, np.repeat(labels[::20], 20))


def test_rows_that_a_kernel_takes_for_equal_are_one_node():
    X = np.abs(SITES) * np.ones(len(SITES))[:, None]
    brighter = np.concatenate([X, 2 * X, 4 * X])
    A = markov_operator(brighter, kernel=Correlation(threshold=0.9))
    assert len(A) == len(SITES)
    np.testing.assert_array_equal(A.mass, 3)


BLOCKS = [
    {"alpha": 1.0, "tau": 20},
    {},
    {"alpha": 1.0},
    {"alpha": 0.5, "tau": "margin"},
    {"class_prior": [0.2, 0.5, 0.3]},
    {"class_prior": ([0.5, 0, 0], [0.7, 1, 0.3])},
]


@pytest.mark.parametrize("how", BLOCKS)
@pytest.mark.parametrize(("n_levels", "block_points"), [(0, 1000), (3, 60), (6, 60)])
def test_equal_points_in_blocks(how, n_levels, block_points, monkeypatch):
    """The map of blocks is that in memory, whatever the masses are and wherever labels are."""
    monkeypatch.setattr("diffclass.blocks.plan._MOST_POINTS", block_points)
    monkeypatch.setattr("diffclass.blocks.plan.LEAST_BLOCK", block_points // 2)
    monkeypatch.setattr(BlockOperator, "joined", lambda operator, n_blocks: operator)
    # so far that no neighbour is missed, and the tables may be small
    monkeypatch.setattr("diffclass.blocks.partition.MOST_OVERLAP", 100)
    reaching = CellBins.with_reach
    monkeypatch.setattr(CellBins, "with_reach", lambda *near: replace(reaching(*near), reach=1.0))
    if n_levels:
        random = np.random.default_rng(n_levels)
        level = random.integers(n_levels, size=(900, 3))
        X = level**2 / 4
        site = np.unique(X, axis=0, return_inverse=True)[1]
        y = np.where(random.random(900) < 0.03, (level[:, :2] > n_levels / 2).sum(axis=1), -1)
    else:
        X, site = copied()
        y = labels_of(site)
    X = X.astype(np.float32)
    found = BlockClassifier(random_state=0, join_features=False, **how).fit(X, y)
    expected = DiffusionClassifier(label_mode="absorbing", random_state=0, **how).fit(X, y)
    assert (found.facts_["n_blocks"] > 1) == (n_levels == 6)
    assert found.tau_ == expected.tau_
    assert found.diffusion_.weighting == expected.diffusion_.weighting
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    np.testing.assert_allclose(found.margin_, expected.margin_, atol=1e-4)
    for part in ("margin", "coverage", "cut"):
        curves = (getattr(model.margin_curve_, part) for model in (found, expected))
        np.testing.assert_allclose(*curves, atol=1e-5)
    assert found.calibration_.map_temperature == pytest.approx(
        expected.calibration_.map_temperature, rel=1e-6
    )
    first = np.unique(site, return_index=True)[1]
    for values in (found.margin_, found.raw_label_distributions_):
        np.testing.assert_array_equal(values, values[first][site.ravel()])


@settings(max_examples=20, deadline=None)
@given(
    levels=st.integers(2, 5),
    n_features=st.integers(1, 4),
    n_neighbors=st.integers(1, 12),
    seed=st.integers(0, 9),
)
def test_ties_are_in_or_out_together(levels, n_features, n_neighbors, seed):
    grid = np.stack(np.meshgrid(*[np.arange(levels)] * n_features), -1).reshape(-1, n_features)
    random = np.random.default_rng(seed)
    X = 0.1 * random.permutation(grid)[: max(2, int(0.8 * len(grid)))]
    graph = ExactSearch(n_neighbors).fit_transform(X)
    k = min(n_neighbors, len(X) - 1)
    distances = np.sqrt(squared_distances(X))
    np.fill_diagonal(distances, np.inf)
    for x, row in enumerate(distances):
        kth = np.sort(row)[k - 1]
        near, nearer = np.flatnonzero(row < kth + 1e-9), np.flatnonzero(row < kth - 1e-9)
        expected = near if len(near) <= 2 * k else nearer
        found = np.sort(graph.indices[graph.indptr[x] : graph.indptr[x + 1]])
        if len(expected):
            np.testing.assert_array_equal(found, expected)
        else:  # more than 2 k points, all equally near
            assert len(found) == k
    new = ExactSearch(n_neighbors).fit(X).transform(X + 0.05)
    assert np.diff(new.indptr).max() <= 2 * n_neighbors


def test_the_nearest_are_just_so_many():
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 2), -1).reshape(-1, 2) / 4
    search = ExactSearch(3).fit(grid)
    found, distances = search.nearest(grid + 0.125)
    assert found.shape == distances.shape == (16, 3)
    np.testing.assert_array_equal(distances, np.sort(distances, axis=1))
    exact = np.linalg.norm(grid[found] - (grid + 0.125)[:, None], axis=2)
    np.testing.assert_allclose(distances, exact)
    for options in ({"kernel": Directed()}, {"kernel": LocalDiscriminant(Directed())}):
        model = DiffusionClassifier(n_neighbors=4, **options).fit(grid, np.arange(16) % 2)
        assert len(model.predict(grid + 0.125)) == 16
