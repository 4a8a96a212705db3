"""Leading eigenpairs of a symmetric, matrix-free operator by ARPACK, repeated ones included.

A Krylov space holds one copy of a repeated eigenvalue; further copies arise from rounding errors or
not at all. So each answer is checked by a second run on the complement of the pairs found. Where
ARPACK does not converge, LOBPCG continues from the pairs found so far, and a warning states the
residual.

Sources: R. Lehoucq, D. Sorensen and C. Yang, ARPACK users' guide, 1998; A. Knyazev, Toward the
optimal preconditioned eigensolver, 2001.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, lobpcg
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

TOLERANCE = 1e-10  # largest residual of an eigenpair, relative to its eigenvalue
MAX_RESTARTS = 100  # of ARPACK, before LOBPCG takes over
DENSE_POINTS = 512  # up to which LAPACK is used
# By how much a missed pair has to lead the last one found, and the tolerance of that check.
_LEAD, _CHECK_TOLERANCE = 1e-7, 1e-4
# ARPACK's tolerance is relative: for an eigenvalue near 0 it asks for more than double precision.
_LOOSER = 1e4
_LOBPCG_TOLERANCE, _LOBPCG_STEPS = 1e-8, 200


def leading_pairs(
    operator: LinearOperator,
    n_pairs: int,
    *,
    known: np.ndarray,
    which: str = "magnitude",
    tolerance: float = TOLERANCE,
    max_restarts: int = MAX_RESTARTS,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading eigenpairs of an operator, except those already known.

    LAPACK is faster and exact up to 512 points, and where at least half of all pairs are wanted.

    Parameters
    ----------
    operator : LinearOperator of shape (n, n)
        Symmetric; no eigenvalue below -1.
    n_pairs : int
        Number of pairs, at least 1 and at most n - n_known.
    known : ndarray of shape (n, n_known)
        Orthonormal eigenvectors to leave out.
    which : {"magnitude", "algebraic"}, default="magnitude"
        Whether those of largest modulus or of largest value lead.
    tolerance : float, default=1e-10
        Largest residual, relative to the eigenvalue.
    max_restarts : int, default=100
        Restarts of ARPACK before LOBPCG takes over.
    random_state : RandomState
        Draws the starts.

    Returns
    -------
    values : ndarray of shape (n_pairs,)
        Leading first.
    vectors : ndarray of shape (n, n_pairs)
        Orthonormal.

    Warns
    -----
    ConvergenceWarning
        If a residual |S v - lambda v| is above the tolerance at the end.
    """
    n = operator.shape[0]
    if n <= DENSE_POINTS or 2 * n_pairs >= n:
        return _by_lapack(operator, n_pairs, known, which)
    solve = _Arpack(operator, which, max_restarts, random_state)
    # the threads of BLAS would compete for the cores on which the sparse product runs
    with threadpool_limits(1, user_api="blas"):
        values, vectors, how = _solved(solve, n_pairs, known, tolerance)
        residuals = np.linalg.norm(operator.matmat(vectors) - vectors * values, axis=0)
    if how and residuals.max() > tolerance:
        warnings.warn(
            f"{np.count_nonzero(residuals > tolerance)} of {n_pairs} eigenpairs did not converge to"
            f" {tolerance:g} within {max_restarts} restarts of ARPACK; {how} the largest residual "
            f"is {residuals.max():.1e}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return values, vectors


def basis_size(n: int, n_pairs: int) -> int:
    """Return how many vectors of length n ARPACK works with for so many pairs."""
    return min(n, max(2 * n_pairs + 1, n_pairs + 40))


def leading_order(values: np.ndarray, which: str) -> np.ndarray:
    """Return the indices that sort eigenvalues, the leading one first."""
    return np.argsort(-_rank(values, which), kind="stable")


def _rank(values: np.ndarray, which: str) -> np.ndarray:
    return np.abs(values) if which == "magnitude" else values


def _by_lapack(
    operator: LinearOperator, n_pairs: int, known: np.ndarray, which: str
) -> tuple[np.ndarray, np.ndarray]:
    n, n_known = known.shape
    whole = operator.matmat(np.eye(n))
    others = whole - known @ (known.T @ whole)
    # moves the known eigenvalues below all others, so that they come first
    values, vectors = np.linalg.eigh(others - 3 * known @ known.T)
    values, vectors = values[n_known:], vectors[:, n_known:]
    leading = leading_order(values, which)[:n_pairs]
    return values[leading], vectors[:, leading]


def _solved(
    solve: _Arpack, n_pairs: int, known: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray, str]:
    """Try the tolerance, then a looser one for the rest, which small eigenvalues meet, then LOBPCG.

    Returns the values, the vectors and how they were found, "" for the tolerance asked for.
    """
    try:
        return *_complete_pairs(solve, n_pairs, known, tolerance), ""
    except ArpackNoConvergence as error:
        converged = error.eigenvectors
    try:
        taken = np.hstack([known, converged])
        n_left = n_pairs - converged.shape[1]
        _, rest = _complete_pairs(solve, n_left, taken, _LOOSER * tolerance)
    except ArpackNoConvergence as error:
        converged = np.hstack([converged, error.eigenvectors])
        return *_by_lobpcg(solve, n_pairs, known, converged), "by LOBPCG"
    pairs = solve.ritz_pairs(known, np.hstack([converged, rest]), n_pairs)
    return *pairs, "with a looser tolerance"


def _complete_pairs(
    solve: _Arpack, n_pairs: int, known: np.ndarray, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = solve(known, n_pairs, tolerance)
    while solve.has_missed(known, values, vectors):
        _, more = solve(np.hstack([known, vectors]), n_pairs, tolerance)
        values, vectors = solve.ritz_pairs(known, np.hstack([vectors, more]), n_pairs)
    return values, vectors


class _Arpack:
    """``eigsh`` on what is orthogonal to given eigenvectors."""

    def __init__(
        self, operator: LinearOperator, which: str, max_restarts: int, random: np.random.RandomState
    ):
        self.operator = operator
        self.which = which
        self.max_restarts = max_restarts
        self.random = random

    def __call__(
        self, taken: np.ndarray, n_pairs: int, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        n = self.operator.shape[0]
        n_pairs = min(n_pairs, n - taken.shape[1])
        start = self.random.normal(size=n)
        _, vectors = eigsh(
            self._deflated(taken),
            k=n_pairs,
            which="LM" if self.which == "magnitude" else "LA",
            v0=start - taken @ (taken.T @ start),
            ncv=basis_size(n, n_pairs),
            maxiter=self.max_restarts,
            tol=tolerance,
        )
        return self.ritz_pairs(taken, vectors, n_pairs)

    def has_missed(self, known: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> bool:
        """Return whether some pair that was not found leads the last one found."""
        taken = np.hstack([known, vectors])
        if taken.shape[1] == len(taken):
            return False
        left, _ = self(taken, 1, _CHECK_TOLERANCE)
        return bool(_rank(left, self.which)[0] > _rank(values, self.which)[-1] + _LEAD)

    def ritz_pairs(
        self, known: np.ndarray, vectors: np.ndarray, n_pairs: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the leading pairs in the span of vectors, made orthogonal to the known ones."""
        basis = np.linalg.qr(np.hstack([known, vectors]))[0][:, known.shape[1] :]
        values, rotation = np.linalg.eigh(basis.T @ self.operator.matmat(basis))
        leading = leading_order(values, self.which)[:n_pairs]
        return values[leading], basis @ rotation[:, leading]

    def _deflated(self, taken: np.ndarray) -> LinearOperator:
        """Move the eigenvalues of taken pairs to 0, or below all others if negative ones count."""
        rows = np.ascontiguousarray(taken.T)
        sunk = 0 if self.which == "magnitude" else 2

        def product(f: np.ndarray) -> np.ndarray:
            f = f.ravel()
            g = self.operator.matvec(f)
            return g - rows.T @ (rows @ g + sunk * (rows @ f))

        return LinearOperator(self.operator.shape, matvec=product, dtype=np.float64)


def _by_lobpcg(
    solve: _Arpack, n_pairs: int, known: np.ndarray, converged: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    S = solve.operator
    start = solve.random.normal(size=(S.shape[0], n_pairs))
    start[:, : converged.shape[1]] = converged
    positive = S @ S if solve.which == "magnitude" else S
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the caller says what was reached
        _, vectors = lobpcg(
            positive, start, Y=known, largest=True, maxiter=_LOBPCG_STEPS, tol=_LOBPCG_TOLERANCE
        )
    return solve.ritz_pairs(known, vectors, n_pairs)
