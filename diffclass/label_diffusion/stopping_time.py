"""When to stop: the margin curve of a diffusion, the time tau chosen on it, the end of the sum.

The margin of a point is the difference of its two largest posteriors, 0 where nothing has
arrived; M(t) is its mean over the points. M is largest while the walk has hardly moved, so only
times count at which the labels cover the graph. Among those the rule does not take the time of the
largest margin but the *last* time that keeps a certain share of it: later maps are smoother and,
as long as the margin holds, as certain.

Source: Coifman et al. 2005, section 3 (the time "when the margin between the classes is
maximized"). The coverage and the share were measured; see experiments/few_labels/tau.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass.targets import labels_per_class

COVERED = 0.999
_POINTS_WITH_TIME = 65_536


def last_time(n_points: int) -> int:
    """Return the last time that the rule looks at by default, in steps.

    1,024 for up to 65,536 points, where so many steps take little time; 256 for more.
    """
    return 1024 if n_points <= _POINTS_WITH_TIME else 256


def kept_share(label_mode: str, codes: np.ndarray) -> float:
    """Return the share of the largest margin that tau has to keep.

    For free and summed labels it is 1 - 0.35 / sqrt(m), at most 0.8, where m is the median number
    of labels per class: one or two labels find their class only by the shape of its cluster, which
    takes time. (More than 0.8 would suit many labels at random places, but not strokes, which are
    many labels in few places.) The margin of absorbing labels falls far more slowly, and 0.65 suits
    every m. Both were chosen on other problems than those reported (experiments/few_labels/tau.py).

    Parameters
    ----------
    label_mode : {"summed", "free", "absorbing"}
    codes : ndarray of int of shape (n,)
        Index of each point's class, -1 where unlabelled.

    Returns
    -------
    float
        0 to 1.
    """
    if label_mode == "absorbing":
        return 0.65
    return min(0.8, float(1 - 0.35 / np.sqrt(labels_per_class(codes))))


def sum_end(tau: int, codes: np.ndarray) -> int:
    """Return the step at which the sum of summed labels ends: 3 tau, or 6 tau.

    It is 6 tau with one label per class: a single label has to reach all clusters of its class,
    which takes time. With more labels, late steps blur what the early ones found
    (experiments/few_labels/tau.py).

    Parameters
    ----------
    tau : int
        Steps.
    codes : ndarray of int
        Index of the class of each label, or of each point; -1 where unlabelled.

    Returns
    -------
    int
    """
    return tau * (6 if labels_per_class(codes) == 1 else 3)


@dataclass(frozen=True)
class MarginCurve:
    """Mean margin and coverage at each time of a diffusion.

    Attributes
    ----------
    times : ndarray of int of shape (n_times,)
        Times in steps, ascending from 1.
    margin : ndarray of shape (n_times,)
        Mean margin over all points, 0 to 1.
    coverage : ndarray of shape (n_times,)
        Share, 0 to 1, of what the labels can reach that lies within so many hops. Free labels
        count pairs of point and class, absorbing labels count points.
    kept_share : float
        The time tau is the last covered one whose margin is at least this share of the maximum.
    """

    times: np.ndarray
    margin: np.ndarray
    coverage: np.ndarray
    kept_share: float

    @classmethod
    def empty(cls) -> MarginCurve:
        """Return the curve of a diffusion that was not followed through time."""
        none = np.zeros(0)
        return cls(times=np.zeros(0, int), margin=none, coverage=none, kept_share=0.0)

    @property
    def is_covered(self) -> bool:
        """Whether the labels covered the graph by the last time."""
        return bool(len(self.coverage) and self.coverage[-1] >= COVERED)


def curve_times(max_time: int) -> np.ndarray:
    """Return the times of the curve: all up to 16, then four per octave, and ``max_time``.

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
    """Choice of tau while the diffusion runs, so that one pass is enough.

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
        """Record a time and return whether it is the best choice so far.

        Until the graph is covered, the latest time is best, because its coverage is greatest.
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
        return MarginCurve(
            times=np.array(times, int),
            margin=np.array(margin),
            coverage=np.array(coverage),
            kept_share=self.kept_share,
        )


def hop_coverage(hops: np.ndarray) -> np.ndarray:
    """Return, for t = 0, 1, ..., the share of the reachable entries that lie within t hops.

    Parameters
    ----------
    hops : ndarray of int
        Numbers of hops, negative where unreachable. At least one has to be 0.

    Returns
    -------
    ndarray of float
        Ascending; the last entry, at the largest number of hops, is 1.
    """
    counts = np.bincount(hops[hops >= 0].ravel())
    return np.cumsum(counts) / counts.sum()
