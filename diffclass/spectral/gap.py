"""How many coordinates of a diffusion map count: by the gap of its spectrum, or its rank at a time.

*Gap.* The l-th coordinate decays at the rate g_l = -log |lambda_l|. The first m are there without
the next one at the times at which |lambda_m|^t - |lambda_(m+1)|^t is near 1. Its maximum over t
depends on r = g_(m+1) / g_m alone,

    D(m) = r^(-1 / (r - 1)) (1 - 1 / r),

near 1 for m + 1 clusters that the walk seldom leaves, below 1/2 where the spectrum decays evenly.
The rule takes the largest m at which D is within a tenth of its maximum.

*Rank.* At a given time t the first m coordinates count for which |lambda_m|^t > |lambda_1|^t / 10.

Sources: Coifman et al. 2005, section 2.1 (numerical rank at a time); A. Azran and Z. Ghahramani,
Spectral methods for automatic multiscale data clustering, 2006 (gaps over time).
"""

from __future__ import annotations

import numpy as np

MOST_COMPONENTS = 32  # that are looked at
_NEARLY_BEST = 0.9
_LEFT = 0.1  # of the first coordinate, below which another one does not count
_SLOWEST = 1e-12  # rates below are those of components, up to rounding


def spectral_gap(eigenvalues: np.ndarray) -> tuple[int, str]:
    """Return the number of coordinates before the widest gap, and the reason in words.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n_pairs,)
        lambda_0 = 1, lambda_1, ... with falling moduli; at least two.

    Returns
    -------
    n_components : int
        1 to n_pairs - 2, or 1 for two pairs.
    reason : str

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.spectral.gap import spectral_gap
    >>> spectral_gap(np.array([1, 0.99, 0.98, 0.6, 0.5]))[0]
    2
    """
    rates = np.maximum(-np.log(np.clip(np.abs(eigenvalues[1:]), 1e-300, 1)), _SLOWEST)
    if len(rates) < 2:
        return 1, "spectral gap: there is one coordinate"
    ratios = np.maximum(rates[1:] / rates[:-1], 1 + 1e-9)
    clearness = ratios ** (-1 / (ratios - 1)) * (1 - 1 / ratios)
    m = int(np.flatnonzero(clearness >= _NEARLY_BEST * clearness.max())[-1]) + 1
    return m, (
        f"spectral gap: coordinate {m + 1} decays {ratios[m - 1]:.3g} times as fast as coordinate "
        f"{m} (clearness {clearness[m - 1]:.2f} of 1)"
    )


def significant_coordinates(eigenvalues: np.ndarray, time: float) -> tuple[int, str]:
    """Return how many coordinates count at a time, at least 1, and the reason in words."""
    moduli = np.abs(eigenvalues[1:])
    relative = np.divide(moduli, moduli[0], out=np.zeros_like(moduli), where=moduli[0] > 0) ** time
    m = max(int(np.count_nonzero(relative > _LEFT)), 1)
    if m == len(moduli):
        return m, f"numerical rank: all {m} coordinates looked at count at t = {time:g}"
    return m, (
        f"numerical rank: at t = {time:g} coordinate {m + 1} is {relative[m]:.2g} of the first"
    )
