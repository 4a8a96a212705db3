"""Sessions of labelling: what can be done, what is refused, and maps against fresh fits."""

from __future__ import annotations

import json
import threading
from concurrent.futures import Future

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass import (
    MarkovOperator,
    StoppingRule,
    diffuse_labels,
    markov_operator,
    suggest,
    warped_operator,
)
from diffclass.acquisition import RULES
from diffclass.exceptions import CancelledError, DataError, ParameterError
from diffclass.label_diffusion.class_sizes import SIZED
from diffclass.label_diffusion.walk import curve_times
from diffclass.relabel import ClassInfo, RelabelSession
from diffclass.system.progress import cancellable
from tests import naive
from tests.relabel.strategies import NaiveSession, paint, random_operation, refined, targets

N = 64
BEGUN = (1, [3, 1, 2]), (2, [25, 26])
MODES = pytest.mark.parametrize("label_mode", ["summed", "free", "absorbing"])


def operator_of(seed=0, dtype=np.float64):
    """Two blobs weakly joined, a blob apart and a point by itself: 64 points."""
    rng = np.random.default_rng(seed)
    centres = np.repeat([[0, 0], [3.5, 0], [60, 0]], 21, axis=0)
    X = rng.normal(size=(63, 2)) + centres
    K = np.pad(naive.gaussian(*naive.neighbors_graph(X, 6), 1.0), (0, 1))
    K[63, 63] = 1
    return MarkovOperator.from_affinity(sp.csr_array(K.astype(dtype)))


@pytest.fixture(scope="module")
def operator():
    return operator_of()


def size(class_id, least, most):
    return {"class": class_id, "least": least, "most": most}


@pytest.fixture
def session(operator):
    """Corn in the first blob, soy in the second, a stroke of each; hay has none."""
    session = paint(RelabelSession(operator, ["corn", "soy", "hay"], tau=20), *BEGUN)
    session.update()
    return session


def fresh(operator, session, **parameters):
    parameters = {"label_mode": session.label_mode, "tau": session.tau, **parameters}
    return diffuse_labels(operator, targets(session), **parameters)


def assert_is_fresh(operator, session, atol=1e-6):
    """The session's map is that of a fresh fit, point for point; numbers agree up to rounding."""
    if not session.label_ids.any():
        assert not session.map_ids.any()
        assert not session.margin.any()
        return
    expected = fresh(operator, session)
    assert session.mapped_classes == tuple(expected.classes)
    ids = np.where(expected.reached, expected.classes[expected.codes], 0)
    np.testing.assert_array_equal(session.map_ids, ids)
    np.testing.assert_allclose(session.posteriors, expected.posteriors, atol=atol)
    np.testing.assert_allclose(session.margin, expected.margin, atol=atol)
    np.testing.assert_allclose(session.probability, expected.probability, atol=atol)


def bits(session):
    session.update()
    arrays = session.map_ids, session.margin, session.probability, session.posteriors
    return tuple(array.tobytes() for array in arrays)


def shown(session):
    """All that a user sees of a session but the map."""
    strokes = [(s.number, s.class_id, s.points.tolist()) for s in session.strokes]
    steer = session.tau, session.tau_mode, session.is_warped, session.class_sizes
    return session.classes, strokes, session.label_ids.tobytes(), steer


# --- maps


