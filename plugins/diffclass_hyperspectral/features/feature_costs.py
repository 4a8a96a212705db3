"""What the features of a scene cost, known before a pixel is read."""

from __future__ import annotations

from diffclass.costs import Cost
from diffclass_hyperspectral.features.scale_smoothings import ScaleSmoothings, bytes_per_pixel
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.features.streamed_quantile import quantile_bytes
from diffclass_hyperspectral.io import rasters

_BYTES_PER_VALUE = 56  # of working space for a value of a block
_SECONDS = {False: 1e-8, True: 5e-8}  # of a pixel's band; spatial features take longer


def feature_cost(
    features: SceneFeatures,
    shape: tuple[int, int, int],
    n_bands: int,
    *,
    on_disk: bool = False,
    window_bytes: int | None = None,
) -> Cost:
    """Return what making features costs: a block of the scene or a window, and the features.

    Parameters
    ----------
    features : SceneFeatures
        Need not be fitted.
    shape : tuple of int
        Rows, columns and bands of the scene.
    n_bands : int
        Usable ones.
    on_disk : bool, default=False
        Whether the features themselves lie in a file.
    window_bytes : int, optional
        As in `SceneFeatures.transform_points`.

    Returns
    -------
    Cost
        Nothing is kept: not all pixels may be points.

    Raises
    ------
    ParameterError
        Where ``window_bytes`` is too small for a window.
    """
    rows, columns, bands = shape
    n, p = rows * columns, features.n_features(n_bands)
    most = max(2 * columns * bands, rasters.BLOCK_VALUES)
    working = _BYTES_PER_VALUE * min(n * bands, most)
    if features.spatial:
        k, scales = p // len(features.scales), ScaleSmoothings.of(features.scales)
        of_its_own = scales.window_rows(shape, k, window_bytes=window_bytes)
        window = min(of_its_own + 2 * scales.reach, rows) * columns * bytes_per_pixel(k)
        working = max(working, window + quantile_bytes(4 * n))
    held = 0 if on_disk else 4 * n * p
    # a block of rows is gone before the whole result has been filled, a window is not
    peak = held + working if features.spatial else max(held, working)
    return Cost(peak + 8 * n, 0, _SECONDS[features.spatial] * n * n_bands)
