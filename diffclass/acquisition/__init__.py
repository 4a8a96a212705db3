"""What to label next: points that stand for many others, or points where classes meet."""

from __future__ import annotations

from diffclass.acquisition.coverage import MEDOID_BYTES, medoids
from diffclass.acquisition.selection import (
    RULES,
    Suggestions,
    by_coverage,
    suggest,
    well_apart,
)

__all__ = [
    "MEDOID_BYTES",
    "RULES",
    "Suggestions",
    "by_coverage",
    "medoids",
    "suggest",
    "well_apart",
]