@MODES
@pytest.mark.parametrize("tau", [1, 15, 16, 33, 200, 4000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_map_is_that_of_a_fresh_fit(tau, dtype, label_mode):
    operator = operator_of(1, dtype)
    session = RelabelSession(operator, ["a", "b", "c"], tau=tau, label_mode=label_mode)
    paint(session, (2, [5]), (1, [30, 31]), (2, [22, 23]), (3, [50]), (1, [22]))
    change = session.update()
    assert_is_fresh(operator, session, atol=1e-6 if dtype == np.float64 else 1e-5)
    assert session.map_ids[63] == 0
    assert change.n_changed == np.count_nonzero(session.map_ids) == change.changed.sum()


@pytest.mark.parametrize("tau", [20, "margin"])
def test_how_labels_count_may_change(operator, tau):
    session = RelabelSession(operator, ["corn", "soy"], tau=tau, label_mode="summed")
    paint(session, (1, [3, 1]), (2, [25, 26, 12]))
    seen = [bits(session)]
    for mode in ("free", "absorbing", "auto"):
        session.apply({"op": "label_mode", "mode": mode})
        seen.append(bits(session))
        assert session.asked_label_mode == mode
        assert session.label_mode == ("summed" if mode == "auto" else mode)
        assert_is_fresh(operator, session)
        expected = fresh(operator, session, tau=tau)
        assert session.tau == expected.tau
        ids, _ = session.tau_preview(session.tau)
        np.testing.assert_array_equal(ids, session.map_ids)
    assert len(set(seen)) == 3
    assert seen[3] == seen[0]
    for known in seen[2::-1]:
        session.apply({"op": "undo"})
        assert bits(session) == known


def test_what_a_session_shows(session):
    assert [info.name for info in session.classes] == ["corn", "soy", "hay"]
    assert [info.id for info in session.classes] == [1, 2, 3]
    assert len({info.color for info in session.classes}) == 3
    assert [stroke.points.tolist() for stroke in session.strokes] == [[1, 2, 3], [25, 26]]
    assert session.strokes[0].points.dtype == np.int32
    assert session.mapped_classes == (1, 2)
    assert session.posteriors.shape == (N, 2)
    assert session.map_ids.dtype == np.uint8
    assert session.margin.dtype == session.probability.dtype == session.posteriors.dtype == "f4"
    assert session.label_ids[[0, 1, 25]].tolist() == [0, 1, 2]
    assert (session.tau, session.tau_mode) == (20, "fixed")
    assert not session.is_stale
    assert not session.is_warped
    assert (session.can_undo, session.can_redo) == (True, False)
    with pytest.raises(ValueError, match="read-only"):
        session.strokes[0].points[0] = 7


def test_classes_to_begin_with(operator):
    wheat = ClassInfo(7, "wheat", "#00ff00", hidden=True, locked=True)
    session = RelabelSession(operator, [wheat, "rye"])
    assert session.classes[0] == wheat
    assert (session.classes[1].id, session.classes[1].name) == (8, "rye")
    assert not session.can_undo


def test_an_update_says_what_changed(session):
    before = session.map_ids
    paint(session, (3, [25, 40]))
    assert session.is_stale
    assert session.map_ids is before
    change = session.update()
    assert not session.is_stale
    np.testing.assert_array_equal(change.changed, before != session.map_ids)
    assert change.n_changed == change.changed.sum() > 0
    assert change.version == 2
    again = session.update()
    assert (again.version, again.n_changed, again.changed.any()) == (2, 0, False)
    session.apply({"op": "rename_class", "id": 3, "name": "straw"})
    assert not session.is_stale  # names are not diffused
    session.apply({"op": "undo"})
    session.apply({"op": "undo"})
    session.apply({"op": "redo"})
    assert not session.is_stale  # the same labels again


def test_no_labels_no_map(operator):
    session = RelabelSession(operator, ["corn"])
    assert not session.is_stale
    paint(session, (1, [0]))
    session.update()
    assert (session.map_ids[:42] == 1).all()
    session.apply({"op": "undo"})
    assert session.update().n_changed == np.count_nonzero(session.label_ids == 0) - 22
    assert not session.map_ids.any()
    assert session.posteriors.shape == (N, 0)
    assert session.mapped_classes == ()


def test_only_what_is_new_is_diffused(session):
    store = session._maps.answers.diffusions.columns
    columns = dict(store._columns)
    paint(session, (3, [50]))
    session.apply({"op": "move", "stroke": 2, "class": 3})
    session.apply({"op": "merge_classes", "source": 1, "into": 2})
    session.update()
    assert len(store) == len(columns) + 1
    session.apply({"op": "remove", "stroke": 2})
    session.update()
    assert len(store) == len(columns) + 1
    paint(session, (3, [1]))  # and what is left of stroke 1
    session.update()
    assert len(store) == len(columns) + 3


# --- laws


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 40), every=st.integers(1, 9))
def test_any_sequence_of_operations(seed, length, every):
    """Labels are the twin's, maps those of fresh fits, and replay gives the same bits."""
    rng, operator = np.random.default_rng(seed), operator_of(seed % 3)
    session, twin = RelabelSession(operator), NaiveSession(N)
    done = []
    for step in range(length):
        operation = random_operation(rng, N, twin.number)
        allowed, before = twin.can(operation), shown(session)
        if not allowed:
            with pytest.raises(ParameterError):
                session.apply(operation)
            assert shown(session) == before
            continue
        session.apply(operation)
        twin.apply(operation)
        done.append(json.dumps(operation))
        np.testing.assert_array_equal(session.label_ids, twin.label_ids)
        assert {info.id: info.locked for info in session.classes} == twin.locked
        assert session.tau == twin.tau
        sizes = {size.class_id: (size.least, size.most) for size in session.class_sizes or ()}
        assert sizes == twin.sizes
        owners = {s.number: s.points.tolist() for s in session.strokes}
        held = np.array(twin.owner)
        assert owners == {i: np.flatnonzero(held == i).tolist() for i in np.unique(held[held > 0])}
        if step % every == 0:
            session.update()
            assert_is_fresh(operator, session)
    replayed = RelabelSession(operator)
    for line in done:
        replayed.apply(json.loads(line))
    assert shown(replayed) == shown(session)
    assert bits(replayed) == bits(session)
    assert_is_fresh(operator, session)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), dtype=st.sampled_from([np.float32, np.float64]))
