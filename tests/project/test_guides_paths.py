"""The core's guide names files that exist, and the sizes that `diffclass.sizes` states."""

from __future__ import annotations

import re
from pathlib import Path

from diffclass import sizes

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "diffclass" / "README.md").read_text("utf-8")


def section(begin: str, end: str) -> str:
    """Return the text of the guide between two marks."""
    return GUIDE[GUIDE.index(begin) : GUIDE.index(end, GUIDE.index(begin))]


def test_each_path_in_the_tables_of_places_exists():
    text = section("<!-- paths: ", "<!-- end of paths -->").split("-->", 1)[1]
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", text)
    named = {path for path in paths if "/" in path or path.endswith((".py", ".toml"))}
    assert len(named) > 30
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_the_table_of_jumps_has_each_size_with_its_value():
    text = section("## Jumps with n", "## What this is not for")
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", text, re.MULTILINE)
    told = {name: int(number.replace(",", "")) for name, number in rows}
    assert told == {name: size for name, size in vars(sizes).items() if name.isupper()}
