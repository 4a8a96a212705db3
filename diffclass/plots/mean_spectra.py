"""Mean spectra of classes or clusters, with the spread of single pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.exceptions import DataError
from diffclass.plots.display import Display, by_id, class_palette, uncovered

MOST_SPREADS = 6  # classes whose spreads can be distinguished


class MeanSpectraDisplay(Display):
    """Mean spectrum of each class against wavelength, in the colours of the class map.

    Parameters
    ----------
    means : array-like of shape (n_classes, n_bands)
        In the units of the scene.
    wavelengths : array-like of shape (n_bands,), optional
        In nanometres; otherwise bands are numbered from 0.
    bands : array-like of int of shape (n_bands,), optional
        Numbers of the bands in the scene; a line breaks where some are left out.
    deviations : array-like of shape (n_classes, n_bands), optional
        Standard deviations over the pixels; drawn for up to six classes.
    class_ids : sequence of int, optional
        1 to n_classes by default.
    class_names : mapping of id to str, or sequence along ``class_ids``, optional
        ``class 3`` by default.
    class_colors : mapping of id to colour, or sequence along ``class_ids``, optional
        The default palette for ids without one.

    Attributes
    ----------
    lines_, legend_
        What `plot` drew; ``legend_`` is None without a legend.

    Raises
    ------
    DataError
        If the shapes do not fit.

    See Also
    --------
    diffclass_hyperspectral.mean_spectra : Computes the means of the classes of a map.

    Examples
    --------
    >>> from diffclass.plots import MeanSpectraDisplay
    >>> means = [[0.1, 0.4, 0.5], [0.2, 0.2, 0.3]]
    >>> names = ["corn", "soil"]
    >>> display = MeanSpectraDisplay(means, wavelengths=[550, 650, 850], class_names=names).plot()
    >>> [line.get_label() for line in display.lines_], display.ax_.get_xlabel()
    (['corn', 'soil'], 'wavelength (nm)')
    """

    size = (7.6, 4.4)

    def __init__(
        self,
        means: ArrayLike,
        *,
        wavelengths: ArrayLike | None = None,
        bands: ArrayLike | None = None,
        deviations: ArrayLike | None = None,
        class_ids: Sequence[int] | None = None,
        class_names: Mapping[int, str] | Sequence[str] | None = None,
        class_colors: Mapping[int, str] | Sequence[Any] | None = None,
    ) -> None:
        self.means = uncovered(means, float).astype(float)
        if self.means.ndim != 2:
            raise DataError(f"means has shape {self.means.shape}, not (n_classes, n_bands)")
        n, n_bands = self.means.shape
        self.class_ids = list(range(1, n + 1)) if class_ids is None else [int(i) for i in class_ids]
        self.bands = np.arange(n_bands) if bands is None else np.asarray(bands)
        self.wavelengths = None if wavelengths is None else np.asarray(wavelengths, dtype=float)
        self.deviations = None if deviations is None else uncovered(deviations, float).astype(float)
        places = self.bands if self.wavelengths is None else self.wavelengths
        spread = self.means if self.deviations is None else self.deviations
        if not (
            len(self.class_ids) == n
            and self.bands.shape == places.shape == (n_bands,)
            and spread.shape == self.means.shape
        ):
            raise DataError(
                f"means has shape {self.means.shape}, but there are {len(self.class_ids)} "
                f"class_ids, {self.bands.shape} bands, {places.shape} wavelengths and "
                f"{spread.shape} deviations"
            )
        names = by_id(self.class_ids, class_names, "class_names")
        self.class_names = {i: str(names.get(i, f"class {i}")) for i in self.class_ids}
        self.class_colors = class_palette(self.class_ids, class_colors=class_colors)

    def _draw(self, legend: bool) -> None:
        places = self.bands if self.wavelengths is None else self.wavelengths
        places, means = self._with_gaps(places.astype(float)), self._with_gaps(self.means)
        self.lines_ = []
        for i, mean in zip(self.class_ids, means, strict=True):
            marker = "o" if len(self.bands) < 3 else None
            style: dict[str, Any] = {
                "color": self.class_colors[i],
                "linewidth": 1.8,
                "marker": marker,
            }
            self.lines_ += self.ax_.plot(places, mean, label=self.class_names[i], **style)
        self._plot_deviations(places, means)
        self.ax_.set_xlabel(
            "band (number, from 0)" if self.wavelengths is None else "wavelength (nm)"
        )
        self.ax_.set_ylabel("mean of the pixels (units of the scene)")
        self.legend_ = self._legend_at_right(self.lines_) if legend else None

    def _plot_deviations(self, places: np.ndarray, means: np.ndarray) -> None:
        if self.deviations is None or len(means) > MOST_SPREADS:
            return
        for i, mean, spread in zip(
            self.class_ids, means, self._with_gaps(self.deviations), strict=True
        ):
            shade: dict[str, Any] = {"color": self.class_colors[i], "alpha": 0.15, "linewidth": 0}
            self.ax_.fill_between(places, mean - spread, mean + spread, **shade)

    def _with_gaps(self, values: np.ndarray) -> np.ndarray:
        """Put NaN where bands of the scene are left out."""
        after = np.flatnonzero(np.diff(self.bands) > 1) + 1
        return np.insert(values, after, np.nan, axis=-1)
