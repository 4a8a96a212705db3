"""Slow twins of the fast routines: dense NumPy, one line a formula, no import of diffclass.

A graph is given as two dense (n, n) arrays, squared distances and a mask of edges, since an edge
may have length zero.
"""

from __future__ import annotations

import numpy as np


def squared_distances(X, Y=None):
    X = np.asarray(X, dtype=np.float64)
    Y = X if Y is None else np.asarray(Y, dtype=np.float64)
    rows = [((x - Y) ** 2).sum(axis=1) for x in X]  # no array of (m, n, d)
    return np.reshape(rows, (len(X), len(Y)))


def nearest(X, n_neighbors):
    """Directed mask of each point's nearest others."""
    distances = squared_distances(X)
    np.fill_diagonal(distances, np.inf)
    k = min(n_neighbors, len(distances) - 1)
    mask = np.zeros(distances.shape, dtype=bool)
    np.put_along_axis(mask, np.argsort(distances, axis=1, kind="stable")[:, :k], True, axis=1)
    return mask


def neighbors_graph(X, n_neighbors):
    """Squared distances and mask of the symmetric graph, the diagonal among its edges."""
    mask = nearest(X, n_neighbors)
    mask = mask | mask.T
    np.fill_diagonal(mask, True)
    return np.where(mask, squared_distances(X), 0.0), mask


def gaussian(distances, mask, epsilon):
    return np.where(mask, np.exp(-np.minimum(distances / epsilon, 60)), 0.0)


def scales(distances, mask, neighbor):
    """Distance to the j-th stored neighbour other than the point itself, or to the farthest."""
    out = np.zeros(len(distances))
    for x in range(len(out)):
        row = np.sort([distances[x, y] for y in np.flatnonzero(mask[x]) if y != x])
        out[x] = np.sqrt(row[min(neighbor, len(row)) - 1])
    return out


def normalised(K, alpha=0.0):
    """K_alpha and its degrees."""
    q = K.sum(axis=1)
    K = K / np.outer(q**alpha, q**alpha)
    return K, K.sum(axis=1)


def markov_matrix(K, alpha=0.0):
    K, d = normalised(K, alpha)
    return K / d[:, None]


def bumps_from_equilibrium(K, t):
    """Squared diffusion distance of every bump to the stationary distribution."""
    pi = K.sum(axis=1) / K.sum()
    bumps = np.linalg.matrix_power(markov_matrix(K), t)
    return ((bumps - pi) ** 2 / pi).sum(axis=1)


def shared_neighbors(K, power):
    """K times a power of the cosine of the bumps a(x, .) in the metric of 1 / pi."""
    d = K.sum(axis=1)
    bumps = K / d[:, None] / np.sqrt(d / d.sum())
    inner = bumps @ bumps.T
    cosines = inner / np.sqrt(np.outer(inner.diagonal(), inner.diagonal()))
    shared = K * np.maximum(cosines**power, 1e-6)
    off = 1 - np.eye(len(K))
    ratio = (shared * off).sum(axis=1) / (K * off).sum(axis=1)
    return shared * off + np.diag(K.diagonal() * ratio)


def components(K):
    """Number of each point's component, counted by the first point of each."""
    reach = np.linalg.matrix_power((K > 0) | np.eye(len(K), dtype=bool), len(K))
    return np.unique(reach.argmax(axis=1), return_inverse=True)[1]


def hops(K, groups):
    """Edges to the nearest point of each group by boolean products, -1 where there is no path."""
    n_groups = max(groups) + 1
    out = np.full((len(K), n_groups), -1)
    reached = np.stack([np.asarray(groups) == i for i in range(n_groups)], axis=1)
    for t in range(len(K) + 1):
        out[reached & (out < 0)] = t
        reached = reached | ((K > 0) @ reached)
    return out


def neighbor_aggregates(K, order):
    """Aggregate of each point: seeds have no earlier seed beside them, others join the nearest."""
    seeds = []
    for x in order:
        if not any(K[x, s] > 0 for s in seeds):
            seeds.append(x)
    seeds = sorted(seeds)
    return [seeds.index(x) if x in seeds else int(np.argmax(K[x, seeds])) for x in range(len(K))]


def indicators(codes, n_classes, weight=None):
    chi = np.zeros((len(codes), n_classes))
    for x, i in enumerate(codes):
        if i >= 0:
            chi[x, i] = 1.0 if weight is None else weight[x]
    return chi


def free_labels(A, pi, codes, n_classes, t, *, weight=None):
    """A^t chi_i, chi_i scaled to integrate to 1."""
    chi = indicators(codes, n_classes, weight)
    return np.linalg.matrix_power(A, t) @ (chi / (pi @ chi))


def summed_labels(A, pi, codes, n_classes, tau, *, weight=None):
    """Free labels summed over the times 0 to h tau, h = 6 with one label a class, else 3."""
    n_labels = [np.sum(np.asarray(codes) == c) for c in range(n_classes)]
    N = total = free_labels(A, pi, codes, n_classes, 0, weight=weight)
    for _ in range((6 if np.median(n_labels) == 1 else 3) * tau):
        N = A @ N
        total = total + N
    return total


