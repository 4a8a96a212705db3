"""What a run will cost, known before it begins: memory and time, from the size of the work alone.

Each chapter says in one function what its stages cost, next to their code: `search_cost`,
`Kernel.cost`, `graph_costs`, `diffusion_costs`, `eigenpairs_cost`, `painting_cost`. A run is a
mapping from stages, in their order, to their costs.

Bytes count the arrays that a stage holds. They are right within about a quarter for 100,000 points
and more. Seconds are those of two quiet processor cores. Not known in advance are the number of
steps of a walk, how hard the points make the search for neighbours, and the load of the machine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from diffclass.exceptions import ParameterError, warn_user
from diffclass.system.memory import available_memory_bytes, peak_memory_bytes
from diffclass.system.progress import duration

__all__ = ["Cost", "Forecast", "Size", "base_bytes", "seconds_of"]

_TO_LOAD = 130 * 2**20  # libraries and loops that a run still loads; to compile takes 50 MiB more
_BY_FAR = 1.5  # times the memory that is free
_WORTH_TELLING = 60.0  # seconds
_AFTER_THE_MAP = "calibration"


@dataclass(frozen=True)
class Size:
    """What costs depend on.

    Attributes
    ----------
    points : int
    features : int
        Of a point.
    neighbors : int
        Of a point, in the graph.
    classes : int
    """

    points: int
    features: int = 0
    neighbors: int = 0
    classes: int = 0

    @property
    def edges(self) -> float:
        """The expected number of edges: n (1 + 1.6 k), as measured on synthetic scenes."""
        return self.points * (1 + 1.6 * self.neighbors)

    @property
    def millions(self) -> float:
        """The points in millions."""
        return self.points / 1e6


@dataclass(frozen=True)
class Cost:
    """What a stage costs.

    Attributes
    ----------
    working : float
        Bytes that it holds at most, besides what earlier stages have left.
    kept : float
        Bytes that it leaves to the stages after it.
    seconds : float
        On two quiet processor cores; 0 where it takes little, or it is not known.
    """

    working: float = 0.0
    kept: float = 0.0
    seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.working + other.working, self.kept + other.kept, self.seconds + other.seconds
        )


def seconds_of(
    costs: Mapping[str, Cost], *, n_fits: int = 1, once: Collection[str] = ()
) -> dict[str, float]:
    """Return the seconds of the stages whose time is known.

    ``n_fits`` fits have the same points and other labels; stages in ``once`` are not repeated.
    """
    return {
        name: cost.seconds * (1 if name in once else n_fits)
        for name, cost in costs.items()
        if cost.seconds
    }


@dataclass(frozen=True)
class Forecast:
    """What a run will need.

    Attributes
    ----------
    stages : mapping of str to int
        Bytes that the process will hold at most within each stage.
    held : int
        Bytes that it holds already.
    available : int or None
        Further bytes that it can have; None where the system does not say.
    scratch_bytes : int or None
        Space on the scratch disk; None where nothing is written there.
    seconds : mapping of str to float, optional
        An estimate of the time of each stage; None where none is made. That of "calibration", which
        only probabilities need, is not part of the time to the map.
    """

    stages: Mapping[str, int]
    held: int = 0
    available: int | None = None
    scratch_bytes: int | None = None
    seconds: Mapping[str, float] | None = None

    @classmethod
    def of(cls, costs: Mapping[str, Cost], *, kept: float = 0.0) -> Forecast:
        """Return the forecast of stages, in their order.

        ``kept`` bytes are held from before the first stage to the end.
        """
        kept, stages = kept + base_bytes(), {}
        for name, cost in costs.items():
            stages[name] = int(kept + cost.working)
            kept += cost.kept
        return cls(stages, peak_memory_bytes(), available_memory_bytes())

    @property
    def peak(self) -> int:
        """The largest number of bytes that the process will hold."""
        return max(self.stages.values())

    @property
    def exceeds(self) -> bool:
        """Whether that is more than is available."""
        return self.available is not None and self.peak - self.held > self.available

    def refuse_beyond(self, advice: str) -> None:
        """Raise `ParameterError` with advice if the run needs far more memory than there is.

        Forecasts are right within about a quarter, and systems swap: half as much again is left to
        the warning.
        """
        if self.available is not None and self.peak - self.held > _BY_FAR * self.available:
            raise ParameterError(
                f"this run would need about {_shown(self.peak)} of memory, most of it for "
                f"{self._largest}, but only {_shown(self.available)} are free; {advice}"
            )

    def warn(self, advice: str) -> None:
        """Warn, with advice, if there is less memory than the run needs."""
        if self.exceeds:
            warn_user(
                f"this run needs about {_shown(self.peak)} of memory, most of it for "
                f"{self._largest}, but only {_shown(self.available or 0)} are free besides "
                f"{_shown(self.held)} in use: it may be ended by the system; {advice}",
                UserWarning,
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the forecast in values that JSON can hold."""
        facts = {
            "forecast_bytes": dict(self.stages),
            "peak_forecast_bytes": self.peak,
            "available_bytes": self.available,
        }
        if self.scratch_bytes is not None:
            facts["scratch_forecast_bytes"] = self.scratch_bytes
        if self.seconds is not None:
            facts["forecast_seconds"] = dict(self.seconds)
        return facts

    def line(self) -> str:
        """Return the forecast of memory as a line to read."""
        steps = ", ".join(f"{name} {_shown(size)}" for name, size in self.stages.items())
        room = "" if self.available is None else f"; {_shown(self.available)} are free"
        disk = "" if self.scratch_bytes is None else f"; scratch: {_shown(self.scratch_bytes)}"
        return f"memory: about {_shown(self.peak)} will be needed ({steps}){room}{disk}"

    def duration_line(self) -> str | None:
        """Return the estimate of time as a line to read; None for runs of less than a minute."""
        if self.seconds is None or sum(self.seconds.values()) < _WORTH_TELLING:
            return None
        to_map = {name: took for name, took in self.seconds.items() if name != _AFTER_THE_MAP}
        longest = max(to_map, key=lambda name: to_map[name])
        line = (
            f"time: an estimate for two cores is {duration(sum(to_map.values()))} to the map, "
            f"{duration(to_map[longest])} of it for {longest}"
        )
        more = self.seconds.get(_AFTER_THE_MAP)
        return line if more is None else f"{line}; probabilities take {duration(more)} more"

    @property
    def _largest(self) -> str:
        return max(self.stages, key=lambda name: self.stages[name])


def base_bytes() -> int:
    """Return what the process holds and will hold however small the work is."""
    return peak_memory_bytes() + _TO_LOAD


def _shown(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