def test_undo_restores_the_map_to_the_bit(seed, dtype):
    rng, operator = np.random.default_rng(seed), operator_of(0, dtype)
    session = RelabelSession(operator, ["a", "b", "c", "d", "e"])
    maps = [(shown(session), bits(session))]
    while len(maps) < 15:
        try:
            operation = random_operation(rng, N, 10, taus=(5, 17, 100))
            if operation["op"] in ("undo", "redo"):
                continue
            session.apply(operation)
        except ParameterError:
            continue
        maps.append((shown(session), bits(session)))
    for expected in maps[-2::-1]:
        session.apply({"op": "undo"})
        assert (shown(session), bits(session)) == expected
    assert not session.can_undo
    for expected in maps[1:]:
        session.apply({"op": "redo"})
        assert (shown(session), bits(session)) == expected
    assert not session.can_redo


def test_several_steps_back_and_forth(session):
    states = [(shown(session), bits(session))]
    for start in range(6):
        paint(session, (1, [20 + start]))
        states.append((shown(session), bits(session)))
    first = session.step - 6
    for back in (1, 4, 6):
        session.apply({"op": "undo", "steps": back})
        assert (session.step, session.n_steps) == (first + 6 - back, first + 6)
        assert (shown(session), bits(session)) == states[6 - back]
        with pytest.raises(ParameterError, match=f"there are {back} to redo"):
            session.apply({"op": "redo", "steps": back + 1})
        session.apply({"op": "redo", "steps": back})
        assert (shown(session), bits(session)) == states[6]


@pytest.mark.parametrize("tau", [9, "auto", "margin"])
@pytest.mark.parametrize("label_mode", ["auto", "absorbing"])
def test_maps_of_earlier_states(tau, label_mode):
    session = RelabelSession(operator_of(), ["a", "b"], tau=tau, label_mode=label_mode)
    maps = [session.map_ids]
    for k in range(4):
        paint(session, (1 + k % 2, [7 * k, 7 * k + 1]))
        refined(session)
        maps.append(session.map_ids)
    session.apply({"op": "undo", "steps": 2})
    session.update()
    before, is_stale = bits(session), session.is_stale
    for step, expected in enumerate(maps):
        np.testing.assert_array_equal(session.map_at(step), expected)
    assert (bits(session), session.is_stale) == (before, is_stale)
    for wrong in (5, -1):
        with pytest.raises(ParameterError, match="step"):
            session.map_at(wrong)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_strokes_of_different_classes_does_not_matter(seed):
    rng, operator = np.random.default_rng(seed), operator_of()
    points = rng.permutation(N)[:20].reshape(5, 4)
    maps = []
    for order in (range(5), rng.permutation(5).tolist()):
        session = RelabelSession(operator, list("abcde"), tau=40)
        maps.append(bits(paint(session, *((i + 1, points[i].tolist()) for i in order))))
    assert maps[0] == maps[1]


def test_the_number_of_threads_does_not_matter(shared_by):
    maps = []
    for n_threads in (1, 2):
        with shared_by(n_threads):
            session = RelabelSession(operator_of(0, np.float32), ["a", "b"], tau=100)
            maps.append(bits(paint(session, (1, [0, 1]), (2, [30]))))
    assert maps[0] == maps[1]


def test_strokes_while_another_thread_updates(operator):
    """What is painted during an update waits for the next one; nothing is lost or mixed."""
    session, done = RelabelSession(operator, list("abcde"), tau=8), threading.Event()

    def update():
        while not done.is_set():
            session.update()

    worker = threading.Thread(target=update)
    worker.start()
    rng = np.random.default_rng(2)
    for _ in range(60):
        points = rng.choice(N, 3, replace=False).tolist()
        session.apply({"op": "stroke", "class": int(rng.integers(1, 6)), "points": points})
    done.set()
    worker.join()
    session.update()
    assert not session.is_stale
    assert_is_fresh(operator, session)


# --- locked, hidden, merged


def test_what_is_locked_is_said_to_be(session):
    session.apply({"op": "lock_class", "id": 1, "locked": True})
    for operation in (
        {"op": "stroke", "class": 2, "points": [1, 2]},
        {"op": "erase", "points": [1]},
        {"op": "move", "stroke": 1, "class": 2},
        {"op": "remove", "stroke": 1},
        {"op": "merge_classes", "source": 1, "into": 2},
        {"op": "remove_class", "id": 1},
    ):
        with pytest.raises(ParameterError, match=r"locked.*unlock it first"):
            session.apply(operation)


def test_a_hidden_class_diffuses_all_the_same(session):
    before = bits(session)
    session.apply({"op": "hide_class", "id": 2, "hidden": True})
    assert session.classes[1].hidden
    assert bits(session) == before


