"""One colour per class: that of the file, or one of a palette safe for the colour-blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diffclass.exceptions import ParameterError
from diffclass.plots.display import require_matplotlib

# The first seven are those of Okabe and Ito. The others were added one by one, each as far as
# possible in CIELAB from all before, from black and from white, in the worst of normal, protanopic
# and deuteranopic vision (Machado, Oliveira and Fernandes 2009).
DEFAULT_PALETTE = (
    "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7", "#0000FF",
    "#781E00", "#A5F096", "#6969FF", "#4B3C5A", "#3C1EA5", "#E10F4B", "#FFA5B4", "#6996FF",
    "#FF965A", "#A5E1FF", "#003C78", "#780F2D", "#2D3CE1", "#A53C00", "#F0F078", "#3C5AC3",
    "#007878", "#1E783C", "#5A5A87", "#E1F0C3", "#96C387", "#FFA5D2", "#1E3C96", "#5AD269",
)  # fmt: skip
SKY_BLUE, BLUE, VERMILION = DEFAULT_PALETTE[1], DEFAULT_PALETTE[4], DEFAULT_PALETTE[5]


def class_palette(
    class_ids: Sequence[int], *, class_colors: Mapping[int, str] | Sequence[Any] | None = None
) -> dict[int, tuple[float, float, float, float]]:
    """Give every class id a colour.

    Given colours win; ids without one take the default palette, which is safe for the
    colour-blind, by their index in ``class_ids``.

    Parameters
    ----------
    class_ids : sequence of int, shape (n_classes,)
        Ids of the map.
    class_colors : mapping of id to colour, or sequence of n_classes colours, optional
        Any colour that matplotlib reads.

    Returns
    -------
    dict
        Id to (red, green, blue, alpha), each 0 to 1.

    Raises
    ------
    ParameterError
        If a sequence of colours has another length than ``class_ids``, or matplotlib is missing.
    """
    require_matplotlib()
    from matplotlib.colors import to_rgba

    given = by_id(class_ids, class_colors, "class_colors")
    return {
        i: to_rgba(given.get(i, DEFAULT_PALETTE[place % len(DEFAULT_PALETTE)]))
        for place, i in enumerate(class_ids)
    }


def by_id(class_ids: Sequence[int], values: Any, name: str) -> dict[int, Any]:
    """Turn a sequence along ``class_ids``, a mapping, or None into a mapping by id."""
    if values is None:
        return {}
    if isinstance(values, Mapping):
        return dict(values)
    if len(values) != len(class_ids):
        raise ParameterError(
            f"{name} has {len(values)} entries for {len(class_ids)} class ids; give one for "
            "each id, or a mapping from id to value"
        )
    return dict(zip(class_ids, values, strict=True))
