"""Sizes of the classes: weights that meet them, rounds against dense products, their cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_circles, make_moons

from diffclass import DiffusionClassifier, MarkovOperator, diffuse_labels, markov_operator
from diffclass.evaluation import draw_per_class
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.class_sizes import (
    SIZED,
    ClassSizes,
    _other_factors,
    matched_weights,
    with_sizes,
)
from diffclass.label_diffusion.diffusion import start_walk
from diffclass.label_diffusion.labels import Labels
from tests import naive

ALL = pytest.mark.parametrize("labels", ["summed", "free", "absorbing"])
EQUAL = np.full(3, 1 / 3)


def shares_of(values, weight):
    classes = (values * weight).argmax(axis=1)[values.any(axis=1)]
    return np.bincount(classes, minlength=len(weight)) / len(classes)


def blobs(seed, sizes=(300, 60, 40)):
    X, truth = make_blobs(sizes, centers=[[0, 0], [4, 0], [2, 4]], random_state=seed)
    y = np.full(len(X), -1)
    chosen = draw_per_class(truth, 1, random_state=seed)
    y[chosen] = truth[chosen]
    return markov_operator(X, n_neighbors=10), y, truth


# --- weights


def test_exact_sizes_are_met(rng):
    values = rng.gamma(0.3, size=(900, 4)) * [1, 5, 0.1, 1]
    values[::10] = 0  # not counted
    aim = np.array([0.55, 0.3, 0.1, 0.05])
    weight = matched_weights(values, aim, np.ones(4))
    assert weight.sum() == pytest.approx(1)
    np.testing.assert_allclose(shares_of(values, weight), aim, atol=0.01)


def test_weights_that_meet_the_sizes_stay(rng):
    values = rng.gamma(0.5, size=(500, 3))
    weight = np.array([0.5, 0.3, 0.2])
    np.testing.assert_allclose(matched_weights(values, shares_of(values, weight), weight), weight)


def test_points_that_have_no_choice_keep_their_class():
    values = np.repeat([[1.0, 0], [0, 1], [1, 3]], [50, 30, 20], axis=0)
    weight = matched_weights(values, np.array([0.1, 0.9]), np.ones(2))
    assert (values * weight).argmax(axis=1).tolist() == [0] * 50 + [1] * 50
    assert np.isfinite(weight).all()


# --- aims


@st.composite
def wishes(draw):
    """Sizes that leave room for all, and the shares of a map."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes = int(rng.integers(2, 7))
    shares, true = rng.dirichlet(np.ones(n_classes), size=2)
    named = rng.random(n_classes) < rng.random()
    width = rng.uniform(0, 0.5, size=(2, n_classes)) * (rng.random() < 0.7)
    least = np.where(named, true * (1 - width[0]), 0)
    most = np.where(named, np.minimum(true * (1 + width[1]), 1), 1)
    return ClassSizes(least, most), shares, named


@settings(max_examples=300, deadline=None)
@given(wishes())
def test_an_aim_has_the_sizes_and_leaves_the_others_as_they_are(wish):
    sizes, shares, named = wish
    aim = sizes.aim(shares)
    assert aim.sum() == pytest.approx(1)
    assert sizes.hold(aim, by=1e-6)
    assert (aim > 0).all()
    if sizes.hold(shares):
        np.testing.assert_allclose(aim, shares, atol=1e-6)
    others = shares[~named]
    if len(others) and others.sum() > 0:
        np.testing.assert_allclose(
            aim[~named] / aim[~named].sum(), others / others.sum(), atol=1e-4
        )
    rest = 1 - np.clip(shares, sizes.least, sizes.most)[named].sum()
    if len(others) and rest > others.sum() / 2:  # the nearest end
        np.testing.assert_allclose(aim[named], np.clip(shares, sizes.least, sizes.most)[named])


# --- rounds


