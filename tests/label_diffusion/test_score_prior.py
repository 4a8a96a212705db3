"""Scores from elsewhere as hints: against a naive walk, and on points whose truth is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from diffclass import DataError, DiffusionClassifier, ParameterError
from diffclass.label_diffusion import Labels, calibrate
from diffclass.label_diffusion.diffusion import diffuse
from diffclass.label_diffusion.score_prior import ScorePrior
from diffclass.label_diffusion.stopping import DiffusionRules

CENTRES = np.array([[0, 0], [6, 0], [3, 5]])


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 80)
    return rng.normal(size=(240, 2)) + CENTRES[truth], truth


def scores_of(truth, share_right, seed=0):
    """Scores whose highest is right at a share of the points."""
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(truth)) > share_right
    named = np.where(wrong, rng.integers(0, 3, len(truth)), truth)
    return np.eye(3)[named] + 0.5 * rng.random((len(truth), 3))


def naive(A, hints, labels, eta, n_steps):
    """One step after the other: at hints the walk stops with eta, at labels surely."""
    stops = np.zeros((len(A), 3))
    going_on = np.ones((len(A), 1))
    for point, code in enumerate(hints):
        if code >= 0:
            stops[point, code], going_on[point] = eta, 1 - eta
    for point, code in labels.items():
        stops[point], going_on[point] = np.eye(3)[code], 0
    N = stops.copy()
    for _ in range(n_steps):
        N = stops + going_on * (A @ N)
    return N


def naive_posteriors(A, hints, labels, eta):
    values = naive(A, hints, labels, eta, 40)
    return values / values.sum(axis=1, keepdims=True)


def test_hints_are_labels_at_which_the_walk_seldom_stops(blobs):
    X, truth = blobs
    scores = scores_of(truth, 0.7)
    scores[5] = np.nan
    found = DiffusionClassifier(tau=40, random_state=0).fit(X, None, score_prior=scores)
    A = found.operator_.apply(np.eye(len(X)), 1)
    hints = np.where(np.arange(len(X)) == 5, -1, scores.argmax(axis=1))
    expected = naive_posteriors(A, hints, {}, 0.05)
    np.testing.assert_allclose(found.raw_label_distributions_, expected, atol=1e-5)
    assert found.hint_weight_ == 0.05


@pytest.mark.parametrize("n_per_class", [1, 2])
def test_with_two_labels_per_class_maps_of_labels_hints_and_both_are_averaged(blobs, n_per_class):
    X, truth = blobs
    scores = scores_of(truth, 0.7)
    y = np.full(len(X), -1)
    labelled = [0, 100, 200, 3, 120, 230][: 3 * n_per_class]
    y[labelled] = truth[labelled]
    found = DiffusionClassifier(tau=40, random_state=0).fit(X, y, score_prior=scores)
    A = found.operator_.apply(np.eye(len(X)), 1)
    hints, labels = scores.argmax(axis=1), dict(zip(labelled, truth[labelled], strict=True))
    of_labels = naive_posteriors(A, np.full(len(X), -1), labels, 0)
    others = np.where(y < 0, hints, -1)  # so that labels can judge them
    of_hints = naive_posteriors(A, others, {}, 0.05)
    right = np.count_nonzero(of_hints.argmax(axis=1)[labelled] == truth[labelled])
    a = (right + 1) / (len(labelled) + 2)
    eta = (a / (1 - a)) ** 2 / (20 * np.sqrt(n_per_class)) * 3 / len(X)
    assert found.hint_weight_ == pytest.approx(min(eta, 0.1))
    of_both = naive_posteriors(A, hints, labels, found.hint_weight_)
    if n_per_class == 1:
        np.testing.assert_allclose(found.raw_label_distributions_, of_both, atol=1e-5)
        return
    prior = ScorePrior(scores, y)
    of = [Labels.of(y), prior.labels(None, 0.05), prior.labels(Labels.of(y), found.hint_weight_)]
    P, H, B = (
        posteriors ** (1 / temperature(found.operator_, labels))
        for posteriors, labels in zip((of_labels, of_hints, of_both), of, strict=True)
    )
    P, H, B = (p / p.sum(axis=1, keepdims=True) for p in (P, H, B))
    P, B = (0.995 * p + 0.005 / 3 for p in (P, B))
    product = P * (a * H + (1 - a) / 2 * (1 - H)) * B
    expected = product ** (1 / 3) / (product ** (1 / 3)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.raw_label_distributions_, expected, atol=1e-4)


def temperature(operator, labels):
    rules = DiffusionRules.of(labels, label_mode="absorbing", tau=40)
    return calibrate(operator, labels, diffuse(operator, labels, rules)).temperature


@pytest.mark.parametrize("n_per_class", [1, 3])
def test_clusters_keep_their_labels_and_take_the_hints_where_they_have_none(n_per_class):
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(10), 60)
    X = rng.normal(size=(600, 2)) + 10 * np.column_stack([cluster % 5, cluster // 5])
    truth = cluster % 8  # two classes have a second cluster, without a label
    hints = np.where(truth > 4, 5 + truth % 3, truth)  # three go by each other's names
    y = np.full(600, -1)
    for k in range(8):
        y[rng.choice(np.flatnonzero(cluster == k), n_per_class, replace=False)] = k
    found = DiffusionClassifier(random_state=0).fit(X, y, score_prior=np.eye(8)[hints])
    assert (found.transduction_ == truth).mean() > 0.995
    assert (hints == truth).mean() == 0.7


def test_hints_of_a_map_that_is_clearly_worse_at_held_out_labels_are_left_out(blobs):
    """Hints are right in two clusters of three: mostly, but less often than labels."""
    X, truth = blobs
    y = np.full(len(X), -1)
    labelled = np.concatenate([np.flatnonzero(truth == k)[:4] for k in range(3)])
    y[labelled] = truth[labelled]
    alone = DiffusionClassifier(random_state=0).fit(X, y)
    poor = np.eye(3)[np.where(truth == 2, 0, truth)]
    found = DiffusionClassifier(random_state=0).fit(X, y, score_prior=poor)
    assert found.hint_weight_ == 0
    np.testing.assert_array_equal(found.label_distributions_, alone.label_distributions_)
    good = DiffusionClassifier(random_state=0).fit(X, y, score_prior=np.eye(3)[truth])
    assert good.hint_weight_ > 0


def test_sizes_of_the_classes_are_met(blobs):
    X, truth = blobs
    y = np.full(len(X), -1)
    y[[0, 100, 200]] = 0, 1, 2
    found = DiffusionClassifier(class_prior=[1, 1, 1], random_state=0)
    found.fit(X, y, score_prior=scores_of(truth, 0.8))
    assert np.bincount(found.transduction_).tolist() == [80, 80, 80]


def test_a_true_wish_for_sizes_costs_little_beside_scores():
    gains = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = np.repeat([0, 1, 2, 3], [60, 90, 150, 60])
        X = 2 * rng.normal(size=(4, 5))[truth] + rng.normal(size=(len(truth), 5))
        y = np.full(len(truth), -1)
        for k in range(4):
            y[np.flatnonzero(truth == k)[:5]] = k
        scores = 0.4 * np.eye(4)[truth] + rng.dirichlet(np.ones(4), len(truth))
        free = DiffusionClassifier(random_state=0).fit(X, y, score_prior=scores)
        true, most = np.bincount(truth) / len(truth), np.ones(4)
        named = seed % 4
        most[named] = true[named]
        least = np.where(np.arange(4) == named, true, 0)
        for wish in (true, (least, most), (true * 0.8, true * 1.2)):
            held = DiffusionClassifier(class_prior=wish, random_state=0)
            held.fit(X, y, score_prior=scores, graph=free.graph_)
            right = [(m.transduction_ == truth).mean() for m in (free, held)]
            gains.append(right[1] - right[0])
            assert held.label_distributions_.argmax(axis=1).tolist() == held.transduction_.tolist()
    assert min(gains) > -0.05
    assert np.mean(gains) > -0.01


def test_without_labels_hints_are_mended_by_the_graph(blobs):
    X, truth = blobs
    scores = scores_of(truth, 0.6)
    found = DiffusionClassifier(random_state=0).fit(X, None, score_prior=scores)
    assert (scores.argmax(axis=1) == truth).mean() < 0.8
    assert (found.transduction_ == truth).mean() > 0.97
    assert found.classes_.tolist() == [0, 1, 2]
    probabilities = found.label_distributions_
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    assert (found.predict(X) == truth).mean() > 0.97


def test_labels_outweigh_scores_that_contradict_them(blobs):
    X, truth = blobs
    wrong = np.eye(3)[(truth + 1) % 3]
    y = np.full(len(X), -1)
    for k in range(3):
        y[np.flatnonzero(truth == k)[:3]] = k
    found = DiffusionClassifier(random_state=0).fit(X, y, score_prior=wrong)
    assert (found.transduction_ == truth)[y < 0].mean() > 0.97
    assert found.hint_weight_ == 0
    alone = DiffusionClassifier(random_state=0).fit(X, y)
    np.testing.assert_array_equal(found.label_distributions_, alone.label_distributions_)
    right = DiffusionClassifier(random_state=0).fit(X, y, score_prior=np.eye(3)[truth])
    assert right.hint_weight_ > 0.01


def test_the_scale_of_scores_is_of_no_matter(blobs):
    X, truth = blobs
    scores = scores_of(truth, 0.7)
    fits = [DiffusionClassifier(random_state=0).fit(X, None, score_prior=s)
            for s in (scores, 1e-6 * scores - 7, np.exp(30 * scores))]  # fmt: skip
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].transduction_, other.transduction_)


def test_columns_name_the_classes_and_may_name_more_than_the_labels(blobs):
    X, truth = blobs
    names = np.array(["corn", "soy", "wheat"])
    scores = pd.DataFrame(scores_of(truth, 0.8)[:, [2, 0, 1]], columns=names[[2, 0, 1]])
    y = np.full(len(X), None, dtype=object)
    y[0], y[100] = "corn", "soy"
    with pytest.warns(UserWarning, match="scores of 'wheat', which no label has"):
        found = DiffusionClassifier(random_state=0).fit(X, y, score_prior=scores)
    assert found.classes_.tolist() == names.tolist()
    assert (found.transduction_ == names[truth]).mean() > 0.97
    y[200] = "hops"  # a class that the scores do not know
    with pytest.warns(UserWarning, match="becomes a class by scores alone$"):
        found = DiffusionClassifier(random_state=0).fit(X, y, score_prior=scores)
    assert found.classes_.tolist() == ["corn", "hops", "soy", "wheat"]
    assert found.transduction_[200] == "hops"


def of_numbers(scores, *, columns=(0, 1, 2)):
    return pd.DataFrame(scores, columns=list(columns))


@pytest.mark.parametrize(
    "given",
    [
        lambda s: of_numbers(s, columns="012"),
        lambda s: of_numbers(s, columns=["0.0", "1.0", " 2"]),
        lambda s: of_numbers(s, columns=[0.0, 1.0, 2.0]),
        lambda s: of_numbers(s[:, [2, 0, 1]], columns=(2, 0, 1)),
        lambda s: of_numbers(s).astype(pd.SparseDtype(float, 0)),
        lambda s: of_numbers(s).astype("Float64").mask(np.isnan(s)),
        lambda s: of_numbers(s).astype(object).where(~np.isnan(s), None),
        lambda s: np.ma.masked_array(np.nan_to_num(s, nan=7.0), np.isnan(s)),
    ],
)
def test_columns_are_the_classes_of_the_labels_however_they_are_written(blobs, given):
    X, truth = blobs
    scores = scores_of(truth, 0.7)
    scores[3:9] = np.nan
    y = np.full(len(X), -1)
    y[[0, 100, 200]] = 0, 1, 2
    expected, found = ScorePrior(scores, y), ScorePrior(given(scores), y)
    assert found.classes.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(found.hints, expected.hints)


def test_a_misspelt_column_is_told(blobs):
    X, truth = blobs
    y = np.full(len(X), "", dtype="U4")
    y[[0, 100, 200]] = "k0", "k1", "k2"
    scores = pd.DataFrame(scores_of(truth, 0.9), columns=["k0", "k1", "K2"])
    with pytest.warns(UserWarning, match=r"scores of 'K2', .* misspelt: 'K2' for 'k2'\?"):
        ScorePrior(scores, y)


def test_only_labels_are_held_out(blobs):
    X, truth = blobs
    y = np.full(len(X), -1)
    y[[0, 1, 80, 160]] = [0, 0, 1, 2]
    found = DiffusionClassifier(random_state=0).fit(X, y, score_prior=scores_of(truth, 0.8))
    assert len(found.calibration_.conformity) == 4  # also of classes that have one, and hints
    alone = DiffusionClassifier(random_state=0).fit(X, None, score_prior=scores_of(truth, 0.8))
    assert len(alone.calibration_.conformity) == 0


def test_hints_reach_what_no_label_does():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 100])
    truth = np.repeat([0, 1], 60)
    y = np.full(120, -1)
    y[:2] = 0, 0
    scores = pd.DataFrame(np.eye(2)[truth], columns=[0, 1])
    with pytest.warns(UserWarning, match="scores of 1, which no label has"):
        found = DiffusionClassifier(random_state=0).fit(X, y, score_prior=scores)
    assert (found.transduction_ == truth).all()


def test_an_order_of_the_points_is_of_no_matter(blobs):
    X, truth = blobs
    scores = scores_of(truth, 0.7)
    order = np.random.default_rng(1).permutation(len(X))
    one = DiffusionClassifier(random_state=0).fit(X, None, score_prior=scores)
    other = DiffusionClassifier(random_state=0).fit(X[order], None, score_prior=scores[order])
    np.testing.assert_array_equal(one.transduction_[order], other.transduction_)


@pytest.mark.parametrize(
    ("scores", "error", "says"),
    [
        (np.zeros((239, 3)), DataError, "a score for each of 240 points"),
        (np.zeros(240), DataError, "a score for each"),
        (np.zeros((240, 3)), DataError, "no row with one highest score"),
        (np.full((240, 3), np.nan), DataError, "no row with one highest score"),
        (np.eye(4)[np.zeros(240, int)], ParameterError, "4 columns, y 3 classes"),
        (
            pd.DataFrame(np.eye(2)[np.zeros(240, int)], columns=["a", "b"]),
            DataError,
            "such as 0, score_prior columns such as 'a'; name them",
        ),
        (pd.DataFrame(np.eye(2)[np.zeros(240, int)], columns=[1, 1]), DataError, "two columns"),
        (pd.DataFrame(np.eye(2)[np.zeros(240, int)], columns=["1", "1.0"]), DataError, "may be"),
        (pd.DataFrame(np.eye(2)[np.zeros(240, int)], columns=[0, -1]), DataError, "column -1, wh"),
        (
            pd.DataFrame(np.eye(2)[np.zeros(240, int)], columns=["0", "nan"]),
            DataError,
            "unlabelled",
        ),
        (
            pd.DataFrame(np.eye(2)[np.zeros(240, int)], columns=[["a", "a"], ["b", "c"]]),
            DataError,
            "several levels",
        ),
        (csr_array(np.eye(3)[np.zeros(240, int)]), DataError, "sparse matrix"),
        (pd.DataFrame([["high", 1, 2]] * 240), DataError, "other things than numbers"),
    ],
)
def test_what_is_no_score_is_refused(blobs, scores, error, says):
    y = np.full(240, -1)
    y[:3] = 0, 1, 2
    with pytest.raises(error, match=says):
        DiffusionClassifier().fit(blobs[0], y, score_prior=scores)


def test_scores_of_labelled_points_alone_are_refused(blobs):
    X, truth = blobs
    with pytest.raises(DataError, match="nothing of an unlabelled point; leave it out"):
        DiffusionClassifier().fit(X, truth, score_prior=np.eye(3)[truth])


@pytest.mark.parametrize(
    "parameters", [{"label_mode": "free"}, {"join_features": True}, {"label_mode": "summed"}]
)
def test_what_does_not_go_with_scores(blobs, parameters):
    with pytest.raises(ParameterError, match="score_prior"):
        DiffusionClassifier(**parameters).fit(blobs[0], None, score_prior=np.eye(3)[blobs[1]])


def test_hints_count_as_one_observation_of_each_class(blobs):
    scores = scores_of(blobs[1], 0.9)
    prior = ScorePrior(scores, np.full(240, -1))
    labels = prior.labels(None, 0.1)
    assert labels.per_class == 1
    assert not labels.given.any()
    assert (np.diff(labels.points) > 0).all()
    plain = Labels.of(np.where(np.arange(240) < 3, np.arange(240), -1))
    assert plain.given.all()


def stated(blobs, share_right, accuracy, *, n_per_class=1, y=None):
    X, truth = blobs
    scores = scores_of(truth, share_right)
    if y is None:
        y = np.full(len(X), -1)
        labelled = [0, 100, 200, 3, 120, 230][: 3 * n_per_class]
        y[labelled] = truth[labelled]
    model = DiffusionClassifier(random_state=0)
    return scores, y, model.fit(X, y, score_prior=scores, score_accuracy=accuracy)


def test_maps_are_averaged_by_their_odds_of_being_right(blobs):
    """The formulas, one by one, by the maps of labels alone and of hints alone."""
    scores, y, found = stated(blobs, 0.5, 0.6)
    hints, own = scores.argmax(axis=1), y >= 0
    s = (100 * 0.6 + np.count_nonzero(hints[own] == y[own])) / 103
    of_labels = DiffusionClassifier(random_state=0).fit(blobs[0], y)
    of_hints = DiffusionClassifier(random_state=0)
    of_hints.fit(blobs[0], None, score_prior=np.where(own[:, None], np.nan, scores))
    q_l, q_h = ((one.transduction_ == hints)[~own].mean() for one in (of_labels, of_hints))
    sure, slope = of_labels.label_distributions_.max(axis=1).mean(), s - (1 - s) / 2
    a = sure + slope * (q_l - (1 - s) / 2 - slope * sure) / (slope**2 + 0.03)
    h = (s - (1 - q_h) / 2) / (q_h - (1 - q_h) / 2)
    a, h = min(a, 1 - abs(q_l - s), 0.99), min(h, 1 - abs(q_h - s), 0.99)
    w = (a / (1 - a)) / (a / (1 - a) + h / (1 - h))
    assert found.hint_share_ == pytest.approx(1 - w, abs=1e-5)
    P, H = (0.995 * one.label_distributions_ + 0.005 / 3 for one in (of_labels, of_hints))
    expected = P**w * H ** (1 - w)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.raw_label_distributions_, expected, atol=1e-4)


def test_what_is_said_of_the_scores_decides_with_one_label_per_class():
    """Labels of a class name a part of the other: hints are better, or labels are."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 2)) + 3 * np.outer(truth, [1, 0])
    y = np.full(400, -1)
    y[[np.argmax(X[:200, 0]), 399]] = 0, 1  # the first lies at the border
    right = {}
    for share in (0.55, 0.97):
        named = np.where(rng.random(400) < share, truth, 1 - truth)
        fits = [
            DiffusionClassifier(random_state=0).fit(
                X, y, score_prior=np.eye(2)[named], score_accuracy=accuracy
            )
            for accuracy in (0.3, 0.55, 0.97)
        ]
        shares = [one.hint_share_ for one in fits]
        assert shares == sorted(shares)
        right[share] = [(one.transduction_ == truth).mean() for one in fits]
    alone = (DiffusionClassifier(random_state=0).fit(X, y).transduction_ == truth).mean()
    assert right[0.55][1] > alone - 0.005
    assert right[0.97][2] > 0.95


