"""What all commands share: options, messages, the times of stages, results, exit codes.

Results go to standard output, everything else to standard error: lines to read, or with
``--progress json`` one JSON object a line for programs. The objects have a "type": "stage" (with
"name", "state": begins, ends, "seconds"), "progress" (with "name", "done", "parts",
"seconds_left"), "message", "warning" or "error" (with "text", an error with the exit "code" too).
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

from diffclass.command_line.first_run import CompilingBeside
from diffclass.command_line.option_groups import option, options
from diffclass.exceptions import named_when_full
from diffclass.options import COUNT, OneOf
from diffclass.system.costs import Forecast
from diffclass.system.memory import peak_memory_bytes
from diffclass.system.progress import duration, listening

# Exit codes of commands; 0 means done.
OTHER_ERROR, USAGE, DATA, BOUND_MISSED, INTERRUPTED = 1, 2, 3, 4, 130

_SILENT_SECONDS, _PAUSE = 2.0, 10.0  # before the first message; between those of one stage
_BETWEEN_EVENTS = 0.2  # seconds, for programs


class Messages:
    """Writes messages of a command: only errors if quiet, stages and progress only as JSON."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False):
        self.as_json = as_json
        self.quiet = quiet
        self.warned: list[str] = []  # for the report

    def say(self, text: str) -> None:
        """Write a message."""
        if not self.quiet:
            self._write("message", text, text)

    def warn(self, text: str) -> None:
        """Write a warning, and keep it for the report."""
        self.warned.append(text)
        if not self.quiet:
            self._write("warning", text, f"warning: {text}")

    def fail(self, text: str, code: int) -> None:
        """Write the error that ends the command with this exit code."""
        self._write("error", text, f"error: {text}", code=code)

    def event(self, kind: str, **facts: Any) -> None:
        """Write a stage or progress as JSON, for programs; `Console` shows them to people."""
        if self.as_json and not self.quiet:
            self._echo(json.dumps({"type": kind, **facts}, allow_nan=False))

    def _write(self, kind: str, text: str, line: str, **facts: Any) -> None:
        self._echo(json.dumps({"type": kind, "text": text, **facts}) if self.as_json else line)

    def _echo(self, line: str) -> None:
        # a closed standard error must not stop the command
        with suppress(OSError, ValueError):
            click.echo(line, err=True)


_messages: ContextVar[Messages | None] = ContextVar("messages", default=None)


def messages() -> Messages:
    """Return the messages of the running command."""
    current = _messages.get()
    if current is None:
        current = Messages()
        _messages.set(current)
    return current


def use_messages(chosen: Messages) -> None:
    """Set the messages of the running command."""
    _messages.set(chosen)