def by_dense_rounds(dense, K, codes, values, weight, aim):
    """The codes and the crossing after rounds of 40 steps, by dense products."""
    labelled = codes >= 0
    hot = np.eye(len(weight))
    weight = weight if aim is None else matched_weights(values, aim, weight)
    found = (values * weight).argmax(axis=1)
    for _ in range(8):
        before, u = found, hot[found]
        u[labelled] = hot[codes[labelled]]
        for _ in range(40):
            u = dense @ u
            u[labelled] = hot[codes[labelled]]
        weight = np.ones(len(weight))
        weight = weight if aim is None else matched_weights(u, aim, weight)
        found = (u * weight).argmax(axis=1)
        if (found != before).mean() < 0.001:
            break
    return found, crossing_of(K, found)


def crossing_of(K, codes):
    return K[codes[:, None] != codes].sum() / K.sum()


@pytest.mark.parametrize("seed", range(6))
def test_sizes_count_where_the_graph_agrees(seed):
    A, y, truth = blobs(seed)
    K = A.affinity.toarray()
    dense = naive.markov_matrix(K)
    plain = diffuse_labels(A, y, label_mode="absorbing")
    aim = ClassSizes.exact(np.bincount(truth) * [1, [1, 4][seed % 2], 1]).least
    rounds = dense, K, y, plain.values, plain.class_weight
    moved, crossing = by_dense_rounds(*rounds, aim)
    _, unaimed = by_dense_rounds(*rounds, None)
    # other sizes: of the classes from the most to the fewest points
    rank = np.argsort(np.argsort(-np.bincount(plain.codes, minlength=3)))
    least = np.inf
    for first in ([2, 0.5, 2], [0.5, 2, 0.5], [2, 2, 0.5], [0.5, 0.5, 2]):
        other = ClassSizes.exact(aim * np.array(first)[rank]).least
        least = min(least, by_dense_rounds(*rounds, other)[1])
    unsized = crossing_of(K, plain.codes)
    is_dip = crossing < 0.8 * least and crossing <= 2 * unaimed
    is_right = crossing <= unaimed or is_dip or crossing <= min(unsized, least)
    found = diffuse_labels(A, y, label_mode="absorbing", class_prior=aim)
    weighed = (plain.values * matched_weights(plain.values, aim, plain.class_weight)).argmax(axis=1)
    by_right = (moved, "moved") if unaimed >= unsized / 3 else (weighed, "matched")
    expected, weighting = by_right if is_right else (plain.codes, plain.weighting)
    assert found.weighting == weighting
    assert (found.codes == expected).mean() > 0.995  # points at equal posteriors may differ


def test_other_sizes_keep_to_the_ranks_of_classes():
    factors = _other_factors(np.array([0.35, 0.05, 0.45, 0.15]))
    assert {tuple(row) for row in factors.tolist()} == {
        (0.5, 0.5, 2, 2), (2, 2, 0.5, 0.5), (2, 0.5, 2, 0.5), (0.5, 2, 0.5, 2)
    }  # fmt: skip
    assert len(_other_factors(np.array([0.9, 0.1]))) == 2


def test_a_map_within_the_sizes_stays_as_it_is():
    A, y, _ = blobs(0)
    plain = diffuse_labels(A, y)
    shares = np.bincount(plain.codes) / len(y)
    for prior in ((shares - 0.01, shares + 0.01), ([shares[0] - 0.05, 0, 0], [shares[0], 1, 1])):
        found = diffuse_labels(A, y, class_prior=prior)
        np.testing.assert_array_equal(found.values, plain.values)
        assert found.weighting == plain.weighting
        assert found.meets(prior)


