"""Smoothing of an image's components: by Gaussians, or by diffusion over the grid of its pixels.

A Gaussian mixes what lies on both sides of a field's border. A walk over the grid whose steps are
likely between similar pixels does not: with c the components at a fine scale, neighbours x and y
(each pixel has eight, and itself) are joined by

    K(x, y) = exp(-|c(x) - c(y)|^2 / h)

and t steps of A = D^-1 K replace every component at a pixel by its mean over where the walk from
that pixel is by then. Missing pixels give and take nothing.

Source: P. Perona and J. Malik, Scale-space and edge detection using anisotropic diffusion, 1990,
whose conduction changes with the picture; here it is that of the first picture throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from scipy.ndimage import gaussian_filter, gaussian_filter1d

from diffclass import MarkovOperator
from diffclass.exceptions import ParameterError
from diffclass.operators import SERIES_TOLERANCE, power_coefficients
from diffclass_hyperspectral.features.block_statistics import streamed_quantile
from diffclass_hyperspectral.features.windows import Window, windows
from diffclass_hyperspectral.io.rasters import Raster

# What the walk of `GridDiffusion` holds of a pixel: nine affinities and the numbers of neighbours.
GRID_BYTES = 150

_SAMPLED = 64  # pixels on which the reach of a walk is measured
_TOGETHER = 16  # of these walks at once, for the sake of memory
_OFFSETS = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1)]  # in the order of pixels


@runtime_checkable
class Smoothing(Protocol):
    """What makes one spatial scale of an image's components.

    `fitted` finds what must be known of the whole picture. Then each window of rows is smoothed
    with ``reach`` further rows on both sides, and its own rows are those of the whole picture.
    """

    @property
    def reach(self) -> int:
        """How many rows away a pixel can be and still count."""
        ...

    @property
    def fitting_reach(self) -> int:
        """How many further rows the windows of `fitted` need."""
        ...

    def fitted(self, parts: Callable[[], Iterable[Window]]) -> Smoothing:
        """Return the smoothing for the picture of these windows, ``fitting_reach`` rows wider."""
        ...

    def smooth(self, image: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """Return the smoothed image, float32 (rows, columns, k); ``valid``: where there is data."""
        ...

    def weight_beyond(self, image: Raster, valid: np.ndarray) -> np.ndarray:
        """Return the mean share of the weight from farther than r = 0, 1, ... pixels."""
        ...


@dataclass(frozen=True)
class GaussianSmoothing:
    """Means weighted by a Gaussian of the distance; ``sigma`` is in pixels, 0 changes nothing."""

    sigma: float

    def __post_init__(self) -> None:
        if not (isinstance(self.sigma, Real) and self.sigma >= 0):
            raise ParameterError(f"sigma = {self.sigma!r}; a width in pixels is at least 0")

    @property
    def reach(self) -> int:
        """Where SciPy cuts the Gaussian off."""
        return int(4 * self.sigma + 0.5)

    @property
    def fitting_reach(self) -> int:
        """0: there is nothing to fit."""
        return 0

    def fitted(self, parts: Callable[[], Iterable[Window]]) -> GaussianSmoothing:
        """Return the smoothing itself; it is the same for all pictures."""
        return self

    def smooth(self, image: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """Return the smoothed image; see `Smoothing`."""
        if self.sigma == 0:
            return image
        whole = bool(valid.all())
        filled = image if whole else _filled(image, valid)
        smooth = gaussian_filter(filled, (self.sigma, self.sigma, 0), mode="nearest")
        if not whole:
            share = gaussian_filter(valid.astype(np.float32), self.sigma, mode="nearest")
            smooth /= np.maximum(share, np.finfo(np.float32).tiny)[..., None]
        return smooth

    def weight_beyond(self, image: Raster, valid: np.ndarray) -> np.ndarray:
        """Return the share from farther than r pixels, in any picture; see `Smoothing`."""
        if self.sigma == 0:
            return np.zeros(1)
        point = np.eye(1, 2 * self.reach + 1, self.reach)[0]
        line = gaussian_filter1d(point, self.sigma, mode="constant")
        within = 2 * np.cumsum(line[self.reach :]) - line[self.reach]
        return np.clip(1 - within**2, 0, 1)


@dataclass(frozen=True)
class GridDiffusion:
    """Means over where a walk between similar neighbouring pixels is after t steps.

    Parameters
    ----------
    n_steps : int, default=128
        t; on uniform ground the walk is sqrt(4 t / 3) pixels from where it began.
    sigma : float, default=0.7
        Pixels by which components are smoothed first, so that single noisy pixels are no edges.
    quantile : float, default=0.25
        Of the squared differences between neighbours, 0 to 1; it is h.
    bandwidth : float, optional
        h; by default the quantile in the picture that is smoothed.
    """

    n_steps: int = 128
    sigma: float = 0.7
    quantile: float = 0.25
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        if not self.n_steps >= 1:
            raise ParameterError(f"n_steps = {self.n_steps!r}; a walk takes at least 1 step")
        if not 0 < self.quantile <= 1:
            raise ParameterError(f"quantile = {self.quantile!r} is not above 0 and at most 1")

    @cached_property
    def reach(self) -> int:
        """As many rows as the series that makes the steps has terms, and what the Gaussian sees."""
        series = power_coefficients([self.n_steps], SERIES_TOLERANCE["f"])
        return min(self.n_steps, series.shape[1] - 1) + self._guide.reach

    @property
    def fitting_reach(self) -> int:
        """A neighbour, and what the Gaussian sees around it."""
        return 1 + self._guide.reach

    def fitted(self, parts: Callable[[], Iterable[Window]]) -> GridDiffusion:
        """Return the walk with the bandwidth of one picture; see `Smoothing`."""
        if self.bandwidth is not None:
            return self

        def squares() -> Iterator[np.ndarray]:
            for window in parts():
                yield _onward(self._squares(window.image, window.valid)[window.inner])

        return replace(self, bandwidth=streamed_quantile(squares, self.quantile))

    def smooth(self, image: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """Return the smoothed image; see `Smoothing`."""
        operator = self.operator(image, valid)
        flat = _filled(image, valid).reshape(-1, image.shape[2])
        return operator.apply(flat, self.n_steps).reshape(image.shape)

    def weight_beyond(self, image: Raster, valid: np.ndarray) -> np.ndarray:
        """Return the share from farther than r pixels, mean of 64 pixels; see `Smoothing`."""
        fitted = self.fitted(lambda: windows(image, valid, reach=self.fitting_reach))
        places = np.flatnonzero(valid)
        sample = places[np.linspace(0, len(places) - 1, min(_SAMPLED, len(places))).astype(int)]
        around = (2 * (fitted._walked + fitted.fitting_reach) + 1) ** 2
        together = len(sample) if valid.size <= len(sample) * around else 1
        groups = np.array_split(sample, -(-len(sample) // together))
        by_distance = sum(fitted._weights(image, valid, starts) for starts in groups)
        return np.clip(1 - np.cumsum(by_distance) / np.sum(by_distance), 0, 1)

    @property
    def _walked(self) -> int:
        """How far the walk goes: four standard deviations of that on uniform ground."""
        return min(self.n_steps, int(4 * np.sqrt(2 * self.n_steps / 3)) + 1)

    def _weights(self, image: Raster, valid: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Sum, by distance, of the probabilities of where walks from some pixels are then."""
        far = self._walked
        rows, columns = np.unravel_index(starts, valid.shape)
        around = far + self.fitting_reach
        of_rows, of_columns = (
            slice(max(0, x.min() - around), x.max() + around + 1) for x in (rows, columns)
        )
        near = valid[of_rows, of_columns]
        walk = self.operator(image[of_rows][:, of_columns], near)
        row, column = rows - of_rows.start, columns - of_columns.start
        found = np.zeros(far + 1)
        for begin in range(0, len(starts), _TOGETHER):
            some = range(begin, min(begin + _TOGETHER, len(starts)))
            at = row[some] * near.shape[1] + column[some]
            begun = np.zeros((near.size, len(some)), walk.dtype)
            begun[at, range(len(some))] = 1
            # it is reversible: a^t(x, y) = a^t(y, x) pi(y) / pi(x)
            weights = walk.apply(begun, self.n_steps) * walk.degrees[:, None] / walk.degrees[at]
            for j, s in enumerate(some):
                distance = _distances(near.shape, row[s], column[s])
                found += np.bincount(np.minimum(distance, far), weights[:, j], minlength=far + 1)
        return found

    def operator(self, image: np.ndarray, valid: np.ndarray) -> MarkovOperator:
        """Return the walk over rows * columns pixels; at missing ones it stays where it is."""
        squares = self._squares(image, valid)
        h = self.bandwidth
        if h is None:
            h = streamed_quantile(lambda: [_onward(squares)], self.quantile)
        with np.errstate(under="ignore"):
            affinity = np.exp(-squares / h) if h > 0 else (squares == 0).astype(np.float32)
        np.nan_to_num(affinity, copy=False)
        affinity[..., _OFFSETS.index((0, 0))] = 1
        return MarkovOperator.from_affinity(_on_the_grid(affinity), check=False)

    @property
    def _guide(self) -> GaussianSmoothing:
        return GaussianSmoothing(self.sigma)

    def _squares(self, image: np.ndarray, valid: np.ndarray) -> np.ndarray:
        guide = self._guide.smooth(image, valid)
        return _squared_differences(np.where(valid[..., None], guide, np.float32(np.nan)))


