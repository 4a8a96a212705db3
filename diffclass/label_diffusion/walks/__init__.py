"""Walks: the diffused labels at one time, one file for each way in which labels count.

A walk holds one column per class, or per group of labels, and advances in time. `diffusion` decides
what the columns mean, `early_stopping` when to stop. `long_walk` and `late_series` take many steps
at once.
"""

from __future__ import annotations

from diffclass.label_diffusion.walks.absorbing_walk import AbsorbingWalk
from diffclass.label_diffusion.walks.free_columns import FreeColumns
from diffclass.label_diffusion.walks.free_walk import FreeWalk
from diffclass.label_diffusion.walks.summed_walk import SummedWalk
from diffclass.label_diffusion.walks.walk import HEIGHT, Walk, least_arrived
from diffclass.label_diffusion.walks.warped_walk import WarpedWalk

__all__ = [
    "HEIGHT",
    "AbsorbingWalk",
    "FreeColumns",
    "FreeWalk",
    "SummedWalk",
    "Walk",
    "WarpedWalk",
    "least_arrived",
]
