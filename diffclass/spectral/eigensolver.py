"""Leading eigenpairs of a sparse symmetric matrix by Chebyshev-filtered subspace iteration.

A block of random columns, some more than pairs are wanted, is multiplied by a Chebyshev polynomial
T of the matrix: bounded by 1 on the interval of the eigenvalues not wanted, and growing steeply
beyond it. The Rayleigh-Ritz pairs of the block then give the interval of the next round. A block
finds repeated eigenvalues, and all its columns share each pass over the matrix.

With the Cholesky factor L of X' X the columns of X L'^-1 are orthonormal, up to rounding times the
square of the condition of X, which a second pass corrects. Products are in single precision until
residuals are small. Columns that have converged are left alone.

Sources: Y. Zhou, Y. Saad, M. Tiago and J. Chelikowsky, Self-consistent-field calculations using
Chebyshev-filtered subspace iteration, 2006; Y. Zhou and R.-C. Li, Bounding the spectrum of large
Hermitian matrices, 2011; Y. Yamamoto, Y. Nakatsukasa, Y. Yanagisawa and T. Fukaya, Roundoff error
analysis of the CholeskyQR2 algorithm, 2015.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh_tridiagonal
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from diffclass import _compiled
from diffclass.exceptions import warn_user
from diffclass.system.progress import checkpoint

Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]  # values, vectors and residuals
TOLERANCE = 1e-6  # largest residual of an eigenpair, relative to its eigenvalue
MAX_ROUNDS = 50  # of filter and Rayleigh-Ritz
DENSE_POINTS = 512  # up to which LAPACK is used
# Residuals, relative to the largest eigenvalue: below the first, double precision is needed, which
# reaches the second.
SINGLE, _ROUNDING = 1e-5, 1e-13
_MORE_COLUMNS = 12  # than pairs, at least
_LANCZOS_STEPS = 12
_SLACK = 1e-6  # of their lower bound, relative to the largest eigenvalue
_MAX_DEGREE = 100
_MARGIN = 3  # times the reduction of residuals that is needed
# A filter amplifies the leading vectors by so much more than others: random columns stay
# independent in single precision, those near eigenvectors for longer. Of vectors that the columns
# are orthogonal to it amplifies rounding, by up to so much more again.
_GROWTH, _MOST_GROWTH, _ROUNDING_GROWTH = 1e4, 1e6, 1e3
# Converged columns, of at most the first share of the residual asked for, are left alone. But if a
# round leaves more than the second share of the worst residual, all are filtered again: what the
# others lack may lie in the converged ones.
_SETTLED, _HELPED = 0.3, 0.5
# A product with the matrix is faster than one with a rotation of so many columns for each edge.
_COLUMNS_PER_EDGE = 10
# Eigenvalues that differ by less are copies, from which all others are taken to differ by more.
_COPIES, _APART = 1e-8, 1e-3
# Distance from the span of others, of columns of length 1, above which one pass is enough.
_INDEPENDENT = 0.03
_ROWS = 4096  # that are handled at once, to save memory


def leading_pairs(
    matrix: sp.csr_array,
    n_pairs: int,
    *,
    known: np.ndarray,
    which: str = "magnitude",
    tolerance: float = TOLERANCE,
    max_rounds: int = MAX_ROUNDS,
    random_state: np.random.RandomState,
    start: Pairs | None = None,
    dtype: type = np.float64,
) -> Pairs:
    """Return the leading values, orthonormal vectors and residuals of a symmetric matrix (n, n).

    Orthonormal eigenvectors ``known`` (n, n_known) are left out; ``start`` are leading pairs found
    before, at most ``n_pairs``; the rest is as in `leading_eigenpairs`. Warns where the tolerance
    is not reached.
    """
    n = matrix.shape[0]
    # LAPACK is faster here, and exact
    if n <= DENSE_POINTS or 2 * n_pairs >= n:
        return _by_lapack(matrix, n_pairs, known, which)
    # the threads of BLAS would wait for the cores on which the sparse product runs
    with threadpool_limits(1, user_api="blas"):
        block = _Block(matrix, n_pairs, known.astype(dtype, copy=False), which, random_state)
        if start is not None:
            block.begin_with(*start)
        for _ in range(max_rounds):
            if block.excess(tolerance).max() <= 1:
                break
            block.refine(tolerance)
    if block.excess(tolerance).max() > 1:
        _warn(block, tolerance, max_rounds)
    return block.values[:n_pairs], block.vectors[:, :n_pairs], block.residuals[:n_pairs]


def block_size(n_points: int, n_pairs: int) -> int:
    """Return how many columns are iterated for so many pairs of a matrix of so many rows."""
    return min(n_points, n_pairs + max(_MORE_COLUMNS, n_pairs // 4))


def leading_order(values: np.ndarray, which: str) -> np.ndarray:
    """Return the indices that sort eigenvalues, the leading one first."""
    return np.argsort(-np.abs(values) if which == "magnitude" else -values, kind="stable")


def _by_lapack(matrix: sp.csr_array, n_pairs: int, known: np.ndarray, which: str) -> Pairs:
    n_known = known.shape[1]
    whole = matrix.toarray()
    others = whole - known @ (known.T @ whole)
    # moves the known eigenvalues below all others, so that they come first
    values, vectors = np.linalg.eigh(others - 3 * known @ known.T)
    values, vectors = values[n_known:], vectors[:, n_known:]
    leading = leading_order(values, which)[:n_pairs]
    values, vectors = values[leading], vectors[:, leading]
    return values, vectors, np.linalg.norm(whole @ vectors - vectors * values, axis=0)


class _Block:
    """Columns that approach the leading eigenvectors: one per pair wanted, and some more."""

    def __init__(
        self,
        matrix: sp.csr_array,
        n_pairs: int,
        known: np.ndarray,
        which: str,
        random: np.random.RandomState,
    ):
        n, n_known = known.shape
        size = block_size(n - n_known, n_pairs)
        self.in_single = sp.csr_array(
            (matrix.data.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape
        )
        self.matrix = matrix if known.dtype == np.float64 else self.in_single
        self.n_pairs = n_pairs
        self.known = known
        self.which = which
        self.vectors = _random_columns((n, size), known.dtype, random)
        values, shares, self.low = _lanczos(matrix, random)
        leading = leading_order(values, which)
        self.norm = np.abs(values).max()
        # the first guess: a value beyond which there are at least as many as the block has columns
        n_beyond = n * np.cumsum(shares[leading])
        cut = min(int(np.searchsorted(n_beyond, size)) + 1, len(leading) - 1)
        self.cut = values[leading[cut]]
        self.values = np.full(size, self.cut)
        self.residuals = np.full(size, self.norm)
        self.least_excess = np.inf

    def excess(self, tolerance: float) -> np.ndarray:
        """Return by how many times the residual of each wanted pair exceeds the one asked for."""
        asked = np.maximum(tolerance * np.abs(self.values), _ROUNDING * self.norm)
        return (self.residuals / asked)[: self.n_pairs]

    def begin_with(self, values: np.ndarray, vectors: np.ndarray, residuals: np.ndarray) -> None:
        """Take pairs that were found before for the first columns."""
        count = len(values)
        self.values[:count], self.residuals[:count] = values, residuals
        self.vectors[:, :count] = vectors
        project_out(self.vectors[:, count:], self.vectors[:, :count])  # in one precision

    def refine(self, tolerance: float) -> None:
        """Filter the columns that have not converged, and find the Ritz vectors among them."""
        excess = self.excess(tolerance)
        settled = self._settled(excess)
        worst = self.residuals[: self.n_pairs].max() / self.norm
        growth = min(max(_GROWTH, _GROWTH / worst), _MOST_GROWTH)
        center, half = self._damped(growth)
        # beyond the interval |T_k(x)| = cosh(k arcosh |x|)
        first = int(np.argmin(settled))
        leading = self.values[first - 1] if first else self.norm
        beyond = np.array([self.norm, leading, self.values[self.n_pairs - 1]])
        largest, leading, last = np.abs(beyond - center) / half
        degrees = [
            _MAX_DEGREE,
            np.arccosh(_ROUNDING_GROWTH * growth) / _growth_rate(largest),
            np.arccosh(growth) / _growth_rate(leading),
            np.arccosh(_MARGIN * excess.max()) / _growth_rate(last),
        ]
        degree = max(int(min(degrees)), 1)
        matrix = self.in_single if worst > SINGLE else self.matrix
        self._rearrange(np.argsort(~settled, kind="stable"))
        n_settled = int(np.count_nonzero(settled))
        others = self.vectors[:, n_settled:]
        others[:] = _filtered(matrix, others, center, half, degree)
        self._sort_out(n_settled)

    def _settled(self, excess: np.ndarray) -> np.ndarray:
        """Return which columns are left alone: converged ones, if the last round helped."""
        settled = np.zeros(len(self.values), dtype=bool)
        if excess.max() < _HELPED * self.least_excess:
            settled[: self.n_pairs] = excess <= _SETTLED
        self.least_excess = min(self.least_excess, excess.max())
        return settled

    def _rearrange(self, order: np.ndarray) -> None:
        if np.array_equal(order, np.arange(len(order))):
            return
        self.values, self.residuals = self.values[order], self.residuals[order]
        for rows in row_blocks(self.vectors):
            self.vectors[rows] = self.vectors[rows][:, order]

    def _damped(self, growth: float) -> tuple[float, float]:
        """Return center and half width of the interval of the eigenvalues not wanted."""
        low, cut, last = self.low, self.cut, self.values[self.n_pairs - 1]
        if self.which == "magnitude":
            cut, last = abs(cut), abs(last)
            low = max(low, -cut)
        if last - cut <= _COPIES * abs(last):  # more copies than the block has columns
            cut -= _APART * abs(last)
        center = (low + cut) / 2
        # so wide that even T_1 grows no more than allowed
        return center, max((cut - low) / 2, (self.norm - center) / growth)

    def _sort_out(self, first: int) -> None:
        """Turn the columns from the first on into Rayleigh-Ritz vectors, after those before."""
        columns = np.ascontiguousarray(self.vectors[:, first:])
        make_orthonormal(columns, self.known, self.vectors[:, :first])
        product = _product(self.matrix, columns)
        values, rotation = np.linalg.eigh((columns.T @ product).astype(np.float64, copy=False))
        multiply_by(columns, rotation)
        if len(rotation) * len(columns) > _COLUMNS_PER_EDGE * self.matrix.nnz:
            product = _product(self.matrix, columns)
        else:
            multiply_by(product, rotation)
        squares = np.zeros(len(values))
        for rows in row_blocks(product):
            squares += np.square(product[rows] - columns[rows] * values).sum(axis=0)
        self.vectors[:, first:] = columns
        self.values[first:], self.residuals[first:] = values, np.sqrt(squares)
        self._rearrange(leading_order(self.values, self.which))
        self._mend_bound()

    def _mend_bound(self) -> None:
        """Take the end of the next interval; lower the bound if values were found below it."""
        above = self.values[self.values >= self.low]
        self.cut = above[-1] if len(above) else self.values[0]
        lowest = int(np.argmin(self.values))
        # the filter has then amplified the lowest pairs as well, which may fill the block
        if self.values[lowest] < self.low - _SLACK * self.norm:
            self.low = self.values[lowest] - self.residuals[lowest]
            self.residuals[:] = self.norm  # none counts as converged


def _random_columns(
    shape: tuple[int, int], dtype: np.dtype, random: np.random.RandomState
) -> np.ndarray:
    if dtype == np.float64:
        return random.normal(size=shape)
    # a third of the time
    return np.random.default_rng(random.randint(2**31)).standard_normal(shape, dtype=np.float32)


def _growth_rate(x: float) -> float:
    return float(np.arccosh(max(x, 1 + _ROUNDING)))


def _lanczos(
    matrix: sp.csr_array, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return some Ritz values, the share of all eigenvalues that each stands for, a lower bound."""
    n = matrix.shape[0]
    n_steps = min(_LANCZOS_STEPS, n)
    diagonal, off_diagonal = np.zeros(n_steps), np.zeros(n_steps)
    previous, current = np.zeros(n), random.normal(size=n)
    current /= np.linalg.norm(current)
    for j in range(n_steps):
        following = matrix @ current - off_diagonal[j - 1] * previous
        diagonal[j] = following @ current
        following -= diagonal[j] * current
        off_diagonal[j] = np.linalg.norm(following)
        if off_diagonal[j] <= _ROUNDING * np.abs(diagonal).max():
            n_steps = j + 1
            break
        previous, current = current, following / off_diagonal[j]
    values, vectors = eigh_tridiagonal(diagonal[:n_steps], off_diagonal[: n_steps - 1])
    off = off_diagonal[n_steps - 1] * np.abs(vectors[-1, 0])
    return values, vectors[0] ** 2, values[0] - off  # shares: weights of Gauss' quadrature


