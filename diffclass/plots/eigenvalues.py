"""The eigenvalues of A^t; their decay tells how many diffusion coordinates matter at time t."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from diffclass.exceptions import DataError, ParameterError
from diffclass.plots.display import Display
from diffclass.plots.palette import BLUE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from diffclass.embedding import DiffusionMap

_ROUNDING = 1e-3  # by which eigenvalues computed in single precision may exceed 1


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
            raise ParameterError(f"threshold must lie in 0 to 1, got {threshold}")
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

        Parameters
        ----------
        diffusion_map : DiffusionMap
            Fitted; ``eigenvalues_`` without the trivial 1, and ``time_``.
        times : sequence of float above 0, optional
            Diffusion times in steps; the map's own time by default.
        threshold : float, 0 to 1, optional
            As in the class.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        EigenvaluesDisplay
            The display, drawn.

        Raises
        ------
        ParameterError
            If the map is not fitted, or as in the class and in `plot`.
        """
        found = getattr(diffusion_map, "eigenvalues_", None)
        if found is None:
            raise ParameterError(
                f"{type(diffusion_map).__name__} has no eigenvalues_: fit it first"
            )
        chosen = (diffusion_map.time_,) if times is None else times
        return cls(np.r_[1.0, np.asarray(found)], times=chosen, threshold=threshold).plot(ax)

    def _draw(self, legend: bool) -> None:
        """Draw one line of markers per time, hollow where the eigenvalue of A is negative."""
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
        """Draw the powers of all eigenvalues, with hollow markers for negative ones."""
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
        """Label the axes; the limits leave room for half a marker at 0 and 1."""
        from matplotlib.ticker import MaxNLocator

        self.ax_.set_ylim(-0.03, 1.03)
        self.ax_.set_xlabel("index l (0: trivial)")
        self.ax_.set_ylabel("eigenvalue of A^t")
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))

    def _legend(self) -> Any:
        """List the times, the threshold and, if there are any, the hollow markers."""
        from matplotlib.lines import Line2D

        handles = [*self.lines_, self.threshold_line_]
        if self.negative_lines_:
            handles.append(
                Line2D([], [], linestyle="none", marker="o", markersize=5, markerfacecolor="white",
                       markeredgecolor="0.25", label="hollow: negative, drawn at |lambda|^t")
            )  # fmt: skip
        return self._legend_above(handles, columns=2)


def _eigenvalues(values: ArrayLike) -> NDArray[Any]:
    """Return eigenvalues of a Markov operator, or raise a `DataError` if they are not."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iuf":
        raise DataError(
            "eigenvalues must be real numbers of shape (n_eigenvalues,), got "
            f"{array.dtype} of shape {array.shape}"
        )
    if not (np.abs(array) <= 1 + _ROUNDING).all():
        raise DataError(
            "eigenvalues of a Markov operator lie in -1 to 1, got "
            f"{array.min():.4g} to {array.max():.4g}; of a Laplacian, give 1 - eigenvalue"
        )
    return array


def _time_colors(n: int) -> list[Any]:
    """Return colours that darken with time, without the palest, which vanish on white."""
    if n == 1:
        return [BLUE]
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0.8, 0.0, n)))