def test_wishes_leave_no_map_without_its_classes():
    """Sizes of one class, true and false: the others keep their proportions."""
    worst = {True: 0.0, False: 0.0}
    for seed in range(8):
        X, truth, y = overlapping(seed)
        shares = np.bincount(truth) / len(truth)
        A = markov_operator(X, n_neighbors=12)
        plain = diffuse_labels(A, y)
        k = seed % len(shares)
        for factor in (1, 1 / 2, 2):
            least, most = np.zeros(len(shares)), np.ones(len(shares))
            least[k], most[k] = 0.9 * factor * shares[k], min(1.1 * factor * shares[k], 0.95)
            found = diffuse_labels(A, y, class_prior=(least, most))
            before, after = (np.bincount(d.codes, minlength=len(shares)) for d in (plain, found))
            others = np.arange(len(shares)) != k
            parts = [counts[others] / counts[others].sum() for counts in (before, after)]
            np.testing.assert_allclose(*parts, atol=0.03)
            cost = (plain.codes == truth)[y < 0].mean() - (found.codes == truth)[y < 0].mean()
            worst[factor == 1] = max(worst[factor == 1], cost)
    assert worst[True] < 0.05
    assert worst[False] < 0.2


def overlapping(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(40, 200, size=rng.integers(3, 7))
    truth = np.repeat(np.arange(len(sizes)), sizes)
    X = (2 * rng.normal(size=(len(sizes), 6)))[truth] + rng.normal(size=(len(truth), 6)) * 1.5
    y = np.full(len(truth), -1)
    chosen = draw_per_class(truth, 4, random_state=seed)
    y[chosen] = truth[chosen]
    return X, truth, y


@ALL
@pytest.mark.parametrize("prior", ["uniform", [1, 2, 5], [1e-200, 1e100, 1e308]], ids=str)
def test_posteriors_are_those_of_values_and_weights(labels, prior):
    A, y, _ = blobs(1)
    found = diffuse_labels(A, y, label_mode=labels, tau=40, class_prior=prior)
    p = naive.posteriors(found.values, found.class_weight)
    np.testing.assert_allclose(found.posteriors, p, rtol=1e-10)
    assert found.class_weight.sum() == pytest.approx(1)
    np.testing.assert_array_equal(found.codes, p.argmax(axis=1))
    if found.weighting not in SIZED:
        plain = diffuse_labels(A, y, label_mode=labels, tau=40)
        np.testing.assert_array_equal(found.values, plain.values)


@ALL
def test_a_range_that_excludes_nothing_is_no_size(labels):
    A, y, _ = blobs(0)
    plain = diffuse_labels(A, y, label_mode=labels)
    found = diffuse_labels(A, y, label_mode=labels, class_prior=(np.zeros(3), np.ones(3)))
    np.testing.assert_array_equal(found.values, plain.values)
    assert found.weighting == plain.weighting


@pytest.mark.parametrize("ends", [([0.5, 0, 0], [1, 1, 1]), ([0, 0, 0], [0.5, 1, 1])])
def test_one_end_of_one_class_is_a_size(ends):
    sizes = ClassSizes.of(ends, 3)
    np.testing.assert_array_equal([sizes.least, sizes.most], ends)


@pytest.mark.parametrize(
    ("shape", "seed", "per_class"),
    [("moons", 3, 3), ("circles", 49, 1), ("circles", 37, 5), ("circles", 21, 1)],
)
def test_sizes_that_are_nearly_met_move_few_borders(shape, seed, per_class):
    """Rounds would draw all borders anew, and lose 6 to 9 points by it."""
    rng = np.random.default_rng([seed, 31])
    n, noise = int(rng.integers(200, 600)), rng.random()
    if shape == "moons":
        X, truth = make_moons(n, noise=0.05 + 0.25 * noise, random_state=seed)
    else:
        X, truth = make_circles(n, noise=0.02 + 0.13 * noise, factor=0.5, random_state=seed)
    y = np.full(n, -1)
    for k in (0, 1):
        y[rng.permutation(np.flatnonzero(truth == k))[:per_class]] = k
    A = DiffusionClassifier(random_state=0).fit(X, y).operator_
    free = diffuse_labels(A, y)
    held = diffuse_labels(A, y, class_prior=np.bincount(truth))
    right = [(found.codes == truth).mean() for found in (free, held)]
    assert right[1] > right[0] - 0.05
    miss = np.abs(np.bincount(free.codes) - np.bincount(truth)).sum() / 2
    assert np.count_nonzero(free.codes != held.codes) <= 2 * miss + 1


def test_exact_sizes_are_a_range_of_one_number():
    A, y, truth = blobs(2)
    shares = np.bincount(truth) / len(truth)
    one, other = (diffuse_labels(A, y, class_prior=p) for p in (shares, (shares, shares)))
    np.testing.assert_array_equal(one.codes, other.codes)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_classes_does_not_matter(seed):
    A, y, truth = blobs(seed)
    sizes, order = np.bincount(truth), np.array([2, 0, 1])
    renamed = np.where(y >= 0, order[y], -1)
    found = diffuse_labels(A, y, class_prior=sizes)
    other = diffuse_labels(A, renamed, class_prior=sizes[np.argsort(order)])
    assert found.weighting == other.weighting
    assert (order[found.codes] == other.codes).mean() > 0.995


def test_sizes_lead_a_class_back_that_has_spread(rng):
    """A label between two clusters: without sizes its class takes most of both."""
    right = {"none": [], "exact": [], "wrong": [], "uniform": []}
    for seed in range(10):
        A, y, truth = blobs(seed, sizes=(400, 60, 40))
        shares = np.bincount(truth) / len(truth)
        wrong = shares * rng.permutation([2, 0.5, 0.5])
        for name, prior in zip(right, (None, shares, wrong, "uniform"), strict=True):
            found = diffuse_labels(A, y, class_prior=prior)
            right[name].append((found.codes == truth)[y < 0].mean())
    mean = {name: np.mean(found) for name, found in right.items()}
    assert mean["exact"] >= mean["none"]
    assert min(mean["wrong"], mean["uniform"]) >= mean["none"] - 0.005


def test_what_no_label_reaches_keeps_no_class():
    X = np.concatenate([np.arange(20.0), 100 + np.arange(15.0)])[:, None]
    y = np.full(35, -1)
    y[[0, 19]] = [0, 1]
    walk = start_walk(markov_operator(X, n_neighbors=3), Labels.of(y), label_mode="absorbing")
    walk.advance(200)
    found = with_sizes(walk, walk.values(), np.ones(2) / 2, ClassSizes.exact(np.array([1, 3])))
    assert not found.values[20:].any()
    assert found.values[:20].any(axis=1).all()


@pytest.mark.parametrize("label_mode", ["absorbing", "summed"])
def test_labels_are_held_out_of_a_map_that_met_sizes(label_mode):
    X, truth = make_blobs([300, 60, 40], centers=[[0, 0], [4, 0], [2, 4]], random_state=0)
    y = np.full(400, -1)
    chosen = draw_per_class(truth, 10, random_state=0)
    y[chosen] = truth[chosen]
    model = DiffusionClassifier(class_prior=[300, 60, 40], label_mode=label_mode).fit(X, y)
    assert model.diffusion_.weighting in SIZED
    assert model.calibration_.n_held_out == 30
    sets = model.transductive_set(level=0.9)
    assert sets.sum(axis=1).mean() < 1.5
    assert sets[np.arange(400), truth].mean() > 0.85


@pytest.mark.parametrize("wish", [[300, 60, 40], ([0.0, 0.0, 0.0], [0.7, 0.2, 1.0])])
def test_sizes_are_those_of_the_map_joined_with_features(wish):
    """Also at new points, and of labels that are held out; whether borders move or weights do."""
    seen = set()
    for seed in range(6):
        X, truth = make_blobs([300, 60, 40], centers=[[0, 0], [3, 0], [1, 3]], random_state=seed)
        y = np.full(400, -1)
        chosen = draw_per_class(truth, 10, random_state=0)
        y[chosen] = truth[chosen]
        model = DiffusionClassifier(class_prior=wish).fit(X, y)
        weighting = model.diffusion_.weighting
        seen.add(weighting)
        assert model.feature_opinion_ is not None
        assert weighting not in SIZED or model.diffusion_.meets(wish)
        assert model.calibration_.n_held_out == 30
        np.testing.assert_array_equal(model.predict(X), model.transduction_)
    assert seen & set(SIZED)


def test_a_wish_within_which_the_joined_map_lies_changes_nothing(rng):
    X, truth = make_blobs([300, 60, 40], centers=[[0, 0], [3, 0], [1, 3]], random_state=0)
    y = np.where(rng.random(400) < 0.1, truth, -1)
    plain = DiffusionClassifier().fit(X, y)
    share = np.bincount(plain.transduction_) / 400
    wished = DiffusionClassifier(class_prior=(0.9 * share, np.minimum(1.1 * share, 1))).fit(X, y)
    np.testing.assert_array_equal(plain.label_distributions_, wished.label_distributions_)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1, 1], "each of the 3 classes"),
        ([1, 1, 0], "above 0"),
        ([1, 1, np.nan], "above 0"),
        ("even", "'uniform'"),
        (([0.1, 0.1], [0.9, 0.9]), "each of the 3 classes"),
        (([0.5, 0.1, 0.1], [0.4, 0.9, 0.9]), "at most the second"),
        (([0, 0, 0], [1, 1, 0]), "above 0"),
        (([0, 0, np.nan], [1, 1, 1]), "from 0 to 1"),
        (([0, 0, -0.1], [1, 1, 1]), "from 0 to 1"),
        (([0.5, 0.4, 0.3], [1, 1, 1]), "add up to 1.2"),
        (([0, 0, 0], [0.3, 0.3, 0.3]), "the most to 0.9"),
        (([0.5, 0.5, 0], [0.5, 0.5, 1]), "no room for the class at place 2"),
        ({0: 0.5, 1: 0.3, 2: 0.2}, "each of the 3 classes"),
    ],
    ids=str,
)
def test_refuses_sizes(prior, message):
    A, y, _ = blobs(0)
    with pytest.raises(ParameterError, match=message):
        diffuse_labels(A, y, class_prior=prior)


