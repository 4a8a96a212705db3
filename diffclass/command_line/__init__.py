"""The command ``diffclass``: its entry point, what all commands share, and the core's own.

Names load on first use: the program expects an interrupt before anything else is imported.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diffclass.command_line.console import (
        BOUND_MISSED,
        INTERRUPTED,
        Console,
        common_options,
        overwrite_option,
        seed_option,
    )
    from diffclass.command_line.doctor import version_line
    from diffclass.command_line.forecasts import force_option, forecast_sayer

__all__ = [
    "BOUND_MISSED",
    "INTERRUPTED",
    "Console",
    "common_options",
    "force_option",
    "forecast_sayer",
    "overwrite_option",
    "seed_option",
    "version_line",
]

_HOMES = {"version_line": "doctor", "force_option": "forecasts", "forecast_sayer": "forecasts"}


def __getattr__(name: str) -> Any:
    if name in __all__:
        home = _HOMES.get(name, "console")
        return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
