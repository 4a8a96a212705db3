"""Loops that choose points: the seeds of aggregates, and what a point is nearer to than others."""

from __future__ import annotations

from diffclass._compiled.loops import parallel, serial, share


@serial
def choose_seeds(indptr, indices, order, is_seed):
    """Choose the points that have no earlier neighbour among those chosen.

    order (n,) holds all points, the first to be chosen first; is_seed (n,) is False at the start.
    """
    for x in order:
        is_seed[x] = True
        for e in range(indptr[x], indptr[x + 1]):
            if indices[e] != x and is_seed[indices[e]]:
                is_seed[x] = False
                break


@parallel
def join_seeds(part, indptr, indices, data, of_seed, out):
    """out(x) = aggregate of the seed to which x has the largest affinity, the first of equal ones.

    of_seed (n,) is -1 at points that are no seeds; each of them has a neighbour that is one. A seed
    is in its own aggregate.
    """
    for x in share(part, indptr.shape[0] - 1):
        out[x] = of_seed[x]
        if out[x] < 0:
            largest = data.dtype.type(-1)
            for e in range(indptr[x], indptr[x + 1]):
                aggregate = of_seed[indices[e]]
                if aggregate >= 0 and data[e] > largest:
                    largest = data[e]
                    out[x] = aggregate


@parallel
def gains(part, distances, weight, nearest, out):
    """out(c) = sum over z of weight(z) max(nearest(z) - distances(c, z), 0).

    distances (n_candidates, n_points); weight, nearest (n_points,); the sums in double precision.
    """
    for c in share(part, distances.shape[0]):
        total = 0.0
        for z in range(distances.shape[1]):
            nearer = nearest[z] - distances[c, z]
            total += weight[z] * (nearer if nearer > 0 else 0.0)
        out[c] = total
