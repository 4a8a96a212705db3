"""The directed kernel: the walk runs along the level sets of a function F, scalar or vector.

k(x, y) = exp(-D^2),   D^2 = |x - y|^2 / epsilon + |F(x) - F(y)|^2 / epsilon^2.

It is the Gaussian of the points Z = (x / sqrt(epsilon), F / epsilon), in which neighbours are also
searched. The smaller epsilon, the faster is diffusion along the level sets of F compared with
diffusion across: the first eigenfunctions become constant on each connected component of a level
set, and functions of F alone if level sets are connected.

Source: Coifman et al. 2005, section 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_positive
from diffclass.exceptions import DataError, ParameterError
from diffclass.kernels._joint import Joint, JointPlacing, checked_values, length_of, values_at
from diffclass.kernels._kernel import Placing
from diffclass.kernels.isotropic import Gaussian


class Directed(Gaussian):
    """k(x, y) = exp(-D^2), D^2 = d^2 / epsilon + |F(x) - F(y)|^2 / epsilon^2.

    The points are divided by the root of their mean square distance from their mean. Each component
    of F is divided by its standard deviation, and F by the root of the number of components. Points
    and F then have mean square 1, and epsilon has no unit.

    Parameters
    ----------
    F : callable or array-like of shape (n,) or (n, p), optional
        Values at the points, or a function that gives them for points of shape (m, d); not a
        lambda if the estimator is to be pickled. If F is an array, its value at a new point is the
        mean over the ``neighbor`` nearest points, with weights exp(-d^2 / (d_1 d_last)). Constant
        components have no effect. By default F is the earlier scores; all their components are
        divided by the same number. Constant scores have no effect. Make them by
        `diffclass.label_diffusion.map_scores`, as the classifier does: posteriors of absorbing
        labels set the labels apart from their neighbours, and the walk then misses them.
    epsilon : float, default=0.1
        Above 0. Steps across are about sqrt(epsilon) times as long as steps along.
    bandwidth : {"self-tuning", "global", "graph"} or float, default="self-tuning"
        As for `Gaussian`, in units of D^2; 1 gives the paper's kernel. The names fit the width to
        the graph; epsilon still sets the ratio of along to across.
    neighbor : int, default=7
        As for `Gaussian`.

    Notes
    -----
    Cost: F adds p columns to the neighbour search. At new points, F given as an array needs one
    more search. The graph passed to `fit` has to be made in the features that `place` returns.

    References
    ----------
    Coifman et al. 2005, section 3 and figure 4.

    Examples
    --------
    The first eigenfunction of a rectangle varies along the longer side; directed, along the other:

    >>> import numpy as np
    >>> from diffclass import DiffusionMap
    >>> from diffclass.kernels import Directed
    >>> X = np.random.default_rng(0).random((500, 2)) * [1.0, 0.9]
    >>> kernel = Directed(X[:, 1], epsilon=0.02, bandwidth="graph")
    >>> psi = DiffusionMap(1, n_neighbors=20, kernel=kernel).fit_transform(X)[:, 0]
    >>> bool(abs(np.corrcoef(psi, X[:, 1])[0, 1]) > 0.95)
    True
    """

    def __init__(
        self,
        F: ArrayLike | Placing | None = None,
        *,
        epsilon: float = 0.1,
        bandwidth: str | float = "self-tuning",
        neighbor: int = 7,
    ):
        self.F = F
        self.epsilon = epsilon
        self.bandwidth = bandwidth
        self.neighbor = neighbor

    @property
    def uses_scores(self) -> bool:
        """Whether F is the earlier scores."""
        return self.F is None

    def place(
        self, X: np.ndarray, *, y: ArrayLike | None = None, scores: ArrayLike | None = None
    ) -> tuple[np.ndarray, Placing]:
        """Return Z = (x / sqrt(epsilon), F / epsilon), scaled.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The points.
        y : array-like, optional
            Not used.
        scores : array-like of shape (n, n_classes), optional
            Earlier scores, needed if F is not given.

        Returns
        -------
        features : ndarray of shape (n, d + p)
            In the dtype of X, centred.
        placing : callable
            Gives the same for new points, with F there as described for the parameters. It raises
            a `DataError` if the points have another number of features, or if a function does not
            give one finite row per point with the same number of columns.

        Raises
        ------
        ParameterError
            If neither F nor scores are given, or if epsilon is not positive.
        DataError
            If F or scores do not fit the points in shape or are not finite, or if F is constant.
        """
        check_positive(self.epsilon, "epsilon")
        check_positive(self.neighbor, "neighbor", integer=True)
        name = "scores" if self.uses_scores else "F"
        F = checked_values(self._at_points(X, scores), X, name=name)
        joint = Joint(X.mean(axis=0), length_of(X), F.mean(axis=0), self._units(F), self.epsilon)
        at = values_at(self.F, X, F, neighbor=self.neighbor, mean=mean_of_values, name=name)
        return joint(X, F), JointPlacing(joint, at)

    def _at_points(self, X: np.ndarray, scores: ArrayLike | None) -> ArrayLike:
        """F or the scores at the fitted points, not yet checked."""
        if self.F is not None:
            return self.F(X) if callable(self.F) else self.F
        if scores is None:
            raise ParameterError(
                "Directed has no F, and it was given no earlier scores; "
                "pass Directed(F), or scores="
            )
        return scores

    def _units(self, F: np.ndarray) -> np.ndarray:
        """Return the divisors of the components of F; constant ones are divided by infinity."""
        varies = (F[0] != F).any(axis=0)
        if not varies.any() and not self.uses_scores:
            raise DataError(
                f"F is constant over all {len(F)} points and gives no direction; "
                "take another F, or the Gaussian kernel"
            )
        deviations = np.where(varies, F.std(axis=0), 0)
        whole = np.linalg.norm(deviations) if self.uses_scores else np.sqrt(varies.sum())
        return np.where(varies, whole if self.uses_scores else whole * deviations, np.inf)


def mean_of_values(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return weighted means, of shape (m, p), of values of shape (m, k, p)."""
    return np.einsum("mk,mkp->mp", weights, values)
