"""Diffusion distances: how differently two walks are spread after t steps.

The literature has three; the first is the default here.

    weighted      D^2(x,y) = sum_z (a_t(x,z) - a_t(y,z))^2 / pi(z)
                           = sum_{l>=1} lambda_l^2t (psi_l(x) - psi_l(y))^2
    symmetric     the same of S^t:   sum_{l>=0} lambda_l^2t (phi_l(x) - phi_l(y))^2
    unweighted    D^2(x,y) = sum_z (a_t(x,z) - a_t(y,z))^2

Each is the Euclidean distance between rows: either of *coordinates* from eigenpairs, to an accuracy
that their number sets, or of *bumps* a_t(x, .), which are exact and move mass forward from x.

Sources: weighted: the encyclopedia's article and Socher 2008, section 2.2 (equation 10); symmetric:
Coifman et al. 2005, section 2.1 (the definition of D_m after equation 2.4, whose eigenvalues are
lambda^2); unweighted: de la Porte et al. (equation 6).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from scipy.spatial.distance import cdist

from diffclass._validation import check_choice, check_positive
from diffclass.exceptions import ParameterError
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.eigenpairs import Eigenpairs

KINDS = ("weighted", "symmetric", "unweighted")


def diffusion_coordinates(
    eigenpairs: Eigenpairs, time: float = 1, *, kind: str = "weighted"
) -> np.ndarray:
    """Return rows whose Euclidean distances are diffusion distances.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        Of n points. With all pairs the distances are exact.
    time : float, default=1
        t, at least 0.
    kind : {"weighted", "symmetric", "unweighted"}, default="weighted"
        Which distance; see the module.

    Returns
    -------
    ndarray of shape (n, n_pairs - 1), or (n, n_pairs) if symmetric
        lambda_l^t psi_l; lambda_l^t phi_l; or lambda_l^t psi_l mixed by the root of the left
        eigenvectors' Gram matrix.

    Raises
    ------
    ParameterError
        If the kind is unknown or the time negative.
    """
    check_choice(kind, "kind", KINDS)
    powers = eigenpairs.powers(time)
    if kind == "symmetric":
        return eigenpairs.symmetric * powers
    coordinates = eigenpairs.right[:, 1:] * powers[1:]
    if kind == "unweighted":
        left = eigenpairs.left[:, 1:]
        values, vectors = np.linalg.eigh(left.T @ left)
        coordinates = coordinates @ (vectors * np.sqrt(np.maximum(values, 0)))
    return coordinates


def diffusion_distances(
    eigenpairs: Eigenpairs,
    sources: ArrayLike,
    targets: ArrayLike | None = None,
    *,
    time: float = 1,
    kind: str = "weighted",
) -> np.ndarray:
    """Return the diffusion distances between points, by eigenpairs.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        Of n points.
    sources : array-like of int of shape (p,)
        Numbers of points.
    targets : array-like of int of shape (q,), optional
        Numbers of points; all by default.
    time, kind
        As in `diffusion_coordinates`.

    Returns
    -------
    ndarray of shape (p, q)
        D_t. A weighted distance is too small by at most |lambda_m|^t sqrt(1 / pi(x) + 1 / pi(y)),
        where lambda_m is the first eigenvalue left out.

    Examples
    --------
    >>> from diffclass import MarkovOperator, leading_eigenpairs
    >>> from diffclass.spectral.distances import diffusion_distances
    >>> two_states = leading_eigenpairs(MarkovOperator.from_affinity([[3.0, 1.0], [1.0, 3.0]]))
    >>> diffusion_distances(two_states, [0], time=2).round(12)
    array([[0. , 0.5]])
    """
    coordinates = diffusion_coordinates(eigenpairs, time, kind=kind)
    to = coordinates if targets is None else coordinates[point_numbers(targets, len(coordinates))]
    return cdist(coordinates[point_numbers(sources, len(coordinates))], to)


def bumps(
    operator: MarkovOperator, points: ArrayLike, *, time: int = 1, kind: str = "unweighted"
) -> np.ndarray:
    """Return the exact distribution of walks after t steps: a_t(x, .) for some points x.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    points : array-like of int of shape (p,)
        Where the walks start.
    time : int, default=1
        t, at least 0.
    kind : {"weighted", "symmetric", "unweighted"}, default="unweighted"
        "unweighted" returns rows of A^t, "symmetric" rows of S^t; "weighted" scales the rows of
        A^t so that their Euclidean distance is the weighted diffusion distance.

    Returns
    -------
    ndarray of shape (p, n)
        In the precision of the operator. Costs ``time`` products with p columns.
    """
    check_choice(kind, "kind", KINDS)
    points = point_numbers(points, len(operator))
    starts = np.zeros((len(operator), len(points)), dtype=operator.dtype)
    starts[points, np.arange(len(points))] = 1
    rows = operator.forward(starts, time).T
    root = np.sqrt(operator.stationary_distribution).astype(rows.dtype)
    if kind != "unweighted":
        rows = rows / root
    return rows * root[points, None] if kind == "symmetric" else rows


def numerical_rank(eigenpairs: Eigenpairs, time: float, accuracy: float) -> int:
    """Count the eigenvalues of A^t above an accuracy, the trivial one included.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        In the order of magnitude; either complete or with a last pair below the accuracy.
    time : float
        t, above 0.
    accuracy : float
        delta, between 0 and 1.

    Returns
    -------
    int
        Number of l >= 0 with |lambda_l|^t > delta (R. Coifman and S. Lafon, Diffusion maps, 2006,
        section 2).

    Raises
    ------
    ParameterError
        If there are too few eigenpairs to tell.
    """
    check_positive(time, "time")
    check_positive(accuracy, "accuracy")
    above = np.abs(eigenpairs.eigenvalues) ** time > accuracy
    if above.all() and not eigenpairs.is_complete:
        raise ParameterError(
            f"all {len(eigenpairs)} eigenvalues are above {accuracy:g} at time {time:g}; "
            "compute more"
        )
    return int(np.count_nonzero(above))


def spanning_columns(eigenpairs: Eigenpairs, time: float, accuracy: float) -> np.ndarray:
    """Return points whose bumps span the numerical range of A^t.

    Parameters
    ----------
    eigenpairs, time, accuracy
        As in `numerical_rank`.

    Returns
    -------
    ndarray of int of shape (numerical_rank,)
        Numbers of points, the widest bump first: pivots of a QR decomposition of
        lambda_l^t phi_l(x), which costs n times the rank squared.
    """
    rank = numerical_rank(eigenpairs, time, accuracy)
    rows = (eigenpairs.symmetric[:, :rank] * eigenpairs.powers(time)[:rank]).T
    return qr(rows, mode="r", pivoting=True)[1][:rank]


def point_numbers(points: ArrayLike, n: int) -> np.ndarray:
    """Return numbers of points as an array, or raise a `ParameterError` where one is not."""
    numbers = np.atleast_1d(np.asarray(points))
    if numbers.dtype.kind not in "iu" or ((numbers < 0) | (numbers >= n)).any():
        raise ParameterError(f"points are numbered 0 to {n - 1}; got {points!r}")
    return numbers
