"""Diffusion distances: how differently two walks are spread after t steps.

The literature has three; the first is the default here.

    weighted      D^2(x,y) = sum_z (a_t(x,z) - a_t(y,z))^2 / pi(z)
                           = sum_{l>=1} lambda_l^2t (psi_l(x) - psi_l(y))^2
    symmetric     the same of S^t:   sum_{l>=0} lambda_l^2t (phi_l(x) - phi_l(y))^2
    unweighted    D^2(x,y) = sum_z (a_t(x,z) - a_t(y,z))^2

Each is the Euclidean distance between rows: of *coordinates* from eigenpairs, to an accuracy that
their number sets, or of *bumps* a_t(x, .), which are exact.

The distance of a bump to the stationary distribution is

    D_t^2(x, pi) = sum_z (a_t(x, z) - pi(z))^2 / pi(z) = sum_{l>=1} lambda_l^2t psi_l(x)^2.

At t = 1 the sum over the edges is exact. At later times, where bumps would take n^2 numbers, they
are projected on m vectors of random signs g, since E (r . g)^2 = |r|^2 for any vector r:

    D_t^2(x, pi) = E [A^t f (x)]^2,    f = g / pi^(1/2) less its mean,    g(z) = 1 or -1,

to a relative standard error of at most (2 / m)^(1/2).

Sources: weighted: the encyclopedia's article and Socher 2008, section 2.2 (equation 10); symmetric:
Coifman et al. 2005, section 2.1 (D_m, after equation 2.4, at t = m / 2: its eigenvalues are written
lambda^2); unweighted: de la Porte et al. (equation 6); signs: D. Achlioptas, Database-friendly
random projections, 2003.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from scipy.spatial.distance import cdist

from diffclass._validation import (
    RandomState,
    check_choice,
    check_positive,
    check_seed,
    check_unmasked,
)
from diffclass.exceptions import ParameterError
from diffclass.operators.markov import MarkovOperator
from diffclass.spectral.eigenpairs import Eigenpairs

KINDS = ("weighted", "symmetric", "unweighted")
_COLUMNS = 32  # of functions diffused at once


def diffusion_coordinates(
    eigenpairs: Eigenpairs, time: float = 1, *, kind: str = "weighted"
) -> np.ndarray:
    """Return rows whose Euclidean distances are diffusion distances.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        Of n points, or n nodes where some are equal. With all pairs the distances are exact.
    time : float, default=1
        t, at least 0; t = m / 2 for the D_m and Phi_m of Coifman et al. 2005.
    kind : {"weighted", "symmetric", "unweighted"}, default="weighted"
        Which distance; see the module.

    Returns
    -------
    ndarray of shape (n, n_pairs - 1), or (n, n_pairs) if symmetric
        lambda_l^t psi_l; lambda_l^t phi_l; or lambda_l^t psi_l mixed by the root of the left
        eigenvectors' Gram matrix.

    Examples
    --------
    The ends of a line lie farthest apart: the walk needs longest from one to the other:

    >>> import numpy as np
    >>> from diffclass import leading_eigenpairs, markov_operator
    >>> from diffclass.spectral import diffusion_coordinates
    >>> pairs = leading_eigenpairs(markov_operator(np.arange(5.0)[:, None], n_neighbors=1), 3)
    >>> diffusion_coordinates(pairs, time=2).round(2) + 0.0
    array([[ 1.13, -0.56],
           [ 0.73,  0.13],
           [ 0.  ,  0.62],
           [-0.73,  0.13],
           [-1.13, -0.56]])
    """
    check_choice(kind, "kind", KINDS)
    powers = eigenpairs.powers(time)
    # a node of several equal points gives each of them its share of the mass
    nodes = eigenpairs.nodes
    share = 1.0 if nodes is None else 1 / np.sqrt(nodes.mass)[:, None]
    if kind == "symmetric":
        return eigenpairs.symmetric * share * powers
    coordinates = eigenpairs.right[:, 1:] * powers[1:]
    if kind == "unweighted":
        left = eigenpairs.left[:, 1:] * share
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
    sources, targets : array-like of int of shape (p,) and (q,)
        Numbers of points; targets are all points by default.
    time, kind
        As in `diffusion_coordinates`.

    Returns
    -------
    ndarray of shape (p, q)
        D_t. A weighted distance is too small by at most |lambda_m|^t sqrt(1 / pi(x) + 1 / pi(y)),
        where lambda_m is the first eigenvalue left out; see `bumps` for exact ones.

    Examples
    --------
    >>> from diffclass import MarkovOperator, leading_eigenpairs
    >>> from diffclass.spectral.distances import diffusion_distances
    >>> two_states = leading_eigenpairs(MarkovOperator.from_affinity([[3.0, 1.0], [1.0, 3.0]]))
    >>> diffusion_distances(two_states, [0], time=2).round(12)
    array([[0. , 0.5]])
    """
    coordinates = diffusion_coordinates(eigenpairs, time, kind=kind)
    nodes = eigenpairs.nodes
    rows = np.arange(len(coordinates)) if nodes is None else nodes.of_points
    to = rows if targets is None else rows[point_numbers(targets, len(rows))]
    return cdist(coordinates[rows[point_numbers(sources, len(rows))]], coordinates[to])


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
        "unweighted" returns rows of A^t, "symmetric" rows of S^t, "weighted" rows of A^t scaled so
        that their Euclidean distance is the weighted diffusion distance.

    Returns
    -------
    ndarray of shape (p, n)
        In the precision of the operator. Costs ``time`` products with p columns.

    Examples
    --------
    >>> from diffclass import MarkovOperator
    >>> from diffclass.spectral import bumps
    >>> A = MarkovOperator.from_affinity([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    >>> bumps(A, [0, 1], time=2).round(3)
    array([[0.417, 0.417, 0.167],
           [0.278, 0.444, 0.278]])
    """
    check_choice(kind, "kind", KINDS)
    points = point_numbers(points, operator.n_points)
    starts = np.zeros((operator.n_points, len(points)), dtype=operator.dtype)
    starts[points, np.arange(len(points))] = 1
    rows = operator.forward(starts, time).T
    pi = operator.stationary_distribution
    pi = operator.at_points(pi if operator.mass is None else pi / operator.mass)
    root = np.sqrt(pi).astype(rows.dtype)
    if kind != "unweighted":
        rows = rows / root
    return rows * root[points, None] if kind == "symmetric" else rows


def numerical_rank(eigenpairs: Eigenpairs, time: float, accuracy: float) -> int:
    """Count the eigenvalues with |lambda_l|^t above an accuracy, the trivial one included.

    Parameters
    ----------
    eigenpairs : Eigenpairs
        All, or so many of largest modulus that the last is below the accuracy.
    time : float
        t, above 0.
    accuracy : float
        delta, between 0 and 1.

    Returns
    -------
    int
        See R. Coifman and S. Lafon, Diffusion maps, 2006, section 2.

    Raises
    ------
    ParameterError
        If there are too few eigenpairs to tell.

    See Also
    --------
    spectral_gap : By the gaps of the spectrum, without a time and an accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import leading_eigenpairs, markov_operator
    >>> from diffclass.spectral import numerical_rank
    >>> pairs = leading_eigenpairs(markov_operator(np.arange(100.0)[:, None], n_neighbors=4))
    >>> [numerical_rank(pairs, time, 0.01) for time in (1, 10, 100, 1000)]
    [92, 25, 9, 3]
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
        Numbers of points, the widest bump first: pivots of a QR decomposition of lambda_l^t
        phi_l(x), which costs n times the rank squared.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import leading_eigenpairs, markov_operator
    >>> from diffclass.spectral import spanning_columns
    >>> pairs = leading_eigenpairs(markov_operator(np.arange(100.0)[:, None] ** 1.2, n_neighbors=4))
    >>> np.sort(spanning_columns(pairs, 200, 0.01)).tolist()
    [4, 18, 29, 50, 72, 95]
    """
    rank = numerical_rank(eigenpairs, time, accuracy)
    leading = np.argsort(-np.abs(eigenpairs.eigenvalues), kind="stable")[:rank]
    rows = (eigenpairs.symmetric[:, leading] * eigenpairs.powers(time)[leading]).T
    found = qr(rows, mode="r", pivoting=True)[1][:rank]
    return found if eigenpairs.nodes is None else eigenpairs.nodes.first[found]


def point_numbers(points: ArrayLike, n: int) -> np.ndarray:
    """Return numbers of points as an array; raise `ParameterError` where one does not exist."""
    check_unmasked(points, name="points")
    numbers = np.atleast_1d(np.asarray(points))
    if numbers.dtype.kind not in "iu" or ((numbers < 0) | (numbers >= n)).any():
        raise ParameterError(f"points are numbered 0 to {n - 1}; got {points!r}")
    return numbers


def squared_distances_to_equilibrium(
    operator: MarkovOperator,
    *,
    time: int = 1,
    n_probes: int = 256,
    random_state: RandomState = None,
) -> np.ndarray:
    """Return the squared diffusion distance from every bump to the stationary distribution.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    time : int, default=1
        t, at least 1.
    n_probes : int, default=256
        m, at least 1, for times above 1. From n on the result is exact.
    random_state : int, RandomState or None, default=None
        Seeds the probes.

    Returns
    -------
    ndarray of shape (n,)
        D_t^2(x, pi), 0 to 1 / pi(x) - 1, in double precision. Costs one pass over the edges at time
        1, t products with m columns later.

    Examples
    --------
    >>> from diffclass import MarkovOperator
    >>> from diffclass.spectral.distances import squared_distances_to_equilibrium
    >>> two_states = MarkovOperator.from_affinity([[3.0, 1.0], [1.0, 3.0]])
    >>> squared_distances_to_equilibrium(two_states).round(12)
    array([0.25, 0.25])
    """
    check_positive(time, "time", integer=True)
    check_seed(random_state)
    if time == 1:
        return _after_one_step(operator)
    total = np.zeros(len(operator))
    n_used = 0
    for f in probes(operator, n_probes, random_state):
        moved = operator.apply(f, time).astype(np.float64, copy=False)
        total += np.einsum("ij,ij->i", moved, moved)
        n_used += f.shape[1]
    return total if n_used == len(operator) <= n_probes else total / n_used


def _after_one_step(operator: MarkovOperator) -> np.ndarray:
    """Return D_1^2(x, pi) of every point, exactly, in one pass over the edges."""
    degrees, K = operator.degrees, operator.affinity
    squares = K.astype(np.float64).power(2) @ (1 / degrees)
    return np.maximum(squares * degrees.sum() / degrees**2 - 1, 0)


def probes(
    operator: MarkovOperator, n_probes: int, random_state: RandomState
) -> Iterator[np.ndarray]:
    """Yield the functions f of the module, some columns at a time; from n on g are unit vectors."""
    check_positive(n_probes, "n_probes", integer=True)
    rng = check_seed(random_state)
    n, root = len(operator), np.sqrt(operator.stationary_distribution)
    is_complete = n_probes >= n
    for start in range(0, min(n, n_probes), _COLUMNS):
        width = min(_COLUMNS, min(n, n_probes) - start)
        g: np.ndarray
        if is_complete:
            g = np.zeros((n, width))
            g[start + np.arange(width), np.arange(width)] = 1
        else:
            g = rng.randint(2, size=(n, width)) * 2.0 - 1
        yield (g / root[:, None] - root @ g).astype(operator.dtype)  # mean 0
