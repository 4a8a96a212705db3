"""What all commands share: options, messages, the times of stages, results, exit codes.

Results go to standard output, everything else to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import click

from diffclass.progress import listening

# Exit codes of commands; 0 means done.
OTHER_ERROR, USAGE, DATA, BOUND_MISSED, INTERRUPTED = 1, 2, 3, 4, 130

_SILENT_SECONDS, _PAUSE = 2.0, 10.0  # before the first message; between those of one stage


class Console:
    """Prints messages and results, and times the stages.

    Parameters
    ----------
    as_json : bool
        Whether results are printed as JSON rather than text.
    quiet : bool
        Whether to print neither messages nor progress.

    Attributes
    ----------
    seconds : dict of str to float
        Time spent in each stage so far.
    memory_bytes : dict of str to int
        Peak resident size of the process by the end of each stage.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False):
        self.as_json = as_json
        self.quiet = quiet
        self.seconds: dict[str, float] = {}
        self.memory_bytes: dict[str, int] = {}
        self._start = time.perf_counter()
        self._status: Any = None
        self._last_said = self._start
        self._begun: dict[str, float] = {}
        self._told: set[str] = set()

    def say(self, text: str) -> None:
        """Print a message to standard error, unless quiet."""
        if not self.quiet:
            click.echo(text, err=True)

    def give(self, result: dict[str, Any], text: str) -> None:
        """Print a result to standard output, as JSON if asked for and as text otherwise."""
        click.echo(json.dumps(result, allow_nan=False) if self.as_json else text)

    @property
    def total_seconds(self) -> float:
        """Seconds since the console was made."""
        return time.perf_counter() - self._start

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time the stages within the block and show the current one on a terminal."""
        with self._live_status(), listening(self):
            yield

    def begins(self, name: str) -> None:
        """Show that a stage begins; without a terminal, once the run has taken a while.

        Parts of stages that come again and again are told once there.
        """
        self._begun[name] = time.perf_counter()
        is_due = self.total_seconds > _SILENT_SECONDS and name not in self._told
        if self._status is not None or is_due:
            self._told |= {name} if ":" in name else set()
            self._show(f"{name} ...", f"{name} ... ({self.total_seconds:.0f} s so far)")

    def advances(self, name: str, done: int, parts: int) -> None:
        """Show how much of a stage is done and about how long the rest will take."""
        now, begun = time.perf_counter(), self._begun[name]
        left = (now - begun) / done * (parts - done)
        text = f"{name} ... {done} of {parts}, about {duration(left)} left"
        if self._status is not None or now - max(self._last_said, begun) > _PAUSE:
            self._show(text, text)

    def ends(self, name: str, seconds: float) -> None:
        """Keep how long a stage took, and the memory by its end."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.memory_bytes[name] = peak_memory_bytes()

    def _show(self, status: str, line: str) -> None:
        if self._status is not None:
            self._status.update(status)
        else:
            self._last_said = time.perf_counter()
            self.say(line)

    @contextmanager
    def _live_status(self) -> Iterator[None]:
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console as Terminal

        with Terminal(stderr=True).status("starting ...") as self._status:
            yield
        self._status = None


def duration(seconds: float) -> str:
    """Return a time to read: "45 s", "3 min", "2 h 10 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def peak_memory_bytes() -> int:
    """Return the peak resident size of this process."""
    import resource

    # getrusage counts what the process that started this one held then
    with suppress(OSError), open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def common_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--json``, ``--threads``, ``--quiet`` and ``--traceback`` to a command.

    The command then takes a `Console` as its keyword argument ``console``.
    """

    def with_console(
        *args: Any, as_json: bool, quiet: bool, threads: int | None, traceback: bool, **kwargs: Any
    ) -> Any:
        if threads:
            _limit_threads(threads)
        return command(*args, console=Console(as_json=as_json, quiet=quiet), **kwargs)

    with_console.__doc__ = command.__doc__
    with_console.__name__ = command.__name__
    options = [
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
        click.option("--threads", type=click.IntRange(1), help="Processor threads to use."),
        click.option("-q", "--quiet", is_flag=True, help="No messages, no progress."),
        click.option("--traceback", is_flag=True, help="Show where an error arose."),
    ]
    wrapped: Callable[..., Any] = with_console
    for option in reversed(options):
        wrapped = option(wrapped)
    wrapped.__click_params__ = (  # type: ignore[attr-defined]
        wrapped.__click_params__ + getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    )
    return wrapped


def overwrite_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--overwrite``."""
    return click.option("--overwrite", is_flag=True, help="Replace outputs that exist.")(command)


def seed_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--seed``."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Seeds every random choice; the same seed gives the same result.",
    )(command)


def _limit_threads(threads: int) -> None:
    # The numerical libraries read these when they are loaded, which happens inside commands.
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{library}_NUM_THREADS"] = str(threads)
