"""Names of what a scene's features may measure, in a module that costs nothing to import."""

from __future__ import annotations

METRICS = ("euclidean", "angle", "correlation")