class Console:
    """Prints messages and results, and times the stages.

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
        self._messages = messages()
        self._messages.quiet = quiet
        self.seconds: dict[str, float] = {}
        self.memory_bytes: dict[str, int] = {}
        self._start = time.perf_counter()
        self._status: Any = None
        self._last_said = self._start
        self._begun: dict[str, float] = {}
        self._told: set[str] = set()
        self._last_told = self._start
        self._beside = CompilingBeside()

    def say(self, text: str) -> None:
        """Print a message to standard error, unless quiet."""
        self._messages.say(text)

    def give(self, result: dict[str, Any], text: str) -> None:
        """Print a result to standard output, as JSON if asked for, else as text unless quiet.

        `DataError` where standard output goes to a file on a full disk.
        """
        with named_when_full(_no_room):
            if self.as_json:
                click.echo(json.dumps(result, allow_nan=False))
            elif not self.quiet:
                click.echo(text)

    @property
    def total_seconds(self) -> float:
        """Seconds since the console was made."""
        return time.perf_counter() - self._start

    @contextmanager
    def timing(self) -> Iterator[None]:
        """Time the stages within the block and show the current one on a terminal."""
        with (
            self._live_status(),
            listening(self),
            closing(self._beside),
            counting_compilations(self._compiles),
        ):
            yield

    def begins(self, name: str) -> None:
        """Show that a stage begins; without a terminal, once the run has taken a while.

        Without a terminal, a part that every round of a stage repeats is shown once.
        """
        self._begun[name] = time.perf_counter()
        self._messages.event("stage", name=name, state="begins")
        is_due = self.total_seconds > _SILENT_SECONDS and name not in self._told
        if self._status is not None or is_due:
            self._told |= {name} if ":" in name else set()
            self._show(f"{name} ...", f"{name} ... ({self.total_seconds:.0f} s so far)")

    def advances(self, name: str, done: int, parts: int) -> None:
        """Show how much of a stage is done and about how long the rest will take."""
        now, begun = time.perf_counter(), self._begun[name]
        left = (now - begun) / done * (parts - done)
        self._tell_progress(name, done, parts, left, now)
        text = f"{name} ... {done} of {parts}, about {duration(left)} left"
        if self._status is not None or now - max(self._last_said, begun) > _PAUSE:
            self._show(text, text)

    def ends(self, name: str, seconds: float) -> None:
        """Keep how long a stage took, and the memory by its end."""
        self._messages.event("stage", name=name, state="ends", seconds=round(seconds, 3))
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds
        self.memory_bytes[name] = peak_memory_bytes()

    def _tell_progress(self, name: str, done: int, parts: int, left: float, now: float) -> None:
        if now - self._last_told > _BETWEEN_EVENTS or done == parts:
            self._last_told = now
            facts = {"done": done, "parts": parts, "seconds_left": round(left, 1)}
            self._messages.event("progress", name=name, **facts)

    def _compiles(self, n_loops: int) -> None:
        """Show that loops are compiled, as in the first run of an installation, and get help."""
        if n_loops == 1:
            self._beside.start()
        if n_loops == 1 or time.perf_counter() - self._last_said > _PAUSE:
            so_far = "" if n_loops == 1 else f", {n_loops} so far"
            line = f"compiling loops for this processor, in the first run only{so_far} ..."
            self._show(line, line, always=True)

    def _show(self, status: str, line: str, *, always: bool = False) -> None:
        if self._status is not None:
            self._status.update(status)
            return
        self._last_said = time.perf_counter()
        if always or not self._messages.as_json:  # programs get stages as events
            self.say(line)

    @contextmanager
    def _live_status(self) -> Iterator[None]:
        if self.quiet or self._messages.as_json or not _is_terminal():
            yield
            return
        from rich.console import Console as Terminal

        with Terminal(stderr=True).status("starting ...") as self._status:
            yield
        self._status = None


def _no_room(error: OSError) -> str:
    return (
        f"the standard output: no room left on its disk ({error.strerror}); free space or write "
        "it elsewhere"
    )


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed
        return False


@contextmanager
def counting_compilations(hear: Callable[[int], None]) -> Iterator[None]:
    """Call a function with the number of loops compiled so far as the next one is compiled."""
    n_loops = 0

    class Counting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            nonlocal n_loops
            n_loops += 1
            hear(n_loops)

    logger, handler = logging.getLogger("diffclass.compiling"), Counting()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.propagate = False  # a log of warnings is not for the names of loops
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
        logger.setLevel(level)


@dataclass(frozen=True)
class CommonOptions:
    """Options of every command."""

    as_json: bool = option(
        "Print the result as JSON.", names=("--json",), hidden=True, recorded=False
    )
    threads: int | None = option("Processor threads to use.", hidden=True, recorded=False, of=COUNT)
    progress: str = option(
        "How messages and progress are written to standard error; json: one object a line, "
        "for programs.",
        hidden=True,
        recorded=False,
        of=OneOf(("text", "json")),
        default="text",
    )
    quiet: bool = option(
        "Print nothing but errors, and JSON if asked for.", short="-q", hidden=True, recorded=False
    )
    traceback: bool = option("Show where an error arose.", hidden=True, recorded=False)


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `CommonOptions` to a command, which takes a `Console` as its argument ``console``."""

    @wraps(function)
    def with_console(*args: Any, common: CommonOptions, **given: Any) -> Any:
        if common.threads:
            _limit_threads(common.threads)
        console = Console(as_json=common.as_json, quiet=common.quiet)
        return function(*args, console=console, **given)

    return options(CommonOptions, "common")(with_console)


def forecast_printer(
    console: Console, advice: str, *, force: bool = False
) -> Callable[[Forecast], None]:
    """Return what prints a forecast, and warns if too little memory is free.

    It raises `ParameterError` if far too little is free, unless the run is forced.
    """

    def say(forecast: Forecast) -> None:
        console.say(forecast.line())
        duration = forecast.duration_line()
        if duration is not None:
            console.say(duration)
        if not force:
            forecast.refuse_beyond(f"{advice}, or start it with --force")
        forecast.warn(advice)

    return say


def _limit_threads(threads: int) -> None:
    # The numerical libraries read these when they are loaded, which happens inside commands.
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ[f"{library}_NUM_THREADS"] = str(threads)
