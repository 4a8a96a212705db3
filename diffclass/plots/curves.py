"""Curves by which a choice was made: time by margin, bandwidth by its criterion, eigenvalues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError, ParameterError
from diffclass.plots.display import BLUE, VERMILION, Display, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from diffclass.classifier import DiffusionClassifier
    from diffclass.embedding import DiffusionMap
    from diffclass.spectral.bandwidth import BandwidthCurve

_CRITERIA = {
    "semigroup": "semigroup error ||S_t^2 - S_2t||",
    "slope": "slope of log sum K against log epsilon",
}
_ROUNDING = 1e-3  # by which eigenvalues computed in single precision may exceed 1


class MarginCurveDisplay(Display):
    """Mean margin and coverage against diffusion time, with the chosen time.

    Parameters
    ----------
    times : array-like of shape (n_times,), int, at least 1
        Diffusion times in steps, increasing.
    margin : array-like of shape (n_times,), 0 to 1
        Mean margin over the points at each time.
    coverage : array-like of shape (n_times,), 0 to 1, optional
        Share of the pairs of point and class that labels have reached.
    tau : int, optional
        The chosen time.

    Attributes
    ----------
    coverage_ax_, line_, coverage_line_, tau_line_
        What `plot` drew; None where there was nothing to draw.

    Raises
    ------
    DataError
        If the arrays differ in length.

    See Also
    --------
    ThresholdDisplay : How right the points of a margin are, where a truth is known.

    Examples
    --------
    >>> from diffclass.plots import MarginCurveDisplay
    >>> display = MarginCurveDisplay([1, 2, 4], [0.2, 0.6, 0.5], [0.4, 0.9, 1], tau=4).plot()
    >>> [line.get_label() for line in (display.line_, display.coverage_line_, display.tau_line_)]
    ['mean margin', 'coverage', 'chosen time tau = 4']
    """

    def __init__(
        self,
        times: ArrayLike,
        margin: ArrayLike,
        coverage: ArrayLike | None = None,
        tau: float | None = None,
    ) -> None:
        self.times = np.asarray(times)
        self.margin = np.asarray(margin)
        self.coverage = None if coverage is None else np.asarray(coverage)
        self.tau = tau
        curves = [self.margin] + ([] if self.coverage is None else [self.coverage])
        if self.times.ndim != 1 or any(c.shape != self.times.shape for c in curves):
            raise DataError(
                f"times, margin and coverage must have one shape (n_times,), got "
                f"{self.times.shape} and {[c.shape for c in curves]}"
            )

    @classmethod
    def from_estimator(
        cls, clf: DiffusionClassifier, *, ax: Axes | None = None
    ) -> MarginCurveDisplay:
        """Draw the curve of a fitted classifier; `ParameterError` if it is not fitted."""
        curve = fitted(clf, "margin_curve_", how=", with tau='margin'")
        return cls(curve.times, curve.margin, curve.coverage, clf.tau_).plot(ax=ax)

    def _draw(self, legend: bool) -> None:
        (self.line_,) = self.ax_.plot(
            self.times, self.margin, color=BLUE, marker="o", markersize=4, label="mean margin"
        )
        self.ax_.set_xscale("log", base=2)
        self.ax_.set_xlabel("diffusion time t (steps)")
        self.ax_.set_ylabel("mean margin (probability, 0 to 1)")
        self.ax_.set_ylim(0, None)
        self.ax_.xaxis.set_major_formatter("{x:g}")
        self._plot_coverage()
        self.tau_line_ = None
        if self.tau is not None:
            self.tau_line_ = self.ax_.axvline(
                self.tau, color="0.25", linestyle="--", label=f"chosen time tau = {self.tau:g}"
            )
        lines = [self.line_, self.coverage_line_, self.tau_line_]
        self.legend_ = self._legend_above(lines, columns=3) if legend else None

    def _plot_coverage(self) -> None:
        self.coverage_ax_ = self.coverage_line_ = None
        if self.coverage is None:
            return
        self.coverage_ax_ = self.ax_.twinx()
        (self.coverage_line_,) = self.coverage_ax_.plot(
            self.times, self.coverage, color=VERMILION, marker="s", markersize=3, label="coverage"
        )
        self.coverage_ax_.set_ylabel("coverage (share reached, 0 to 1)")
        self.coverage_ax_.set_ylim(0, 1.05)


class BandwidthDisplay(Display):
    """Criterion against bandwidth epsilon, with the choice and the scales out of reach.

    Parameters
    ----------
    curve : BandwidthCurve
        From `diffclass.semigroup_bandwidth` or `diffclass.slope_bandwidth`.

    Attributes
    ----------
    line_, choice_line_, dimension_line_, shades_, legend_
        What `plot` drew; ``shades_`` holds a grey patch for each run of scales out of reach or
        with fewer than ten useful neighbours; ``dimension_line_`` is None without a dimension.


    See Also
    --------
    EigenvaluesDisplay : The spectrum, by which components are chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass import slope_bandwidth
    >>> from diffclass.plots import BandwidthDisplay
    >>> angles = 2 * np.pi * np.arange(1000) / 1000
    >>> curve = slope_bandwidth(np.column_stack([np.cos(angles), np.sin(angles)]))
    >>> display = BandwidthDisplay(curve).plot()
    >>> display.choice_line_.get_label(), display.dimension_line_.get_label()
    ('chosen: 0.176', 'dimension 1.0')
    """

    def __init__(self, curve: BandwidthCurve) -> None:
        self.curve = curve

    def _draw(self, legend: bool) -> None:
        from diffclass.spectral.semigroup import LEAST_USEFUL  # imports scipy and scikit-learn

        curve = self.curve
        look: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 4}
        (self.line_,) = self.ax_.plot(curve.epsilons, curve.values, label=curve.criterion, **look)
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel("epsilon (squared units of the points)")
        self.ax_.set_ylabel(_CRITERIA[curve.criterion])
        few = f"fewer than {LEAST_USEFUL} useful neighbours"
        self.shades_ = self._shade(curve.n_useful < LEAST_USEFUL, "0.88", few)
        self.shades_ += self._shade(~curve.in_reach, "0.72", "graph too narrow for the scale")
        self._plot_choice()
        self.ax_.set_ylim(0, None)
        self.legend_ = self._legend() if legend else None

    def _plot_choice(self) -> None:
        """Mark the chosen bandwidth, and the slope that is half the dimension."""
        how = "chosen" if self.curve.is_found else "fallback"
        label = f"{how}: {self.curve.epsilon:.3g}"
        self.choice_line_ = self.ax_.axvline(
            self.curve.epsilon, color="0.25", linestyle="--", label=label
        )
        self.dimension_line_ = None
        if self.curve.criterion == "slope" and self.curve.dimension is not None:
            label = f"dimension {self.curve.dimension:.1f}"
            self.dimension_line_ = self.ax_.axhline(
                self.curve.dimension / 2, color=VERMILION, linestyle=":", label=label
            )

    def _shade(self, where: NDArray[np.bool_], color: str, label: str) -> list[Any]:
        """Fill each run of marked scales over the full height, and label the first."""
        edges = _halfway(self.curve.epsilons)
        steps = np.diff(np.r_[0, where.astype(int), 0])
        runs = zip(np.flatnonzero(steps == 1), np.flatnonzero(steps == -1), strict=True)
        look: dict[str, Any] = {"facecolor": color, "linewidth": 0, "zorder": 0}
        return [
            self.ax_.axvspan(edges[start], edges[stop], label="_" if place else label, **look)
            for place, (start, stop) in enumerate(runs)
        ]

    def _legend(self) -> Any:
        """List the choice first, then the greys; the y axis names the curve."""
        named = [patch for patch in self.shades_ if not patch.get_label().startswith("_")]
        handles = [self.choice_line_, self.dimension_line_, *named]
        return self._legend_above(handles, columns=2)


def _halfway(epsilons: NDArray[Any]) -> NDArray[Any]:
    """Return the m + 1 edges around and halfway between m bandwidths on the log axis."""
    logs = np.log(epsilons)
    # a single bandwidth has no neighbour from which to take the width
    steps = np.diff(logs) if len(logs) > 1 else np.array([1.0])
    between = logs[:-1] + np.diff(logs) / 2
    return np.exp(np.r_[logs[0] - steps[0] / 2, between, logs[-1] + steps[-1] / 2])


class EigenvaluesDisplay(Display):
    """Size of the eigenvalues of A^t, ``|lambda_l|^t``, against their index l.

    Parameters
    ----------
    eigenvalues : array-like of shape (n_eigenvalues,), -1 to 1
        Eigenvalues of A, the trivial 1 first, then decreasing in magnitude.
    times : sequence of float above 0, default=(1,)
        Diffusion times t in steps, one line for each.
    threshold : float, 0 to 1, optional
        Accuracy delta, drawn as a dashed line; the legend counts the eigenvalues above it,
        the trivial one left out.

    Attributes
    ----------
    lines_, negative_lines_, threshold_line_, legend_
        What `plot` drew; ``lines_`` holds one line per time, ``negative_lines_`` the hollow
        markers of the negative eigenvalues, one per time, empty without such eigenvalues;
        ``threshold_line_`` is None without a threshold.

    Raises
    ------
    DataError
        If the eigenvalues are not one row of numbers from -1 to 1.
    ParameterError
        If there is no time, or one that is not above 0, or the threshold is not within 0 to 1.

    See Also
    --------
    EmbeddingDisplay : The coordinates themselves.

    Examples
    --------
    >>> from diffclass.plots import EigenvaluesDisplay
    >>> display = EigenvaluesDisplay([1, 0.9, 0.8, -0.3], times=[1, 10], threshold=0.2).plot()
    >>> [line.get_label() for line in display.lines_]
    ['t = 1: all 3 above delta', 't = 10: 1 above delta']
    """

    def __init__(
        self,
        eigenvalues: ArrayLike,
        *,
        times: Sequence[float] = (1,),
        threshold: float | None = None,
    ) -> None:
        self.eigenvalues = _eigenvalues(eigenvalues)
        self.times = tuple(times)
        if not self.times or not all(np.isfinite(t) and t > 0 for t in self.times):
            raise ParameterError(f"times must be numbers of steps above 0, got {self.times}")
        if threshold is not None and not 0 <= threshold <= 1:
            raise ParameterError(f"threshold must be from 0 to 1, got {threshold}")
        self.threshold = threshold

    @classmethod
    def from_estimator(
        cls,
        diffusion_map: DiffusionMap,
        *,
        times: Sequence[float] | None = None,
        threshold: float | None = None,
        ax: Axes | None = None,
    ) -> EigenvaluesDisplay:
        """Draw the eigenvalues of a fitted diffusion map, the trivial one first.

        ``times`` are the map's own by default; `ParameterError` if the map is not fitted.
        """
        found = fitted(diffusion_map, "eigenvalues_")
        if diffusion_map.kind == "weighted":
            found = np.r_[1.0, found]
        chosen = (diffusion_map.time_,) if times is None else times
        return cls(found, times=chosen, threshold=threshold).plot(ax)

    def _draw(self, legend: bool) -> None:
        """Draw markers for each time, hollow where the eigenvalue of A is negative."""
        self.lines_: list[Any] = []
        self.negative_lines_: list[Any] = []
        for t, color in zip(self.times, _time_colors(len(self.times)), strict=True):
            self._plot_time(t, color)
        self.threshold_line_ = None
        if self.threshold is not None:
            self.threshold_line_ = self.ax_.axhline(
                self.threshold, color="0.25", linestyle="--", label=f"delta = {self.threshold:g}"
            )
        self._label_axes()
        self.legend_ = self._legend() if legend else None

    def _plot_time(self, t: float, color: Any) -> None:
        sizes = np.minimum(np.abs(self.eigenvalues), 1.0) ** t
        index = np.arange(len(sizes))
        negative = self.eigenvalues < 0
        label = f"t = {t:g}"
        if self.threshold is not None:
            above, n_others = np.count_nonzero(sizes[1:] > self.threshold), len(sizes) - 1
            # if all are above, further ones that were not computed may be so too
            label += f": {'all ' if above == n_others else ''}{above} above delta"
        markersize = 4 if len(sizes) <= 50 else 2
        self.lines_ += self.ax_.plot(
            index, sizes, color=color, marker="o", markersize=markersize, linewidth=1,
            markevery=np.flatnonzero(~negative).tolist(), label=label,
        )  # fmt: skip
        if negative.any():
            self.negative_lines_ += self.ax_.plot(
                index[negative], sizes[negative], linestyle="none", marker="o",
                markersize=markersize + 1, markerfacecolor="white", markeredgecolor=color,
            )  # fmt: skip

    def _label_axes(self) -> None:
        from matplotlib.ticker import MaxNLocator

        self.ax_.set_ylim(-0.03, 1.03)
        self.ax_.set_xlabel("index l (0: trivial)")
        self.ax_.set_ylabel("eigenvalue of A^t")
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))

    def _legend(self) -> Any:
        from matplotlib.lines import Line2D

        handles = [*self.lines_, self.threshold_line_]
        if self.negative_lines_:
            handles.append(
                Line2D([], [], linestyle="none", marker="o", markersize=5, markerfacecolor="white",
                       markeredgecolor="0.25", label="hollow: negative, drawn at |lambda|^t")
            )  # fmt: skip
        return self._legend_above(handles, columns=2)


def _eigenvalues(values: ArrayLike) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise DataError(
            "eigenvalues must be real numbers of shape (n_eigenvalues,), got "
            f"{array.dtype} of shape {array.shape}"
        )
    if not (np.abs(array) <= 1 + _ROUNDING).all():
        raise DataError(
            "eigenvalues of a Markov operator are from -1 to 1, got "
            f"{array.min():.4g} to {array.max():.4g}; of a Laplacian, give 1 - eigenvalue"
        )
    return array


def _time_colors(n: int) -> list[Any]:
    """Return colours that darken with time, without the palest, which vanish on white."""
    if n == 1:
        return [BLUE]
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0.8, 0.0, n)))
