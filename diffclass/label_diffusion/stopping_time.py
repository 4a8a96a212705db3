"""When to stop: the curve of a diffusion, the time tau chosen on it, the end of the sum.

Rules look only at times at which the labels cover the graph; until then the latest time is best.

*Largest margin*: the margin of a point is the difference of its two largest posteriors, 0 where
nothing has arrived; M(t) is its mean over the points. M is largest while the walk has hardly moved;
the rule takes the *last* time that keeps a certain share of the largest margin. With the share 1,
``StoppingRule("margin", kept_share=1)``, it is the rule of Coifman et al. 2005, section 3 (the time
"when the margin between the classes is maximized").

*Auto* (the default) begins with that time. Margins fall for two reasons: classes mix, or all values
flatten while the map gets better, as with few labels in large clusters. The cut of the map
(`diffclass.label_diffusion.cut`) tells them apart: if a later map has at most half the cut, the
time is the latest whose cut is the least within half its standard error. Where classes overlap the
cut falls slowly for ever, and the margin decides. Measured in experiments/few_labels/tau.py. On
large graphs the walk ends with the margin: later times would take longer than all the rest. It does
not take the last of these steps, a third of all, only to see that the margin has fallen too far:
margins are looked at twice per octave, and where another fall as deep as the last would be too far,
the walk ends (experiments/scaling/ends.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from diffclass.label_diffusion.cut import Cut
from diffclass.sizes import LATE_TIMES_POINTS, LONG_WALK_POINTS

RULES = ("auto", "margin")
COVERED = 0.999
_TOLERATED = 0.5  # of the standard error of the least cut
_HALF = 0.5  # of the cut, for which a later time is taken
_SETTLED_SHARE = 0.001  # of the points


@dataclass(frozen=True)
class StoppingRule:
    """How the time is chosen while labels diffuse, with limits of one's own.

    Parameters
    ----------
    by : {"auto", "margin"}, default="auto"
        By margin and cut, or by the margin alone; ``tau="auto"`` and ``tau="margin"`` are these
        rules with their own limits.
    max_time : int, optional
        Last time that the rule looks at; by default 1,024 for up to 65,536 points, 256 for more.
        Where "auto" goes by the cut, it is 16,384 for up to 32,768 points.
    kept_share : float, optional
        Share of the largest margin, 0 to 1, that the time has to keep; 1 by the margin alone is
        the paper's own rule. By default see `kept_share`.

    Examples
    --------
    >>> from diffclass import DiffusionClassifier, StoppingRule
    >>> DiffusionClassifier(tau=StoppingRule("margin", kept_share=1)).tau.kept_share
    1
    """

    by: str = "auto"
    max_time: int | None = None
    kept_share: float | None = None

    def limits(self, n_points: int, *, usual_share: float, goes_by_cut: bool) -> tuple[int, float]:
        """Return the last time and the share to keep: those given, or the usual ones.

        Parameters
        ----------
        n_points : int
        usual_share : float
            As `kept_share` returns it.
        goes_by_cut : bool
            Whether the time is chosen by the cut.
        """
        usual_time = last_time(n_points, "auto" if goes_by_cut else "margin")
        return (
            usual_time if self.max_time is None else self.max_time,
            usual_share if self.kept_share is None else float(self.kept_share),
        )


Tau: TypeAlias = str | int | StoppingRule


def last_time(n_points: int, rule: str = "margin") -> int:
    """Return the last time that a rule looks at by default, in steps.

    1,024 for up to 65,536 points, where so many steps take little time; 256 for more. A late map
    has to halve the cut, so "auto" may look farther where that takes little time: up to 16,384 for
    up to 32,768 points, which few labels in large clusters need.
    """
    if rule == "auto" and n_points <= LATE_TIMES_POINTS:
        return 16_384
    return 1024 if n_points <= LONG_WALK_POINTS else 256


def kept_share(label_mode: str, n_labels: float) -> float:
    """Return the share of the largest margin that tau has to keep.

    For free and summed labels it is 1 - 0.35 / sqrt(m), at most 0.8, with m labels per class: one
    or two labels find their class only by the shape of its cluster, which
    takes time. (More than 0.8 would suit many labels at random places, but not strokes, which are
    many labels in few places.) The margin of absorbing labels falls far more slowly: 1 - 0.6 /
    sqrt(m), at most 0.65. See experiments/few_labels/tau.py.

    Parameters
    ----------
    label_mode : {"summed", "free", "absorbing"}
    n_labels : float
        m, the median number of labels per class; see `diffclass.targets.labels_per_class`.

    Returns
    -------
    float
        0 to 1.
    """
    if label_mode == "absorbing":
        return min(0.65, float(1 - 0.6 / np.sqrt(n_labels)))
    return min(0.8, float(1 - 0.35 / np.sqrt(n_labels)))


def sum_end(tau: int, n_labels: float) -> int:
    """Return the step at which the sum of summed labels ends: 3 tau, or 6 tau.

    It is 6 tau with one label per class: a single label has to reach all clusters of its class,
    which takes time. With more labels, late steps blur what the early ones found
    (experiments/few_labels/tau.py).

    Parameters
    ----------
    tau : int
        Steps.
    n_labels : float
        The median number of labels per class.

    Returns
    -------
    int
    """
    return tau * (6 if n_labels == 1 else 3)


@dataclass(frozen=True)
class MarginCurve:
    """Mean margin, coverage and cut at each time of a diffusion.

    Attributes
    ----------
    times : ndarray of int of shape (n_times,)
        Times in steps, ascending from 1.
    margin : ndarray of shape (n_times,)
        Mean margin over all points, 0 to 1.
    coverage : ndarray of shape (n_times,)
        Share, 0 to 1, of what the labels can reach that lies within so many hops. Free labels
        count pairs of point and class, absorbing labels count points.
    cut : ndarray of shape (n_times,)
        Cut of the map with equal weights of the classes, 0 to 1; NaN where it was not needed.
    kept_share : float
        By the margin, tau is the last covered time whose margin is at least this share of the
        maximum.
    """

    times: np.ndarray
    margin: np.ndarray
    coverage: np.ndarray
    cut: np.ndarray
    kept_share: float

    @classmethod
    def empty(cls) -> MarginCurve:
        """Return the curve of a diffusion that was not followed through time."""
        none = np.zeros(0)
        return cls(np.zeros(0, int), none, none, none, kept_share=0.0)

    @property
    def is_covered(self) -> bool:
        """Whether the labels covered the graph by the last time."""
        return bool(len(self.coverage) and is_covered(self.coverage[-1]))


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


def cut_times(max_time: int) -> np.ndarray:
    """Return the times at which the cut is looked at: two per octave, one from 1,024 on.

    Parameters
    ----------
    max_time : int
        Last time, at least 1.

    Returns
    -------
    ndarray of int
        Ascending; the last is ``max_time``.
    """
    early = np.rint(2 ** (np.arange(21) / 2)).astype(int)
    late = 2 ** np.arange(10, max(11, int(max_time).bit_length()))
    times = np.unique(np.concatenate([early, late, [max_time]]))
    return times[times <= max_time]


class MarginChoice:
    """Choice of tau by the margin while the diffusion runs, so that one pass is enough.

    Parameters
    ----------
    kept_share : float
        Share of the largest covered margin that tau has to keep, 0 to 1.
    over_below : float, default=0.85
        Share of what has to be kept below which the margin is not expected to rise again, 0 to 1.

    Attributes
    ----------
    is_over : bool
        Whether the margin is below that, so that no later time is worth walking to.
    is_about_over : bool
        Whether it is, or would be below what has to be kept if it fell as far again.
    """

    def __init__(self, kept_share: float, *, over_below: float = 0.85):
        self._kept_share = kept_share
        self._over_below = over_below
        self._largest, self._last = 0.0, -np.inf
        self.is_over = self.is_about_over = False

    def see(self, margin: float, coverage: float) -> bool:
        """Look at the next time and return whether it is the best choice so far.

        Until the graph is covered, the latest time is best, because its coverage is greatest.
        """
        if coverage < COVERED:
            return True
        self._largest = max(self._largest, margin)
        least = self._kept_share * self._largest
        foreseen = margin - max(self._last - margin, 0.0)
        self._last = margin
        self.is_over = margin < self._over_below * least
        self.is_about_over = self.is_over or foreseen < least
        return not margin < least


class AutoChoice:
    """Choice of tau by margin and cut while the diffusion runs.

    Parameters
    ----------
    kept_share : float
        As in `MarginChoice`.
    """

    def __init__(self, kept_share: float):
        self._by_margin = MarginChoice(kept_share, over_below=1)
        self._kept_cut = self._least = self._late_cut = Cut(np.inf, 0.0)

    def see(self, margin: float, cut: Cut, coverage: float) -> tuple[str, ...]:
        """Look at the next time and return of what it is the best so far: "kept", "late"."""
        names = []
        if self._by_margin.see(margin, coverage):
            self._kept_cut = cut
            names.append("kept")
        if coverage >= COVERED and cut.mean <= self._least.mean + _TOLERATED * self._least.error:
            self._least = cut if cut.mean <= self._least.mean else self._least
            self._late_cut = cut
            names.append("late")
        return tuple(names)

    @property
    def is_over(self) -> bool:
        """Whether the margin is below the share it has to keep, or will be at the next time."""
        return self._by_margin.is_about_over

    @property
    def best(self) -> str:
        """The time to take: "kept" by the margin, or "late", at which the cut is half."""
        return "late" if self._late_cut.mean < _HALF * self._kept_cut.mean else "kept"

    @property
    def cut(self) -> Cut:
        """The cut at that time."""
        return self._late_cut if self.best == "late" else self._kept_cut


def is_covered(coverage: float) -> bool:
    """Say whether labels cover the graph, all points of it or nearly all."""
    return coverage >= COVERED


def is_settled(changed: float) -> bool:
    """Say whether maps hardly change any more, by the share of points that did."""
    return changed < _SETTLED_SHARE


class CurveRecord:
    """The rows of a margin curve while the diffusion runs."""

    def __init__(self, kept_share: float):
        self._kept_share = kept_share
        self._rows: list[tuple[float, ...]] = []

    def add(self, time: int, margin: float, coverage: float, cut: float = np.nan) -> None:
        """Add the next time."""
        self._rows.append((time, margin, coverage, cut))

    @property
    def curve(self) -> MarginCurve:
        """The curve so far."""
        times, margin, coverage, cut = np.array(self._rows, dtype=float).reshape(-1, 4).T
        return MarginCurve(times.astype(int), margin, coverage, cut, self._kept_share)


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
    return coverage_of(np.bincount(hops[hops >= 0].ravel()))


def coverage_of(counts: np.ndarray) -> np.ndarray:
    """Return `hop_coverage` from the number of entries at 0, 1, ... hops."""
    return np.cumsum(counts) / counts.sum()
