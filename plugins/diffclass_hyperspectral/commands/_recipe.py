"""What it takes to run a command again: all its options, its inputs' hashes, the versions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import version_line

if TYPE_CHECKING:
    import numpy as np

# How a command works and speaks, which its result does not depend on.
_OF_THE_RUN = {
    "as_json", "quiet", "threads", "traceback", "progress", "overwrite", "force", "verbose",
    "resume", "scratch", "workers",
}  # fmt: skip


def recipe(
    context: click.Context, inputs: Sequence[Path | None], class_map: np.ndarray
) -> dict[str, Any]:
    """Return everything that is needed to run the command of a context again.

    Parameters
    ----------
    context : click.Context
    inputs : sequence of Path or None
        Files that were read.
    class_map : ndarray of int of shape (rows, columns)
        What came out.
    """
    from diffclass.progress import stage
    from diffclass_hyperspectral.io.records import hashed

    with stage("hashing"):
        files = hashed(path for path in inputs if path is not None)
    return {
        "command": context.command.name,
        "arguments": arguments_of(context),
        "folder": str(Path.cwd()),
        "inputs": files,
        "map_sha256": map_hash(class_map),
        "versions": version_line(),
    }


def arguments_of(context: click.Context) -> list[str]:
    """Return the call as a list of words, with defaults spelled out and paths made absolute."""
    words: list[str] = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        if parameter.name in _OF_THE_RUN or value is None or value is False:
            continue
        if isinstance(value, str) and parameter.name == "roi" and Path(value).exists():
            value = Path(value)  # otherwise it is a box
        if isinstance(parameter, click.Argument):
            words += [_text(part) for part in (value if isinstance(value, tuple) else (value,))]
        else:
            words += [parameter.opts[-1], *([] if value is True else [_text(value)])]
    return words


def _text(value: Any) -> str:
    return str(value.absolute() if isinstance(value, Path) else value)


def map_hash(class_map: np.ndarray) -> str:
    """Return a hash of a class map's values, whatever file they are in."""
    import numpy as np

    found = hashlib.sha256(repr(class_map.shape).encode())
    for row in class_map:
        found.update(np.ascontiguousarray(row, dtype="<i4").data)
    return found.hexdigest()
