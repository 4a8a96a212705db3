"""Absorbing labels of many classes, of which each point keeps only the largest values.

With a thousand classes nearly all of the columns are nearly 0 nearly everywhere. Here each point
keeps its k largest values after every step, and the others are dropped: a step costs what k columns
cost in place of n_classes, and so does the memory. The sum over all classes is a column of its own,
which the walk gives exactly. The share of it that the kept values lack is what all steps so far
have dropped, and no kept value is too small by more than that.

To drop what is small at every step is usual for personalised PageRank (R. Andersen, F. Chung and
K. Lang, Local graph partitioning using PageRank vectors, 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np
import scipy.sparse as sp

from diffclass import _compiled
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.maps import Decision, counted_every, decide
from diffclass.label_diffusion.reach import Reach
from diffclass.label_diffusion.walk import HEIGHT, Walk
from diffclass.operators.markov import MarkovOperator
from diffclass.system.progress import checkpoint


class LargestWalk(Walk):
    """The walk stops at a label, and each point keeps the values of its largest classes.

    State and values are csr_arrays (n, n_classes) with k slots in each row, see `slots`.
    """

    goes_by_cut = True
    labels_shield = True

    def __init__(self, operator: MarkovOperator, labels: Labels, kept_classes: int):
        self._labels = _LabelsOfEach.of(labels, operator.dtype)
        self._n_kept = min(kept_classes, labels.n_classes)
        nothing = np.full(labels.n_points, -1), self._labels.total
        start = columns_of(*nothing, labels.n_classes, self._n_kept)
        self._labels.set_in(start)
        super().__init__(operator, labels, state=start)
        self._total = self._labels.total[:, None]
        self.scale /= HEIGHT

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        n_steps, self.time = time - self.time, time
        self.state = _walked(self.operator, self.state, self._labels, n_steps)
        stopped, passing = self._labels.total[:, None], self._labels.passing[:, None]
        for _ in range(n_steps):
            following = np.empty_like(self._total)
            self.operator.backward(self._total, following)
            self._total = passing * following + stopped

    def dropped(self) -> np.ndarray:
        """Return the share, 0 to 1, of what has arrived at each point that was dropped; (n,)."""
        total = self._total[:, 0].astype(np.float64)
        kept = self.state.sum(axis=1, dtype=np.float64)
        share = np.divide(kept, total, out=np.ones_like(total), where=total > 0)
        return np.clip(1 - share, 0, 1)

    def values(self) -> sp.csr_array:
        """N_i, at least 0, in double precision."""
        return self._values_of(self.state)

    def _values_of(self, columns: sp.csr_array) -> sp.csr_array:
        values = columns.astype(np.float64)
        values.data[values.data < self.least] = 0
        values.data /= HEIGHT
        return values

    def decision(self, class_weight: np.ndarray) -> Decision:
        """Return the class of each point at the present time, -1 where nothing has arrived.

        Its margin is part of all that has arrived, so that tau does not depend on what is dropped.
        """
        found, kept = decide(self.state, class_weight), 1 - self.dropped()
        return Decision(found.codes, found.probability * kept, found.margin * kept)

    def mass_of(self, values: sp.csr_array) -> np.ndarray:
        """Return the masses <N_i, pi> of some values, of shape (n_classes,)."""
        return values.T @ self.operator.stationary_distribution

    def counted(self, values: sp.csr_array) -> np.ndarray:
        """Return the values of every `counted_every`-th point."""
        return values[:: counted_every(len(self.operator))].toarray()

    def spread(self, codes: np.ndarray, n_steps: int) -> sp.csr_array:
        """Return a map diffused some steps, with labels that absorb the walk."""
        heights = np.full(len(codes), HEIGHT, self.operator.dtype)
        columns = columns_of(codes, heights, self.n_classes, self._n_kept)
        self._labels.set_in(columns)
        return self._values_of(_walked(self.operator, columns, self._labels, n_steps))

    def decide(
        self, values: sp.csr_array, class_weight: np.ndarray, n_steps: int | None
    ) -> Decision:
        """Fill unreached points in place, and find the class of each point; see `Reach`."""
        reach = Reach(self.operator, self.labels.points[self.labels.counted])
        is_empty = np.asarray(values.sum(axis=1) == 0)
        lost = reach.lost(is_empty, n_steps=n_steps)
        _fill_by_fronts(self.operator, values, lost)
        return decide(values, class_weight, dtype=self.operator.dtype)

    def checkpoint(self, *names: str) -> None:
        """Save the present state under some names, instead of those saved before."""
        # without a copy: steps write to new arrays
        self._checkpoints.update(dict.fromkeys(names, (self.time, self.state, self._total)))

    def restore(self, name: str) -> int:
        """Go back to a checkpoint, drop all and return its time, tau."""
        self.time, self.state, self._total = self._checkpoints[name]
        self._checkpoints = {}
        return self.time


def largest_map_scores(
    operator: MarkovOperator, codes: np.ndarray, n_classes: int, *, kept_classes: int, n_steps: int
) -> sp.csr_array:
    """Return `diffclass.label_diffusion.map_scores` of the largest classes, (n, n_classes).

    Points without a class count for none. Rows do not sum to 1.
    """
    n, dtype = len(operator), operator.dtype
    columns = columns_of(codes, np.ones(n, dtype), n_classes, min(kept_classes, n_classes))
    return _walked(operator, columns, _LabelsOfEach.none(n, dtype), n_steps)


def columns_of(codes: np.ndarray, values: np.ndarray, n_classes: int, n_kept: int) -> sp.csr_array:
    """Return columns with one value at each point, for the class of its code; none for -1."""
    columns = _blank(len(codes), n_classes, n_kept, values.dtype)
    own, heights = slots(columns)
    first = np.maximum(codes, 0)
    own[:] = (first[:, None] + np.arange(n_kept)) % n_classes
    heights[:] = 0
    heights[:, 0] = np.where(codes >= 0, values, 0)
    return columns


def slots(columns: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return views of the classes and values of columns with k slots a row, both (n, k).

    The classes of a row are all different; a slot that is not needed holds 0 for some class.
    """
    n = columns.shape[0]
    return columns.indices.reshape(n, -1), columns.data.reshape(n, -1)


