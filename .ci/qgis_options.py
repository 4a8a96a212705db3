"""Write what the QGIS plugin has to know of the commands' options.

    python .ci/qgis_options.py

QGIS's own Python has no diffclass: kinds, choices, ranges, defaults and help of the options stand
in a file of the plugin.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from diffclass.command_line.main import diffclass

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "plugins" / "diffclass_qgis" / "options.json"
_COMMANDS = ("anomaly", "classify", "cluster", "embed", "evaluate", "relabel", "rerun", "suggest")


def described() -> str:
    """Return the options of the commands on scenes, as JSON."""
    context = click.Context(diffclass)
    commands = {name: diffclass.get_command(context, name) for name in _COMMANDS}
    options = {name: _options(_for_scenes(one)) for name, one in commands.items()}
    return json.dumps(options, indent=1, sort_keys=True) + "\n"


def _for_scenes(command: Any) -> click.Command:
    services = getattr(command, "services", {})
    return next((one for kind, one in services.items() if kind.name == "scene"), command)


def _options(command: click.Command) -> dict[str, dict[str, Any]]:
    return {one.opts[-1]: _facts(one) for one in command.params if isinstance(one, click.Option)}


def _facts(option: click.Option) -> dict[str, Any]:
    """Return kind, range, default and help of an option; what it has not is left out."""
    named = {
        one.value for one in option.type.shell_complete(None, option, "") if one.type == "plain"
    }
    words = [
        one.value for one in option.type.shell_complete(None, option, "") if one.value in named
    ]
    ranged = option.type if isinstance(option.type, click.IntRange | click.FloatRange) else None
    facts = {
        "kind": _kind(option, words),
        "choices": words,
        "least": ranged and ranged.min,
        "most": ranged and ranged.max,
        "default": option.default if isinstance(option.default, bool | int | float | str) else None,
        "help": " ".join((option.help or "").split()),
    }
    return {name: fact for name, fact in facts.items() if fact not in (None, [])}


def _kind(option: click.Option, words: list[str]) -> str:
    if option.is_flag:
        return "flag"
    if isinstance(option.type, click.IntRange):
        return "integer"
    if isinstance(option.type, click.FloatRange):
        return "number"
    return "choice" if words else "text"


if __name__ == "__main__":
    TARGET.write_text(described(), encoding="utf-8")