def test_ids_and_names_that_are_given(operator):
    session = RelabelSession(operator)
    session.apply({"op": "add_class", "id": 254, "name": " oats ", "color": "#ABCDEF"})
    assert session.classes[0] == ClassInfo(254, "oats", "#abcdef")
    session.apply({"op": "add_class"})
    assert session.classes[1].id == 1  # after the last comes the least that is free
    assert session.classes[1].name == "class 1"
    for _ in range(252):
        session.apply({"op": "add_class"})
    with pytest.raises(ParameterError, match="254 classes already"):
        session.apply({"op": "add_class"})
    paint(session, (254, [0]))
    session.update()
    assert session.map_ids[1] == 254


# --- refusals


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (None, "a mapping"),
        ({}, "op = None; possible: stroke, erase"),
        ({"op": "stroke", "class": 1, "points": [1], "size": 3}, "size is unknown"),
        ({"op": "stroke", "class": 9, "points": [1]}, r"no class 9 \(classes: 1, 2, 3\)"),
        ({"op": "stroke", "class": 1, "points": []}, "at least one point number"),
        ({"op": "stroke", "class": 1, "points": [-1, 3]}, "from -1 to 3; there are 0 to 63"),
        ({"op": "stroke", "class": 1, "points": [64]}, "from 64 to 64; there are 0 to 63"),
        ({"op": "erase", "points": [10]}, "none of these points is labelled"),
        ({"op": "move", "stroke": 7, "class": 1}, "no stroke 7"),
        ({"op": "move", "stroke": 1, "class": 7}, "no class 7"),
        ({"op": "add_class", "id": 2}, "a class 2 already"),
        ({"op": "add_class", "name": "soy"}, "class 2 is called 'soy' already"),
        ({"op": "rename_class", "id": 9, "name": "x"}, "no class 9"),
        ({"op": "merge_classes", "source": 1, "into": 1}, "into itself"),
        ({"op": "remove_class", "id": 1}, "3 labelled points; erase them, merge"),
        ({"op": "tau", "tau": 10**9}, "up to 16384 steps"),
        ({"op": "label_mode", "mode": "loud"}, '"absorbing"'),
        ({"op": "class_sizes", "sizes": "half"}, '"uniform", or a list'),
        ({"op": "class_sizes", "sizes": [size(9, 0, 0.5)]}, "there is no class 9"),
        ({"op": "class_sizes", "sizes": [size(1, 0, 1), size(1, 0, 1)]}, "class 1 is there twice"),
        ({"op": "class_sizes", "sizes": [size(1, 0.6, 1), size(2, 0.5, 1)]}, "at least 110 %"),
        ({"op": "unwarp"}, "not warped"),
        ({"op": "redo"}, "nothing to redo"),
        ({"op": "undo", "steps": 0}, "steps are 1 to"),
        ({"op": "undo", "steps": 99}, "there are [0-9]+ to undo"),
        ({"op": "stroke", "class": 1, "points": [0], "spare": "yes"}, "it is true or false"),
        ({"op": "remove_class", "id": 1, "with_labels": 1}, "it is true or false"),
    ],
)
def test_refuses_and_changes_nothing(session, operation, message):
    before, map_before = shown(session), bits(session)
    with pytest.raises(ParameterError, match=message):
        session.apply(operation)
    assert shown(session) == before
    assert not session.is_stale
    assert bits(session) == map_before


def test_refuses_what_needs_labels(operator):
    session = RelabelSession(operator, ["corn"])
    with pytest.raises(ParameterError, match="paint a stroke first"):
        session.apply({"op": "warp"})
    with pytest.raises(ParameterError, match="nothing to undo"):
        session.apply({"op": "undo"})
    with pytest.raises(DataError, match="no margin"):
        session.suggest(3, rule="margin")
    assert len(session.suggest(3)) == 3  # what to label first
    for question in (session.margin_curve, lambda: session.tau_preview(3)):
        with pytest.raises(DataError, match="paint a stroke first"):
            question()
    assert session.audit() == session.explain(0) == []


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"label_mode": "sticky"}, "label_mode"),
        ({"tau": 0}, "tau"),
        ({"rule": StoppingRule(max_time=0)}, "max_time"),
        ({"rule": "best"}, "rule"),
        ({"classes": [3]}, "name"),
        ({"classes": ["a", "a"]}, "called 'a' already"),
    ],
)
def test_refuses_parameters(operator, parameters, message):
    with pytest.raises(ParameterError, match=message):
        RelabelSession(operator, **parameters)


# --- time


