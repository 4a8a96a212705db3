"""Columns of strokes: dense powers and sums, and the same bits alone and among others."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from diffclass import MarkovOperator
from diffclass.label_diffusion.walk import HEIGHT
from diffclass.relabel.columns import (
    ColumnStore,
    Horizon,
    diffused_columns,
    with_padded_rows,
)
from diffclass.relabel.strokes import new_stroke
from tests import naive

TAUS = [1, 2, 15, 16, 17, 40, 300, 3000]
SUMS = pytest.mark.parametrize("is_sum", [False, True])


def end(tau):
    return Horizon(tau, is_sum=False)


def blobs(seed=0, dtype=np.float64, gap=4.0):
    """Two blobs of 30 points, joined or not, and a point by itself; dense and as operator."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [gap, 0]], 30, axis=0)
    K = naive.gaussian(*naive.neighbors_graph(X, 8), 1.0)
    K = np.pad(K, (0, 1))
    K[60, 60] = 1
    return K, MarkovOperator.from_affinity(sp.csr_array(K.astype(dtype)))


def groups_of(seed, n_groups):
    rng = np.random.default_rng(seed)
    return [
        np.sort(rng.choice(61, rng.integers(1, 9), replace=False)).astype(np.int32)
        for _ in range(n_groups)
    ]


def whole(column, operator):
    return column.at(np.arange(len(operator)), operator.components) / HEIGHT


def test_padded_rows_are_the_same_operator(rng):
    _, A = blobs()
    padded, f = with_padded_rows(A), rng.random((61, 3))
    assert not (np.diff(padded.affinity.indptr) % 4).any()
    np.testing.assert_allclose(padded @ f, A @ f, rtol=1e-13)
    np.testing.assert_array_equal(padded.components, A.components)


@SUMS
@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("gap", [3.0, 50.0])
def test_columns_are_dense_powers(tau, gap, is_sum):
    K, A = blobs(gap=gap)
    dense = naive.markov_matrix(K)
    power = np.linalg.matrix_power(dense, tau)
    if is_sum:
        power, last = np.eye(61), np.eye(61)
        for _ in range(tau):
            last = dense @ last
            power += last
    groups = groups_of(tau, 5)
    columns = diffused_columns(A, groups, Horizon(tau, is_sum=is_sum))
    for points, column in zip(groups, columns, strict=True):
        expected = power[:, points].sum(axis=1)
        np.testing.assert_allclose(whole(column, A), expected, rtol=1e-9, atol=1e-14)
        total = np.zeros(61)
        column.add_to(total, A.components)
        np.testing.assert_allclose(total / HEIGHT, expected, rtol=1e-9, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 999),
    n_groups=st.integers(2, 40),
    tau=st.sampled_from(TAUS[:-1]),
    dtype=st.sampled_from([np.float32, np.float64]),
    is_sum=st.booleans(),
)
def test_a_column_does_not_depend_on_those_beside_it(seed, n_groups, tau, dtype, is_sum):
    _, A = blobs(seed % 3, dtype)
    groups = groups_of(seed, n_groups)
    groups[0] = np.arange(61, dtype=np.int32)  # late at once, others not
    horizon = Horizon(tau, is_sum=is_sum)
    together = diffused_columns(A, groups, horizon)
    for points, column in list(zip(groups, together, strict=True))[::5]:
        (alone,) = diffused_columns(A, [points], horizon)
        assert alone.values.dtype == (np.float64 if is_sum else dtype)
        assert alone.values.tobytes() == column.values.tobytes()
        assert alone.limits.tobytes() == column.limits.tobytes()


def test_the_limit_is_taken_out_late_and_only_where_all_has_arrived():
    _, A = blobs(gap=4.0)
    assert A.n_connected_components == 2
    everywhere, one = np.arange(61, dtype=np.int32), np.array([3], dtype=np.int32)
    early, late = (diffused_columns(A, [everywhere, one], end(tau)) for tau in (15, 3000))
    assert [bool(column.limits.any()) for column in early] == [False, False]
    assert [bool(column.limits.any()) for column in late] == [True, True]
    assert diffused_columns(A, [everywhere], end(16))[0].limits.any()
    assert not diffused_columns(A, [one], end(16))[0].limits.any()


def test_little_things_survive_single_precision():
    n, tau = 60, 59
    K = np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)
    A = MarkovOperator.from_affinity(sp.csr_array(K.astype(np.float32)))
    (column,) = diffused_columns(A, [np.array([0], dtype=np.int32)], end(tau))
    expected = np.linalg.matrix_power(naive.markov_matrix(K), tau)[:, 0]
    assert expected[-1] < 1e-27
    np.testing.assert_allclose(whole(column, A), expected, rtol=1e-5)


def test_late_columns_keep_their_differences():
    K, A = blobs(dtype=np.float32, gap=4.5)
    points = np.array([3, 7], dtype=np.int32)
    power = np.linalg.matrix_power(naive.markov_matrix(K), 2000)[:, points].sum(axis=1)
    (column,) = diffused_columns(A, [points], end(2000))
    assert column.limits.any()
    limit = column.limits[A.components] / HEIGHT
    apart = np.abs(power - limit).max()
    assert np.abs(column.values / HEIGHT - (power - limit)).max() < 2e-3 * apart + 1e-12


def test_the_store_keeps_what_is_used_within_its_room():
    _, A = blobs()
    store = ColumnStore(A, max_bytes=5 * 61 * 8)
    strokes = [new_stroke(i + 1, 1, points) for i, points in enumerate(groups_of(0, 8))]
    first = store.of(strokes[:4], end(3))
    assert [a is b for a, b in zip(store.of(strokes[:4], end(3)), first, strict=True)] == [True] * 4
    store.of(strokes[:1], end(3))
    store.of(strokes[4:6], end(3))  # six: the oldest that is not in use goes
    assert len(store) == 5
    assert store.of(strokes[:1], end(3))[0] is first[0]
    assert store.of(strokes[1:2], end(3))[0] is not first[1]
    again = store.of(strokes[1:2], end(3))[0]
    assert again.values.tobytes() == first[1].values.tobytes()
    assert len(store.of(strokes, end(3))) == len(store) == 8  # in use together: all stay
    assert store.of(strokes[:1], end(4))[0].values.tobytes() != first[0].values.tobytes()


def test_strokes_of_one_shape_share_a_column():
    _, A = blobs()
    points = np.array([1, 5], dtype=np.int32)
    one, other = ColumnStore(A).of(
        [new_stroke(1, 1, points), new_stroke(9, 4, points.copy())], end(3)
    )
    assert one is other
