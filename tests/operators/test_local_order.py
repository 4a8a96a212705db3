"""Large graphs are walked in another order of their points: nothing that is found changes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from diffclass import MarkovOperator, diffuse_labels, markov_operator
from diffclass.label_diffusion import Labels, diffusion
from diffclass.label_diffusion.held_out_labels import hold_out_labels
from diffclass.neighbors import ExactSearch, NNDescentSearch
from diffclass.operators import warped_operator
from diffclass.operators.local_order import inverse, local_order, renumbered

N = 1200


@pytest.fixture(scope="module", params=[ExactSearch, NNDescentSearch])
def operator(request):
    X = np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)
    return markov_operator(X + 6 * (np.arange(N) % 3)[:, None], search=request.param(8))


@pytest.fixture
def codes():
    codes = np.full(N, -1)
    codes[:30] = np.arange(30) % 3
    return codes


def bandwidth(graph):
    rows, columns = graph.nonzero()
    return np.abs(rows - columns).mean()


def test_points_of_an_edge_lie_together(operator):
    order, local = operator.in_local_order
    assert sorted(order) == list(range(N))
    assert bandwidth(local.affinity) < bandwidth(operator.affinity) / 3


def test_a_step_gives_the_same_bits(operator, rng):
    order, local = operator.in_local_order
    f = rng.normal(size=(N, 4))
    assert np.array_equal((local @ f[order])[inverse(order)], operator @ f)
    assert np.array_equal(local.degrees, operator.degrees[order])


def test_the_order_is_that_of_the_cells(operator):
    cells = NNDescentSearch(8, random_state=0).fit(np.repeat(np.eye(3), 20, axis=0))
    assert cells.order is None  # one point stands for its equals
    if operator.order is not None:
        assert operator.in_local_order[0] is operator.order


def test_renumbered_is_a_permutation_of_rows_and_columns(rng):
    graph = sp.random_array((30, 30), density=0.2, rng=rng, format="csr")
    graph = sp.csr_array(graph + graph.T)
    order = local_order(graph)
    assert np.array_equal(renumbered(graph, order).toarray(), graph.toarray()[order][:, order])


@pytest.mark.parametrize("label_mode", ["auto", "absorbing", "summed", "free"])
@pytest.mark.parametrize("tau", ["auto", 20])
def test_labels_diffuse_alike(operator, codes, label_mode, tau, monkeypatch):
    weight = np.linspace(0.5, 1, N)
    found = [
        diffuse_labels(operator, codes, label_mode=label_mode, tau=tau, label_weight=weight)
        for large in (N + 1, N)
        if monkeypatch.setattr(diffusion, "LOCAL_ORDER_POINTS", large) is None
    ]
    plain, reordered = found
    assert plain.tau == reordered.tau
    assert plain.weighting == reordered.weighting
    assert np.array_equal(plain.codes, reordered.codes)
    for name in ("values", "probability", "margin"):
        np.testing.assert_allclose(getattr(reordered, name), getattr(plain, name), rtol=1e-5)


def test_labels_are_left_out_alike(operator, codes, monkeypatch):
    found = diffuse_labels(operator, codes, label_mode="absorbing", tau=30)
    plain = hold_out_labels(operator, Labels.of(codes), found)
    monkeypatch.setattr(diffusion, "LOCAL_ORDER_POINTS", N)
    reordered = hold_out_labels(operator, Labels.of(codes), found)
    assert np.array_equal(plain.points, reordered.points)
    np.testing.assert_allclose(reordered.posteriors, plain.posteriors, rtol=1e-5)


def test_warped_walks_keep_their_order(operator, codes, rng, monkeypatch):
    monkeypatch.setattr(diffusion, "LOCAL_ORDER_POINTS", N)
    warped = warped_operator(operator, rng.dirichlet(np.ones(3), N))
    found = diffuse_labels(warped, codes, tau=5)
    assert np.array_equal(found.codes[codes >= 0], codes[codes >= 0])


def test_what_can_be_found_again_is_not_pickled(operator):
    operator.in_local_order  # noqa: B018
    copy = pickle.loads(pickle.dumps(operator))
    assert isinstance(copy, MarkovOperator)
    assert set(vars(copy)) == {
        "affinity", "degrees", "density", "alpha", "processor", "nodes", "order",
    }  # fmt: skip