@MODES
def test_tau_slides(session, operator, label_mode):
    session.apply({"op": "label_mode", "mode": label_mode})
    session.update()
    curve = session.margin_curve()
    whole = fresh(operator, session, tau=1024).curve
    np.testing.assert_array_equal(curve.times, curve_times(1024))
    np.testing.assert_allclose(curve.margin, whole.margin, atol=1e-7)
    np.testing.assert_allclose(curve.coverage, whole.coverage, rtol=1e-12)
    assert curve.kept_share == whole.kept_share
    before = shown(session), bits(session)
    previews = {tau: session.tau_preview(tau) for tau in (1, 19, 100, 300)}
    assert (shown(session), bits(session)) == before
    for tau, (ids, margin) in previews.items():
        session.apply({"op": "tau", "tau": tau})
        session.update()
        assert_is_fresh(operator, session)
        np.testing.assert_array_equal(ids, session.map_ids)
        np.testing.assert_allclose(margin, session.margin, atol=1e-6)


def test_the_time_sweep_is_of_the_present_labels(session):
    first = session.margin_curve()
    assert session.margin_curve() is first
    paint(session, (3, [50]))
    second = session.margin_curve()
    assert second.coverage[-1] == 1
    assert not np.allclose(first.margin, second.margin)


def test_the_margin_chooses_the_time_once_two_classes_have_labels(operator):
    def done(*operations, every=False):
        session = RelabelSession(operator, ["a", "b"], rule="margin")
        for operation in operations:
            session.apply(operation)
            if every:
                session.update()
        session.update()
        return session

    first, second, third = (
        {"op": "stroke", "class": i, "points": points}
        for i, points in ((1, [0, 1]), (2, [30]), (1, [40, 41, 3]))
    )
    assert done(first).tau == 12
    session = done(first, second)
    assert session.tau_mode == "margin"
    chosen = session.tau
    assert chosen == fresh(operator, session, tau="margin").tau
    assert done(first, second, third).tau == chosen  # it stays
    assert done(first, second, third, every=True).tau == chosen
    assert bits(done(first, second, third)) == bits(done(first, second, third, every=True))
    session = done(first, second, third, {"op": "tau", "tau": "margin"})
    assert session.tau == fresh(operator, session, tau="margin").tau != chosen
    session.apply({"op": "tau", "tau": 5})
    assert (session.tau, session.tau_mode) == (5, "fixed")
    session.apply({"op": "undo"})
    assert (session.tau_mode, session.is_stale) == ("margin", False)


def test_without_coverage_the_margin_takes_the_last_time():
    K = np.eye(100) + np.eye(100, k=1) + np.eye(100, k=-1)
    session = RelabelSession(
        MarkovOperator.from_affinity(sp.csr_array(K)),
        ["a", "b"],
        label_mode="free",
        rule=StoppingRule("margin", max_time=20),
    )
    paint(session, (1, [0]), (2, [99])).update()
    assert session.tau == 20
    assert session.map_ids[50] == 0
    assert not session.margin_curve().is_covered


# --- warped walks


def warped_twin(operator, session, scores, source_ids, y):
    """Fixed scores by class id; a class that came later has the floor's column."""
    s = warped_operator(operator, scores, y=y)
    columns = [
        s.scores[:, source_ids.index(i)] if i in source_ids else np.full(N, 0.4)
        for i in np.unique(session.label_ids[session.label_ids > 0])
    ]
    K, s = operator.affinity.toarray(), np.column_stack(columns)
    N_i = []
    for i, s_i in zip(np.unique(session.label_ids[session.label_ids > 0]), s.T, strict=True):
        K_i = np.outer(s_i, s_i) * K
        d = K_i.sum(axis=1)
        chi = (session.label_ids == i) * d.sum() / d[session.label_ids == i].sum()
        f = np.linalg.matrix_power(K_i / d[:, None], session.tau) @ chi
        N_i.append(d**0.25 * f)
    return naive.posteriors(np.column_stack(N_i), np.ones(len(N_i)))


def test_a_warped_session(session, operator):
    scores, y, plain = session.posteriors, targets(session), bits(session)
    session.apply({"op": "warp"})
    assert session.is_warped
    assert session.is_stale
    warped = bits(session)
    assert warped != plain
    expected = diffuse_labels(
        warped_operator(operator, scores, y=y), y, label_mode="summed", tau=20
    )
    np.testing.assert_allclose(session.posteriors, expected.posteriors, atol=1e-6)
    paint(session, (3, [50, 25]))
    session.apply({"op": "erase", "points": [3]})
    session.update()
    twin = warped_twin(operator, session, scores, (1, 2), y)
    reached = session.map_ids > 0
    np.testing.assert_allclose(session.posteriors[reached], twin[reached], atol=1e-6)
    ids, _ = session.tau_preview(20)
    np.testing.assert_array_equal(ids, session.map_ids)
    session.apply({"op": "merge_classes", "source": 1, "into": 3})
    session.update()
    twin = warped_twin(operator, session, scores, (1, 2), y)
    np.testing.assert_allclose(session.posteriors[reached], twin[reached], atol=1e-6)
    for _ in range(3):
        session.apply({"op": "undo"})
    assert bits(session) == warped
    session.apply({"op": "unwarp"})
    assert bits(session) == plain


