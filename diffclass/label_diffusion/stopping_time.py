"""The margin curve of a diffusion and the time chosen on it.

The margin of a point is the difference of its two largest posteriors, 0 where nothing has
arrived; M(t) is its mean over the points. M is largest while the walk has hardly moved, so only
times count at which the labels cover the graph, and of those not the largest margin is taken but
the *last* time that still has a good part of it: later maps are smoother and, as long as the
margin holds, no less sure.

Source: Coifman et al. 2005, section 3 (the time "when the margin between the classes is
maximized"); the condition and the part kept were measured, see experiments/few_labels/tau.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

COVERED = 0.999


@dataclass(frozen=True)
class MarginCurve:
    """What was seen at each time of a diffusion.

    Attributes
    ----------
    times : ndarray of int of shape (n_times,)
        Steps, ascending from 1.
    margin : ndarray of shape (n_times,)
        Mean margin over all points, 0 to 1.
    coverage : ndarray of shape (n_times,)
        Share, 0 to 1, of what labels can reach that they have reached within so many hops: pairs
        of point and class for free labels, points for absorbing ones.
    kept_share : float
        Tau is the last covered time at which the margin is at least this share of its maximum.
    """

    times: np.ndarray
    margin: np.ndarray
    coverage: np.ndarray
    kept_share: float

    @property
    def is_covered(self) -> bool:
        """Whether the labels covered the graph by the last time."""
        return bool(len(self.coverage) and self.coverage[-1] >= COVERED)


def curve_times(max_time: int) -> np.ndarray:
    """Return the times of the curve: every one up to 16, then four an octave, then ``max_time``.

    Parameters
    ----------
    max_time : int
        Last time, at least 1.

    Returns
    -------
    ndarray of int
        Ascending.
    """
    octaves = np.arange(0, 4 * max(0, np.log2(max_time / 16)) + 1)
    late = np.rint(16 * 2 ** (octaves / 4)).astype(int)
    times = np.concatenate([np.arange(1, 17), late, [max_time]])
    return np.unique(times[times <= max_time])


class TimeChoice:
    """Chooses tau while the diffusion runs, so that one pass suffices.

    Parameters
    ----------
    kept_share : float
        Share of the largest covered margin that tau has to keep, 0 to 1.
    """

    def __init__(self, kept_share: float):
        self.kept_share = kept_share
        self._seen: list[tuple[int, float, float]] = []
        self._largest = 0.0

    def see(self, time: int, margin: float, coverage: float) -> bool:
        """Take note of a time and return whether it is the best choice so far.

        Until the graph is covered, that is the latest time: the one of greatest coverage.
        """
        self._seen.append((time, margin, coverage))
        if coverage < COVERED:
            return True
        self._largest = max(self._largest, margin)
        return margin >= self.kept_share * self._largest

    @property
    def is_over(self) -> bool:
        """Whether the margin has fallen so far that no later time can be chosen."""
        _, margin, coverage = self._seen[-1]
        return coverage >= COVERED and margin < 0.85 * self.kept_share * self._largest

    @property
    def curve(self) -> MarginCurve:
        """The curve seen so far."""
        times, margin, coverage = zip(*self._seen, strict=True) if self._seen else ((), (), ())
        return MarginCurve(np.array(times, int), np.array(margin), np.array(coverage),
                           self.kept_share)  # fmt: skip


def hop_coverage(hops: np.ndarray) -> np.ndarray:
    """Return, for t = 0, 1, ..., the share of the reachable entries that lie within t hops.

    Parameters
    ----------
    hops : ndarray of int
        Numbers of hops, negative where unreachable; at least one is 0.

    Returns
    -------
    ndarray of float
        Rising to 1 at the farthest, which is the last entry.
    """
    counts = np.bincount(hops[hops >= 0].ravel())
    return np.cumsum(counts) / counts.sum()
