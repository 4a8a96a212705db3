"""The shared-neighbours kernel: an edge counts the more, the more neighbours its ends share.

After one step, the walk from x has the distribution a(x, .), its bump. In the metric of the
diffusion distance, the bumps of x and y have the cosine

    c(x, y) = <a(x, .), a(y, .)> / (|a(x, .)| |a(y, .)|),   <f, g> = sum_z f(z) g(z) / pi(z),

near 1 inside a cluster and small on an edge that bridges two clusters. The kernel is
k(x, y) c(x, y)^power off the diagonal. On the diagonal, k(x, x) is scaled so that the probability
of staying at x does not change.

Sources: Coifman et al. 2005, section 2.1 (bumps and the distance between them); R. Jarvis and E.
Patrick 1973 (similarity by shared near neighbours).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass import _compiled
from diffclass._validation import check_positive
from diffclass.kernels._kernel import AFFINITY_BYTES, OF_EACH_POINT, FittedKernel, Kernel
from diffclass.kernels.over_kernel import FITTED_INNER, INNER, OverKernel
from diffclass.system.costs import Cost, Size
from diffclass.system.forms import Sparse

# A millionth is negligible compared with the cosines inside a cluster, but it keeps the few edges
# of an outlier, whose weights are near exp(-60), from vanishing in single precision.
_LEAST_SHARE = 1e-6
_COSINE_BYTES, _BUMP_BYTES = 11, 12  # of an edge


class SharedNeighbors(OverKernel):
    """The affinities of another kernel, each times a power of the cosine of its ends' bumps.

    Parameters
    ----------
    kernel : Kernel, optional
        The kernel of the affinities k; the self-tuning `Gaussian` by default.
    power : float, default=2.0
        At least 0; 0 leaves k as it is.

    See Also
    --------
    Gaussian : By distance alone, for diffusion maps or where classes are mixtures.
    Directed : As the inner kernel, where there are many features: a first map shapes the walk.

    Notes
    -----
    Cost: for each edge, about the sum of the lengths of its ends' rows. Memory: one more affinity,
    which is kept for new points.

    Examples
    --------
    Two triangles, joined by an edge that is shorter than their edges and still weighs less:

    >>> import numpy as np
    >>> from diffclass import neighbors_graph
    >>> from diffclass.kernels import Gaussian, SharedNeighbors
    >>> X = np.array([[0.0, 0], [0, 1], [1, 0.5], [2, 0.5], [3, 0], [3, 1]])
    >>> graph = neighbors_graph(X, n_neighbors=2)
    >>> K = SharedNeighbors(Gaussian(bandwidth=2.0)).affinity(graph, X).toarray()
    >>> bool(graph[2, 3] < graph[0, 2] and K[2, 3] < K[0, 2])
    True
    """

    kept_fields: ClassVar = {"kernel": INNER}

    def __init__(self, kernel: Kernel | None = None, *, power: float = 2.0):
        self.kernel = kernel
        self.power = power

    def cost(self, size: Size) -> Cost:
        """Return what fitting costs; bumps are kept for new points."""
        cost, edges = self.inner.cost(size), size.edges
        kept = (AFFINITY_BYTES + _BUMP_BYTES) * edges
        return Cost(cost.working + _COSINE_BYTES * edges, kept, cost.seconds)

    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedSharedNeighbors]:
        """Return k c^power, with the diagonal scaled accordingly; see `Kernel.fit`.

        Raises
        ------
        ParameterError
            If the power is negative, and as the inner kernel.
        """
        check_positive(self.power, "power", zero=True)
        K, inner = self.inner.fit(graph, X, y=y, scores=scores)
        # bumps a(x, .) / sqrt(pi) of unit length, whose products are the cosines c(x, y)
        root_degrees = roots_of_degrees(K)
        bumps = unit_bumps(K, root_degrees)
        fitted = FittedSharedNeighbors(inner, bumps, root_degrees, self.power)
        cosines = np.empty_like(K.data)
        _compiled.graphs.symmetric_row_products(bumps.indptr, bumps.indices, bumps.data, cosines)
        return with_diagonal_scaled(K, times_powers(K, cosines, self.power)), fitted


@dataclass(frozen=True, eq=False)
class FittedSharedNeighbors(FittedKernel):
    """The shared-neighbours kernel over a fitted one k.

    Rows of bumps (n, n) are a(x, .) / sqrt(pi), of length 1; root_degrees (n,) are sqrt(sum_y k).
    """

    kernel: FittedKernel
    bumps: sp.csr_array
    root_degrees: np.ndarray
    power: float

    kept_as = "shared neighbours"
    kept_fields: ClassVar = {
        "kernel": FITTED_INNER,
        "bumps": Sparse(("n", "n")),
        "root_degrees": OF_EACH_POINT,
    }

    def neighbor_distances(self, neighbor: int) -> np.ndarray | None:
        """Return those of k."""
        return self.kernel.neighbor_distances(neighbor)

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return k c^power between new points and the fitted ones."""
        K = self.kernel.extend(graph, X_new)
        return self.shared(K, unit_bumps(K, self.root_degrees))

    def shared(self, K: sp.csr_array, bumps: sp.csr_array) -> sp.csr_array:
        """Return affinities (m, n) times powers of the cosines of given and fitted bumps."""
        return times_shared(K, bumps, self.bumps, self.power)


def roots_of_degrees(K: sp.csr_array) -> np.ndarray:
    """Return the square roots of the row sums, 1 for empty rows."""
    degrees = K.sum(axis=1)
    return np.sqrt(np.where(degrees > 0, degrees, 1)).astype(K.dtype)


def times_shared(
    K: sp.csr_array, bumps: sp.csr_array, others: sp.csr_array, power: float
) -> sp.csr_array:
    """Return affinities (m, n) times powers of the cosines of their rows' and columns' bumps."""
    cosines = np.empty_like(K.data)
    _compiled.graphs.row_products(
        bumps.indptr, bumps.indices, bumps.data,
        others.indptr, others.indices, others.data, others.shape[1], cosines,
    )  # fmt: skip
    return times_powers(K, cosines, power)


def times_powers(K: sp.csr_array, cosines: np.ndarray, power: float) -> sp.csr_array:
    """Return affinities times powers of the cosines of their edges."""
    data = K.data * np.maximum(cosines**power, _LEAST_SHARE)
    return sp.csr_array((data.astype(K.dtype, copy=False), K.indices, K.indptr), shape=K.shape)


def unit_bumps(K: sp.csr_array, root_degrees: np.ndarray) -> sp.csr_array:
    """Rows a(x, .) / sqrt(pi), scaled to length 1; their products are the cosines."""
    data = np.empty_like(K.data)
    _compiled.graphs.unit_rows(K.indptr, K.indices, K.data, root_degrees, data)
    return sp.csr_array((data, K.indices, K.indptr), shape=K.shape)


def with_diagonal_scaled(K: sp.csr_array, shared: sp.csr_array) -> sp.csr_array:
    """Scale the diagonal of ``shared`` so that it has the same share of each row as in ``K``."""
    data = np.empty_like(K.data)
    _compiled.graphs.scaled_diagonal(K.indptr, K.indices, K.data, shared.data, data)
    return sp.csr_array((data, K.indices, K.indptr), shape=K.shape)