def test_crossing_is_the_share_of_steps_between_classes():
    K = np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 3], [0, 0, 3, 0.0]])
    walk = start_walk(
        MarkovOperator.from_affinity(K), Labels.of([0, -1, -1, 1]), label_mode="absorbing"
    )
    assert walk.crossing(np.array([0, 0, 1, 1])) == pytest.approx(2 / 14)


@pytest.mark.parametrize("kind", ["numbers", "texts", "texts of numbers", "pair"])
def test_sizes_that_pandas_names_go_by_the_names(kind, rng):
    """As value_counts gives them: the largest first."""
    pd = pytest.importorskip("pandas")
    classes = np.array(["a", "b", "c", "d"]) if kind == "texts" else np.array([3, 5, 7, 10])
    shares = np.array([0.1, 0.4, 0.3, 0.2])
    expected = ClassSizes.of(shares, 4)
    for order in (rng.permutation(4) for _ in range(6)):
        names = classes[order].astype(str) if kind == "texts of numbers" else classes[order]
        named = pd.Series(shares[order], index=names)
        if kind == "pair":
            named = pd.DataFrame([shares[order], shares[order]], columns=names)
        found = ClassSizes.of_classes(named, classes)
        np.testing.assert_allclose(found.least, expected.least)
        np.testing.assert_allclose(found.most, expected.most)
    for wrong in (classes[[0, 1, 2]], [*classes, 99], ["x", "y", "z", "w"]):
        with pytest.raises(ParameterError, match="name the same"):
            ClassSizes.of_classes(pd.Series(1.0, index=wrong), classes)
    plain = pd.Series(shares)  # by places
    np.testing.assert_allclose(ClassSizes.of_classes(plain, classes).least, expected.least)


def test_masked_sizes_are_no_sizes():
    with pytest.raises(ParameterError, match="one number above 0"):
        ClassSizes.of(np.ma.masked_equal([0.2, 0.5, 0.3], 0.3), 3)
