"""Loops that part the points of a graph into aggregates of neighbours."""

from __future__ import annotations

from diffclass._compiled._jit import parallel, serial, share


@serial
def choose_seeds(indptr, indices, order, is_seed):
    """Choose the points that have no earlier neighbour among those chosen.

    Parameters
    ----------
    indptr, indices : index of shape (n + 1,), (m,)
    order : int64 of shape (n,)
        All points, the first to be chosen first.
    is_seed : bool of shape (n,), written
        False at the start.
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

    Parameters
    ----------
    indptr, indices : index of shape (n + 1,), (m,)
    data : float of shape (m,)
        The affinity.
    of_seed : int32 of shape (n,)
        -1 at points that are no seeds; each of them has a neighbour that is one.
    out : int32 of shape (n,)
        A seed is in its own aggregate.
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
