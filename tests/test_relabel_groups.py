"""Sessions of many points: first maps by groups, answers by groups, then the map of the points."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from relabel_strategies import random_operation

from diffclass import DiffusionClassifier, diffuse_labels, markov_operator
from diffclass.acquisition import RULES
from diffclass.exceptions import ParameterError
from diffclass.relabel import PointGroups, RelabelSession, group_means, neighbor_groups

N = 600


def blobs(n=N):
    """Three blobs in the plane, one after the other."""
    X = np.random.default_rng(0).normal(size=(n, 2)) + np.repeat(
        [[0, 0], [9, 0], [0, 9]], n // 3, 0
    )
    return X.astype(np.float32)


@pytest.fixture(scope="module")
def operator():
    return markov_operator(blobs(), n_neighbors=15, random_state=0)


@pytest.fixture(scope="module")
def groups(operator):
    of_point = neighbor_groups(operator)
    means = group_means(blobs(), of_point)
    few = min(6, len(means) - 1)
    return PointGroups(markov_operator(means, n_neighbors=few, random_state=0), of_point)


def painted(operator, groups, **parameters):
    session = RelabelSession(operator, ["a", "b", "c"], groups=groups, **parameters)
    for class_id, first in ((1, 0), (2, 200), (3, 400)):
        session.apply({"op": "stroke", "class": class_id, "points": list(range(first, first + 9))})
    session.update()
    return session


def by_groups(session, groups, **parameters):
    """The map of the groups by `diffuse_labels`."""
    found = diffuse_labels(groups.operator, groups.labels(targets(session)), **parameters)
    return found.classes[found.codes][groups.of_point], found.margin[groups.of_point]


def bits(session):
    session.update()
    return session.map_ids.tobytes(), session.margin.tobytes(), session.tau


def targets(session):
    return np.where(session.label_ids > 0, session.label_ids.astype(int), -1)


def test_groups_are_neighbors_and_none_is_empty(operator, groups):
    dense = operator.affinity.toarray()
    order = np.argsort(-(dense > 0).sum(axis=1), kind="stable")
    assert groups.of_point.tolist() == naive.neighbor_groups(dense * (1 - np.eye(N)), order)
    assert np.bincount(groups.of_point).min() > 0
    first = groups.first_points
    assert (groups.of_point[first] == np.arange(len(groups))).all()
    assert len(groups) < N / 4


def test_labels_of_groups(groups):
    y = np.full(N, -1)
    y[[0, 1, 300]] = 7, 7, 2
    labels = groups.labels(y)
    assert set(np.flatnonzero(labels >= 0)) == set(groups.of(np.array([0, 1, 300])))
    assert labels[groups.of_point[300]] == 2


def test_means_of_groups():
    X = np.array([[0, 2], [4, 4], [2, 6]], dtype=np.float32)
    means = group_means(X, np.array([1, 0, 1]))
    assert means.tolist() == [[4, 4], [1, 4]]
    assert means.dtype == np.float32


@pytest.mark.parametrize("tau", ["auto", 7])
def test_the_first_map_is_that_of_the_groups_the_next_that_of_the_points(operator, groups, tau):
    session = painted(operator, groups, tau=tau)
    first_tau = 12 if tau == "auto" else 7
    ids, margin = by_groups(session, groups, label_mode="summed", tau=first_tau)
    np.testing.assert_array_equal(session.map_ids, ids)
    np.testing.assert_allclose(session.margin, margin, atol=1e-5)
    assert not session.is_settled
    session.settle()
    assert session.is_settled
    assert session.is_stale
    session.update()
    mode = "auto" if tau == "auto" else "summed"
    expected = diffuse_labels(operator, targets(session), label_mode=mode, tau=tau)
    np.testing.assert_array_equal(session.map_ids, expected.classes[expected.codes])
    np.testing.assert_array_equal(session.posteriors, expected.posteriors.astype(np.float32))
    assert session.tau == expected.tau
    assert not session.is_stale


def test_settled_it_is_the_map_of_the_classifier(operator, groups):
    session = painted(operator, groups)
    session.settle()
    session.update()
    clf = DiffusionClassifier(n_neighbors=15, random_state=0).fit(blobs(), targets(session))
    np.testing.assert_array_equal(session.map_ids, clf.transduction_)
    assert session.tau == clf.tau_


def test_the_margin_chooses_the_time_on_the_groups(operator, groups):
    session = painted(operator, groups, tau="margin", label_mode="free")
    alone = RelabelSession(groups.operator, ["a", "b", "c"], tau="margin", label_mode="free",
                           max_time=session.max_time)  # fmt: skip
    for stroke in session.strokes:
        points = np.unique(groups.of_point[stroke.points])
        alone.apply({"op": "stroke", "class": stroke.class_id, "points": points})
    alone.update()
    assert session.tau == alone.tau
    session.settle()
    session.update()
    expected = diffuse_labels(operator, targets(session), label_mode="free", tau=session.tau)
    np.testing.assert_array_equal(session.map_ids, expected.classes[expected.codes])


def test_questions_are_answered_by_the_groups(operator, groups):
    session = painted(operator, groups)
    shares = session.explain(205)
    assert shares[0].class_id == 2
    assert sum(share.share for share in shares) == pytest.approx(1)
    curve = session.margin_curve()
    ids, margin = session.tau_preview(int(curve.times[3]))
    assert ids.shape == margin.shape == (N,)
    assert (ids[:200] == 1).mean() > 0.9
    session.prepare_suggestions(3)
    for rule in ("hybrid", "distance", "margin"):
        found = session.suggest(5, rule=rule, coordinates=blobs(), min_distance=0.5)
        assert len(set(groups.of_point[found.points])) == len(found)
        assert not np.isin(groups.of_point[found.points], groups.of(np.arange(9))).any()
    few = np.isin(np.arange(N), [599, 301, 300])
    assert set(session.suggest(3, candidates=few).points) <= {599, 301, 300}
    assert session.column_bytes <= 4 * 8 * len(groups)  # no column is as long as the points


def test_a_wrong_stroke_is_contradicted_point_by_point(operator, groups):
    session = painted(operator, groups)
    wrong = np.arange(30, 36)
    session.apply({"op": "stroke", "class": 1, "points": np.arange(60, 200)})
    session.apply({"op": "stroke", "class": 2, "points": wrong})
    session.update()
    found = session.audit()
    assert {one.point for one in found if one.stroke == 5} == set(wrong.tolist())
    assert all(one.says_id == 1 for one in found if one.stroke == 5)


def test_a_warped_walk_is_that_of_the_groups(operator, groups):
    session = painted(operator, groups, tau=7)
    session.apply({"op": "warp"})
    session.update()
    assert session.is_settled  # there is no other
    assert (session.map_ids[:200] == 1).mean() > 0.9
    session.apply({"op": "tau", "tau": "auto"})
    session.update()
    assert not session.is_settled
    session.settle()
    session.update()
    assert session.is_settled
    assert len(session.map_ids) == N


def test_without_labels_there_is_no_map(operator, groups):
    session = RelabelSession(operator, ["a"], groups=groups)
    session.update()
    assert session.is_settled
    assert not session.map_ids.any()
    session.settle()
    assert not session.is_stale


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_undo_and_replay_restore_the_first_map_to_the_bit(operator, groups, seed):
    rng = np.random.default_rng(seed)
    session = RelabelSession(operator, ["a", "b", "c", "d", "e"], groups=groups)
    maps, done = [bits(session)], []
    while len(done) < 12:
        operation = random_operation(rng, N, 10, taus=(5, 17, "auto"))
        try:
            if operation["op"] not in ("undo", "redo"):
                session.apply(operation)
                done.append(operation)
                maps.append(bits(session))
        except ParameterError:
            continue
    replayed = RelabelSession(operator, ["a", "b", "c", "d", "e"], groups=groups)
    for operation in done:
        replayed.apply(operation)
    assert bits(replayed) == maps[-1]
    for expected in maps[-2::-1]:
        session.apply({"op": "undo"})
        assert bits(session) == expected


def test_groups_that_only_make_first_maps_leave_answers_to_the_points(operator, groups):
    session = painted(operator, groups, answer_by_groups=False)
    alone = painted(operator, None)
    ids, _ = by_groups(session, groups, label_mode="summed", tau=12)
    np.testing.assert_array_equal(session.map_ids, ids)
    assert session.explain(205) == alone.explain(205)
    assert session.audit() == alone.audit()
    np.testing.assert_array_equal(session.margin_curve().margin, alone.margin_curve().margin)
    for mine, other in zip(session.tau_preview(9), alone.tau_preview(9), strict=True):
        np.testing.assert_array_equal(mine, other)
    for one in (session, alone):
        one.settle()
        one.update()
    assert bits(session) == bits(alone)
    np.testing.assert_array_equal(session.suggest(5).points, alone.suggest(5).points)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_points_are_suggested_beside_a_first_map_of_groups(operator, groups, rule):
    session = painted(operator, groups, answer_by_groups=False)
    assert not session.is_settled
    few = np.arange(N) % 7 == 0
    found = session.suggest(5, rule=rule, candidates=few)
    assert len(found) == 5
    assert few[found.points].all()
    if rule == "margin":  # of the map that is shown
        least = np.sort(session.margin[few & (session.label_ids == 0)])[:5]
        np.testing.assert_allclose(np.sort(session.margin[found.points]), least)


@pytest.mark.parametrize("tau", ["auto", "margin", 7])
def test_groups_that_only_make_first_maps_leave_warped_walks_to_the_points(operator, groups, tau):
    sessions = [
        painted(operator, groups, answer_by_groups=False, tau=tau),
        painted(operator, None, tau=tau),
    ]
    for session in sessions:
        session.apply({"op": "warp"})
        session.update()
        session.settle()
        session.update()
        assert session.is_settled
    mine, other = sessions
    np.testing.assert_array_equal(mine.map_ids, other.map_ids)
    np.testing.assert_allclose(mine.margin, other.margin, atol=1e-6)
    assert mine.tau == other.tau
