"""Point sets of a few Gaussian clusters, which a random walk merges early or late."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from diffclass._validation import RandomState, check_positive
from diffclass.datasets._arclength import Floats, along_curve, generator
from diffclass.exceptions import ParameterError

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
    n_points: int, *, n_clusters: int = 5, noise: float = 0.04, random_state: RandomState = None
) -> tuple[Floats, Codes]:
    """Make clusters along a C in space: by scale they are clusters, a curve or one blob.

    The C is the arc (u, z) = (cos(phi) / 2, sin(phi)), |phi| <= 2.25, of the plane spanned by
    u = (x - y) / sqrt(2) and z; the clusters' centres divide its length evenly. A point is its
    centre plus Gaussian noise: ``noise`` along u and z, 0.5 along (x + y) / sqrt(2). Hence the
    first principal component is z, the second x = y, and only the third shows the C: along z the
    two clusters at either end overlap.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1; each cluster gets n_points / n_clusters of them, rounded.
    n_clusters : int, default=5
        Number of clusters, at least 2.
    noise : float, default=0.04
        Standard deviation of a cluster in the plane of the C, at least 0; the C has length 3.23.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 3), float64
    parameters : ndarray of shape (n_points,), int
        Number of the cluster along the C, 0 to n_clusters - 1, from its lower to its upper end;
        points come in this order.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    References
    ----------
    de la Porte et al., "An introduction to diffusion maps", section 4, figures 5 and 6: five
    clusters, seen at t = 1, 2, 3 and 10. The paper gives no coordinates; these have the
    principal components that its section 5.1.1 describes.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.datasets import make_c_shape
    >>> X, place = make_c_shape(500, random_state=0)
    >>> np.bincount(place).tolist()
    [100, 100, 100, 100, 100]
    >>> [float(z) for z in np.round([X[place == k, 2].mean() for k in range(5)], 1)]
    [-0.8, -0.8, -0.0, 0.8, 0.8]
    """
    if check_positive(n_clusters, "n_clusters", integer=True) < 2:
        raise ParameterError(f"n_clusters = {n_clusters!r}; a C has at least 2 clusters")
    check_positive(noise, "noise", zero=True)
    rng = generator(random_state)
    place = _cluster_codes(n_points, n_clusters)
    plane, _ = along_curve(_c_curve, -C_OPENING, C_OPENING, place / (n_clusters - 1))
    u, z = (plane + noise * rng.standard_normal(plane.shape)).T
    v = C_WIDTH * rng.standard_normal(n_points)
    return np.column_stack([(v + u) / np.sqrt(2.0), (v - u) / np.sqrt(2.0), z]), place


def make_ordered_clusters(
    n_points: int, *, n_clusters: int = 5, noise: float = 0.1, random_state: RandomState = None
) -> tuple[Floats, Codes]:
    """Make the C of `make_c_shape` with wider clusters, to be ordered in one dimension.

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    n_clusters : int, default=5
        Number of clusters, at least 2.
    noise : float, default=0.1
        Standard deviation of a cluster in the plane of the C, at least 0.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 3), float64
    parameters : ndarray of shape (n_points,), int
        Number of the cluster along the C, 0 to n_clusters - 1.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    References
    ----------
    de la Porte et al., "An introduction to diffusion maps", section 5, figures 7 to 11: PCA,
    MDS, Isomap and a diffusion map on the same set with an increased variance of the clusters.

    Examples
    --------
    >>> from diffclass.datasets import make_ordered_clusters
    >>> X, place = make_ordered_clusters(500, random_state=0)
    >>> X.shape, place.max().item()
    ((500, 3), 4)
    """
    return make_c_shape(n_points, n_clusters=n_clusters, noise=noise, random_state=random_state)


def make_three_clusters(
    n_points: int, *, spread: float = 0.25, random_state: RandomState = None
) -> tuple[Floats, Codes]:
    """Make three round Gaussian clusters in the plane, two of them near each other.

    The centres are (0, 0), (1.5, 0) and (0.75, 2.2): P^t shows three blocks at early times, two
    when the near clusters have merged, one in the end. With the kernel exp(-d^2 / 0.7) that is at
    t = 8, 64 and 1024 (the eigenvalues after 1 are 0.992 and 0.87).

    Parameters
    ----------
    n_points : int
        Number of points, at least 1; each cluster gets a third of them, rounded.
    spread : float, default=0.25
        Standard deviation of each coordinate in a cluster, at least 0.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 2), float64
    parameters : ndarray of shape (n_points,), int
        Number of the cluster, 0 to 2; points come in this order, so that P^t shows blocks.

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    References
    ----------
    Socher (2008), section 2.1, figure 5: P^t at t = 8, 64 and 1024. The report gives no
    coordinates; these are ours.

    Examples
    --------
    >>> from diffclass.datasets import make_three_clusters
    >>> X, cluster = make_three_clusters(900, random_state=0)
    >>> X.shape, cluster[[0, 300, 600]].tolist()
    ((900, 2), [0, 1, 2])
    """
    check_positive(spread, "spread", zero=True)
    cluster = _cluster_codes(n_points, len(TRIANGLE))
    noise = spread * generator(random_state).standard_normal((n_points, 2))
    return TRIANGLE[cluster] + noise, cluster


def make_two_gaussians(
    n_points: int = 800, *, random_state: RandomState = None
) -> tuple[Floats, Codes]:
    """Draw numbers from two unit Gaussians about -3 and 3, half from each, and sort them.

    Parameters
    ----------
    n_points : int, default=800
        Number of points, at least 1.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 1), float64
        Increasing numbers.
    parameters : ndarray of shape (n_points,), int
        The Gaussian from which each was drawn, 0 (about -3) or 1.

    Raises
    ------
    ParameterError
        If ``n_points`` is not a positive whole number.

    References
    ----------
    Socher (2008), section 3.3, figure 9, and appendix E: 400 points each, kernel
    exp(-d^2 / 8) cut at d = 1.5, second eigenvectors of L_sym and L_rw. The eigenfunctions in
    the limit are those of `fokker_planck_spectrum` with U = -s log p (s = 2 - 2 alpha).

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.datasets import make_two_gaussians
    >>> X, drawn_from = make_two_gaussians(random_state=0)
    >>> X.shape, bool((np.diff(X[:, 0]) >= 0).all()), np.bincount(drawn_from).tolist()
    ((800, 1), True, [400, 400])
    """
    drawn_from = _cluster_codes(n_points, 2)
    x = 6.0 * drawn_from - 3.0 + generator(random_state).standard_normal(n_points)
    order = np.argsort(x, kind="stable")
    return x[order, None], drawn_from[order]


def make_correlated_gaussian(
    n_points: int, *, random_state: RandomState = None
) -> tuple[Floats, Floats]:
    """Draw a tilted Gaussian in the plane, which principal components describe well.

    Mean (2, 2), covariance [[4, 2.5], [2.5, 4]]: variance 6.5 along (1, 1) / sqrt(2), 1.5 along
    (-1, 1) / sqrt(2).

    Parameters
    ----------
    n_points : int
        Number of points, at least 1.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_points, 2), float64
    parameters : ndarray of shape (n_points, 2), float64
        Coordinates along the two principal directions, of mean 0.

    Raises
    ------
    ParameterError
        If ``n_points`` is not a positive whole number.

    References
    ----------
    Socher (2008), section 1.1, figure 1 and appendix A, which prints the covariance as
    [4 4; 2.5 4]; here it is the symmetric matrix with 4 and 2.5.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.datasets import make_correlated_gaussian
    >>> X, scores = make_correlated_gaussian(20000, random_state=0)
    >>> np.cov(X.T).round(1).tolist()
    [[4.0, 2.5], [2.5, 4.0]]
    """
    check_positive(n_points, "n_points", integer=True)
    noise = generator(random_state).standard_normal((n_points, 2))
    scores = noise * np.sqrt(TILTED_VARIANCES)
    return TILTED_MEAN + scores @ TILTED_AXES, scores


def _cluster_codes(n_points: int, n_clusters: int) -> Codes:
    """Share the points among clusters as evenly as possible; codes increase."""
    check_positive(n_points, "n_points", integer=True)
    return np.arange(n_points) * n_clusters // n_points


def _c_curve(phi: Floats) -> Floats:
    return np.column_stack([C_DEPTH * np.cos(phi), np.sin(phi)])
