"""Sessions of many points: provisional maps and answers of aggregates, then maps of the points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass import DiffusionClassifier, StoppingRule, diffuse_labels, markov_operator
from diffclass.acquisition import RULES
from diffclass.exceptions import ParameterError
from diffclass.relabel import RelabelSession
from diffclass.relabel.coarsening import coarsen
from tests.relabel.strategies import paint, random_operation, refined, targets

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
def coarse(operator):
    return coarsen(operator, blobs(), n_neighbors=6, random_state=0)


def painted(operator, coarse, **parameters):
    session = RelabelSession(operator, ["a", "b", "c"], coarse=coarse, **parameters)
    paint(session, *((i + 1, list(range(200 * i, 200 * i + 9))) for i in range(3))).update()
    return session


def on_aggregates(session, coarse, **parameters):
    """The map of the aggregates by `diffuse_labels`."""
    found = diffuse_labels(coarse.operator, coarse.restrict_labels(targets(session)), **parameters)
    return found.classes[found.codes][coarse.aggregates], found.margin[coarse.aggregates]


def bits(session):
    session.update()
    return session.map_ids.tobytes(), session.margin.tobytes(), session.tau


@pytest.mark.parametrize("tau", ["auto", 7])
def test_a_provisional_map_of_aggregates_then_that_of_the_points(operator, coarse, tau):
    session = painted(operator, coarse, tau=tau)
    known_tau = 12 if tau == "auto" else 7
    ids, margin = on_aggregates(session, coarse, label_mode="summed", tau=known_tau)
    np.testing.assert_array_equal(session.map_ids, ids)
    np.testing.assert_allclose(session.margin, margin, atol=1e-5)
    assert not session.is_refined
    session.refine()
    assert session.is_refined
    assert session.is_stale
    session.update()
    mode = "auto" if tau == "auto" else "summed"
    expected = diffuse_labels(operator, targets(session), label_mode=mode, tau=tau)
    np.testing.assert_array_equal(session.map_ids, expected.classes[expected.codes])
    np.testing.assert_array_equal(session.posteriors, expected.posteriors.astype(np.float32))
    assert session.tau == expected.tau
    assert not session.is_stale


@pytest.mark.parametrize("tau", ["auto", 7])
def test_sizes_count_in_the_map_of_the_points(operator, coarse, tau):
    session = painted(operator, coarse, tau=tau)
    before = bits(session)
    sizes = [{"class": 1, "least": 0.4, "most": 0.5}]
    session.apply({"op": "class_sizes", "sizes": sizes})
    assert bits(session) == before  # of the aggregates, without them
    refined(session)
    mode = "auto" if tau == "auto" else "summed"
    prior = [0.4, 0, 0], [0.5, 1, 1]
    y = targets(session)
    expected = diffuse_labels(operator, y, label_mode=mode, tau=tau, class_prior=prior)
    np.testing.assert_array_equal(session.map_ids, expected.classes[expected.codes])
    assert session.sizes_met in (expected.weighting, "unused")
    session.apply({"op": "warp"})  # the map is that of the aggregates then
    session.update()
    assert not session.is_refined
    refined(session)
    assert session.is_refined
    assert session.sizes_met is not None
    known = bits(session)
    session.apply({"op": "undo"})
    session.apply({"op": "redo"})
    session.refine()
    assert bits(session) == known


def test_refined_it_is_the_map_of_the_classifier(operator, coarse):
    session = painted(operator, coarse)
    refined(session)
    clf = DiffusionClassifier(n_neighbors=15, random_state=0).fit(blobs(), targets(session))
    np.testing.assert_array_equal(session.map_ids, clf.transduction_)
    assert session.tau == clf.tau_


def test_the_margin_chooses_the_time_on_the_aggregates(operator, coarse):
    session = painted(operator, coarse, rule="margin", label_mode="free")
    alone = RelabelSession(coarse.operator, ["a", "b", "c"], label_mode="free",
                           rule=StoppingRule("margin", max_time=session.max_time))  # fmt: skip
    for stroke in session.strokes:
        points = np.unique(coarse.aggregates[stroke.points])
        alone.apply({"op": "stroke", "class": stroke.class_id, "points": points})
    alone.update()
    assert session.tau == alone.tau
    refined(session)
    expected = diffuse_labels(operator, targets(session), label_mode="free", tau=session.tau)
    np.testing.assert_array_equal(session.map_ids, expected.classes[expected.codes])


def test_questions_are_answered_by_the_aggregates(operator, coarse):
    session = painted(operator, coarse)
    shares = session.explain(205)
    assert shares[0].class_id == 2
    assert sum(share.share for share in shares) == pytest.approx(1)
    curve = session.margin_curve()
    ids, margin = session.tau_preview(int(curve.times[3]))
    assert ids.shape == margin.shape == (N,)
    assert (ids[:200] == 1).mean() > 0.9
    for rule in RULES:
        found = session.suggest(5, rule=rule, coordinates=blobs(), min_distance=0.5)
        assert len(set(coarse.aggregates[found.points])) == len(found)
        assert not np.isin(coarse.aggregates[found.points], coarse.restrict(np.arange(9))).any()
    few = np.isin(np.arange(N), [599, 301, 300])
    assert set(session.suggest(3, candidates=few).points) <= {599, 301, 300}
    assert session.column_bytes <= 4 * 8 * len(coarse)  # no column is as long as the points


def test_a_wrong_stroke_is_contradicted_point_by_point(operator, coarse):
    session = painted(operator, coarse)
    wrong = np.arange(30, 36)
    paint(session, (1, np.arange(60, 200)), (2, wrong)).update()
    found = session.audit()
    assert {one.point for one in found if one.stroke == 5} == set(wrong.tolist())
    assert all(one.says_id == 1 for one in found if one.stroke == 5)


def test_a_warped_walk_is_that_of_the_aggregates(operator, coarse):
    session = painted(operator, coarse, tau=7)
    session.apply({"op": "warp"})
    session.update()
    assert session.is_refined  # there is no other
    assert (session.map_ids[:200] == 1).mean() > 0.9
    session.apply({"op": "tau", "tau": "auto"})
    session.update()
    assert not session.is_refined
    refined(session)
    assert session.is_refined
    assert len(session.map_ids) == N


@pytest.mark.parametrize("is_hidden_when_warped", [True, False])
def test_a_class_may_hide_behind_newer_strokes_of_the_same_aggregates(
    operator, coarse, is_hidden_when_warped
):
    session = painted(operator, coarse, tau=7)
    few = np.flatnonzero(coarse.aggregates == np.bincount(coarse.aggregates).argmax())
    session.apply({"op": "add_class"})
    session.apply({"op": "stroke", "class": 4, "points": few[:1]})
    steps = [{"op": "warp"}, {"op": "stroke", "class": 1, "points": few[1:]}]
    for operation in steps[::-1] if is_hidden_when_warped else steps:
        session.apply(operation)
        session.update()
    assert session.mapped_classes == (1, 2, 3)
    assert (session.map_ids[200:400] == 2).mean() > 0.9
    session.apply({"op": "remove", "stroke": session.newest_stroke})
    session.update()
    assert session.mapped_classes == (1, 2, 3, 4)


def test_without_labels_there_is_no_map(operator, coarse):
    session = RelabelSession(operator, ["a"], coarse=coarse)
    session.update()
    assert session.is_refined
    assert not session.map_ids.any()
    session.refine()
    assert not session.is_stale


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_undo_and_replay_restore_the_provisional_map_to_the_bit(operator, coarse, seed):
    rng = np.random.default_rng(seed)
    session = RelabelSession(operator, ["a", "b", "c", "d", "e"], coarse=coarse)
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
    replayed = RelabelSession(operator, ["a", "b", "c", "d", "e"], coarse=coarse)
    for operation in done:
        replayed.apply(operation)
    assert bits(replayed) == maps[-1]
    for expected in maps[-2::-1]:
        session.apply({"op": "undo"})
        assert bits(session) == expected


def test_aggregates_for_provisional_maps_alone_leave_answers_to_the_points(operator, coarse):
    session = painted(operator, coarse, coarse_answers=False)
    alone = painted(operator, None)
    ids, _ = on_aggregates(session, coarse, label_mode="summed", tau=12)
    np.testing.assert_array_equal(session.map_ids, ids)
    assert session.explain(205) == alone.explain(205)
    assert session.audit() == alone.audit()
    np.testing.assert_array_equal(session.margin_curve().margin, alone.margin_curve().margin)
    for mine, other in zip(session.tau_preview(9), alone.tau_preview(9), strict=True):
        np.testing.assert_array_equal(mine, other)
    for one in (session, alone):
        refined(one)
    assert bits(session) == bits(alone)
    np.testing.assert_array_equal(session.suggest(5).points, alone.suggest(5).points)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_points_are_suggested_with_a_provisional_map_of_aggregates(operator, coarse, rule):
    session = painted(operator, coarse, coarse_answers=False)
    assert not session.is_refined
    few = np.arange(N) % 7 == 0
    found = session.suggest(5, rule=rule, candidates=few)
    assert len(found) == 5
    assert few[found.points].all()
    if rule == "margin":  # of the map that is shown
        least = np.sort(session.margin[few & (session.label_ids == 0)])[:5]
        np.testing.assert_allclose(np.sort(session.margin[found.points]), least)


@pytest.mark.parametrize("tau", ["auto", "margin", 7])
def test_without_coarse_answers_walks_are_warped_on_the_points(operator, coarse, tau):
    sessions = [
        painted(operator, coarse, coarse_answers=False, tau=tau),
        painted(operator, None, tau=tau),
    ]
    for session in sessions:
        session.apply({"op": "warp"})
        session.update()
        refined(session)
        assert session.is_refined
    mine, other = sessions
    np.testing.assert_array_equal(mine.map_ids, other.map_ids)
    np.testing.assert_allclose(mine.margin, other.margin, atol=1e-6)
    assert mine.tau == other.tau
