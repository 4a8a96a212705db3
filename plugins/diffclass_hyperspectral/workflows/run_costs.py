"""What a run took: time and memory, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class RunCosts:
    """Time and memory of a run.

    Attributes
    ----------
    seconds : mapping of str to float
        Of each stage, and of all as "total".
    peak_memory_bytes : int
        The largest resident size of the process.
    peak_memory_by_stage : mapping of str to int
        The same by the end of each stage.
    """

    seconds: Mapping[str, float]
    peak_memory_bytes: int
    peak_memory_by_stage: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the costs in values that JSON can hold."""
        return {
            "seconds": dict(self.seconds),
            "peak_memory_bytes": self.peak_memory_bytes,
            "peak_memory_by_stage": dict(self.peak_memory_by_stage),
        }
