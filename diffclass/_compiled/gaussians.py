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

    S is the sum of both covariances.

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
        d = np.empty(n_features)
        u, v, roots = np.empty(r), np.empty(r), np.empty(r)
        cross, schur = np.empty((r, r)), np.empty((r, r))
        for e in range(indptr[x], indptr[x + 1]):
            z = indices[e]
            if once and not is_owner(x, z):
                continue
            for j in range(n_features):
                d[j] = np.float64(X[x, j]) - others[z, j]
            U, V, s = factors[x], other_factors[z], noise[x] + other_noise[z]
            log_det = eliminated(
                U, variances[x], V, other_variances[z], s, d, cross, schur, u, v, roots
            )
            solve_back(cross, schur, u, v, roots)
            energy = 0.5 * (log_det + ridge_value(d, U, u, V, v, s))
            out[e] = energy - 0.5 * (base[x] + other_base[z])


@serial
def is_owner(x, z):
    """Return whether row x computes the edge {x, z}: each end owns about half of its edges.

    Parameters
    ----------
    x, z : int
    """
    return x != z and ((x + z) % 2 == 0) == (x < z)


@serial
def eliminated(U, u_variances, V, v_variances, s, d, cross, schur, u, v, roots):
    """Eliminate in M (u, v) = [U d, V d] / s, M = 1 + [U, V]'[U, V] / s; return log det S.

    The block of U is diagonal.

    Parameters
    ----------
    U, V : float of shape (r, d)
    u_variances, v_variances : float64 of shape (r,)
    s : float64
    d : float64 of shape (d,)
    cross, schur : float64 of shape (r, r), written
    u, v, roots : float64 of shape (r,), written
        These five are what `solve_back` needs.

    Returns
    -------
    float64
    """
    r = U.shape[0]
    log_det, product = d.shape[0] * np.log(s), 1.0
    for i in range(r):
        pivot = 1 + u_variances[i] / s
        product *= pivot
        roots[i] = 1 / np.sqrt(pivot)
        u[i] = dot(U[i], d) / s * roots[i]
        for k in range(r):
            cross[i, k] = dot(U[i], V[k]) / s * roots[i]
    for k in range(r):
        value = dot(V[k], d) / s
        for i in range(r):
            value -= cross[i, k] * u[i]
        for m in range(k + 1):
            entry = 1 + v_variances[k] / s if m == k else 0.0
            for i in range(r):
                entry -= cross[i, k] * cross[i, m]
            for i in range(m):
                entry -= schur[k, i] * schur[m, i]
            if m < k:
                schur[k, m] = entry / schur[m, m]
                value -= schur[k, m] * v[m]
            else:
                entry = max(entry, 1.0)  # the Schur complement is at least the identity
                product *= entry
                schur[k, k] = np.sqrt(entry)
        v[k] = value / schur[k, k]
        if product > 1e150:  # one logarithm for many pivots
            log_det += np.log(product)
            product = 1.0
    return log_det + np.log(product)


@serial
def solve_back(cross, schur, u, v, roots):
    """Turn the eliminated right-hand sides u and v into the solution.

    Parameters
    ----------
    cross, schur : float64 of shape (r, r)
    u, v : float64 of shape (r,), written
    roots : float64 of shape (r,)
        All as `eliminated` leaves them.
    """
    r = u.shape[0]
    for step in range(r):
        k = r - 1 - step
        for m in range(k + 1, r):
            v[k] -= schur[m, k] * v[m]
        v[k] /= schur[k, k]
    for i in range(r):
        for k in range(r):
            u[i] -= cross[i, k] * v[k]
        u[i] *= roots[i]


@serial
def ridge_value(d, U, u, V, v, s):
    """Return |d - U'u - V'v|^2 / s + |u|^2 + |v|^2, whose minimum over u and v is d' S^-1 d.

    At the minimum, rounding errors of u and v count only squared, so a small s does no harm.

    Parameters
    ----------
    d : float64 of shape (d,), overwritten
    U, V : float of shape (r, d)
    u, v : float64 of shape (r,)
    s : float64

    Returns
    -------
    float64
    """
    for i in range(U.shape[0]):
        for j in range(d.shape[0]):
            d[j] -= u[i] * U[i, j] + v[i] * V[i, j]
    return dot(d, d) / s + dot(u, u) + dot(v, v)


@parallel
def mahalanobis_energies(
    part, indptr, indices, X, factors, variances, noise,
    others, other_factors, other_variances, other_noise, once, out,
):  # fmt: skip
    """out(e) = d' (S_x^-1 + S_z^-1) d / 2, e = (x, z), d = x - z, S_x and S_z the covariances.

    Parameters
    ----------
    indptr, indices, X, factors, variances, noise
    others, other_factors, other_variances, other_noise, once, out
        As in `overlap_energies`.
    """
    n_features = factors.shape[2]
    for x in share(part, indptr.shape[0] - 1):
        d, rest = np.empty(n_features), np.empty(n_features)
        for e in range(indptr[x], indptr[x + 1]):
            z = indices[e]
            if once and not is_owner(x, z):
                continue
            for j in range(n_features):
                d[j] = np.float64(X[x, j]) - others[z, j]
            here = quadratic_form(d, factors[x], variances[x], noise[x], rest)
            there = quadratic_form(d, other_factors[z], other_variances[z], other_noise[z], rest)
            out[e] = 0.5 * (here + there)


@serial
def quadratic_form(d, U, variances, s, rest):
    """Return d' (U'U + s 1)^-1 d by the minimum of `ridge_value`.

    Parameters
    ----------
    d : float64 of shape (d,)
    U : float of shape (r, d)
    variances : float64 of shape (r,)
    s : float64
    rest : float64 of shape (d,), overwritten

    Returns
    -------
    float64
    """
    rest[:] = d
    total = 0.0
    for i in range(U.shape[0]):
        weight = dot(U[i], d) / (variances[i] + s)
        total += weight * weight
        for j in range(d.shape[0]):
            rest[j] -= weight * U[i, j]
    return total + dot(rest, rest) / s


@parallel
def mirror(part, indptr, indices, diagonal, out):
    """Copy out(x, z) from out(z, x) where z owns the edge; write NaN where the graph lacks (z, x).

    Parameters
    ----------
    indptr, indices : index of shape (n + 1,), (m,)
        A square pattern, rows sorted by column.
    diagonal : float64 of shape (n,)
        Written on the diagonal.
    out : float64 of shape (m,), read and written
    """
    for x in share(part, indptr.shape[0] - 1):
        for e in range(indptr[x], indptr[x + 1]):
            z = indices[e]
            if z == x:
                out[e] = diagonal[x]
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