def test_a_warped_session_may_lose_all_labels(session):
    session.apply({"op": "warp"})
    session.apply({"op": "erase", "points": list(range(N))})
    session.update()
    assert len(session.suggest(4)) == 4
    with pytest.raises(DataError, match="no margin"):
        session.suggest(rule="margin")


def test_warping_replays_whenever_it_was_updated(operator):
    operations = [
        {"op": "stroke", "class": 1, "points": [0, 1]},
        {"op": "stroke", "class": 2, "points": [30]},
        {"op": "warp"},
        {"op": "stroke", "class": 1, "points": [12]},
        {"op": "warp"},
        {"op": "tau", "tau": "margin"},
        {"op": "stroke", "class": 2, "points": [12, 40]},
        {"op": "undo"},
    ]
    maps = []
    for every in (1, 3, 100):
        session = RelabelSession(operator, ["a", "b"], tau=8)
        for i, operation in enumerate(operations):
            session.apply(operation)
            if i % every == 0:
                session.update()
        maps.append((bits(session), session.tau))
    assert maps[0] == maps[1] == maps[2]


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), labels=st.sampled_from(["summed", "free", "absorbing"]))
def test_when_a_session_was_updated_does_not_matter(seed, labels):
    """Also where walk and mode change again and again and the margin chooses the time."""
    rng, operator = np.random.default_rng(seed), operator_of(seed % 3)
    steering = [
        {"op": "warp"},
        {"op": "unwarp"},
        {"op": "tau", "tau": "margin"},
        {"op": "label_mode", "mode": "absorbing"},
        {"op": "label_mode", "mode": "free"},
    ]
    often, once = (
        RelabelSession(operator, list("abc"), label_mode=labels, tau=9) for _ in range(2)
    )
    for _ in range(25):
        operation = random_operation(rng, N, len(often.strokes))
        if rng.random() < 0.2:
            operation = steering[rng.integers(len(steering))]
        try:
            often.apply(operation)
        except ParameterError:
            continue
        often.update()
        once.apply(operation)
    assert bits(often) == bits(once)
    assert shown(often) == shown(once)


# --- sizes of the classes


SIZES = [
    ("uniform", "uniform"),
    ([size(1, 0.55, 0.6)], ([0.55, 0], [0.6, 1])),
    ([size(1, 0.3, 0.3), size(2, 0.68, 0.68)], [0.3, 0.68]),
    ([size(2, 0.6, 0.7), size(3, 0.3, 0.6)], ([0, 0.6], [1, 0.7])),  # the third has no label
]


@pytest.mark.filterwarnings("ignore:by max_time")
@pytest.mark.parametrize("tau", [9, "auto", "margin"])
@pytest.mark.parametrize(("sizes", "prior"), SIZES, ids=str)
def test_refined_maps_go_by_sizes(operator, session, tau, sizes, prior):
    session.apply({"op": "tau", "tau": tau})
    session.update()
    session.refine()
    first = bits(session)
    session.apply({"op": "class_sizes", "sizes": sizes})
    assert not session.is_refined
    assert session.is_stale
    session.update()
    assert session.sizes_met is None
    refined(session)
    assert session.is_refined
    rule = "auto" if tau == "auto" else session.tau
    label_mode = "auto" if tau == "auto" else "summed"
    expected = fresh(operator, session, tau=rule, label_mode=label_mode, class_prior=prior)
    ids = np.where(expected.reached, expected.classes[expected.codes], 0)
    np.testing.assert_array_equal(session.map_ids, ids)
    np.testing.assert_allclose(session.posteriors, expected.posteriors, atol=1e-6)
    met = expected.weighting if expected.weighting in SIZED else "unused"
    assert session.sizes_met == met
    known = bits(session)
    np.testing.assert_array_equal(session.map_at(session.step), session.map_ids)
    session.apply({"op": "undo"})
    session.refine()
    assert (bits(session), session.sizes_met) == (first, None)
    session.apply({"op": "redo"})
    session.refine()
    assert (bits(session), session.sizes_met) == (known, met)
    session.apply({"op": "class_sizes"})
    session.refine()
    assert bits(session) == first


