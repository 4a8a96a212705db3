"""Loops over Gaussians N(x, W'W + s 1): W (r, d) holds orthogonal rows, the factors; s is noise.

`join` has round ones, bumps.
"""

from __future__ import annotations

import numpy as np

from diffclass._compiled.cell_tree import take_rows
from diffclass._compiled.graphs import first_not_below
from diffclass._compiled.loops import parallel, serial, share
from diffclass._compiled.neighbor_lists import four_distances


@parallel
def principal_directions(part, indptr, indices, X, directions, variances, residual):
    """Principal components of the points X (n_columns, d) that each row of a graph names.

    directions (n, r, d) gets orthonormal rows, variances (n, r) the sample variances along them,
    the largest first, and residual (n,) the mean variance along all other directions. Beyond the
    rank of the points, directions and variances are 0.
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
            # the trace that the leading components leave, spread over all other directions
            rest = max(total - found, 0.0) / (n_features - variances.shape[1])
            variances[x] /= n_members - 1
            residual[x] = rest / (n_members - 1)


@serial
def centered_rows(X, members):
    """Return the members' rows minus their mean, (k, d); equal rows give exact zeros."""
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

    centered (k, d), directions (r, d), squares (r,). The smaller of the two matrices of products is
    decomposed.
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

    Rounding errors of w count only squared, so a small s does no harm. Rows are the Gaussians X (n,
    d), factors (n, r, d), variances (n, r) their squared lengths, noise (n,) and base (n,); columns
    are ``others`` with theirs. With ``once`` both are the same, and only one end of each edge
    computes it.
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
            # d is now the residual d - W'w, at whose minimum an error of w counts squared
            form = dot(d, d) / s + dot(w, w)
            out[e] = 0.5 * (log_det + form) - 0.5 * (base[x] + other_base[z])


@serial
def solve(M, w):
    """Overwrite w by M^-1 w, and M by its Cholesky factor; return log det M.

    M (k, k) is symmetric, at least the identity; only its lower half is used.
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
    """Return whether row x computes the edge {x, z}: each end owns about half of its edges."""
    return x != z and ((x + z) % 2 == 0) == (x < z)


@parallel
def mirror(part, indptr, indices, out):
    """Copy out(x, z) from out(z, x) where z owns the edge; write 0 on the diagonal.

    Rows are sorted by column. Where the graph has no edge (z, x), it writes NaN.
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
    """Return the product of two vectors in double precision, in four sums that are vectorised."""
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


@parallel
def join(part, Z, coefficients, intercept, columns, rate, heights, p, exponent, least, out):
    """out(x, c) ~ max(p(x, c), least)^exponent exp(v_c(x)), rows of sum 1, for points Z (n, d).

    v_c(x) = <z_x, coefficients(., c)> + intercept(c) + sum_l exp(-rate |z_x - y_l|^2) heights(l, c)
    in double precision; the bumps and their centres, columns (d', m) padded to a multiple of 4, are
    float32. heights is (m, n_classes).
    """
    n_features, n_classes = coefficients.shape
    rows = np.zeros((4, columns.shape[0]), np.float32)
    distances = np.empty((4, columns.shape[1]), np.float32)
    says = np.empty(n_classes)
    points = share(part, Z.shape[0])
    for x in range(points.start, points.stop, 4):
        take_rows(Z, x, points.stop, rows[:, :n_features])
        four_distances(rows, columns, distances)
        for u in range(min(4, points.stop - x)):
            for c in range(n_classes):
                says[c] = intercept[c] + exponent * np.log(max(np.float64(p[x + u, c]), least))
            for j in range(n_features):
                for c in range(n_classes):
                    says[c] += Z[x + u, j] * coefficients[j, c]
            for m in range(columns.shape[1]):
                bump = np.exp(-rate * distances[u, m])
                for c in range(n_classes):
                    says[c] += bump * heights[m, c]
            largest, total = says.max(), 0.0
            for c in range(n_classes):
                says[c] = np.exp(says[c] - largest)
                total += says[c]
            for c in range(n_classes):
                out[x + u, c] = says[c] / total
