"""About how long it takes to prepare a scene, from its size alone.

Seconds on two quiet cores; `diffclass_relabel.preparation` corrects them by the steps so far.
"""

from __future__ import annotations

from diffclass_relabel.pixel_blocks import MOST_POINTS
from diffclass_relabel.workspace import SessionSettings

_HASHED = 1.0e9  # bytes per second
_PER_VALUE = {"spectral": 2.0e-8, "spatial": 5.0e-8}  # seconds, of the features
_PER_PIXEL = 1.2e-5  # seconds, of the graph of 100,000 pixels
_GROWTH = 1.15  # of the graph's time with the number of pixels
_PER_OPERATION = 5.0e-4
_LOOPS, _MAP = 0.5, 1.0e-6


def expected_seconds(
    shape: tuple[int, int, int], n_bytes: int, settings: SessionSettings, n_operations: int
) -> dict[str, float]:
    """Return the seconds of each step of `diffclass_relabel.preparation`.

    Parameters
    ----------
    shape : tuple of int
        Rows, columns, bands.
    n_bytes : int
        Of the scene's values.
    settings : SessionSettings
    n_operations : int
        So far in the session's file.

    Examples
    --------
    >>> found = expected_seconds((512, 217, 204), 10**8, SessionSettings(), 0)
    >>> round(found["graph"], 1)
    1.4
    """
    n_pixels = shape[0] * shape[1]
    n_points = min(n_pixels, MOST_POINTS)
    return {
        "libraries": 0.0,  # loaded by now
        "opening": n_bytes / _HASHED,
        "features": n_pixels * shape[2] * _PER_VALUE[settings.features],
        "graph": _PER_PIXEL * n_points * max(n_points / 1e5, 0.1) ** (_GROWTH - 1),
        "replay": _PER_OPERATION * n_operations,
        "loops": _LOOPS,
        "map": _MAP * n_points,
    }
