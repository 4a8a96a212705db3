"""The version: it stands in ``diffclass/__init__.py``, and everything else takes it from there.

    python .ci/version.py [NEW]

``pyproject.toml``, the conda recipe, the site, the page and the reports read it. ``CITATION.cff``
and the metadata of the QGIS plugin cannot: this program writes it into them. A new version it first
sets, and what the changelog calls unreleased gets its number and today's date.
"""

from __future__ import annotations

import argparse
import datetime
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = (ROOT / "diffclass" / "__init__.py", re.compile(r'^__version__ = "(.+)"$', re.MULTILINE))
COPIES = {
    ROOT / "CITATION.cff": re.compile(r"^version: (.+)$", re.MULTILINE),
    ROOT / "plugins" / "diffclass_qgis" / "metadata.txt": re.compile(
        r"^version=(.+)$", re.MULTILINE
    ),
}
CHANGELOG = ROOT / "CHANGELOG.md"
UNRELEASED = "## Unreleased\n"
_FORM = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")  # PEP 440, as far as it is used here


def stated(file: Path, line: re.Pattern[str]) -> str:
    """Return the version that a file states."""
    [version] = line.findall(file.read_text(encoding="utf-8"))
    return str(version)


def state(file: Path, line: re.Pattern[str], version: str) -> None:
    """Write a version into the line of a file that states one."""
    text = file.read_text(encoding="utf-8")
    [found] = line.finditer(text)
    file.write_text(text[: found.start(1)] + version + text[found.end(1) :], encoding="utf-8")


def outdated() -> list[str]:
    """Return the files that state another version than ``diffclass/__init__.py``."""
    version = stated(*HOME)
    return [file.name for file, line in COPIES.items() if stated(file, line) != version]


def main() -> None:
    """Set the version, if a new one is given, and copy it to where it cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("new", nargs="?", metavar="NEW", help="as in 1.2.0 or 1.2.0rc1")
    new = parser.parse_args().new
    if new:
        if not _FORM.fullmatch(new):
            parser.error(f"{new} is no version such as 1.2.0 or 1.2.0rc1")
        state(*HOME, new)
        heading = f"## {new} ({datetime.date.today().isoformat()})\n"
        changes = CHANGELOG.read_text(encoding="utf-8").replace(UNRELEASED, heading, 1)
        CHANGELOG.write_text(changes, encoding="utf-8")
    for file, line in COPIES.items():
        state(file, line, stated(*HOME))
    print(stated(*HOME))


if __name__ == "__main__":
    main()