def test_labels_do_not_wait_for_the_graph_and_maps_do(operator):
    graph = Future()
    waiting = RelabelSession(graph, ["corn", "soy"], tau=20, n_points=len(operator))
    direct = RelabelSession(operator, ["corn", "soy"], tau=20)
    for session in (waiting, direct):
        paint(session, *BEGUN).apply({"op": "undo"})
        session.apply({"op": "redo"})
    for name in ("tau", "max_time", "label_mode", "is_stale", "sizes_met", "n_steps"):
        assert getattr(waiting, name) == getattr(direct, name), name
    assert waiting.column_bytes == 0
    assert not waiting.is_refined
    with pytest.raises(CancelledError), cancellable(lambda: False):
        waiting.update()
    threading.Timer(0.3, graph.set_result, [(operator, None)]).start()
    waiting.update()
    direct.update()
    np.testing.assert_array_equal(waiting.map_ids, direct.map_ids)
    np.testing.assert_array_equal(waiting.margin, direct.margin)
    assert waiting.is_refined


def test_the_error_of_a_graph_is_that_of_its_maps(operator):
    graph = Future()
    session = RelabelSession(graph, ["corn"], n_points=len(operator))
    paint(session, (1, [3]))
    graph.set_exception(DataError("no graph"))
    with pytest.raises(DataError, match="no graph"):
        session.update()
    assert session.label_ids[3] == 1
    with pytest.raises(ParameterError, match="n_points"):
        RelabelSession(Future(), ["corn"])


def test_a_stroke_can_spare_other_classes(session):
    before = session.label_ids.copy()
    assert before[:6].tolist() == [0, 1, 1, 1, 0, 0]
    with pytest.raises(ParameterError, match="labelled in another class, which is spared"):
        session.apply({"op": "stroke", "class": 2, "points": [1, 2], "spare": True})
    assert np.array_equal(session.label_ids, before)
    session.apply({"op": "stroke", "class": 2, "points": [2, 3, 4], "spare": True})
    assert session.label_ids[:6].tolist() == [0, 1, 1, 1, 2, 0]
    session.apply({"op": "stroke", "class": 2, "points": [3, 4], "spare": False})
    assert session.label_ids[:6].tolist() == [0, 1, 1, 2, 2, 0]


def test_sizes_wait_until_the_classes_with_labels_can_have_them(session):
    session.apply({"op": "class_sizes", "sizes": [size(1, 0.1, 0.2), size(2, 0.2, 0.3)]})
    session.update()
    assert (session.sizes_met, session.counted_sizes) == ("waiting", None)
    assert session.is_refined  # there is no other map
    before = bits(session)
    session.refine()
    assert bits(session) == before
    paint(session, (3, [50]))
    assert not session.is_refined
    refined(session)
    assert session.sizes_met in ("met", "unused")
    assert [one.class_id for one in session.counted_sizes] == [1, 2]


def test_sizes_belong_to_classes_not_to_names(session):
    session.apply({"op": "class_sizes", "sizes": [size(i, 0.1, 0.5) for i in (1, 2, 3)]})
    session.apply({"op": "rename_class", "id": 3, "name": "oats"})
    assert [one.class_id for one in session.class_sizes] == [1, 2, 3]
    session.apply({"op": "remove_class", "id": 3})
    assert [one.class_id for one in session.class_sizes] == [1, 2]
    session.apply({"op": "add_class", "id": 3, "name": "oats"})  # another one
    assert [one.class_id for one in session.class_sizes] == [1, 2]
    session.apply({"op": "merge_classes", "source": 1, "into": 3})
    assert [one.class_id for one in session.class_sizes] == [2]
    session.apply({"op": "merge_classes", "source": 2, "into": 3})
    assert session.class_sizes is None
    session.apply({"op": "undo", "steps": 5})
    assert [one.class_id for one in session.class_sizes] == [1, 2, 3]


@MODES
def test_the_map_does_not_wait_for_sizes(operator, session, label_mode):
    """What is shown at once is the map without sizes, but keeps what the refined one says."""
    session.apply({"op": "label_mode", "mode": label_mode})
    session.apply({"op": "class_sizes", "sizes": "uniform"})
    session.update()
    assert_is_fresh(operator, session)
    refined(session)
    paint(session, (1, [4]))
    session.update()
    assert session.map.kept is not None
    assert not session.is_refined


# --- questions


MORE = (2, [4, 10]), (1, [6, 7, 30]), (3, [50]), (3, [26, 51]), (1, [2])


@pytest.fixture
def painted(operator, label_mode, tau):
    """A session of a mode and a time, with seven strokes, one partly over another."""
    session = RelabelSession(operator, ["corn", "soy", "hay"], tau=tau, label_mode=label_mode)
    paint(session, *BEGUN, *MORE).update()
    return session


def naive_columns(operator, session):
    """A^tau chi_S of each stroke, or its sum up to 3 tau."""
    A = naive.markov_matrix(operator.affinity.toarray())
    power = np.linalg.matrix_power(A, session.tau)
    if session.label_mode == "summed":
        power = last = np.eye(N)
        for _ in range(3 * session.tau):
            last = A @ last
            power = power + last
    return {s.number: power[:, s.points].sum(axis=1) for s in session.strokes}


