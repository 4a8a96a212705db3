"""What a command will need, said before it starts, and refused where it cannot fit."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from diffclass.command_line.available_memory import available_memory_bytes
from diffclass.command_line.console import Console, duration, peak_memory_bytes
from diffclass.exceptions import ParameterError

_TO_LOAD = 105 * 2**20  # libraries and compiled loops that a run still loads
_BY_FAR = 1.5  # times the memory that is free
_BESIDE_THE_MAP = "calibration"


@dataclass(frozen=True)
class MemoryForecast:
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
    def of(cls, stages: Mapping[str, float]) -> MemoryForecast:
        """Return the forecast of stages that hold so much beside what the process holds."""
        base = base_bytes()
        whole = {name: int(base + size) for name, size in stages.items()}
        return cls(whole, peak_memory_bytes(), available_memory_bytes())

    @property
    def peak(self) -> int:
        """The largest number of bytes that the process will hold."""
        return max(self.stages.values())

    @property
    def exceeds(self) -> bool:
        """Whether that is more than is available."""
        return self.available is not None and self.peak - self.held > self.available

    def refuse_beyond(self, advice: str) -> None:
        """Raise `ParameterError` if the run needs far more memory than there is.

        Forecasts are right within about a quarter, and systems swap: half as much again is left to
        the warning.

        Parameters
        ----------
        advice : str
            What to change.
        """
        if self.available is not None and self.peak - self.held > _BY_FAR * self.available:
            at = max(self.stages, key=lambda name: self.stages[name])
            raise ParameterError(
                f"this run would need about {_shown(self.peak)} of memory, most of it for {at}, "
                f"but only {_shown(self.available)} are free; {advice}"
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
        """Return the forecast as a line to read."""
        steps = ", ".join(f"{name} {_shown(size)}" for name, size in self.stages.items())
        room = "" if self.available is None else f"; {_shown(self.available)} are free"
        disk = "" if self.scratch_bytes is None else f"; scratch: {_shown(self.scratch_bytes)}"
        return f"memory: about {_shown(self.peak)} will be needed ({steps}){room}{disk}"

    def duration_line(self) -> str | None:
        """Return the estimate of time as a line to read, if there is one."""
        if self.seconds is None:
            return None
        to_map = {name: took for name, took in self.seconds.items() if name != _BESIDE_THE_MAP}
        longest = max(to_map, key=lambda name: to_map[name])
        line = (
            f"time: an estimate is {duration(sum(to_map.values()))} to the map, "
            f"{duration(to_map[longest])} of it for {longest}"
        )
        more = self.seconds.get(_BESIDE_THE_MAP)
        return line if more is None else f"{line}; probabilities take {duration(more)} more"

    def warn(self, advice: str) -> None:
        """Warn if there is less memory than the run needs.

        Parameters
        ----------
        advice : str
            What to change.

        Warns
        -----
        UserWarning
        """
        if self.exceeds:
            at = max(self.stages, key=lambda name: self.stages[name])
            warnings.warn(
                f"this run needs about {_shown(self.peak)} of memory, most of it for {at}, but "
                f"only {_shown(self.available or 0)} are free beside {_shown(self.held)} in use: "
                f"it may be ended by the system; {advice}",
                UserWarning,
                stacklevel=2,
            )


def base_bytes() -> int:
    """Return what the process holds and will hold however small the work is."""
    return peak_memory_bytes() + _TO_LOAD


def force_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--force``."""
    return click.option(
        "--force", is_flag=True, help="Start also if far more memory will be needed than is free."
    )(command)


def forecast_sayer(
    console: Console, advice: str, *, force: bool = False
) -> Callable[[MemoryForecast], None]:
    """Return what says what memory and time a run will need, and warns where memory is less.

    It raises `ParameterError` where the run would need far more, unless it is forced.
    """

    def say(forecast: MemoryForecast) -> None:
        console.say(forecast.line())
        duration = forecast.duration_line()
        if duration is not None:
            console.say(duration)
        if not force:
            forecast.refuse_beyond(f"{advice}, or start it with --force")
        forecast.warn(advice)

    return say


def _shown(size: float) -> str:
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"
