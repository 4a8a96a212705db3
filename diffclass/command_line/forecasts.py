"""A run's forecast, told before it starts, and the option to start it all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from diffclass.command_line.console import Console
from diffclass.costs import Forecast


def force_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--force``."""
    return click.option(
        "--force", is_flag=True, help="Start also if far more memory will be needed than is free."
    )(command)


def forecast_sayer(
    console: Console, advice: str, *, force: bool = False
) -> Callable[[Forecast], None]:
    """Return what says what memory and time a run will need, and warns where memory is less.

    It raises `ParameterError` where the run would need far more, unless it is forced.
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