def _onward(squares: np.ndarray) -> np.ndarray:
    """Return the differences of pairs of neighbours, each pair once."""
    onward = squares[..., _OFFSETS.index((0, 0)) + 1 :]
    return onward[np.isfinite(onward)]


def _filled(image: np.ndarray, valid: np.ndarray) -> np.ndarray:
    return np.where(valid[..., None], image, np.float32(0))


def _distances(shape: tuple[int, int], row: int, column: int) -> np.ndarray:
    """Return how far the pixels are from one, in rows or columns, whichever are more."""
    rows, columns = np.abs(np.arange(shape[0]) - row), np.abs(np.arange(shape[1]) - column)
    return np.maximum(rows[:, None], columns).ravel()


def _squared_differences(image: np.ndarray) -> np.ndarray:
    """Return |c(x) - c(y)|^2 to each of the nine pixels around, NaN where there is none."""
    rows, columns, _ = image.shape
    out = np.full((rows, columns, len(_OFFSETS)), np.nan, dtype=np.float32)
    for j, (down, right) in enumerate(_OFFSETS):
        here = (
            slice(max(0, -down), rows - max(0, down)),
            slice(max(0, -right), columns - max(0, right)),
        )
        there = (
            slice(max(0, down), rows + min(0, down)),
            slice(max(0, right), columns + min(0, right)),
        )
        difference = image[here] - image[there]
        out[(*here, j)] = np.einsum("rck,rck->rc", difference, difference)
    return out


def _on_the_grid(affinity: np.ndarray) -> sp.csr_array:
    """Return the CSR matrix of affinities (rows, columns, 9), zeros left out."""
    rows, columns, _ = affinity.shape
    n = rows * columns
    kept = affinity.reshape(n, -1) > 0
    steps = np.array([down * columns + right for down, right in _OFFSETS])
    indices = (np.arange(n)[:, None] + steps)[kept].astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
    return sp.csr_array((affinity.reshape(n, -1)[kept], indices, indptr), shape=(n, n))
