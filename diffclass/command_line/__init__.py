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
        forecast_sayer,
    )
    from diffclass.command_line.doctor import version_line
    from diffclass.command_line.option_groups import (
        FILE,
        RunOptions,
        command,
        force_option,
        names_of,
        option,
        options,
        overwrite_option,
        refuse_without_effect,
        seed_option,
    )

_HOMES = ("option_groups", "console", "doctor")
__all__ = [
    "BOUND_MISSED",
    "FILE",
    "INTERRUPTED",
    "Console",
    "RunOptions",
    "command",
    "common_options",
    "force_option",
    "forecast_sayer",
    "names_of",
    "option",
    "options",
    "overwrite_option",
    "refuse_without_effect",
    "seed_option",
    "version_line",
]


def __getattr__(name: str) -> Any:
    for home in _HOMES if name in __all__ else ():
        module = importlib.import_module(f"{__name__}.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
