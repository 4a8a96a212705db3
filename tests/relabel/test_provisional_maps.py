"""Provisional maps keep what is refined where the labels since change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from diffclass import markov_operator
from diffclass.relabel import RelabelSession
from diffclass.relabel.session_maps import MUCH_SURER
from tests.relabel.strategies import refined

N = 600


@pytest.fixture(scope="module")
def operator():
    """Three blobs that overlap, so that provisional and refined maps differ between them."""
    random = np.random.default_rng(0)
    centers = np.repeat([[0, 0], [3, 0], [0, 3]], N // 3, axis=0)
    return markov_operator(random.normal(size=(N, 2)) + centers, n_neighbors=10, random_state=0)


def stroke(class_id, first):
    return {"op": "stroke", "class": class_id, "points": [first, first + 1]}


def painted(operator, *more):
    session = RelabelSession(operator, ["a", "b", "c"])
    for operation in (stroke(1, 0), stroke(2, 200), stroke(3, 400), *more):
        session.apply(operation)
    session.update()
    return session


def shown(session):
    return session.map_ids, session.margin, session.probability


def test_a_provisional_map_keeps_what_is_refined_where_it_says_nothing_new(operator):
    session = painted(operator)
    before = shown(session)
    kept = shown(refined(session))
    session.apply(stroke(2, 50))
    session.update()
    now = shown(painted(operator, stroke(2, 50)))  # where nothing was ever refined
    is_new = (now[0] != before[0]) | (now[1] > before[1] + MUCH_SURER)
    assert 0 < is_new.sum() < N
    assert (kept[0] != before[0]).any()
    for found, new, old in zip(shown(session), now, kept, strict=True):
        np.testing.assert_array_equal(found, np.where(is_new, new, old))


def test_it_is_closer_to_the_map_that_follows(operator):
    session = refined(painted(operator))
    session.apply(stroke(2, 50))
    session.update()
    provisional = session.map_ids
    alone = painted(operator, stroke(2, 50)).map_ids
    following = refined(session).map_ids
    assert (provisional != following).sum() < (alone != following).sum()


def test_strokes_in_a_row_keep_the_same_refined_map(operator):
    session = refined(painted(operator))
    for first in (50, 60):
        session.apply(stroke(2, first))
        session.update()
    other = refined(painted(operator))
    other.apply(stroke(2, 50))
    other.apply(stroke(2, 60))
    other.update()
    for mine, one in zip(shown(session), shown(other), strict=True):
        np.testing.assert_array_equal(mine, one)


def test_the_refined_map_does_not_depend_on_what_was_shown(operator):
    session = refined(painted(operator))
    session.apply(stroke(2, 50))
    session.update()
    for mine, one in zip(
        shown(refined(session)), shown(refined(painted(operator, stroke(2, 50)))), strict=True
    ):
        np.testing.assert_array_equal(mine, one)


@pytest.fixture(scope="module")
def line():
    """Points in a row, of which a short walk reaches few and the refined map all."""
    return markov_operator(np.arange(N, dtype=float)[:, None], n_neighbors=2, random_state=0)


def test_nothing_is_kept_of_a_class_without_labels(line):
    session = refined(painted(line))
    for class_id in (1, 2, 3):
        assert (session.map_ids == class_id).sum() > N / 6  # far beyond the provisional map
    session.apply({"op": "remove", "stroke": session.strokes[1].number})
    session.update()
    assert not (session.map_ids == 2).any()
    for stroke_left in session.strokes:
        session.apply({"op": "remove", "stroke": stroke_left.number})
    session.update()
    assert not any(values.any() for values in shown(session))


@pytest.mark.parametrize(
    "operation", [{"op": "warp"}, {"op": "label_mode", "mode": "free"}, {"op": "tau", "tau": 40}]
)
def test_another_walk_keeps_nothing(operator, operation):
    session = refined(painted(operator))
    session.apply(operation)
    session.update()
    for mine, one in zip(shown(session), shown(painted(operator, operation)), strict=True):
        np.testing.assert_array_equal(mine, one)
