"""What kernels cost."""

from __future__ import annotations

from diffclass.costs import Cost, Size
from diffclass.kernels._kernel import Kernel
from diffclass.kernels._over_kernel import OverKernel
from diffclass.kernels.local_covariance import LocalCovariance
from diffclass.kernels.shared_neighbors import SharedNeighbors

_WORKING, _COSINES = 44, 11  # bytes of an edge: graph, affinities and what leads to them
_AFFINITY, _BUMP = 8, 12  # bytes of an edge
_SECONDS = 0.11e-6  # of an edge, among a million points


def kernel_cost(kernel: Kernel, size: Size) -> Cost:
    """Return what fitting a kernel costs; a kernel that is not known here counts as a Gaussian.

    Parameters
    ----------
    kernel : Kernel
    size : Size

    Returns
    -------
    Cost
        Affinities are kept, and what new points are compared with.
    """
    m = size.edges
    if isinstance(kernel, OverKernel):
        cost = kernel_cost(kernel._inner, size)
        if isinstance(kernel, SharedNeighbors):
            return Cost(cost.working + _COSINES * m, (_AFFINITY + _BUMP) * m, cost.seconds)
        return Cost(cost.working, _AFFINITY * m, cost.seconds)
    directions = (
        4 * size.points * size.features * kernel.rank if isinstance(kernel, LocalCovariance) else 0
    )
    return Cost(_WORKING * m + directions, _AFFINITY * m, _SECONDS * m * size.millions**0.25)
