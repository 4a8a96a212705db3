"""The curve by which one global bandwidth was chosen, with the scales at which it says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError, ParameterError
from diffclass.plots.display import Display
from diffclass.plots.palette import BLUE, VERMILION

if TYPE_CHECKING:
    from diffclass.spectral.bandwidth import BandwidthCurve

_CRITERIA = {
    "semigroup": "semigroup error ||S_t^2 - S_2t||",
    "slope": "slope of log sum K against log epsilon",
}


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

    Raises
    ------
    DataError
        If the arrays differ in length, or the bandwidths do not increase from above 0.
    ParameterError
        If the criterion is unknown.
    """

    def __init__(self, curve: BandwidthCurve) -> None:
        from diffclass.spectral.semigroup import LEAST_USEFUL  # scipy and scikit-learn come along

        if curve.criterion not in _CRITERIA:
            raise ParameterError(
                f"criterion must be one of {sorted(_CRITERIA)}, got {curve.criterion!r}"
            )
        self.curve = curve
        self.epsilons = _bandwidths(curve.epsilons)
        self.values = self._along("values", curve.values)
        self.few_label = f"fewer than {LEAST_USEFUL} useful neighbours"
        self.few_neighbors = self._along("n_useful", curve.n_useful) < LEAST_USEFUL
        self.out_of_reach = ~self._along("in_reach", curve.in_reach).astype(bool)

    def _draw(self, legend: bool) -> None:
        (self.line_,) = self.ax_.plot(
            self.epsilons, self.values, color=BLUE, marker="o", markersize=4,
            label=self.curve.criterion,
        )  # fmt: skip
        self.ax_.set_xscale("log")
        self.ax_.set_xlabel("epsilon (squared units of the points)")
        self.ax_.set_ylabel(_CRITERIA[self.curve.criterion])
        self.shades_ = self._shade(self.few_neighbors, "0.88", self.few_label)
        self.shades_ += self._shade(self.out_of_reach, "0.72", "graph too narrow for the scale")
        self._plot_choice()
        self.ax_.set_ylim(0, None)
        self.legend_ = self._legend() if legend else None

    def _plot_choice(self) -> None:
        """Mark the chosen bandwidth, and the slope that is half the dimension."""
        how = "chosen" if self.curve.is_found else "fallback"
        self.choice_line_ = self.ax_.axvline(
            self.curve.epsilon, color="0.25", linestyle="--",
            label=f"{how}: {self.curve.epsilon:.3g}",
        )  # fmt: skip
        self.dimension_line_ = None
        if self.curve.criterion == "slope" and self.curve.dimension is not None:
            self.dimension_line_ = self.ax_.axhline(
                self.curve.dimension / 2, color=VERMILION, linestyle=":",
                label=f"dimension {self.curve.dimension:.1f}",
            )  # fmt: skip

    def _shade(self, where: NDArray[np.bool_], color: str, label: str) -> list[Any]:
        """Fill each run of marked scales over the full height, and label the first."""
        edges = _halfway(self.epsilons)
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

    def _along(self, name: str, values: ArrayLike) -> NDArray[Any]:
        """Return an array of the shape of ``epsilons``, or raise an error that names it."""
        array = np.asarray(values)
        if array.shape != self.epsilons.shape:
            raise DataError(
                f"{name} has shape {array.shape}, epsilons {self.epsilons.shape}; "
                "give one value per bandwidth"
            )
        return array


def _bandwidths(values: ArrayLike) -> NDArray[Any]:
    """Return bandwidths that a log axis can show, or raise an error that describes them."""
    array = np.asarray(values, dtype=float)
    rising = array.ndim == 1 and array.size > 0 and array[0] > 0 and (np.diff(array) > 0).all()
    if not (rising and np.isfinite(array).all()):
        raise DataError(
            f"epsilons must be of shape (m,), above 0 and rising, got shape {array.shape}; "
            "sort the curve by epsilon"
        )
    return array


def _halfway(epsilons: NDArray[Any]) -> NDArray[Any]:
    """Return the m + 1 edges around and halfway between m bandwidths on the log axis."""
    logs = np.log(epsilons)
    # a single bandwidth has no neighbour from which to take the width
    steps = np.diff(logs) if len(logs) > 1 else np.array([1.0])
    between = logs[:-1] + np.diff(logs) / 2
    return np.exp(np.r_[logs[0] - steps[0] / 2, between, logs[-1] + steps[-1] / 2])
