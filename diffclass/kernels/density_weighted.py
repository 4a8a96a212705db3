"""The density-weighted kernel: an edge counts the more, the denser the points at its ends lie.

With s(x) the distance from x to its j-th neighbour, relative to that of the median point,

    k(x, y) / (s(x) s(y))^power.

A self-tuned kernel evens out the density: its walk crosses a sparse region between two clusters as
easily as a cluster. With the weights the walk stays in the dense, sparse regions separate clusters,
and few points far from all others carry nearly no mass.

Sources: L. Zelnik-Manor and P. Perona, Self-tuning spectral clustering, 2004 (the scales); Coifman
et al. 2005, section 2.2 (densities in the kernel: in m dimensions p is as s^-m, so this is the
kernel p^-alpha k p^-alpha of a negative alpha = -power / m).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import check_positive
from diffclass.kernels._kernel import NEIGHBOR, OF_EACH_POINT, FittedKernel, Kernel
from diffclass.kernels.isotropic import neighbor_distances
from diffclass.kernels.over_kernel import FITTED_INNER, INNER, OverKernel

# A scale counts as at most this many times larger or smaller than the median one: duplicates, whose
# scale is nearly 0, would otherwise have all the mass.
_LARGEST_RATIO = 100.0


class DensityWeighted(OverKernel):
    """The affinities of another kernel, weighted by the density at both ends.

    Parameters
    ----------
    kernel : Kernel, optional
        The kernel of the affinities k; the self-tuning `Gaussian` by default.
    power : float, default=2.0
        At least 0; 0 leaves k as it is.
    neighbor : int, default=7
        The number j of the neighbour whose distance is the scale s(x).

    See Also
    --------
    Gaussian : Without the weights; one global bandwidth also lets the density count.
    SharedNeighbors : Weighs edges by shared neighbours, whatever the density; to classify.

    Examples
    --------
    The walk on three dense points and three sparse ones stays with the dense:

    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.kernels import DensityWeighted
    >>> X = np.array([[0.0], [0.1], [0.2], [2.0], [3.0], [4.0]])
    >>> A = markov_operator(X, n_neighbors=2, kernel=DensityWeighted(neighbor=2))
    >>> bool(A.stationary_distribution[:3].sum() > 0.99)
    True
    """

    kept_fields: ClassVar = {"kernel": INNER, "neighbor": NEIGHBOR}

    def __init__(self, kernel: Kernel | None = None, *, power: float = 2.0, neighbor: int = 7):
        self.kernel = kernel
        self.power = power
        self.neighbor = neighbor

    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedDensityWeighted]:
        """Return k / (s s)^power; see `Kernel.fit`.

        Raises
        ------
        ParameterError
            If a parameter is out of range, and as the inner kernel.
        """
        check_positive(self.power, "power", zero=True)
        check_positive(self.neighbor, "neighbor", integer=True)
        K, inner = self.inner.fit(graph, X, y=y, scores=scores)
        scales = neighbor_distances(graph, self.neighbor, without_diagonal=True)
        unit = np.median(scales)
        ratios = _bounded(scales / unit) ** self.power
        fitted = FittedDensityWeighted(inner, ratios, float(unit), self.power, self.neighbor)
        return fitted.weighted(K, ratios), fitted


@dataclass(frozen=True, eq=False)
class FittedDensityWeighted(FittedKernel):
    """The density-weighted kernel over a fitted one.

    ratios (n,) holds s(x)^power relative to the median scale, which is the unit; the scale of a new
    point is the distance to the neighbour of this number.
    """

    kernel: FittedKernel
    ratios: np.ndarray
    unit: float
    power: float
    neighbor: int

    kept_as = "density-weighted"
    kept_fields: ClassVar = {
        "kernel": FITTED_INNER,
        "ratios": OF_EACH_POINT,
        "neighbor": NEIGHBOR,
    }

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return k / (s s)^power between new points and the fitted ones."""
        scales = neighbor_distances(graph, self.neighbor, without_diagonal=False)
        ratios = _bounded(scales / scales.dtype.type(self.unit)) ** self.power
        return self.weighted(self.kernel.extend(graph, X_new), ratios)

    def weighted(self, K: sp.csr_array, row_ratios: np.ndarray) -> sp.csr_array:
        """Return affinities (m, n) divided by the ratios of both ends."""
        data = np.empty_like(K.data)
        rows, columns = (np.asarray(1 / r, dtype=K.dtype) for r in (row_ratios, self.ratios))
        _compiled.graphs.scaled_by_ends(K.indptr, K.indices, K.data, rows, columns, data)
        return sp.csr_array((data, K.indices, K.indptr), shape=K.shape)


def _bounded(ratios: np.ndarray) -> np.ndarray:
    return np.clip(ratios, 1 / _LARGEST_RATIO, _LARGEST_RATIO)
