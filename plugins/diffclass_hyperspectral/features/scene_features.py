"""Features of a scene's pixels: components by noise, angle or correlation, and their scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from diffclass.exceptions import DataError, ParameterError
from diffclass.options import check_options
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.components import (
    Components,
    noise_adjusted_directions,
    unit_directions,
)
from diffclass_hyperspectral.features.smoothing import GridDiffusion, Smoothing
from diffclass_hyperspectral.features.spatial_scales import (
    add_positions,
    largest_weight_beyond,
    scale_features,
    smooth_scales,
    smoothings_of,
    window_rows,
)
from diffclass_hyperspectral.io.rasters import PointPicture, spread_out
from diffclass_hyperspectral.io.scenes import Scene, sampled_levels, unit_factor
from diffclass_hyperspectral.options import OPTIONS

_COMPONENTS = 20


class SceneFeatures(TransformerMixin, BaseEstimator):
    """Turn a scene into one row of features per pixel.

    Parameters
    ----------
    n_components : int, optional
        Components kept, at most the number of usable bands. By default 20 of the MNF; for angle
        and correlation as many as keep all but 1/10,000 of the spread of the unit spectra.
    metric : {"euclidean", "angle", "correlation"}, default="euclidean"
        What the features' Euclidean distance is: that of MNF components, or one that grows with
        the spectral angle or as the correlation falls. The latter use all usable bands equally; a
        spectrum without a direction (zeros, for correlation any flat one) counts as no data.
    spatial : bool, default=False
        Whether the components are taken at several spatial scales.
    scales : sequence of float or Smoothing, default=(0, GridDiffusion())
        How the components of each spatial scale are smoothed. A number is the standard deviation
        of a Gaussian in pixels, 0 none; an object is one of `features.smoothing` or has its
        methods. For angle and correlation spectra are smoothed first and then scaled to length 1.
    field_power : float, default=1.0
        How much less those directions of smoothed MNF components count in which pixels differ
        within fields; at 0 all count equally. See
        `diffclass_hyperspectral.features.spatial_scales`.
    position_weight : float, default=0.0
        Units of feature per pixel of row and column, which join the components if spatial and
        not 0; the components of each scale have mean square 1. About 0.01 helps a little where
        each class lies in one place, and means nothing in another scene.

    Attributes
    ----------
    bands_ : ndarray of bool of shape (bands,)
        Bands in use.
    mean_ : ndarray of shape (n_used_bands,)
        Only of MNF components.
    directions_ : ndarray of shape (n_used_bands, n_components_)
        The vectors v; for angle and correlation orthonormal ones.
    signal_to_noise_ : ndarray of shape (n_components_,)
        l - 1; only of MNF components.
    levels_ : ndarray of shape (2, n_used_bands)
        How large values are in each band, see `io.scenes.value_levels`; only of MNF components.
    n_components_ : int
    weights_ : ndarray of float32 of shape (n_scales, n_components_, n_components_)
        What smoothed MNF components of each scale are multiplied by, if spatial.
    scales_ : ndarray of shape (n_scales,)
        What the components of each spatial scale are divided by; only if spatial.

    Notes
    -----
    Memory is that of the result, 4 bytes x pixels x features, and of one block or window of rows,
    whose size changes nothing but rounding.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import SceneFeatures
    >>> cube = make_tissue_scene(48, 48, random_state=0).cube
    >>> SceneFeatures(spatial=True).fit_transform(cube).shape
    (2304, 40)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        metric: str = "euclidean",
        spatial: bool = False,
        scales: Sequence[float | Smoothing] = (0, GridDiffusion()),
        field_power: float = 1.0,
        position_weight: float = 0.0,
    ):
        self.n_components = n_components
        self.metric = metric
        self.spatial = spatial
        self.scales = scales
        self.field_power = field_power
        self.position_weight = position_weight

    def fit(self, X: Any, y: Any = None) -> SceneFeatures:
        """Find the components of a scene.

        Parameters
        ----------
        X : Scene or array-like of shape (rows, columns, bands)
            NaN marks missing pixels.

        Raises
        ------
        DataError
            Where no pixel has data, all bands are constant, no two valid pixels touch, no
            spectrum has a direction, or the scene's file changes while it is read.
        ParameterError
            For fewer than one component, an unknown metric, or a scale or a weight below 0.
        """
        scene = _as_scene(X)
        self._fit_components(scene)
        if self.spatial:
            self._fill(scene, _in_memory, fit=True)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and return the features of the same scene, as `transform`."""
        scene = _as_scene(X)
        self._fit_components(scene)
        return self._of_all_pixels(scene, fit=True)

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of a scene with the same bands, float32 (rows * columns, p).

        Row-major; missing pixels are rows of NaN. p = n_components_, or if spatial
        len(scales) x n_components_, plus 2 for the position.
        """
        return self._of_all_pixels(self._checked_scene(X), fit=False)

    def fit_transform_points(
        self,
        X: Any,
        create: Callable[[tuple[int, int]], np.ndarray] | None = None,
        *,
        window_bytes: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fit and return the features of the same scene's pixels, as `transform_points`."""
        scene = _as_scene(X)
        self._fit_components(scene)
        return self._fill(scene, create or _in_memory, fit=True, window_bytes=window_bytes)

    def transform_points(
        self,
        X: Any,
        create: Callable[[tuple[int, int]], np.ndarray] | None = None,
        *,
        window_bytes: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of the pixels with data only, in memory or in a file.

        Parameters
        ----------
        X : Scene or array-like of shape (rows, columns, bands)
        create : callable, optional
            Makes the array of float32 of a shape (n, p) that is filled, such as a memory map; an
            array in memory by default. What is not a map of `numpy` then stays in memory.
        window_bytes : int, optional
            Working memory for smoothing; by default as much as is needed, 256 MiB at least.

        Returns
        -------
        points : ndarray of float32 of shape (n, p)
            In the order of pixels; what ``create`` made.
        valid : ndarray of bool of shape (rows, columns)
            Which pixels these are.

        Raises
        ------
        DataError
            As `fit`.
        ParameterError
            Where ``window_bytes`` is too small for a window.

        Examples
        --------
        >>> import tempfile, numpy as np
        >>> from diffclass.datasets import make_tissue_scene
        >>> from diffclass_hyperspectral import SceneFeatures
        >>> cube = make_tissue_scene(48, 48, random_state=0).cube
        >>> cube[0, 0] = np.nan
        >>> file = tempfile.NamedTemporaryFile(suffix=".npy")
        >>> def create(shape):
        ...     return np.lib.format.open_memmap(file.name, "w+", np.float32, shape)
        >>> points, valid = SceneFeatures().fit_transform_points(cube, create)
        >>> points.shape, int(valid.sum())
        ((2303, 20), 2303)
        """
        scene = self._checked_scene(X)
        return self._fill(scene, create or _in_memory, fit=False, window_bytes=window_bytes)

    def _checked_scene(self, X: Any) -> Scene:
        check_is_fitted(self)
        scene = _as_scene(X)
        if scene.n_bands != len(self.bands_):
            raise DataError(
                f"{scene.path}: has {scene.n_bands} bands; the features were fitted to "
                f"{len(self.bands_)}"
            )
        return scene

    def weight_beyond(self, X: Any) -> np.ndarray:
        """Return how much of a pixel's features other pixels make, by their distance.

        Parameters
        ----------
        X : Scene or array-like of shape (rows, columns, bands)
            The scene that they were fitted to, or one with the same bands.

        Returns
        -------
        ndarray of shape (n,)
            For r = 0, 1, ..., n - 1 the share of the weight that comes from farther than r rows or
            columns, at the spatial scale where it is largest; 0 beyond. [0] unless spatial.

        Examples
        --------
        >>> from diffclass.datasets import make_tissue_scene
        >>> from diffclass_hyperspectral import SceneFeatures
        >>> cube = make_tissue_scene(48, 48, random_state=0).cube
        >>> features = SceneFeatures(spatial=True, scales=(0, 2.0)).fit(cube)
        >>> features.weight_beyond(cube)[:7].round(2)
        array([0.96, 0.7 , 0.37, 0.15, 0.05, 0.01, 0.  ])
        """
        check_is_fitted(self)
        if not self.spatial:
            return np.zeros(1)
        scene = _as_scene(X)
        with stage("features: reach"):
            components = self._components(scene)
            valid = components.pixels()
            return largest_weight_beyond(smoothings_of(self.scales), components.picture(), valid)

    def unit_factor(self, X: Any) -> float | None:
        """Return by what factor another scene's values are larger, where its units are others.

        None where they may be the same (`io.scenes.value_levels`), and for angle and correlation.
        """
        scene = self._checked_scene(X)
        if self.metric != "euclidean":
            return None
        return unit_factor(sampled_levels(scene, self.bands_), self.levels_)

    def n_features(self, n_bands: int) -> int:
        """Return the largest number of features of a pixel with that many usable bands."""
        default = _COMPONENTS if self.metric == "euclidean" else n_bands
        k = min(default if self.n_components is None else self.n_components, n_bands)
        positions = 2 if self.position_weight else 0
        return len(self.scales) * k + positions if self.spatial else k

    def check_parameters(self) -> None:
        """Raise `ParameterError` for parameters that no scene can be fitted with."""
        given = self.get_params(deep=False)
        scales = given.pop("scales")
        check_options(OPTIONS, **given)
        if self.spatial:
            smoothings_of(scales)

    def _fit_components(self, scene: Scene) -> None:
        self.check_parameters()
        with stage("features: bands"):
            self.bands_ = scene.usable_bands()
        if self.metric == "euclidean":
            wanted = _COMPONENTS if self.n_components is None else self.n_components
            found = noise_adjusted_directions(scene, self.bands_, wanted)
            self.mean_, self.directions_, ratios = found
            self.signal_to_noise_ = ratios - 1
            self.levels_ = sampled_levels(scene, self.bands_)
        else:
            self.directions_ = unit_directions(
                scene, self.bands_, self.n_components, metric=self.metric
            )
        # in the order of rows, as they come back from a file: products round by the order
        self.directions_ = np.ascontiguousarray(self.directions_)
        self.n_components_ = self.directions_.shape[1]

    def _components(self, scene: Scene) -> Components:
        mean = self.mean_ if self.metric == "euclidean" else None
        return Components(scene, self.metric, self.bands_, self.directions_, mean)

    def _of_all_pixels(self, scene: Scene, *, fit: bool) -> np.ndarray:
        n_pixels = scene.shape[0] * scene.shape[1]
        out = _in_memory((n_pixels, self._n_features_out))
        _, valid = self._fill(scene, lambda shape: out[: shape[0]], fit=fit)
        spread_out(out, valid)
        return out

    @property
    def _n_features_out(self) -> int:
        if not self.spatial:
            return self.n_components_
        return len(self.scales) * self.n_components_ + (2 if self.position_weight else 0)

    def _fill(
        self,
        scene: Scene,
        create: Callable[[tuple[int, int]], np.ndarray],
        *,
        fit: bool,
        window_bytes: int | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Make the features of the pixels that have any, and say which these are."""
        k = self.n_components_
        n_rows = 0
        if self.spatial:
            smoothings = smoothings_of(self.scales)
            n_rows = window_rows(scene.shape, k, smoothings, window_bytes=window_bytes)
        components = self._components(scene)
        valid = components.pixels()
        points = create((int(np.count_nonzero(valid)), self._n_features_out))
        picture = PointPicture(points, valid)
        is_unit = self.metric != "euclidean" and not self.spatial
        components.write(picture, is_unit=is_unit)
        if self.spatial:
            with stage("features: smoothing"):
                self._smooth(picture, fit=fit, n_rows=n_rows)
        return points, valid

    def _smooth(self, picture: PointPicture, *, fit: bool, n_rows: int) -> None:
        """Fill the columns of all scales from the components in the first ones."""
        k, is_unit = self.n_components_, self.metric != "euclidean"
        smoothings = smoothings_of(self.scales)
        found = smooth_scales(picture, smoothings, k, is_unit=is_unit, n_rows=n_rows)
        if fit:
            weights = [moments.weights(self.field_power) for moments in found]
            self.weights_ = np.array(weights, dtype=np.float32)
            pairs = zip(found, self.weights_.astype(np.float64), strict=True)
            self.scales_ = np.array([moments.spread(w) for moments, w in pairs])
        scale_features(picture, self.weights_, self.scales_, is_unit=is_unit)
        if self.position_weight:
            add_positions(picture, self.position_weight)


def _as_scene(X: Any) -> Scene:
    return X if isinstance(X, Scene) else Scene.from_array(X)


def _in_memory(shape: tuple[int, int]) -> np.ndarray:
    return np.empty(shape, dtype=np.float32)


def check_components(n_components: int | None, scene: Scene) -> None:
    """Raise `ParameterError` for more components than the scene has good bands."""
    n_bands = int(scene.band_mask.sum())
    if n_components is not None and n_components > n_bands:
        raise ParameterError(
            f"{n_components} components were asked for, but {scene.path} has {n_bands} good "
            f"bands; ask for at most {n_bands}"
        )
