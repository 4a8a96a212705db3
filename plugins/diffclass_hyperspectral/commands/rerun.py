"""``diffclass rerun``: a classification again, from its report.

`recipe` is what a report holds for that: all options, the inputs' hashes, the versions.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from diffclass.command_line import (
    BOUND_MISSED,
    FILE,
    Console,
    command,
    common_options,
    option,
    options,
    overwrite_option,
    version_line,
)
from diffclass.exceptions import DataError

_OUTPUTS = (
    "--output", "--probability", "--margin", "--ambiguity", "--novelty", "--stability", "--spectra",
    "--report", "--save",
)  # fmt: skip

if TYPE_CHECKING:
    import numpy as np

# Options that the result does not depend on.
_OF_THE_RUN = {
    "as_json", "quiet", "threads", "traceback", "progress", "overwrite", "force", "verbose",
    "resume", "scratch", "workers",
}  # fmt: skip


def recipe(
    context: click.Context, inputs: Sequence[Path | None], class_map: np.ndarray
) -> dict[str, Any]:
    """Return everything that is needed to run the command of a context again."""
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


@dataclass(frozen=True)
class _Given:
    into: Path | None = option(
        "Folder for the files, under their names of before; made if missing. By default they "
        "are written where they were, with --overwrite.",
    )
    overwrite: bool = overwrite_option()


@command(epilog="Example: diffclass rerun report.json --into again")
@click.argument("report", type=FILE)
@options(_Given, "given")
@common_options
def rerun(report: Path, *, given: _Given, console: Console) -> int:
    """Run a classification again from its REPORT (classify --report), and compare the maps.

    Says which inputs have changed since, by their hashes, and which versions. Exit code 4: the map
    is there, but is another one.
    """
    from diffclass_hyperspectral.commands.classify import classify
    from diffclass_hyperspectral.io.records import changed

    known = _recipe_in(report)
    differences = changed(known["inputs"])
    if version_line() != known["versions"]:
        differences.append(f"versions: {version_line()}; before: {known['versions']}")
    for line in differences:
        console.say(f"changed since: {line}")
    words = _redirected(known["arguments"], given.into)
    flags = ["--overwrite"] if given.overwrite else []
    flags += ["-q"] if console.as_json or console.quiet else []
    parent = click.get_current_context()
    with (
        _folder(given.into),
        classify.make_context("classify", [*words, *flags], parent=parent) as inner,
    ):
        classify.invoke(inner)
        new = _recipe_in(inner.params["report"])
    is_same = new["map_sha256"] == known["map_sha256"]
    verdict = "the same map, pixel for pixel" if is_same else "another map than before"
    facts = {"same_map": is_same, "changed": differences, "report": str(inner.params["report"])}
    console.give(facts, f"compared      {verdict}")
    return 0 if is_same else BOUND_MISSED


def _recipe_in(report: Path) -> dict[str, Any]:
    from diffclass.libraries import reading, require_file

    require_file(report)
    with reading(report, "a JSON report"):
        facts = json.loads(report.read_text(encoding="utf-8"))
        found = facts.get("recipe") if isinstance(facts, dict) else None
        if not isinstance(found, dict) or found.get("command") != "classify":
            raise DataError(
                f"{report}: holds no recipe; name a report of diffclass classify --report"
            )
        lacking = {"arguments", "inputs", "map_sha256", "versions"} - found.keys()
        if lacking or "--report" not in found["arguments"]:
            raise DataError(f"{report}: its recipe is not complete; classify once more")
        return found


def _redirected(words: list[str], into: Path | None) -> list[str]:
    """Return the call with its outputs in another folder."""
    if into is None:
        return list(words)
    places = {i + 1 for i, word in enumerate(words) if word in _OUTPUTS}
    return [str(into / Path(word).name) if i in places else word for i, word in enumerate(words)]


@contextmanager
def _folder(path: Path | None) -> Iterator[None]:
    """Make a folder, if there is none, for the files of the block; without any it goes again."""
    if path is None or path.exists():
        yield
        return
    path.mkdir(parents=True)
    try:
        yield
    finally:
        with suppress(OSError):  # not empty
            path.rmdir()
