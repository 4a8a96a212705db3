"""Recipes: what a report holds to run its command again, and what has changed since.

A recipe has the call with its options spelled out, hashes of the files that were read and of the
result, and the versions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from diffclass.command_line.doctor import version_line
from diffclass.command_line.inputs import InputKind
from diffclass.command_line.option_groups import FileOrWord, files_read
from diffclass.exceptions import DataError


def recipe(result: Any) -> dict[str, Any]:
    """Return everything that is needed to run this command again.

    ``result`` is what it found: an array, or what `diffclass.jobs.plain` makes plain.
    """
    from diffclass.jobs import plain
    from diffclass.system.identity import content_hash, file_hash

    context = click.get_current_context()
    kind = context.obj
    assert isinstance(kind, InputKind)  # set by `Verb`
    files = dict.fromkeys(file for path in files_read() for file in kind.files_of(path))
    return {
        "command": context.command.name,
        "arguments": arguments_of(context),
        "folder": str(Path.cwd()),
        "inputs": [
            {"path": str(file.absolute()), "bytes": file.stat().st_size, "sha256": file_hash(file)}
            for file in files
        ],
        "result_sha256": content_hash(result if hasattr(result, "dtype") else plain(result)),
        "versions": version_line(),
    }


def arguments_of(context: click.Context) -> list[str]:
    """Return the call as a list of words, with defaults spelled out and paths made absolute."""
    words: list[str] = []
    for parameter in context.command.params:
        given = context.params.get(parameter.name or "")
        if not getattr(parameter, "recorded", True) or given is None or given is False:
            continue
        for value in given if isinstance(given, tuple) else (given,):
            if not isinstance(parameter, click.Argument):
                words.append(parameter.opts[-1])
            if value is not True:
                is_file = isinstance(parameter.type, FileOrWord) and Path(value).exists()
                words.append(_text(Path(value) if is_file else value))
    return words


def read_recipe(report: Path) -> dict[str, Any]:
    """Return the recipe in a report; `DataError` where there is none, or it is not whole."""
    from diffclass.system.libraries import reading, require_file

    require_file(report)
    with reading(report, "a JSON report"):
        facts = json.loads(report.read_text(encoding="utf-8"))
    found = facts.get("recipe") if isinstance(facts, dict) else None
    if not isinstance(found, dict):
        raise DataError(f"{report}: holds no recipe; name a file that a command wrote as --report")
    if not _is_whole(found):
        raise DataError(f"{report}: its recipe is not complete; run the command once more")
    return found


def changed_files(known: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what has changed since files were hashed, a line for each."""
    from diffclass.system.identity import file_hash

    lines = []
    for entry in known:
        file = Path(entry["path"])
        size = file.stat().st_size if file.is_file() else None
        if size is None:
            lines.append(f"{file}: is not there any more")
        elif size != entry["bytes"]:
            lines.append(f"{file}: has changed ({size} bytes, {entry['bytes']} before)")
        elif file_hash(file) != entry["sha256"]:
            lines.append(f"{file}: has changed (the same size, another content)")
    return lines


def _is_whole(found: Mapping[str, Any]) -> bool:
    words, files = found.get("arguments"), found.get("inputs")
    return (
        isinstance(words, list)
        and all(isinstance(word, str) and "\0" not in word for word in words)
        and "--report" in words[:-1]
        and not {"-h", "--help", "--help-all"} & set(words)
        and isinstance(files, list)
        and all(isinstance(file, dict) for file in files)
        and all(isinstance(file.get(name), str) for file in files for name in ("path", "sha256"))
        and all("\0" not in file["path"] and type(file.get("bytes")) is int for file in files)
        and all(
            isinstance(found.get(name), str) for name in ("command", "result_sha256", "versions")
        )
    )


def _text(value: Any) -> str:
    return str(value.absolute() if isinstance(value, Path) else value)
