"""What diffusing labels costs."""

from __future__ import annotations

from diffclass.costs import Cost, Size
from diffclass.label_diffusion.held_out_labels import MOST_HELD_OUT, most_columns
from diffclass.sizes import LOCAL_ORDER_POINTS

# Bytes of a point and class: of a result with a copy in single precision, and of a diffusion.
RESULT_BYTES, DIFFUSING_BYTES = 24, 40
_RESULT_SLOT, _DIFFUSING_SLOT = 36, 68  # of a point and a class that it keeps
_WARPED = 36  # more
STEPS = 64  # of a walk to its end
_SECONDS, _SECONDS_HELD_OUT = 5.8e-10, 2.3e-10  # of an edge, column and step
_SECONDS_SLOT = 3e-9  # of an edge, kept class and step


def diffusion_costs(
    size: Size, *, warped: bool = False, kept_classes: int | None = None
) -> dict[str, Cost]:
    """Return what diffusing labels costs, and probabilities from held-out labels.

    Parameters
    ----------
    size : Size
        Points, neighbours and classes count.
    warped : bool, default=False
    kept_classes : int, optional
        As of `diffclass.diffuse_labels`.

    Returns
    -------
    dict of str to Cost
        Of "diffusion", whose result is kept, and "calibration".

    Examples
    --------
    A million points of ten classes:

    >>> from diffclass.costs import Size
    >>> from diffclass.label_diffusion import diffusion_costs
    >>> size = Size(points=1_000_000, neighbors=12, classes=10)
    >>> {name: f"{cost.working / 1e9:.1f} GB" for name, cost in diffusion_costs(size).items()}
    {'diffusion': '0.6 GB', 'calibration': '0.5 GB'}
    """
    n, m, n_columns = size.points, size.edges, size.classes
    working, result, seconds = DIFFUSING_BYTES + _WARPED * warped, RESULT_BYTES, _SECONDS
    if kept_classes is not None:
        n_columns = min(kept_classes, n_columns)
        working, result, seconds = _DIFFUSING_SLOT, _RESULT_SLOT, _SECONDS_SLOT
    in_order = (
        8 * m + 24 * n if n >= LOCAL_ORDER_POINTS else 0
    )  # the second operator of a large graph
    held_out = 0 if warped else 12 * n * most_columns(n)
    return {
        "diffusion": Cost(
            in_order + working * n * n_columns,
            in_order + result * n * n_columns,
            seconds * m * n_columns * STEPS,
        ),
        "calibration": Cost(held_out, 0, _SECONDS_HELD_OUT * m * MOST_HELD_OUT * STEPS),
    }
