"""Write the zip that QGIS installs the plugin from, of what is committed.

    python .ci/build_qgis_plugin.py [-o ZIP] [--release]

The addresses are those of ``pyproject.toml``. QGIS installs a zip without any, but its public
repository of plugins does not take one: what is missing is said, and with ``--release`` no zip is
written then.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from addresses import PROJECT, ROOT, addresses, missing, read_project

NAME = "diffclass_qgis"
METADATA = f"{NAME}/metadata.txt"


def main() -> None:
    """Write the zip, or say why not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist" / f"{NAME}.zip")
    parser.add_argument("--release", action="store_true", help="refuse where an address is missing")
    parser.add_argument("--project", type=Path, default=PROJECT, help="another pyproject.toml")
    options = parser.parse_args()
    project = read_project(options.project)
    if lacking := missing(project):
        said = f"the plugin cannot be published without {', '.join(lacking)} (pyproject.toml)"
        if options.release:
            sys.exit(said)
        print(f"warning: {said}", file=sys.stderr)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    unfinished = options.output.with_name(f".{options.output.name}.part")
    unfinished.write_bytes(completed(committed(), project))
    os.replace(unfinished, options.output)
    print(options.output)


def committed() -> bytes:
    """Return the plugin's folder and the licence, as committed, as a zip."""
    command = ["git", "archive", "--format=zip", f"--prefix={NAME}/", "--add-file=LICENSE"]
    return subprocess.run(
        [*command, f"HEAD:plugins/{NAME}"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    ).stdout


def completed(archive: bytes, project: dict[str, Any]) -> bytes:
    """Return a zip with the addresses added to the plugin's metadata."""
    lines = "".join(f"{name}={address}\n" for name, address in addresses(project).items())
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(made, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == METADATA:
                content += lines.encode()
            target.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


if __name__ == "__main__":
    main()
