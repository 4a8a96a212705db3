"""Loops over Gaussians N(x, W'W + s 1): W holds r orthogonal rows, the factors, and s is noise."""

from __future__ import annotations

import numpy as np

from diffclass._compiled._jit import parallel, prange, serial


@parallel
def principal_directions(indptr, indices, X, directions, variances, residual):
    """Principal components of the points that each row of a graph names.

    directions(x) has orthonormal rows, variances(x) their sample variances, largest first; both
    are 0 beyond the rank of the points. residual(x) is the mean variance off those directions.
    """
    n_features = X.shape[1]
    for x in prange(indptr.shape[0] - 1):
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
    """Return the members' rows minus their mean, in double; equal rows give exact zeros."""
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
    """Fill in the leading right singular vectors and squared singular values; return their sum.

    The smaller of the two matrices of products is decomposed.
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
    indptr, indices, X, factors, variances, noise, base,
    others, other_factors, other_variances, other_noise, other_base, once, out,
):  # fmt: skip
    """out(e) = 1/2 log det S + 1/2 d' S^-1 d - (base(x) + base(z)) / 2, e = (x, z), d = x - z.

    S is the sum of both covariances, variances the squared lengths of the factors. With ``once``
    (both sets are the same) an edge is left to one of its ends, see `is_owner`.
    """
    r, n_features = factors.shape[1], factors.shape[2]
    for x in prange(indptr.shape[0] - 1):
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
    """Whether the edge {x, z} is worked out in row x: each end owns about half of its edges."""
    return x != z and ((x + z) % 2 == 0) == (x < z)


@serial
def eliminated(U, u_variances, V, v_variances, s, d, cross, schur, u, v, roots):
    """Eliminate in M (u, v) = [U d, V d] / s, M = 1 + [U, V]'[U, V] / s; return log det S.

    The block of U is diagonal. What `solve_back` needs is left in the last five arguments.
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
    """Turn the eliminated right-hand sides u and v into the solution."""
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
    """|d - U'u - V'v|^2 / s + |u|^2 + |v|^2, whose minimum over u and v is d' S^-1 d.

    At the minimum rounding of u and v counts only squared: a small s does no harm. Overwrites d.
    """
    for i in range(U.shape[0]):
        for j in range(d.shape[0]):
            d[j] -= u[i] * U[i, j] + v[i] * V[i, j]
    return dot(d, d) / s + dot(u, u) + dot(v, v)


@parallel
def mahalanobis_energies(
    indptr, indices, X, factors, variances, noise,
    others, other_factors, other_variances, other_noise, once, out,
):  # fmt: skip
    """out(e) = d' (S_x^-1 + S_z^-1) d / 2, S the covariances; otherwise as `overlap_energies`."""
    n_features = factors.shape[2]
    for x in prange(indptr.shape[0] - 1):
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
    """Return d' (U'U + s 1)^-1 d by the minimum of `ridge_value`; overwrites rest."""
    rest[:] = d
    total = 0.0
    for i in range(U.shape[0]):
        weight = dot(U[i], d) / (variances[i] + s)
        total += weight * weight
        for j in range(d.shape[0]):
            rest[j] -= weight * U[i, j]
    return total + dot(rest, rest) / s


@parallel
def mirror(indptr, indices, diagonal, out):
    """Copy out(x, z) from out(z, x) where z owns the edge; diagonal(x) on the diagonal.

    Rows are sorted by column. NaN where the graph lacks the edge back.
    """
    for x in prange(indptr.shape[0] - 1):
        for e in range(indptr[x], indptr[x + 1]):
            z = indices[e]
            if z == x:
                out[e] = diagonal[x]
            elif not is_owner(x, z):
                start, stop = indptr[z], indptr[z + 1]
                found = start + np.searchsorted(indices[start:stop], x)
                back = found < stop and indices[found] == x
                out[e] = out[found] if back else np.nan


@serial
def dot(a, b):
    """Product of two vectors in double precision; four sums side by side, which are vectorised."""
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
