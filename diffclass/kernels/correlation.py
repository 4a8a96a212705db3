"""Kernels of the correlation c = <x, y> / (|x| |y|), quantised or smooth.

With u = x / |x|, the distance of unit vectors says the same: |u - v|^2 = 2 - 2 c. A factor such as
the brightness of a spectrum has no effect.

Source: Coifman et al. 2005, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from diffclass._validation import RandomState
from diffclass.exceptions import ParameterError
from diffclass.kernels._kernel import FittedKernel, Kernel, Placing
from diffclass.kernels.isotropic import Gaussian
from diffclass.neighbors import RadiusSearch, kept_edges


class Correlation(Kernel):
    """The quantised correlation: k(x, y) = 1 where <x, y> / (|x| |y|) > threshold, else 0.

    Neighbours are all points within that angle, but at most ``max_degree`` of them; a warning says
    how many pairs are left out.

    Parameters
    ----------
    threshold : float, default=0.95
        From -1 to below 1.
    max_degree : int, default=64
        Largest number of correlated points kept per point, the nearest ones; this bounds memory.

    See Also
    --------
    SmoothCorrelation : Weighs each pair by its correlation, without a threshold.
    Gaussian : Brightness counts too.

    References
    ----------
    Coifman et al. 2005, section 2.

    Examples
    --------
    Of three spectra two have the same shape, and the third is as bright as the first:

    >>> from diffclass import markov_operator
    >>> from diffclass.kernels import Correlation
    >>> spectra = [[1.0, 2.0, 3.0], [2.0, 4.1, 6.0], [3.0, 2.0, 1.0]]
    >>> kernel = Correlation(threshold=0.9)
    >>> markov_operator(spectra, n_neighbors=2, kernel=kernel).affinity.toarray()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    def __init__(self, *, threshold: float = 0.95, max_degree: int = 64):
        self.threshold = threshold
        self.max_degree = max_degree

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return the points scaled to unit length; the origin stays where it is."""
        return _of_unit_length(X), _of_unit_length

    def search(
        self, features: np.ndarray, n_neighbors: int, *, random_state: RandomState = None
    ) -> RadiusSearch:
        """Return the range search within the angle, whatever ``n_neighbors`` is."""
        radius = np.sqrt(self._squared_radius())
        return RadiusSearch(radius, max_degree=self.max_degree, random_state=random_state)

    def fit(
        self,
        graph: sp.csr_array,
        X: np.ndarray,
        *,
        y: ArrayLike | None = None,
        scores: ArrayLike | None = None,
    ) -> tuple[sp.csr_array, FittedCorrelation]:
        """Return the graph of the correlated pairs, with all weights 1; see `Kernel.fit`.

        Raises
        ------
        ParameterError
            If the threshold is out of range.
        """
        fitted = FittedCorrelation(self._squared_radius())
        return fitted.extend(graph, X), fitted

    def _squared_radius(self) -> float:
        # unit vectors: |x - y|^2 = 2 - 2 <x, y>
        if not (isinstance(self.threshold, Real) and -1 <= self.threshold < 1):
            raise ParameterError(f"threshold = {self.threshold!r}; it has to be in [-1, 1)")
        return 2 - 2 * self.threshold


@dataclass(frozen=True)
class FittedCorrelation(FittedKernel):
    """The quantised correlation: a bound on squared distances between points of unit length."""

    squared_radius: float

    def extend(self, graph: sp.csr_array, X_new: np.ndarray) -> sp.csr_array:
        """Return 1 for each correlated neighbour."""
        kept = kept_edges(graph, graph.data < self.squared_radius)
        kept.data = np.ones_like(kept.data)
        return kept


class SmoothCorrelation(Gaussian):
    """The continuous correlation: k(x, y) = exp(-(1 - c) / epsilon), c = <x, y> / (|x| |y|).

    With u = x / |x| it is the Gaussian exp(-|u - v|^2 / bandwidth) of the unit sphere, where
    bandwidth = 2 epsilon, since 1 - c = |u - v|^2 / 2. Neighbours are the most correlated ones.

    Parameters
    ----------
    bandwidth : {"self-tuning", "global", "graph"} or float, default="self-tuning"
        As in `Gaussian`, of points of unit length; a number is 2 epsilon, without a unit.
    neighbor : int, default=7
        As in `Gaussian`.

    See Also
    --------
    Correlation : All pairs above a threshold, with the same weight.
    Gaussian : Brightness counts too.

    References
    ----------
    Coifman et al. 2005, section 2 (the continuous version of the quantised correlation; the minus
    sign of its exponent is missing there).

    Examples
    --------
    >>> from diffclass import markov_operator
    >>> from diffclass.kernels import SmoothCorrelation
    >>> X = [[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]]
    >>> kernel = SmoothCorrelation(bandwidth=2.0)
    >>> markov_operator(X, n_neighbors=2, kernel=kernel).affinity.toarray().round(3)
    array([[1.   , 0.67 , 0.368],
           [0.67 , 1.   , 0.819],
           [0.368, 0.819, 1.   ]])
    """

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return the points scaled to unit length; the origin stays where it is."""
        return _of_unit_length(X), _of_unit_length


def _of_unit_length(X: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(lengths > 0, lengths, 1)
