"""``diffclass rerun``: a command again, on a scene or a table, from its report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click

from diffclass.command_line.console import BOUND_MISSED, Console, common_options
from diffclass.command_line.doctor import version_line
from diffclass.command_line.option_groups import (
    FILE,
    OutputFile,
    command,
    option,
    options,
    overwrite_option,
)
from diffclass.command_line.recipes import changed_files, read_recipe
from diffclass.command_line.verbs import Verb
from diffclass.exceptions import DataError


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
    """Run a command again from its REPORT (--report), and compare the results.

    Of a scene or of a table. Says which inputs have changed since, by their hashes, and which
    versions. Exit code 4: the files are there, but hold another result.
    """
    known = read_recipe(report)
    differences = changed_files(known["inputs"])
    if version_line() != known["versions"]:
        differences.append(f"versions: {version_line()}; before: {known['versions']}")
    for line in differences:
        console.say(f"changed since: {line}")
    again = _command_of(known["command"], report)
    words = _redirected(known["arguments"], again, given.into)
    flags = ["--overwrite"] if given.overwrite else []
    flags += ["-q"] if console.as_json or console.quiet else []
    with _folder(given.into), _called(again, [*words, *flags]) as inner:
        inner.command.invoke(inner)
        new = read_recipe(inner.params["report"])
    is_same = new["result_sha256"] == known["result_sha256"]
    verdict = "the same result, point for point" if is_same else "another result than before"
    facts = {"same_result": is_same, "changed": differences, "report": str(inner.params["report"])}
    console.give(facts, f"compared      {verdict}")
    return 0 if is_same else BOUND_MISSED


def _command_of(name: str, report: Path) -> Verb:
    """Return a command of the program; `DataError` for one that writes no recipes."""
    context = click.get_current_context()
    program = context.find_root().command
    assert isinstance(program, click.Group)
    found = program.get_command(context, name)
    if not isinstance(found, Verb) or "--report" not in _outputs_of(found):
        raise DataError(f"{report}: its recipe is for {name!r}, which writes no report")
    return found


def _called(again: Verb, words: list[str]) -> click.Context:
    return again.make_context(again.name, words, parent=click.get_current_context())


def _outputs_of(again: Verb) -> set[str]:
    return {one.opts[-1] for one in again.params if isinstance(one.type, OutputFile)}


def _redirected(words: list[str], again: Verb, into: Path | None) -> list[str]:
    """Return the call with its outputs in another folder."""
    if into is None:
        return list(words)
    outputs = _outputs_of(again)
    places = {i + 1 for i, word in enumerate(words) if word in outputs}
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
