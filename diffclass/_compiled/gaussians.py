"""Loops over Gaussians N(x, W'W + s 1): W holds r orthogonal rows, the factors, and s is noise."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import parallel, serial, share
from diffclass._compiled.edges import first_not_below


@parallel
def principal_directions(part, indptr, indices, X, directions, variances, residual):
    """Principal components of the points that each row of a graph names.

    Beyond the rank of the points, directions and variances are 0.

    Parameters
    ----------
    indptr, indices : index of shape (n + 1,), (m,)
    X : float of shape (n_columns, d)
    directions : float of shape (n, r, d), written
        Orthonormal rows.
    variances : float64 of shape (n, r), written
        Sample variances along them, largest first.
    residual : float64 of shape (n,), written
        Mean variance along all other directions.
    """
    n_features = X.shape[1]
    for x in share(part, indptr.shape[0] - 1):
        directions[x] = 0
        variances[x] = 0
        residual[x] = 0
        n_members = indptr[x + 1] - indptr[x]
        if n_members > 1:
            centered = centered_rows(X, indices[indptr[x] : indptr[x + 1]])
            total = np.sum(centered * centered)
            found = leading_components(centered, directions[x], variances[x])
            rest = max(total - found, 0.0) / (n_features - variances.shape[1])
            variances[x] /= n_members - 1
            residual[x] = rest / (n_members - 1)


@serial
def centered_rows(X, members):
    """Return the members' rows minus their mean; equal rows give exact zeros.

    Parameters
    ----------
    X : float of shape (n, d)
    members : index of shape (k,)

    Returns
    -------
    float64 of shape (k, d)
    """
    centered = np.empty((members.shape[0], X.shape[1]))
    for j in range(X.shape[1]):
        first = X[members[0], j]
        total = 0.0
        for i in range(members.shape[0]):
            centered[i, j] = np.float64(X[members[i], j]) - first
            total += centered[i, j]
        centered[:, j] -= total / members.shape[0]
    return centered


@serial
def leading_components(centered, directions, squares):
    """Write the leading right singular vectors and squared singular values; return their sum.

    The smaller of the two matrices of products is decomposed.

    Parameters
    ----------
    centered : float64 of shape (k, d)
    directions : float of shape (r, d), written
    squares : float64 of shape (r,), written

    Returns
    -------
    float64
    """
    found = 0.0
    by_rows = centered.shape[0] <= centered.shape[1]
    products = np.dot(centered, centered.T) if by_rows else np.dot(centered.T, centered)
    values, vectors = np.linalg.eigh(products)
    for k in range(min(squares.shape[0], values.shape[0])):
        value = values[values.shape[0] - 1 - k]
        if value <= 1e-14 * values[values.shape[0] - 1]:  # rounding
            break
        squares[k] = value
        found += value
        vector = np.ascontiguousarray(vectors[:, values.shape[0] - 1 - k])
        directions[k] = np.dot(vector, centered) / np.sqrt(value) if by_rows else vector
    return found


@parallel
def overlap_energies(
    part, indptr, indices, X, factors, variances, noise, base,
    others, other_factors, other_variances, other_noise, other_base, once, out,
):  # fmt: skip
    """out(e) = 1/2 log det S + 1/2 d' S^-1 d - (base(x) + base(z)) / 2, e = (x, z), d = x - z.

    S is the sum of both covariances. With the factors of both ends as the rows of W, and s the sum
    of both noises, S = W'W + s 1 and, by M = 1 + W W' / s,

        log det S = d log s + log det M
        d' S^-1 d = |d - W'w|^2 / s + |w|^2 at its minimum w = M^-1 W d / s.

    Rounding errors of w count only squared, so a small s does no harm.

    Parameters
    ----------
    indptr, indices : index of shape (n + 1,), (m,)
        Edges from the points X to the points ``others``.
    X, others : float of shape (n, d), (n_columns, d)
    factors, other_factors : float of shape (n, r, d), (n_columns, r, d)
    variances, other_variances : float64 of shape (n, r), (n_columns, r)
        Squared lengths of the factors.
    noise, other_noise : float64 of shape (n,), (n_columns,)
    base, other_base : float64 of shape (n,), (n_columns,)
    once : bool
        Whether only one end of each edge computes it, see `is_owner`; both sets are then the same.
    out : float64 of shape (m,)
    """
    r, n_features = factors.shape[1], factors.shape[2]
    for x in share(part, indptr.shape[0] - 1):
        d, w, M = np.empty(n_features), np.empty(2 * r), np.zeros((2 * r, 2 * r))
        for e in range(indptr[x], indptr[x + 1]):
            z = indices[e]
            if once and not is_owner(x, z):
                continue
            for j in range(n_features):
                d[j] = np.float64(X[x, j]) - others[z, j]
            U, V, s = factors[x], other_factors[z], noise[x] + other_noise[z]
            for i in range(r):  # the lower half of M; each end's own factors are orthogonal
                M[i, :i] = 0
                M[r + i, r : r + i] = 0
                M[i, i] = 1 + variances[x, i] / s
                M[r + i, r + i] = 1 + other_variances[z, i] / s
                for k in range(r):
                    M[r + i, k] = dot(U[k], V[i]) / s
                w[i], w[r + i] = dot(U[i], d) / s, dot(V[i], d) / s
            log_det = n_features * np.log(s) + solve(M, w)
            for i in range(r):
                for j in range(n_features):
                    d[j] -= w[i] * U[i, j] + w[r + i] * V[i, j]
            form = dot(d, d) / s + dot(w, w)
            out[e] = 0.5 * (log_det + form) - 0.5 * (base[x] + other_base[z])


@serial
def solve(M, w):
    """Overwrite w by M^-1 w, and M by its Cholesky factor; return log det M.

    Parameters
    ----------
    M : float64 of shape (k, k), overwritten
        Symmetric, at least the identity; only its lower half is used.
    w : float64 of shape (k,), overwritten

    Returns
    -------
    float64
    """
    n, log_det, product = w.shape[0], 0.0, 1.0
    for i in range(n):
        for k in range(i):
            for m in range(k):
                M[i, k] -= M[i, m] * M[k, m]
            M[i, k] /= M[k, k]
            M[i, i] -= M[i, k] * M[i, k]
            w[i] -= M[i, k] * w[k]
        pivot = max(M[i, i], 1.0)
        M[i, i] = np.sqrt(pivot)
        w[i] /= M[i, i]
        product *= pivot
        if product > 1e150:  # one logarithm for many pivots
            log_det += np.log(product)
            product = 1.0
    for step in range(n):
        i = n - 1 - step
        for k in range(i + 1, n):
            w[i] -= M[k, i] * w[k]
        w[i] /= M[i, i]
    return log_det + np.log(product)


@serial
def is_owner(x, z):
    """Return whether row x computes the edge {x, z}: each end owns about half of its edges.

    Parameters
    ----------
    x, z : int
    """
    return x != z and ((x + z) % 2 == 0) == (x < z)


@parallel
def mirror(part, indptr, indices, out):
    """Copy out(x, z) from out(z, x) where z owns the edge; write 0 on the diagonal.

    Where the graph has no edge (z, x), it writes NaN.

    Parameters
    ----------
    indptr, indices : index of shape (n + 1,), (m,)
        A square pattern, rows sorted by column.
    out : float64 of shape (m,), read and written
    """
    for x in share(part, indptr.shape[0] - 1):
        for e in range(indptr[x], indptr[x + 1]):
            z = indices[e]
            if z == x:
                out[e] = 0
            elif not is_owner(x, z):
                start, stop = indptr[z], indptr[z + 1]
                found = first_not_below(indices, start, stop, x)
                back = found < stop and indices[found] == x
                out[e] = out[found] if back else np.nan


@serial
def dot(a, b):
    """Return the product of two vectors in double precision.

    Four sums side by side are vectorised.

    Parameters
    ----------
    a, b : float32 or float64 of shape (d,)

    Returns
    -------
    float64
    """
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    n = a.shape[0]
    whole = n - n % 4
    for j in range(0, whole, 4):
        first += np.float64(a[j]) * b[j]
        second += np.float64(a[j + 1]) * b[j + 1]
        third += np.float64(a[j + 2]) * b[j + 2]
        fourth += np.float64(a[j + 3]) * b[j + 3]
    for j in range(whole, n):
        first += np.float64(a[j]) * b[j]
    return (first + second) + (third + fourth)