def _filtered(
    matrix: sp.csr_array, columns: np.ndarray, center: float, half: float, degree: int
) -> np.ndarray:
    """Return T_degree((S - center) / half) of the columns, in the matrix's precision."""
    dtype = matrix.dtype.type
    S = matrix.indptr, matrix.indices, matrix.data
    current = columns.astype(dtype, order="C")
    following = np.zeros_like(current)
    for k in range(degree):
        checkpoint()
        # T_1 = x, then T_(k+1) = 2 x T_k - T_(k-1)
        weight = dtype((1 if k == 0 else 2) / half)
        _compiled.columns.recurrence_step(*S, weight, dtype(center), current, following)
        current, following = following, current
    return current


def _product(matrix: sp.csr_array, columns: np.ndarray) -> np.ndarray:
    """Return S of the columns."""
    out = np.zeros_like(columns)
    S = matrix.indptr, matrix.indices, matrix.data
    _compiled.columns.recurrence_step(*S, 1.0, 0.0, columns, out)
    return out


def _warn(block: _Block, tolerance: float, max_rounds: int) -> None:
    warn_user(
        f"{np.count_nonzero(block.excess(tolerance) > 1)} of {block.n_pairs} eigenpairs did not "
        f"converge to {tolerance:g} within {max_rounds} rounds; the largest residual is "
        f"{block.residuals[: block.n_pairs].max():.1e}",
        ConvergenceWarning,
    )


