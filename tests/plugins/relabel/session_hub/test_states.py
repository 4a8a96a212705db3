"""Thousands of strokes: the last one costs what the first ones cost."""

from __future__ import annotations

import time

import numpy as np
import pytest

from diffclass import diffuse_labels, markov_operator
from diffclass.relabel import RelabelSession
from diffclass_relabel.session_file import session_log
from diffclass_relabel.session_hub.states import MOST_STROKES, session_state

N_STROKES = 5000


@pytest.fixture(scope="module")
def operator():
    points = np.random.default_rng(0).normal(size=(20_000, 2)).astype(np.float32)
    return markov_operator(points, n_neighbors=8)


def strokes_on(rng, n_points, count):
    for k in range(count):
        first = int(rng.integers(n_points - 20))
        yield {"op": "stroke", "class": 1 + k % 3, "points": list(range(first, first + 8))}


@pytest.fixture(scope="module")
def long_session(operator):
    """A session of 5,000 strokes, and the seconds that each took."""
    session = RelabelSession(operator, ["a", "b", "c"])
    seconds = []
    for operation in strokes_on(np.random.default_rng(1), len(operator), N_STROKES):
        start = time.perf_counter()
        session.apply(operation)
        seconds.append(time.perf_counter() - start)
    return session, np.array(seconds)


def test_the_last_strokes_cost_what_the_first_cost(long_session):
    _, seconds = long_session
    # medians: what else the machine does is in a few of them only; it was 40 times before
    assert np.median(seconds[-500:]) < 4 * np.median(seconds[50:550])


def test_the_map_is_made_of_few_columns_and_that_of_its_labels(long_session, operator):
    session, _ = long_session
    session.update()
    assert session.column_bytes < 100 * 8 * len(operator)
    ids = session.label_ids.astype(int)
    fresh = diffuse_labels(operator, np.where(ids > 0, ids, -1), label_mode="summed", tau=12)
    same = session.map_ids == np.append(fresh.classes, 0)[fresh.codes]
    assert same.mean() > 0.9999
    owner = {int(p): s.class_id for s in session.strokes for p in s.points}
    assert {p: int(ids[p]) for p in np.flatnonzero(ids)} == owner


def test_a_state_has_one_map_whatever_was_mapped_on_the_way(operator):
    """Also across the numbers at which strokes are put together."""
    operations = [*strokes_on(np.random.default_rng(2), len(operator), 140)]
    often, once = (RelabelSession(operator, ["a", "b", "c"]) for _ in range(2))
    for k, operation in enumerate(operations):
        often.apply(operation)
        once.apply(operation)
        if k % 9 == 0:
            often.update()
    for operation in ({"op": "move", "stroke": 3, "class": 2}, {"op": "remove", "stroke": 70}):
        often.apply(operation)
        once.apply(operation)
    often.apply(operations[0])
    often.update()
    often.apply({"op": "undo"})
    for session in (often, once):
        session.update()
    assert often.posteriors.tobytes() == once.posteriors.tobytes()
    shares = often.explain(50)
    assert sum(share.share for share in shares) == pytest.approx(1)


def test_a_page_hears_of_the_newest(editor, monkeypatch):
    monkeypatch.setattr(session_log.os, "fsync", lambda descriptor: None)
    editor.apply({"op": "add_class"})
    n = MOST_STROKES + 3
    for k in range(n):
        editor.apply({"op": "stroke", "class": 1, "pixels": [1 + 3 * k, 2]})
    state = session_state(editor)
    assert state["n_strokes"] == n
    assert [stroke["number"] for stroke in state["strokes"]] == list(range(4, n + 1))
