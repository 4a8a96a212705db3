"""Addresses that a publication states; run as a program, it refuses while any is missing.

They stand in ``pyproject.toml`` alone: ``[project.urls]`` with Homepage, Repository and Issues, and
the ``email`` of an author. From there they come into wheel and sdist, into the QGIS plugin and into
the conda recipe.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "pyproject.toml"
# the names of metadata.txt (QGIS) and those of [project.urls]
URLS = {"homepage": "Homepage", "repository": "Repository", "tracker": "Issues"}
_RESERVED = (".example", "example.org", "example.com", "example.net")  # RFC 2606


def addresses(project: dict[str, Any]) -> dict[str, str]:
    """Return the addresses that a project's table states, by the names of QGIS's metadata.txt."""
    urls = project.get("urls", {})
    found = {name: urls[label] for name, label in URLS.items() if label in urls}
    for author in project["authors"]:
        if "email" in author:
            return {**found, "email": author["email"]}
    return found


def missing(project: dict[str, Any]) -> list[str]:
    """Return what has to be added to ``pyproject.toml`` before a publication."""
    stated = {name for name, one in addresses(project).items() if not is_made_up(one)}
    lacking = [f"{label} in [project.urls]" for name, label in URLS.items() if name not in stated]
    return lacking + ([] if "email" in stated else ["the email of an author"])


def is_made_up(address: str) -> bool:
    """Tell whether an address is of a domain that exists for examples only."""
    host = address.partition("://")[2].partition("/")[0] or address.rpartition("@")[2]
    return host.endswith(_RESERVED)


def read_project(path: Path = PROJECT) -> dict[str, Any]:
    """Return the table ``[project]``."""
    project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    return project


def main() -> None:
    """End with an error where an address is missing."""
    if lacking := missing(read_project()):
        sys.exit(f"pyproject.toml: nothing can be published without {', '.join(lacking)}")


if __name__ == "__main__":
    main()
