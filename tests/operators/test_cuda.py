"""Steps and neighbours on a device; without one, the same kernels in Numba's simulator."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from numba import cuda

from diffclass import (
    DiffusionClassifier,
    MarkovOperator,
    StoppingRule,
    diffuse_labels,
    markov_operator,
)
from diffclass._cuda import kernels
from diffclass.exceptions import DataError, ParameterError
from diffclass.neighbors import CudaSearch, ExactSearch, RadiusSearch, on_device
from diffclass.operators import Cuda, processor_of
from diffclass.operators.processor import HOST, Processor

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"
HAS_DEVICE = SIMULATED or cuda.is_available()
on_a_device = pytest.mark.skipif(not HAS_DEVICE, reason="no device; run in the simulator")
N = 30
MANY = 12 if SIMULATED else 150  # steps; the simulator takes a quarter of a second for each
if SIMULATED:  # whose cost is that of its threads; several blocks of them meet
    kernels.THREADS, kernels._WARP = 16, 4
PRECISIONS = {np.float32: 1e-5, np.float64: 1e-12}


@pytest.mark.skipif(HAS_DEVICE, reason="they run here")
@pytest.mark.slow
def test_all_of_these_in_the_simulator():
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", __file__]
    variables = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(words, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout


class Other(Processor):
    """A processor that is not the default."""


def operator_of(dtype=np.float64, n=N):
    X = np.random.default_rng(0).normal(size=(n, 3)).astype(dtype)
    return markov_operator(X, n_neighbors=5, search=ExactSearch(5))


@on_a_device
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("n_columns", [1, 3, 4, 37])
def test_a_step_is_the_product_written_out(dtype, n_columns):
    A = operator_of(dtype)
    f = np.random.default_rng(1).random((N, n_columns)).astype(dtype)
    dense = A.affinity.toarray() / A.degrees[:, None]
    found = A.on(Cuda()) @ f
    assert found.dtype == dtype
    np.testing.assert_allclose(found, dense @ f, rtol=PRECISIONS[dtype])
    np.testing.assert_allclose(found, A @ f, rtol=PRECISIONS[dtype])


@on_a_device
@pytest.mark.parametrize("n_steps", [0, 1, 4, [3, 1, 3], MANY, [MANY - 9, MANY]])
def test_powers_are_those_of_the_processor(n_steps):
    A, f = operator_of(), np.random.default_rng(1).random((N, 2))
    np.testing.assert_allclose(A.on(Cuda()).apply(f, n_steps), A.apply(f, n_steps), atol=1e-11)
    mass = A.on(Cuda()).forward(f, n_steps)
    np.testing.assert_allclose(
        mass.sum(axis=-2), np.broadcast_to(f.sum(axis=0), (*mass.shape[:-2], 2))
    )


@on_a_device
@pytest.mark.parametrize("n_steps", [0, 1, 4, 5, MANY])
def test_visits_are_those_of_the_processor(n_steps):
    A, f = operator_of(), np.random.default_rng(1).random(N)
    for found, true in zip(
        A.on(Cuda()).expected_visits(f, n_steps), A.expected_visits(f, n_steps), strict=True
    ):
        np.testing.assert_allclose(found, true, rtol=1e-10)


@on_a_device
def test_rows_without_edges_to_others_and_wide_row_pointers():
    dense = np.zeros((6, 6))
    dense[:2, :2] = dense[3:, 3:] = 1
    K = sp.csr_array(dense)
    K.indptr, K.indices = K.indptr.astype(np.int64), K.indices.astype(np.int64)
    A = MarkovOperator.from_affinity(K)
    f = np.arange(6.0)
    np.testing.assert_allclose(A.on(Cuda()) @ f, [0.5, 0.5, 2, 4, 4, 4])


@on_a_device
@pytest.mark.parametrize("label_mode", ["absorbing", "free", "summed"])
def test_labels_diffuse_as_on_the_processor(label_mode):
    A, y = operator_of(), np.full(N, -1)
    y[:6] = [0, 1, 2, 0, 1, 2]
    chosen = {"label_mode": label_mode, "tau": StoppingRule(max_time=8)}
    found, true = (diffuse_labels(B, y, **chosen) for B in (A.on(Cuda()), A))
    assert found.tau == true.tau
    np.testing.assert_array_equal(found.codes, true.codes)
    np.testing.assert_allclose(found.values, true.values, rtol=1e-10)


@on_a_device
def test_late_steps_of_absorbing_labels_by_series():
    A, y = operator_of(n=12), np.full(12, -1)
    y[:2] = 0, 1
    weight = np.full(12, 0.5)  # some of what arrives goes on
    found, true = (
        diffuse_labels(B, y, label_mode="absorbing", tau=60, label_weight=weight)
        for B in (A.on(Cuda()), A)
    )
    np.testing.assert_allclose(found.values, true.values, atol=1e-10)


@on_a_device
@pytest.mark.parametrize(("n", "n_features", "k"), [(40, 3, 5), (10, 1, 12), (25, 70, 4)])
@pytest.mark.parametrize("dtype", PRECISIONS)
def test_neighbors_are_the_nearest(n, n_features, k, dtype):
    X = (1000 + np.random.default_rng(0).normal(size=(n, n_features))).astype(dtype)
    found, true = (search(k).fit_transform(X) for search in (CudaSearch, ExactSearch))
    np.testing.assert_array_equal(found.toarray() > 0, true.toarray() > 0)
    np.testing.assert_allclose(found.toarray(), true.toarray(), rtol=1e-5)


@on_a_device
@pytest.mark.parametrize("n_features", [18, 20, 40, 41])
def test_features_beyond_the_shared_memory_are_met_in_parts(monkeypatch, n_features):
    monkeypatch.setattr(kernels, "_SHARED_FLOATS", 20)
    monkeypatch.setattr(kernels, "_MOST_HELD", 16)  # at most as many as are shared
    kernels.nearest_kernel.cache_clear()
    X = np.random.default_rng(0).normal(size=(15, n_features)).astype(np.float32)
    found, true = (search(4).fit_transform(X) for search in (CudaSearch, ExactSearch))
    kernels.nearest_kernel.cache_clear()
    np.testing.assert_array_equal(found.toarray() > 0, true.toarray() > 0)
    np.testing.assert_allclose(found.toarray(), true.toarray(), rtol=1e-5)


@on_a_device
def test_new_points_and_many_duplicates():
    X = np.repeat(np.random.default_rng(0).normal(size=(6, 2)), [9, 1, 1, 1, 1, 1], axis=0)
    searches = [search(4) for search in (CudaSearch, ExactSearch)]
    assert searches[0].fit(X).recall_ == 1
    found, true = (search.fit_transform(X) for search in searches)
    assert found.nnz == true.nnz
    new = X + 0.01
    found, true = (search.transform(new) for search in searches)
    np.testing.assert_allclose(np.sort(found.data), np.sort(true.data), rtol=1e-4)


@on_a_device
def test_a_fill_value_leaves_the_neighbors():
    X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    X[:, 1] = np.finfo(np.float32).max  # its sum overflows
    found, true = (search(4).fit_transform(X) for search in (CudaSearch, ExactSearch))
    np.testing.assert_array_equal(found.indices, true.indices)


@on_a_device
def test_distances_that_are_no_numbers_are_refused(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 2))
    search = CudaSearch(3).fit(X)
    monkeypatch.setattr(search, "_scaled", lambda X: np.full(X.shape, np.nan, dtype=np.float32))
    with pytest.raises(DataError, match="30 points have distances that are no numbers"):
        search.transform(X)


@on_a_device
def test_launches_over_parts_of_the_points_find_the_same(monkeypatch):
    monkeypatch.setattr("diffclass.neighbors.search._QUERIES", 7)
    monkeypatch.setattr("diffclass.neighbors.search._POINTS", 11)
    X = np.random.default_rng(0).normal(size=(20, 2))
    found, true = (search(3).fit_transform(X) for search in (CudaSearch, ExactSearch))
    np.testing.assert_array_equal(found.indices, true.indices)


@on_a_device
def test_the_classifier_gives_the_same_map():
    random = np.random.default_rng(0)
    X = np.concatenate([random.normal(c, 0.5, size=(15, 2)) for c in (0, 4)])
    y = np.full(N, -1)
    y[[0, 1, 15, 16]] = 0, 0, 1, 1
    there, here = (
        DiffusionClassifier(tau=StoppingRule(max_time=8), device=name).fit(X, y)
        for name in ("cuda", "cpu")
    )
    assert isinstance(there.graph_.search, CudaSearch)
    np.testing.assert_array_equal(there.transduction_, here.transduction_)
    np.testing.assert_allclose(there.label_distributions_, here.label_distributions_, atol=1e-6)
    np.testing.assert_array_equal(there.predict(X + 0.1), here.predict(X + 0.1))
    again = pickle.loads(pickle.dumps(there))
    np.testing.assert_array_equal(again.predict(X), there.predict(X))


@pytest.mark.skipif(SIMULATED or not HAS_DEVICE, reason="has no end of memory")
def test_too_much_for_the_device_is_said():
    from diffclass._cuda import device

    total = device.memory_bytes()[1]
    with pytest.raises(ParameterError, match=r"GiB free and .* more are needed; use device"):
        device.blank((2 * total,), np.dtype(np.uint8))
    assert device.memory_bytes()[0] > total / 2


def test_a_walk_on_another_processor_stays_there():
    other = Other()
    A = operator_of(np.float32).on(other)
    assert A.in_double_precision().processor is other
    assert A.in_local_order[1].processor is other
    assert pickle.loads(pickle.dumps(A)).processor == other
    assert processor_of("cpu") is HOST


def test_only_searches_of_the_nearest_go_to_the_device():
    assert on_device(ExactSearch(7)).n_neighbors == 7
    radius = RadiusSearch(1.0)
    assert on_device(radius) is radius


def test_other_devices_are_refused():
    with pytest.raises(ParameterError, match=r"device = 'tpu'; possible: 'cpu', 'cuda'"):
        DiffusionClassifier(device="tpu").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.skipif(HAS_DEVICE, reason="there is one")
def test_without_a_device_one_is_not_promised():
    with pytest.raises(ParameterError, match=r'device="cuda" cannot be used: .*; leave it out'):
        DiffusionClassifier(device="cuda").fit([[0.0], [1.0]], [0, 1])