@pytest.mark.parametrize("label_mode", ["summed", "free"])
@pytest.mark.parametrize("tau", [3, 20, 500])
def test_explanations(operator, painted):
    session = painted
    columns, pi = naive_columns(operator, session), operator.stationary_distribution
    for point in (0, 25, 45, 50, 62):
        shares = session.explain(point)
        raw = {
            s.number: columns[s.number][point] / pi[session.label_ids == s.class_id].sum()
            for s in session.strokes
        }
        total = sum(raw.values())
        for share in shares:
            assert share.share == pytest.approx(raw[share.stroke] / total, abs=1e-9)
        assert [s.share for s in shares] == sorted((s.share for s in shares), reverse=True)
        assert sum(s.share for s in shares) == pytest.approx(1)
        for column, class_id in enumerate(session.mapped_classes):
            of_class = sum(s.share for s in shares if s.class_id == class_id)
            assert of_class == pytest.approx(session.posteriors[point, column], abs=1e-6)
    assert session.explain(63) == []
    for point in (-1, 64, 1.5):
        with pytest.raises(ParameterError, match="point"):
            session.explain(point)


@pytest.mark.parametrize("label_mode", ["summed", "free"])
@pytest.mark.parametrize("tau", [2, 20, 300])
@pytest.mark.parametrize("most_values", [1, 40, 2**23])
def test_the_audit_leaves_one_stroke_out_at_a_time(operator, painted, most_values, monkeypatch):
    monkeypatch.setattr("diffclass.relabel.audit._MOST_VALUES", most_values)
    session = painted
    columns, pi = naive_columns(operator, session), operator.stationary_distribution
    expected = {}
    for stroke in session.strokes:
        others = [s for s in session.strokes if s is not stroke]
        classes = sorted({s.class_id for s in others})
        if stroke.class_id not in classes:
            continue
        values = np.zeros((N, len(classes)))
        mass = np.zeros(len(classes))
        for s in others:
            values[:, classes.index(s.class_id)] += columns[s.number]
            mass[classes.index(s.class_id)] += pi[s.points].sum()
        p = naive.posteriors(values, 1 / mass)
        margin = p.max(axis=1) - p[:, classes.index(stroke.class_id)]
        for x in stroke.points:
            if values[x].any() and margin[x] > 1e-9:
                expected[int(x)] = stroke.number, classes[p[x].argmax()], margin[x]
    found = session.audit()
    assert found
    assert {one.point for one in found} == set(expected)
    for one in found:
        stroke, says, margin = expected[one.point]
        assert (one.stroke, one.says_id) == (stroke, says)
        assert one.class_id == session.label_ids[one.point]
        assert one.margin == pytest.approx(margin, abs=1e-9)
    assert [one.margin for one in found] == sorted((o.margin for o in found), reverse=True)


def test_the_audit_finds_a_wrong_stroke(session):
    assert paint(session, (1, [10, 11]), (2, [30, 31])).audit() == []
    paint(session, (2, [6]))
    (found,) = session.audit()
    assert (found.point, found.stroke, found.class_id, found.says_id) == (6, 5, 2, 1)


@pytest.mark.parametrize("rule", RULES)
def test_suggestions_are_those_of_the_same_map(session, operator, rule):
    paint(session, *MORE).update()
    labelled = np.flatnonzero(session.label_ids)
    places = np.arange(2.0 * N).reshape(N, 2)
    seen = [17, 31]
    found = session.suggest(4, rule=rule, asked=seen, coordinates=places, min_distance=5)
    expected = suggest(
        operator, fresh(operator, session), [*labelled, *seen], 4, rule=rule,
        coordinates=places, min_distance=5,
    )  # fmt: skip
    assert found.rule == rule
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-3, atol=1e-5)
    assert not set(found.points) & {*labelled, *seen}
    with pytest.raises(ParameterError, match="rule"):
        session.suggest(2, rule="best")


def test_suggestions_go_by_the_last_map_and_spare_new_labels(session):
    point = int(session.suggest(1, rule="margin").points[0])
    paint(session, (3, [point]))
    assert session.suggest(1, rule="margin").points[0] != point


def test_a_map_of_a_real_walk(rng):
    """The whole way from points, in single precision."""
    X = rng.normal(size=(300, 3)) + np.repeat(np.eye(3) * 5, 100, axis=0)
    operator = markov_operator(X.astype(np.float32))
    session = RelabelSession(operator, ["a", "b", "c"])
    paint(session, *((i + 1, [100 * i, 100 * i + 1]) for i in range(3))).update()
    assert (session.map_ids == np.repeat([1, 2, 3], 100)).mean() > 0.98
    assert_is_fresh(operator, session, atol=1e-5)
