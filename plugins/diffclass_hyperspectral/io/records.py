"""What is kept of a run: its report as JSON, and hashes of the files it read, to find changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from diffclass.output import replacing


def write_json(
    path: str | os.PathLike[str], content: Mapping[str, Any], *, overwrite: bool = False
) -> None:
    """Write a mapping as JSON, whole or not at all."""
    with replacing(path, overwrite=overwrite) as temporary:
        Path(temporary).write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")


_COMPANIONS = (
    {".hdr", ".img", ".dat", ".bsq", ".bil", ".bip", ".raw", ".bin", ""},
    {".shp", ".shx", ".dbf", ".prj", ".cpg"},
)


def input_files(path: Path) -> list[Path]:
    """Return a file with those that are read with it: header and data, parts of a shapefile.

    Of a folder, as of labels or of a Sentinel-2 product, all files in it.
    """
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    files = [path, Path(f"{path}.aux.xml"), Path(f"{path}.msk"), Path(f"{path}.hdr")]
    for endings in _COMPANIONS:
        if path.suffix.lower() in endings:
            files += [other for other in sorted(path.parent.glob(f"{_escaped(path.stem)}*"))
                      if other.stem == path.stem and other.suffix.lower() in endings]  # fmt: skip
    return [file for file in dict.fromkeys(files) if file.is_file()]


def hashed(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Return path, size and SHA-256 of files and of those that are read with them."""
    files = dict.fromkeys(file for path in paths for file in input_files(path))
    return [
        {"path": str(file.absolute()), "bytes": file.stat().st_size, "sha256": sha256_of(file)}
        for file in files
    ]


def changed(known: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what has changed since files were hashed, a line for each."""
    lines = []
    for entry in known:
        file = Path(entry["path"])
        if not file.is_file():
            lines.append(f"{file}: is not there any more")
        elif file.stat().st_size != entry["bytes"]:
            size = file.stat().st_size
            lines.append(f"{file}: has changed ({size} bytes, {entry['bytes']} before)")
        elif sha256_of(file) != entry["sha256"]:
            lines.append(f"{file}: has changed (the same size, another content)")
    return lines


def sha256_of(file: Path) -> str:
    """Return the hash of a file's content."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