def make_orthonormal(columns: np.ndarray, *known: np.ndarray) -> None:
    """Make the columns orthonormal, and orthogonal to known orthonormal vectors, in place."""
    try:
        for _ in range(2):
            left = min((project_out(columns, vectors) for vectors in known), default=1.0)
            norms = _norms(columns)
            columns /= np.where(norms > 0, norms, 1)
            inverse = np.linalg.inv(np.linalg.cholesky(_products(columns)))
            multiply_by(columns, inverse.T)
            # (X' X)^-1 has one over the squared distances from the others' span on its diagonal
            closest = 1 / np.sqrt(np.square(inverse).sum(axis=0).max())
            if min(closest, left) > _INDEPENDENT:
                break
    except np.linalg.LinAlgError:  # columns in the span of others: by Householder's reflections
        n_known = sum(vectors.shape[1] for vectors in known)
        columns[:] = np.linalg.qr(np.hstack([*known, columns]))[0][:, n_known:]


def project_out(columns: np.ndarray, known: np.ndarray) -> float:
    """Take known orthonormal vectors out of the columns; return the least share that is left."""
    before = _norms(columns)
    overlap = known.T @ columns
    for rows in row_blocks(columns):
        columns[rows] -= known[rows] @ overlap
    return float(np.min(_norms(columns) / np.where(before > 0, before, 1)))


def _norms(columns: np.ndarray) -> np.ndarray:
    return np.sqrt(np.einsum("xc,xc->c", columns, columns))


def _products(columns: np.ndarray) -> np.ndarray:
    """Return X' X in double precision: single precision does not distinguish close columns."""
    if columns.dtype == np.float64:
        return columns.T @ columns
    total = np.zeros((columns.shape[1],) * 2)
    for rows in row_blocks(columns):
        block = columns[rows].astype(np.float64)
        total += block.T @ block
    return total


def multiply_by(columns: np.ndarray, factor: np.ndarray) -> None:
    """Take columns <- columns factor, in the precision of the columns."""
    factor = factor.astype(columns.dtype, copy=False)
    for rows in row_blocks(columns):
        columns[rows] = columns[rows] @ factor


def row_blocks(columns: np.ndarray) -> Iterator[slice]:
    """Yield slices of few rows that make up the columns, so that copies stay small."""
    for start in range(0, len(columns), _ROWS):
        yield slice(start, start + _ROWS)