@pytest.mark.parametrize("n_per_class", [1, 2])
def test_a_true_statement_of_useless_scores_costs_nothing(blobs, n_per_class):
    _, y, found = stated(blobs, 0.0, 1 / 3, n_per_class=n_per_class)
    alone = DiffusionClassifier(random_state=0).fit(blobs[0], y)
    assert (found.transduction_ == alone.transduction_).mean() > 0.98


def test_an_accuracy_stands_beside_scores_and_labels_and_is_a_share(blobs):
    X, truth = blobs
    y = np.full(240, -1)
    y[[0, 100, 200]] = 0, 1, 2
    scores = np.eye(3)[truth]
    with pytest.raises(ParameterError, match="of score_prior, which is not given"):
        DiffusionClassifier().fit(X, y, score_accuracy=0.7)
    with pytest.raises(ParameterError, match="against labels, and y has none; leave it out"):
        DiffusionClassifier().fit(X, None, score_prior=scores, score_accuracy=0.7)
    for wrong in (70, -0.1, "0.7", np.nan, True):
        with pytest.raises(ParameterError, match=r"score_accuracy = .*from 0 to 1"):
            DiffusionClassifier().fit(X, y, score_prior=scores, score_accuracy=wrong)


def test_what_the_graph_says_of_equal_points_counts_as_often_as_there_are_points(blobs):
    """A table of rows that come twice is that of the rows, at twice the mass."""
    scores, y, once = stated(blobs, 0.6, 0.6)
    X = np.repeat(blobs[0], 2, axis=0)
    twice = DiffusionClassifier(random_state=0).fit(
        X, np.repeat(y, 2), score_prior=np.repeat(scores, 2, axis=0), score_accuracy=0.6
    )
    assert twice.hint_share_ == pytest.approx(once.hint_share_, abs=1e-6)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("accuracy", [None, 0.7])
