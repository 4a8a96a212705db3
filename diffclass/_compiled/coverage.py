"""How much nearer some points are to others than what is there already."""

from __future__ import annotations

from diffclass._compiled._jit import parallel, share


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