def absorbing_labels(A, codes, n_classes, t, *, weight=None):
    """The walk stops at a label with the probability that the label is trusted."""
    chi = indicators(codes, n_classes, weight)
    stop = chi.sum(axis=1, keepdims=True)
    N = chi.copy()
    for _ in range(t):
        N = chi + (1 - stop) * (A @ N)
    return N


def largest(rows, k):
    """The k largest values of each row, of equal ones the first; 0 elsewhere."""
    order = np.argsort(-rows, axis=1, kind="stable")
    kept = rows.copy()
    np.put_along_axis(kept, order[:, k:], 0, axis=1)
    return kept


def largest_absorbing_labels(A, codes, n_classes, t, k, *, weight=None):
    """`absorbing_labels` of which each point keeps the k largest values after each step."""
    chi = indicators(codes, n_classes, weight)
    stop = chi.sum(axis=1, keepdims=True)
    N = chi.copy()
    for _ in range(t):
        N = largest(chi + (1 - stop) * (A @ N), k)
    return N


def harmonic_labels(A, codes, n_classes):
    """Solve N = A N off the labels, N = chi on them (every component needs a label)."""
    N = indicators(codes, n_classes)
    open_ = np.asarray(codes) < 0
    system = np.eye(open_.sum()) - A[np.ix_(open_, open_)]
    N[open_] = np.linalg.solve(system, A[np.ix_(open_, ~open_)] @ N[~open_])
    return N


def posteriors(N, weight):
    p = N * weight
    total = p.sum(axis=1, keepdims=True)
    return np.where(total > 0, p / np.where(total > 0, total, 1), 1 / N.shape[1])


def class_weight(N, pi, prior):
    return np.asarray(prior) / (pi @ N)


def margins(p):
    if p.shape[1] == 1:
        return p[:, 0]
    ordered = np.sort(p, axis=1)
    return ordered[:, -1] - ordered[:, -2]


def coverage(hops_, t):
    """Share of the entries with a path that lie within t hops."""
    reachable = hops_ >= 0
    return np.count_nonzero(reachable & (hops_ <= t)) / np.count_nonzero(reachable)


def chosen_time(times, margin, coverage_, kept_share, covered=0.999):
    """The last covered time with enough of the largest covered margin, else the best covered."""
    good = [i for i in range(len(times)) if coverage_[i] >= covered]
    if not good:
        return times[-1]
    largest = max(margin[i] for i in good)
    return max(times[i] for i in good if margin[i] >= kept_share * largest)


def cut(K, codes, n_classes):
    """Mean over the classes of the probability that a step leaves the class, and its error."""
    shares, variance = [], 0.0
    for i in range(n_classes):
        member = codes == i
        volume = K[member].sum()
        share = K[member][:, ~member].sum() / volume if member.any() else 1.0
        shares.append(share)
        variance += share * (1 - share) / max(member.sum(), 1)
    return np.mean(shares), np.sqrt(variance) / n_classes


def auto_time(times, rows, coverage_, kept_share):
    """The last time that the margin keeps; with its cut and error."""
    margin, cuts, errors = np.transpose(rows)
    kept = list(times).index(chosen_time(times, margin, coverage_, kept_share))
    return times[kept], cuts[kept], errors[kept]


def filled_by_fronts(K, lost, values):
    """Values whose lost rows are means of their neighbours' rows, front by front."""
    values, known = values.copy(), values.any(axis=1)
    while True:
        front = lost & ~known & (K[:, known] > 0).any(axis=1)
        if not front.any():
            return values
        weights = K[np.ix_(front, known)]
        values[front] = weights @ values[known] / weights.sum(axis=1, keepdims=True)
        known |= front


def without_label(A, codes, n_classes, t, point, *, weight=None):
    """Absorbing labels after t steps at a labelled point whose own label is left out."""
    left = codes.copy()
    left[point] = -1
    return absorbing_labels(A, left, n_classes, t, weight=weight)[point]


def returns(A, weight, t, start, end):
    """Probability that a walk from a label stops at one next, within t + 1 steps.

    ``weight`` (n,) is the probability to stop at each point.
    """
    column = np.zeros(len(A))
    column[end] = 1
    stopped = 0.0
    for _ in range(t + 1):
        column = A @ column
        stopped += weight[end] * column[start]
        column = (1 - weight) * column
    return stopped


def nearest_denser(points, density):
    """Each point's nearest denser one and how far it is; of the densest itself and the farthest."""
    distances = np.sqrt(squared_distances(points))
    densest = int(np.argmax(density))
    denser, distance = np.zeros(len(points), dtype=int), np.zeros(len(points))
    for x in range(len(points)):
        above = [
            y
            for y in range(len(points))
            if density[y] > density[x] or (density[y] == density[x] and y < x)
        ]
        denser[x] = min(above, key=lambda y: distances[x, y]) if above else x
        distance[x] = distances[x, denser[x]] if above else distances[densest].max()
    return denser, distance


def modes(points, density, k):
    """Modes by sqrt(p) rho, the densest point first, and the mode of each point."""
    denser, distance = nearest_denser(points, density)
    scores = np.sqrt(density) * distance
    densest = int(np.argmax(density))
    found = [densest, *(x for x in np.argsort(-scores, kind="stable") if x != densest)][:k]
    labels = np.full(len(points), -1)
    for x in np.lexsort([np.arange(len(points)), -np.asarray(density, dtype=float)]):
        labels[x] = found.index(x) if x in found else labels[denser[x]]
    return found, labels
