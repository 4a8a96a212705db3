"""What all reports have in common: facts for programs, what a run needed and took.

A report is a dataclass, and its fields are what is written, unless their metadata say otherwise, as
in ``field(metadata=MERGED)``. Annotations are evaluated here: those of `RunReport` are read in the
modules of its subclasses.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from diffclass import __version__
from diffclass.jobs.point_set import PointSet
from diffclass.system.costs import Forecast

Metadata = Mapping[str, Callable[[str, Any], dict[str, Any]]]


def _as_facts(written: Callable[[str, Any], dict[str, Any]]) -> Metadata:
    return {"written": written}


def written_as(describe: Callable[[Any], Any]) -> Metadata:
    """Return the metadata of a field of which something else is written; None stays None."""
    return _as_facts(lambda name, value: {name: None if value is None else describe(value)})


_SIZES = 8  # of classes in lines
HIDDEN = _as_facts(lambda name, value: {})
IF_KNOWN = _as_facts(lambda name, value: {} if value is None else {name: plain(value)})
MERGED = _as_facts(lambda name, value: {} if value is None else plain(value))
_NAMED = _as_facts(lambda name, value: {name: plain(value)})


class Facts:
    """A dataclass whose fields go into a report under their names, but for their metadata.

    `HIDDEN` fields are not written, `IF_KNOWN` ones unless they are None; of `MERGED` ones the
    facts of their own are.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return everything in values that JSON can hold."""
        facts: dict[str, Any] = {}
        for part in fields(self):  # type: ignore[arg-type]
            metadata: Metadata = part.metadata or _NAMED
            facts |= metadata["written"](part.name, getattr(self, part.name))
        return facts


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it: facts as dictionaries, tuples and arrays as lists."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {part.name: plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def size_lines(class_sizes: Sequence[str] | None) -> list[str]:
    """Return `sizes_in_words` as lines to read, those of many cut off."""
    said = list(class_sizes or ())
    more = [f"and {len(said) - _SIZES} more in the report"] if len(said) > _SIZES else []
    heads = ["class sizes", *[""] * _SIZES]
    return [f"{head:14}{line}" for head, line in zip(heads, [*said[:_SIZES], *more], strict=False)]


@dataclass(frozen=True)
class RunCosts(Facts):
    """Time and memory of a run."""

    seconds: Mapping[str, float]  # of each stage, and of all as "total"
    peak_memory_bytes: int  # the largest resident size of the process
    peak_memory_by_stage: Mapping[str, int] = field(default_factory=dict)  # by the end of each


@dataclass(frozen=True, eq=False, kw_only=True)
class RunReport(Facts):
    """What every report of a run tells besides its own facts."""

    memory: Forecast | None = None  # what the run was forecast to need
    costs: RunCosts | None = field(default=None, metadata=MERGED)  # None: not measured
    version: str = __version__


@dataclass(frozen=True, eq=False, kw_only=True)
class PointsReport(RunReport):
    """What every report of a job on points tells of them."""

    points: PointSet = field(metadata=_as_facts(lambda _, points: points.facts))
    more: Mapping[str, Any] = field(default_factory=dict, metadata=MERGED)  # of one kind of input

    @property
    def counted(self) -> str:
        """How many points there are, in words."""
        return f"{self.points.facts['n_points']} {self.points.noun}"

    @property
    def without_data(self) -> str:
        """How many are left out, in words."""
        return f"({self.points.facts['n_without_data']} without data)"


def n_kept_loops() -> int:
    """Return how many compiled loops are on disk, so that they need not be compiled again."""
    from diffclass._compiled._numba_internals import n_kept

    return n_kept()
