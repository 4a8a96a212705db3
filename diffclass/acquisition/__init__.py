"""What to label next: rules that score every point, and a choice of points well apart.

`rules` scores each point by the walk, by the diffused labels and, for some rules, by a Gaussian
process on the leading eigenpairs (`gaussian_process`). `selection` takes the best point again and
again. A rule that uses more than the map is updated with each chosen point, so that a batch is
spread out.
"""

from __future__ import annotations

from diffclass.acquisition.gaussian_process import (
    N_PAIRS,
    Process,
    growing_eigenpairs,
    process_eigenpairs,
)
from diffclass.acquisition.rules import (
    RULES,
    Distance,
    Hybrid,
    LabelledGraph,
    Margin,
    ModelChange,
    ProcessRule,
    Rule,
    Uncertainty,
    Unexplored,
    VOpt,
)
from diffclass.acquisition.selection import Suggestions, suggest

__all__ = [
    "N_PAIRS",
    "RULES",
    "Distance",
    "Hybrid",
    "LabelledGraph",
    "Margin",
    "ModelChange",
    "Process",
    "ProcessRule",
    "Rule",
    "Suggestions",
    "Uncertainty",
    "Unexplored",
    "VOpt",
    "growing_eigenpairs",
    "process_eigenpairs",
    "suggest",
]