def _blank(n: int, n_classes: int, n_kept: int, dtype: np.dtype) -> sp.csr_array:
    starts = np.arange(n + 1) * n_kept
    arrays = np.empty(n * n_kept, dtype), np.empty(n * n_kept, np.int32), starts
    return sp.csr_array(arrays, shape=(n, n_classes))


@dataclass(frozen=True, eq=False)
class _LabelsOfEach:
    """The labels at each point as `AbsorbingLabels` has those of the labelled ones.

    Those of x are from starts(x) to starts(x + 1), the strongest is the last.
    """

    starts: np.ndarray  # (n + 1,)
    own: np.ndarray  # (n_labels,), their classes
    stopped: np.ndarray  # (n_labels,)
    total: np.ndarray  # (n,), sum of what is stopped
    passing: np.ndarray  # (n,)

    @classmethod
    def none(cls, n: int, dtype: np.dtype | type) -> _LabelsOfEach:
        own, starts = np.zeros(0, np.int32), np.zeros(n + 1, np.int64)
        return cls(starts, own, np.zeros(0, dtype), np.zeros(n, dtype), np.ones(n, dtype))

    @classmethod
    def of(cls, labels: Labels, dtype: np.dtype) -> _LabelsOfEach:
        n, own = labels.n_points, labels.codes.astype(np.int32)
        starts = np.searchsorted(labels.points, np.arange(n + 1))
        total = np.bincount(labels.points, labels.weight, minlength=n)
        total[abs(total - 1) < np.finfo(np.float32).eps] = 1  # but for rounding of the sums
        stopped, total = (one.astype(dtype) for one in (labels.weight, total))
        return cls(starts, own, stopped * HEIGHT, total * HEIGHT, 1 - total)

    def set_in(self, columns: sp.csr_array) -> None:
        """Set the rows of labelled points in place, the strongest label first."""
        n_classes, (codes, values) = columns.shape[1], slots(columns)
        n_labels, n_kept = np.diff(self.starts), codes.shape[1]
        labelled = np.flatnonzero(n_labels)
        strongest = self.starts[labelled + 1] - 1
        codes[labelled] = (self.own[strongest][:, None] + np.arange(n_kept)) % n_classes
        values[labelled] = 0
        values[labelled, 0] = self.stopped[strongest]
        for x in np.flatnonzero(n_labels > 1):
            here = slice(self.starts[x], self.starts[x + 1])
            own, stopped = self.own[here][::-1][:n_kept], self.stopped[here][::-1][:n_kept]
            others = (i for i in range(n_classes) if i not in own)
            codes[x] = [*own, *islice(others, n_kept - len(own))]
            values[x, : len(own)] = stopped


def _walked(
    operator: MarkovOperator, columns: sp.csr_array, labels: _LabelsOfEach, n_steps: int
) -> sp.csr_array:
    for _ in range(n_steps):
        checkpoint()
        columns = _product(operator.affinity, operator.inverse_degrees, columns, labels)
    return columns


def _product(
    K: sp.csr_array, row_scale: np.ndarray, columns: sp.csr_array, labels: _LabelsOfEach
) -> sp.csr_array:
    n_classes, (codes, values) = columns.shape[1], slots(columns)
    found = _blank(K.shape[0], n_classes, codes.shape[1], values.dtype)
    _compiled.largest.largest_product(
        K.indptr, K.indices, K.data, row_scale, codes, values,
        labels.starts, labels.own, labels.stopped, labels.passing, n_classes, *slots(found),
    )  # fmt: skip
    return found


def _fill_by_fronts(operator: MarkovOperator, values: sp.csr_array, lost: np.ndarray) -> None:
    """Fill the rows of lost points in place, as `diffclass.label_diffusion.reach` says."""
    codes, held = slots(values)
    left = np.flatnonzero(lost)
    while len(left):
        filled = held.any(axis=1)
        K = operator.affinity[left]
        into = K.astype(np.float64) @ filled
        front = into > 0
        n = int(np.count_nonzero(front))
        if not n:
            return
        found = _product(K[front], 1 / into[front], values, _LabelsOfEach.none(n, values.dtype))
        codes[left[front]], held[left[front]] = slots(found)
        left = left[~front]
