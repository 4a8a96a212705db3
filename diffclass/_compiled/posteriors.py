"""From the diffused columns to margins, one row a point."""

from __future__ import annotations

from diffclass._compiled._jit import parallel, prange


@parallel
def margins(state, limits, component, class_weight, out):
    """out(x) = p_(1)(x) - p_(2)(x), p_i = w_i N_i / sum_j w_j N_j; 0 where all N_i are 0.

    N_i(x) = limits(component of x, i) + state(x, i), added in double precision: late in a
    diffusion the state is far smaller than the limit. Values below 0 are rounding and count as 0.
    """
    n_classes = state.shape[1]
    for x in prange(state.shape[0]):
        total = 0.0
        first = 0.0
        second = 0.0
        for i in range(n_classes):
            value = (limits[component[x], i] + state[x, i]) * class_weight[i]
            if value > 0:
                total += value
                if value > first:
                    second = first
                    first = value
                elif value > second:
                    second = value
        out[x] = (first - second) / total if total > 0 else 0.0
