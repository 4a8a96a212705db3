"""Neighbour search by an inverted file."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from diffclass._compiled._threads import openmp_for
from diffclass._validation import RandomState, check_positive
from diffclass.neighbors.search import Search, SinglePrecision, row_distances

LEAST_RECALL, AIMED_RECALL = 0.98, 0.985


class InvertedFileSearch(Search):
    """Nearest neighbours by faiss's inverted file: it probes the nearest of many k-means cells.

    Parameters
    ----------
    n_neighbors : int, default=12
        Neighbours of a point, itself not counted.
    n_lists : int, optional
        Number of cells; 3 sqrt(n) by default.
    n_probes : int, optional
        Number of cells probed per point. By default about the smallest with which 256 sampled
        points find 98.5 % of their true neighbours.
    random_state : int, RandomState or None, default=None
        Seeds k-means and the samples.

    Attributes
    ----------
    recall_ : float
        Share of the true neighbours that were found, measured on 256 other points than those used
        to choose ``n_probes_``. With ``n_probes=None`` it is at least 0.98; more cells are probed
        until it is.
    n_lists_, n_probes_ : int
        Numbers of cells and of probes in use.

    References
    ----------
    M. Douze et al., The Faiss library, 2024.
    """

    def __init__(
        self,
        n_neighbors: int = 12,
        *,
        n_lists: int | None = None,
        n_probes: int | None = None,
        random_state: RandomState = None,
    ):
        self.n_neighbors = n_neighbors
        self.n_lists = n_lists
        self.n_probes = n_probes
        self.random_state = random_state

    def _index(self, X: np.ndarray) -> None:
        import faiss

        random = check_random_state(self.random_state)
        n, d = X.shape
        self.n_lists_ = min(self._given("n_lists") or max(1, int(3 * np.sqrt(n))), n)
        self._single = SinglePrecision(X)
        centered = self._single(X)
        quantizer = faiss.IndexFlatL2(d)
        self._faiss = faiss.IndexIVFFlat(quantizer, d, self.n_lists_)
        self._faiss.cp.seed = int(random.randint(2**31 - 1))
        self._faiss.cp.niter = 8
        self._faiss.cp.max_points_per_centroid = 50
        self._faiss.cp.min_points_per_centroid = 1
        self._faiss.train(centered)
        self._faiss.add(centered)
        self._choose_probes(centered, random)

    def _choose_probes(self, points: np.ndarray, random: np.random.RandomState) -> None:
        k = min(self.n_neighbors, len(points) - 1)
        chosen = random.permutation(len(points))[:512]
        choosing, reporting = chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]
        reporting_reach = _true_reach(points, reporting, k)
        if self._given("n_probes"):
            self.n_probes_ = min(self.n_probes, self.n_lists_)
            self.recall_ = self._recall(points, reporting, reporting_reach, k)
            return
        self.n_probes_ = min(4, self.n_lists_)
        self._probe_until(AIMED_RECALL, points, choosing, _true_reach(points, choosing, k), k)
        self.recall_ = self._probe_until(LEAST_RECALL, points, reporting, reporting_reach, k)

    def _given(self, name: str) -> Any:
        value = getattr(self, name)
        return value if value is None else check_positive(value, name, integer=True)

    def _probe_until(
        self, recall: float, points: np.ndarray, sample: np.ndarray, reach: np.ndarray, k: int
    ) -> float:
        """Probe more cells until the sample reaches the recall; probing all cells is exact."""
        reached = self._recall(points, sample, reach, k)
        while reached < recall and self.n_probes_ < self.n_lists_:
            self.n_probes_ = min(self.n_probes_ + max(1, self.n_probes_ // 3), self.n_lists_)
            reached = self._recall(points, sample, reach, k)
        return reached

    def _recall(self, points: np.ndarray, sample: np.ndarray, reach: np.ndarray, k: int) -> float:
        """Share of found neighbours that are no farther than the true k-th one."""
        if k == 0 or len(sample) == 0:
            return 1.0
        queries = points[sample]
        _, found = self._probed(queries, k + 1)
        near = _share_within(points, sample, found, reach)  # each point also finds itself
        return (near * (k + 1) - 1) / k

    def _nearest(self, X: np.ndarray, k: int) -> np.ndarray:
        queries = self._single(X)
        _, found = self._probed(queries, k)
        short = np.flatnonzero((found < 0).any(axis=1))
        if len(short):  # the probed cells held fewer than k points: probe all
            _, found[short] = self._faiss.search(
                queries[short], k, params=self._probing(self.n_lists_)
            )
        return found

    def _probed(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        share = self.n_probes_ / self.n_lists_
        with openmp_for(queries.size * self._faiss.ntotal * share):
            return self._faiss.search(queries, k, params=self._probing(self.n_probes_))

    @staticmethod
    def _probing(n_probes: int) -> Any:
        import faiss

        parameters = faiss.SearchParametersIVF()
        parameters.nprobe = n_probes
        return parameters

    def __getstate__(self) -> dict[str, Any]:
        import faiss

        state = super().__getstate__()
        if "_faiss" in state:
            state = state | {"_faiss": faiss.serialize_index(state["_faiss"])}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        import faiss

        if "_faiss" in state:
            state = state | {"_faiss": faiss.deserialize_index(state["_faiss"])}
        super().__setstate__(state)


def _true_reach(points: np.ndarray, sample: np.ndarray, k: int) -> np.ndarray:
    """Return squared distances from sampled points to their true k-th neighbours, (m, 1)."""
    import faiss

    queries = points[sample]
    with openmp_for(queries.size * len(points)):
        _, true = faiss.knn(queries, points, k + 1)
    return row_distances(queries, points[true]).max(axis=1, keepdims=True)


def _share_within(
    points: np.ndarray, sample: np.ndarray, found: np.ndarray, reach: np.ndarray
) -> float:
    """Return the share of found points (-1: none) no farther than the true k-th neighbour."""
    if found.size == 0:
        return 1.0
    near = row_distances(points[sample], points[found]) <= reach * (1 + 1e-5)
    return float(np.count_nonzero(near & (found >= 0)) / found.size)
