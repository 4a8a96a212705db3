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
        forecast_printer,
    )
    from diffclass.command_line.doctor import version_line
    from diffclass.command_line.holdout_options import HoldoutOptions, holdout_option
    from diffclass.command_line.inputs import Claim, InputKind, axes_of, is_of_kind, kind_of
    from diffclass.command_line.job_options import AnomalyOptions, ClusterOptions, SuggestOptions
    from diffclass.command_line.map_options import EmbedOptions, MapOptions
    from diffclass.command_line.option_groups import (
        BYTES,
        FILE,
        FILE_OR_WORD,
        RunOptions,
        command,
        files_read,
        files_written,
        force_option,
        names_of,
        option,
        options,
        output_option,
        overwrite_option,
        picture_option,
        refuse_without_effect,
        report_option,
        seed_option,
        taken,
        variable_option,
    )
    from diffclass.command_line.recipes import changed_files, read_recipe
    from diffclass.command_line.results import give_report, present
    from diffclass.command_line.verbs import Verb
    from diffclass.command_line.walk_options import WalkOptions

_HOMES = (
    "option_groups", "console", "results", "walk_options", "map_options", "job_options", "doctor",
    "holdout_options", "inputs", "recipes", "verbs",
)  # fmt: skip
__all__ = [
    "BOUND_MISSED",
    "BYTES",
    "FILE",
    "FILE_OR_WORD",
    "INTERRUPTED",
    "AnomalyOptions",
    "Claim",
    "ClusterOptions",
    "Console",
    "EmbedOptions",
    "HoldoutOptions",
    "InputKind",
    "MapOptions",
    "RunOptions",
    "SuggestOptions",
    "Verb",
    "WalkOptions",
    "axes_of",
    "changed_files",
    "command",
    "common_options",
    "files_read",
    "files_written",
    "force_option",
    "forecast_printer",
    "give_report",
    "holdout_option",
    "is_of_kind",
    "kind_of",
    "names_of",
    "option",
    "options",
    "output_option",
    "overwrite_option",
    "picture_option",
    "present",
    "read_recipe",
    "refuse_without_effect",
    "report_option",
    "seed_option",
    "taken",
    "variable_option",
    "version_line",
]


def __getattr__(name: str) -> Any:
    for home in _HOMES if name in __all__ else ():
        module = importlib.import_module(f"{__name__}.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
