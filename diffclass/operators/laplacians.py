"""Laplacians and generators, as views of a Markov operator, and the energy of functions.

    L     = D - K_alpha              unnormalised
    L_rw  = I - A = D^-1 L           random walk
    L_sym = I - S = D^-1/2 L D^-1/2  symmetric

For points of density p = exp(-U) on a manifold and the kernel exp(-|x - y|^2 / epsilon),

    (I - A) / epsilon -> -(1/4) (Delta f - s grad U . grad f),   s = 2 (1 - alpha)

as epsilon -> 0: alpha = 1 gives the Laplace-Beltrami operator for every density, 1/2 the
Fokker-Planck operator of the potential U, 0 the normalised graph Laplacian with U counted twice.
With alpha = 1, A^(t / epsilon) tends to the heat kernel exp(t Delta / 4). Functions have the energy

    E(f) = <f, (I - A) f>_pi = sum_{x,y} pi(x) a(x, y) (f(x) - f(y))^2 / 2
    (4 / epsilon) E(f)  ->  int |grad f|^2 p^s / int p^s

The eigenfunctions of A are those of least energy, 1 - lambda_l, among all orthogonal to the ones
before (Rayleigh and Ritz).

Sources: Coifman et al. 2005, sections 2.2 to 2.4 (equations 2.6, 2.9 and 2.14); Socher 2008,
sections 1.5.1 (graph Laplacians), 3.1 (s) and 3.3 (equations 20 to 23, energy).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator

from diffclass._validation import check_points, check_positive
from diffclass.exceptions import DataError
from diffclass.operators.markov import MarkovOperator


def unnormalized_laplacian(operator: MarkovOperator) -> LinearOperator:
    """Return L = D - K_alpha, symmetric, of shape (n, n); rows sum to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.operators import unnormalized_laplacian
    >>> A = MarkovOperator.from_affinity([[1.0, 1, 0], [1, 1, 2], [0, 2, 1]])
    >>> (unnormalized_laplacian(A) @ np.eye(3)).round(6) + 0.0
    array([[ 1., -1.,  0.],
           [-1.,  3., -2.],
           [ 0., -2.,  2.]])
    """
    root = np.sqrt(operator.degrees)
    return _identity_less_conjugate(operator, root, root)


def random_walk_laplacian(operator: MarkovOperator) -> LinearOperator:
    """Return L_rw = I - A, of shape (n, n); its eigenvalues are 1 - lambda_l, in [0, 2].

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.operators import random_walk_laplacian
    >>> A = MarkovOperator.from_affinity([[1.0, 1, 0], [1, 1, 2], [0, 2, 1]])
    >>> (random_walk_laplacian(A) @ np.eye(3)).round(3) + 0.0
    array([[ 0.5  , -0.5  ,  0.   ],
           [-0.25 ,  0.75 , -0.5  ],
           [ 0.   , -0.667,  0.667]])
    """
    root = np.sqrt(operator.degrees)
    return _identity_less_conjugate(operator, 1 / root, root)


def symmetric_laplacian(operator: MarkovOperator) -> LinearOperator:
    """Return L_sym = I - S, symmetric, of shape (n, n), with the eigenvalues of L_rw.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.operators import symmetric_laplacian
    >>> A = MarkovOperator.from_affinity([[1.0, 1, 0], [1, 1, 2], [0, 2, 1]])
    >>> (symmetric_laplacian(A) @ np.eye(3)).round(3) + 0.0
    array([[ 0.5  , -0.354,  0.   ],
           [-0.354,  0.75 , -0.577],
           [ 0.   , -0.577,  0.667]])
    """
    ones = np.ones(len(operator))
    return _identity_less_conjugate(operator, ones, ones)


def generator(operator: MarkovOperator, epsilon: float) -> LinearOperator:
    """Return (I - A) / epsilon, which tends to -(1/4)(Delta - 2 (1 - alpha) grad U . grad).

    Parameters
    ----------
    operator : MarkovOperator
        Made with the kernel exp(-|x - y|^2 / epsilon).
    epsilon : float
        In squared units of the points.

    Returns
    -------
    LinearOperator of shape (n, n)
        In double precision.

    Examples
    --------
    On the circle -Delta cos = cos, up to the order of epsilon:

    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.kernels import Gaussian
    >>> from diffclass.operators import generator
    >>> angles = 2 * np.pi * np.arange(300) / 300
    >>> X = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> A = markov_operator(X, n_neighbors=60, kernel=Gaussian(bandwidth=0.02))
    >>> (4 * generator(A, 0.02) @ X[:, 0])[:150:50].round(3), X[:150:50, 0].round(3)
    (array([ 1.003,  0.501, -0.501]), array([ 1. ,  0.5, -0.5]))
    """
    check_positive(epsilon, "epsilon")
    root = np.sqrt(operator.degrees)
    return _identity_less_conjugate(operator, 1 / (epsilon * root), root)


def schroedinger_operator(operator: MarkovOperator, epsilon: float) -> LinearOperator:
    """Return H = (4 / epsilon) W (I - A) W^-1, W = q^(1 - alpha), which tends to -Delta + V.

    q, the row sums of the affinity, stands for the density p = exp(-U). H is the generator -Delta +
    s grad U . grad, s = 2 (1 - alpha), seen by the functions p^(s / 2) f, with the same spectrum
    and the potential ::

        V = (s^2 / 4) |grad U|^2 - (s / 2) Delta U.

    Arguments as in `generator`. Source: Coifman et al. 2005, equation 2.5 (alpha = 0).

    Examples
    --------
    Normally distributed points have V = x^2 - 1, the harmonic oscillator of levels 0, 2, 4, ...:

    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> from diffclass import markov_operator
    >>> from diffclass.kernels import Gaussian
    >>> from diffclass.operators import schroedinger_operator
    >>> X = norm.ppf((np.arange(300) + 0.5) / 300)[:, None]
    >>> A = markov_operator(X, n_neighbors=299, kernel=Gaussian(bandwidth=0.05))
    >>> H = schroedinger_operator(A, 0.05) @ np.eye(300)
    >>> np.sort(np.linalg.eigvals(H).real)[:3].round(1) + 0.0
    array([0. , 1.9, 3.7])
    """
    check_positive(epsilon, "epsilon")
    # (I - A) = D^-1/2 (I - S) D^1/2
    outer = operator.density ** (1 - operator.alpha) / np.sqrt(operator.degrees)
    return _identity_less_conjugate(operator, 4 / epsilon * outer, 1 / outer)


def schroedinger_potential(operator: MarkovOperator, epsilon: float) -> np.ndarray:
    """Return V = H 1 (n,), the potential of `schroedinger_operator`.

    In inverse squared units of the points; reliable only where these are dense.

    Examples
    --------
    Normally distributed points have U = x^2 / 2 and V = x^2 - 1:

    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> from diffclass import markov_operator
    >>> from diffclass.kernels import Gaussian
    >>> from diffclass.operators import schroedinger_potential
    >>> X = norm.ppf((np.arange(500) + 0.5) / 500)[:, None]
    >>> A = markov_operator(X, n_neighbors=200, kernel=Gaussian(bandwidth=0.1))
    >>> V = schroedinger_potential(A, 0.1)
    >>> np.interp([-1, 0, 1], X[:, 0], V).round(1)
    array([ 0., -1.,  0.])
    """
    return schroedinger_operator(operator, epsilon) @ np.ones(len(operator))


def generator_eigenvalues(eigenvalues: np.ndarray, epsilon: float) -> np.ndarray:
    """Return 4 (1 - lambda) / epsilon, the eigenvalues of -Delta + 2 (1 - alpha) grad U . grad.

    lambda are those of A, epsilon that of the kernel; the equality is of first order in epsilon.

    Examples
    --------
    The circle has k^2, each twice but for 0:

    >>> import numpy as np
    >>> from diffclass import leading_eigenpairs, markov_operator
    >>> from diffclass.kernels import Gaussian
    >>> from diffclass.operators import generator_eigenvalues
    >>> angles = 2 * np.pi * np.arange(300) / 300
    >>> X = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> A = markov_operator(X, n_neighbors=60, kernel=Gaussian(bandwidth=0.02))
    >>> (generator_eigenvalues(leading_eigenpairs(A, 5).eigenvalues, 0.02) + 0.0).round(2)
    array([0.  , 1.  , 1.  , 3.98, 3.98])
    """
    return 4 * (1 - np.asarray(eigenvalues)) / check_positive(epsilon, "epsilon")


def heat_steps(time: float, epsilon: float) -> int:
    """Return 4 time / epsilon, the whole number of steps n with A^n closest to exp(time Delta).

    Parameters
    ----------
    time : float
        In squared units of the points, at least 0.
    epsilon : float
        Of the kernel exp(-|x - y|^2 / epsilon).

    Examples
    --------
    On the circle heat at the frequency 1 fades as exp(-time):

    >>> import numpy as np
    >>> from diffclass import markov_operator
    >>> from diffclass.kernels import Gaussian
    >>> from diffclass.operators import heat_steps
    >>> angles = 2 * np.pi * np.arange(300) / 300
    >>> X = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> A = markov_operator(X, n_neighbors=60, kernel=Gaussian(bandwidth=0.02))
    >>> steps = heat_steps(0.5, 0.02)
    >>> steps, np.round([A.apply(X[:, 0], steps)[0], np.exp(-0.5)], 3)
    (100, array([0.605, 0.607]))
    """
    steps = 4 * check_positive(time, "time", zero=True) / check_positive(epsilon, "epsilon")
    return round(steps)


def _identity_less_conjugate(
    operator: MarkovOperator, row_scale: np.ndarray, column_scale: np.ndarray
) -> LinearOperator:
    """Return diag(row_scale) (I - S) diag(column_scale)."""
    S = operator.symmetric_conjugate

    def scaled(outer: np.ndarray, inner: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        def product(f: np.ndarray) -> np.ndarray:
            columns = f.reshape(len(operator), -1) * inner[:, None]
            return ((columns - S @ columns) * outer[:, None]).reshape(f.shape)

        return product

    forward, backward = scaled(row_scale, column_scale), scaled(column_scale, row_scale)
    return LinearOperator(
        operator.shape,
        matvec=forward,
        matmat=forward,
        rmatvec=backward,
        rmatmat=backward,
        dtype=np.float64,
    )


def dirichlet_energy(
    operator: MarkovOperator, f: ArrayLike, epsilon: float | None = None
) -> float | np.ndarray:
    """Return the energy <f, (I - A) f>_pi of functions, at least 0; that of a constant is 0.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    f : array-like of shape (n,) or (n, m)
        One function per column.
    epsilon : float, optional
        Of the kernel, in squared units of the points. If given, the energy is multiplied by
        4 / epsilon and tends to int |grad f|^2 p^s / int p^s.

    Raises
    ------
    DataError
        If f is not finite or has another number of rows.

    Examples
    --------
    >>> from diffclass import MarkovOperator
    >>> from diffclass.operators.laplacians import dirichlet_energy
    >>> two_states = MarkovOperator.from_affinity([[3.0, 1.0], [1.0, 3.0]])
    >>> float(dirichlet_energy(two_states, [1.0, -1.0]))
    0.5
    """
    scale = 1.0 if epsilon is None else 4 / check_positive(epsilon, "epsilon")
    columns = _functions(operator, f)
    # over edges, where <f, f> - <f, A f> would cancel
    K = operator.affinity.tocoo()
    energies = [K.data @ (g[K.row] - g[K.col]) ** 2 for g in columns.T]
    found = scale * np.array(energies, dtype=np.float64) / (2 * operator.degrees.sum())
    return float(found[0]) if np.ndim(f) == 1 else found


def rayleigh_ritz(operator: MarkovOperator, functions: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the functions of least energy in the span of some trial functions.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    functions : array-like of shape (n, m)
        Trial functions; those that depend on the others are left out.

    Returns
    -------
    energies : ndarray of shape (rank,)
        E in increasing order, each at least the 1 - lambda_l of the same place.
    ritz_functions : ndarray of shape (n, rank)
        Combinations of the trial functions, orthonormal in the weights pi.

    Raises
    ------
    DataError
        If a function is not finite, or all are 0.

    Examples
    --------
    On a line, the least energies of cubic polynomials, and those of the eigenfunctions:

    >>> import numpy as np
    >>> from diffclass import leading_eigenpairs, markov_operator
    >>> from diffclass.operators import rayleigh_ritz
    >>> x = np.linspace(-1, 1, 100)
    >>> A = markov_operator(x[:, None], n_neighbors=10)
    >>> energies, functions = rayleigh_ritz(A, np.vander(x, 4))
    >>> (1e3 * energies).round(2) + 0.0
    array([ 0.  ,  2.99, 21.09, 62.77])
    >>> (1e3 * (1 - leading_eigenpairs(A, 4).eigenvalues)).round(2) + 0.0
    array([ 0.  ,  2.99, 12.04, 27.27])
    """
    columns = _functions(operator, functions)
    pi = operator.stationary_distribution
    U, sizes, _ = np.linalg.svd(np.sqrt(pi)[:, None] * columns, full_matrices=False)
    U = U[:, sizes > max(columns.shape) * np.finfo(np.float64).eps * sizes[0]]
    if not sizes[0]:
        raise DataError("the trial functions are all 0; give at least one other")
    projected = U.T @ (U - operator.symmetric_conjugate @ U)
    energies, mixed = eigh((projected + projected.T) / 2)
    return np.maximum(energies, 0), (U @ mixed) / np.sqrt(pi)[:, None]


def _functions(operator: MarkovOperator, f: ArrayLike) -> np.ndarray:
    columns = check_points(np.reshape(f, (len(np.asarray(f)), -1)), name="f").astype(np.float64)
    if len(columns) != len(operator):
        raise DataError(f"f has {len(columns)} rows; the operator has {len(operator)} points")
    return columns
