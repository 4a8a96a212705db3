"""What a scratch folder holds about a complete stage: what made it, its files and its facts.

A record is a JSON file with a hash of itself. Its identity is a hash of what made the stage, of its
facts and of its files as they were when it was complete; a later stage that was made from it says
so by that. A stage is taken over only if it was made from the same, and every file of it that is
still needed has the content that was written.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from diffclass.exceptions import DataError
from diffclass.system.identity import content_hash, differences, file_hash
from diffclass.system.temporary_folders import ENDING

_HASH = "hash"
_READERS = 4  # threads that hash files
ANEW = "remove the folder to begin anew, or name another"


class ScratchError(DataError):
    """A scratch folder cannot be worked in, or what it holds cannot be taken over."""


@dataclass(frozen=True)
class StageRecord:
    """A complete stage."""

    made_from: dict[str, Any]  # inputs and parameters: values that JSON can hold, hashes of others
    facts: dict[str, Any]  # what the stage returned
    files: dict[str, str]  # hash of each file that is still needed, by its path within the folder
    identity: str  # of the stage when it was complete; files that were dropped since count

    @classmethod
    def of(
        cls, folder: Path, stage: str, made_from: Mapping[str, Any], facts: Mapping[str, Any]
    ) -> StageRecord:
        """Return the record of a stage that has just become complete."""
        paths = [path for path in sorted((folder / stage).rglob("*")) if path.is_file()]
        names = [path.relative_to(folder).as_posix() for path in paths]
        files = dict(zip(names, _hashes(paths), strict=True))
        given, found = as_json(made_from), as_json(facts)
        return cls(given, found, files, content_hash(given, found, files))

    @classmethod
    def read(cls, path: Path) -> StageRecord:
        """Read a record; `ScratchError` if it is damaged."""
        return cls(**read_sealed(path))

    def write(self, path: Path) -> None:
        """Write the record; it appears whole."""
        write_sealed(path, vars(self))

    def without(self, names: Collection[str]) -> StageRecord:
        """Return the record of a stage of which some files are no longer needed."""
        files = {name: known for name, known in self.files.items() if name not in names}
        return replace(self, files=files)

    def check(self, folder: Path, stage: str, made_from: Mapping[str, Any]) -> None:
        """Raise `ScratchError` unless the stage was made from the same and its files are whole."""
        others = differences(self.made_from, as_json(made_from))
        if others:
            raise ScratchError(
                f"{folder} holds a run with other inputs or parameters ({stage}: "
                f"{', '.join(others)}); run it as before, {ANEW}"
            )
        paths = [folder / name for name in self.files]
        for path in paths:
            if not path.is_file():
                raise ScratchError(f"{path}: is missing from an unfinished run; {ANEW}")
        for path, known, found in zip(paths, self.files.values(), _hashes(paths), strict=True):
            if found != known:
                raise ScratchError(f"{path}: is damaged, it is not what was written; {ANEW}")


def read_sealed(path: Path) -> dict[str, Any]:
    """Return what `write_sealed` has written; `ScratchError` if it is anything else."""
    content: Any = None
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads(path.read_bytes())
    known = content.pop(_HASH, None) if isinstance(content, dict) else None
    if known is None or known != content_hash(content):
        raise ScratchError(f"{path}: is damaged, it is not what was written; {ANEW}")
    return content


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write values that JSON can hold, with a hash of them; the file appears whole."""
    text = json.dumps({**content, _HASH: content_hash(dict(content))}, indent=1, sort_keys=True)
    with appearing(path) as temporary:
        temporary.write_text(text)


@contextmanager
def appearing(path: Path) -> Iterator[Path]:
    """Yield a hidden name beside a file, and rename it to the file when the block succeeds.

    It is a file and no folder, so that whoever lists the scratch folder meets none that vanishes.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}{ENDING}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _hashes(paths: list[Path]) -> list[str]:
    with ThreadPoolExecutor(_READERS) as threads:
        return list(threads.map(file_hash, paths))


def as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as they come back from a file."""
    return json.loads(json.dumps(dict(values)))
