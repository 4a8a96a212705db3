"""What all reports of runs have in common: facts for programs, what the run needed and took.

Annotations are not put off here: those of `RunReport` are read in the modules of its subclasses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from diffclass import __version__
from diffclass.costs import Forecast


class Facts:
    """A dataclass whose attributes go into a report under their names."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything in values that JSON can hold."""
        names = [part.name for part in fields(self)]  # type: ignore[arg-type]
        return {name: plain(getattr(self, name)) for name in names}


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: facts as dictionaries, tuples and arrays as lists."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@dataclass(frozen=True)
class RunCosts(Facts):
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


@dataclass(frozen=True, eq=False, kw_only=True)
class RunReport(Facts):
    """What every report of a run tells besides its own facts.

    Attributes
    ----------
    memory : Forecast or None
        What the run was forecast to need.
    costs : RunCosts or None
        None if they were not measured.
    """

    memory: Forecast | None = None
    costs: RunCosts | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything in values that JSON can hold."""
        facts = super().to_dict() | {"version": __version__}
        costs = facts.pop("costs")
        return facts if costs is None else facts | costs