@pytest.mark.parametrize("how", [{}, {"tau": 5}, {"class_prior": "uniform"}, {"kept_classes": 2}])
@pytest.mark.parametrize("n_sites", [1, 2, 9])
def test_where_every_place_has_a_label_scores_of_copies_say_nothing(n_sites, how, accuracy, rng):
    X = np.repeat(rng.normal(size=(n_sites, 2)), 4, axis=0)
    y = np.where(np.arange(len(X)) % 4 == 0, np.arange(len(X)) // 4 % 3, -1)
    classes = np.unique(y[y >= 0])
    scores = pd.DataFrame(rng.random((len(X), len(classes))), columns=classes)
    given = {"score_prior": scores, "score_accuracy": accuracy}
    plain = DiffusionClassifier(n_neighbors=3, label_mode="absorbing", **how).fit(X, y)
    found = DiffusionClassifier(n_neighbors=3, label_mode="absorbing", **how).fit(X, y, **given)
    np.testing.assert_array_equal(found.transduction_, plain.transduction_)
    assert found.hint_weight_ == 0
    scores["another"] = 0.0  # a class of scores alone
    more = DiffusionClassifier(n_neighbors=3, **how).fit(
        X, y.astype(object), score_prior=scores.rename(columns={"another": 7})
    )
    assert more.classes_.tolist() == [*classes, 7]
    np.testing.assert_array_equal(more.transduction_, np.repeat(y[::4], 4))
