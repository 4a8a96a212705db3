"""Point sets of a few Gaussian clusters, which a random walk merges early or late."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from experiments.datasets.arclength import Floats, Seed, along_curve

Codes = NDArray[np.int_]

C_OPENING = 2.25  # the C extends by this angle to either side of its middle, radians
C_DEPTH = 0.5  # half axis of the C along x = -y; that along z is 1
C_WIDTH = 0.5  # standard deviation along x = y, across the plane of the C
# Two clusters near each other and a third one farther away: two merge first, then all.
TRIANGLE = np.array([[0.0, 0.0], [1.5, 0.0], [0.75, 2.2]])
TILTED_MEAN = np.array([2.0, 2.0])
TILTED_AXES = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2.0)  # rows: principal directions
TILTED_VARIANCES = np.array([6.5, 1.5])


def make_c_shape(
    n_points: int, *, n_clusters: int = 5, noise: float = 0.04, random_state: Seed = None
) -> tuple[Floats, Codes]:
    """Make clusters along a C in space: by scale they are clusters, a curve or one blob.

    The C is the arc (u, z) = (cos(phi) / 2, sin(phi)), |phi| <= 2.25, of the plane spanned by
    u = (x - y) / sqrt(2) and z; the clusters' centres divide its length of 3.23 evenly. A point is
    its centre plus Gaussian noise: ``noise`` along u and z, 0.5 along (x + y) / sqrt(2). Hence the
    first principal component is z, the second x = y, and only the third shows the C: along z the
    two clusters at either end overlap. The parameter is the number of the cluster along the C;
    points come in this order.

    de la Porte et al., "An introduction to diffusion maps": section 4, figures 5 and 6; section 5,
    figures 7 to 11 have wider clusters, ``noise=0.1``. The paper gives no coordinates; these have
    the principal components that its section 5.1.1 describes.
    """
    rng = check_random_state(random_state)
    place = _cluster_codes(n_points, n_clusters)
    plane, _ = along_curve(_c_curve, -C_OPENING, C_OPENING, place / (n_clusters - 1))
    u, z = (plane + noise * rng.standard_normal(plane.shape)).T
    v = C_WIDTH * rng.standard_normal(n_points)
    return np.column_stack([(v + u) / np.sqrt(2.0), (v - u) / np.sqrt(2.0), z]), place


def make_three_clusters(
    n_points: int, *, spread: float = 0.25, random_state: Seed = None
) -> tuple[Floats, Codes]:
    """Make three round Gaussian clusters in the plane, two of them near each other.

    P^t shows three blocks at early times, two when the near clusters have merged, one in the end.
    With the kernel exp(-d^2 / 0.7) that is at t = 8, 64 and 1024 (the eigenvalues after 1 are
    0.992 and 0.87). Points come in the order of their clusters, so that P^t shows blocks. Socher
    (2008), section 2.1, figure 5, gives no coordinates; these are ours.
    """
    cluster = _cluster_codes(n_points, len(TRIANGLE))
    noise = spread * check_random_state(random_state).standard_normal((n_points, 2))
    return TRIANGLE[cluster] + noise, cluster


def make_two_gaussians(n_points: int = 800, *, random_state: Seed = None) -> tuple[Floats, Codes]:
    """Draw numbers from two unit Gaussians about -3 and 3, half from each, and sort them.

    Socher (2008), section 3.3, figure 9, and appendix E: 400 points each, kernel exp(-d^2 / 8) cut
    at d = 1.5, second eigenvectors of L_sym and L_rw. The eigenfunctions in the limit are those of
    `experiments.coifman_2005.potentials.fokker_planck_spectrum` with U = -s log p
    (s = 2 - 2 alpha).
    """
    drawn_from = _cluster_codes(n_points, 2)
    x = 6.0 * drawn_from - 3.0 + check_random_state(random_state).standard_normal(n_points)
    order = np.argsort(x, kind="stable")
    return x[order, None], drawn_from[order]


def make_correlated_gaussian(n_points: int, *, random_state: Seed = None) -> tuple[Floats, Floats]:
    """Draw a tilted Gaussian in the plane, which principal components describe well.

    Mean (2, 2), covariance [[4, 2.5], [2.5, 4]]; the parameters are the coordinates along the two
    principal directions. Socher (2008), section 1.1, figure 1 and appendix A, prints the covariance
    as [4 4; 2.5 4]; here it is the symmetric matrix with 4 and 2.5.
    """
    noise = check_random_state(random_state).standard_normal((n_points, 2))
    scores = noise * np.sqrt(TILTED_VARIANCES)
    return TILTED_MEAN + scores @ TILTED_AXES, scores


def _cluster_codes(n_points: int, n_clusters: int) -> Codes:
    """Share the points among clusters as evenly as possible; codes increase."""
    return np.arange(n_points) * n_clusters // n_points


def _c_curve(phi: Floats) -> Floats:
    return np.column_stack([C_DEPTH * np.cos(phi), np.sin(phi)])
