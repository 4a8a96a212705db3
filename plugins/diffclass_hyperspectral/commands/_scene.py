"""Options that say which scene is read, and which part of it: for every command that reads one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

SCENE_OPTIONS = ("variable", "bands", "mask", "roi")

_OPTIONS = (
    click.option("--variable", help="Array to take from a .mat or HDF5 scene with several."),
    click.option(
        "--bands",
        help="Bands to work with, by number from 1 or by wavelength: 1-50,60 or "
        "450-1300,1500-1750nm. By default all that the file calls good.",
    ),
    click.option(
        "--mask",
        type=click.Path(path_type=Path),
        help="Leave out the pixels where this image is not 0, or inside these shapes.",
    ),
    click.option(
        "--roi",
        help="Work only inside these shapes, where this image is not 0, or in the box "
        "LEFT,BOTTOM,RIGHT,TOP of the scene's map coordinates.",
    ),
)


def scene_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def scene_files(options: Mapping[str, Any]) -> list[Path]:
    """Return the files that the options name, which no output may replace."""
    named = [options[name] for name in ("mask", "roi") if options[name] is not None]
    return [Path(path) for path in named if Path(path).exists()]


def as_words(options: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the options as texts that name the same files from every folder."""
    words: dict[str, str | None] = {}
    for name in SCENE_OPTIONS:
        value = options[name]
        is_file = name in ("mask", "roi") and value is not None and Path(value).exists()
        words[name] = str(Path(value).absolute()) if is_file else value and str(value)
    return words


def taken(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options out of others, as `open_scene` takes them."""
    return {name: options.pop(name) for name in SCENE_OPTIONS}
