"""What diffusing labels costs."""

from __future__ import annotations

from diffclass.costs import Cost, Size
from diffclass.label_diffusion.held_out_labels import MOST_HELD_OUT, most_columns
from diffclass.sizes import LOCAL_ORDER_POINTS

# Bytes of a point and class: of a result with a copy in single precision, and of a diffusion.
RESULT_BYTES, DIFFUSING_BYTES = 24, 40
_WARPED = 36  # more
STEPS = 64  # of a walk to its end
_SECONDS, _SECONDS_HELD_OUT = 5.8e-10, 2.3e-10  # of an edge, column and step


def diffusion_costs(size: Size, *, warped: bool = False) -> dict[str, Cost]:
    """Return what diffusing labels costs, and probabilities from held-out labels.

    Parameters
    ----------
    size : Size
        Points, neighbours and classes count.
    warped : bool, default=False

    Returns
    -------
    dict of str to Cost
        Of "diffusion", whose result is kept, and "calibration".
    """
    n, m, values = size.points, size.edges, size.points * size.classes
    in_order = (
        8 * m + 24 * n if n >= LOCAL_ORDER_POINTS else 0
    )  # the second operator of a large graph
    held_out = 0 if warped else 12 * n * most_columns(n)
    return {
        "diffusion": Cost(
            in_order + (DIFFUSING_BYTES + _WARPED * warped) * values,
            in_order + RESULT_BYTES * values,
            _SECONDS * m * size.classes * STEPS,
        ),
        "calibration": Cost(held_out, 0, _SECONDS_HELD_OUT * m * MOST_HELD_OUT * STEPS),
    }
