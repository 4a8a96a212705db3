"""The guides name files that exist, and those of the core the sizes of `system.sizes`."""

from __future__ import annotations

import pkgutil
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import diffclass
from diffclass.system import sizes
from diffclass_hyperspectral import Contents, open_scene
from diffclass_hyperspectral.io.readers import images
from diffclass_tables import open_table
from diffclass_tables.io import opening
from diffclass_tables.io.tables import Table

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "diffclass" / "README.md").read_text("utf-8")
FOLDERS = (".", ".github", "diffclass", "experiments", "plugins", "tests")
GUIDES = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))]
PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)+\.(?:py|ts|toml|md|csv|png|yaml))`")


def section(begin: str, end: str) -> str:
    """Return the text of the guide between two marks."""
    return GUIDE[GUIDE.index(begin) : GUIDE.index(end, GUIDE.index(begin))]


def test_each_chapter_is_in_the_table_of_chapters():
    text = section("## The chapters of the tree", "## Where things are")
    told = set(re.findall(r"`(?:diffclass\.)?(\w+)`", text))
    modules = {info.name for info in pkgutil.iter_modules(diffclass.__path__)}
    assert sorted(name for name in modules - told if not name.startswith("_")) == []


def test_each_path_in_the_tables_of_places_exists():
    text = section("<!-- paths: ", "<!-- end of paths -->").split("-->", 1)[1]
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]+)*/?)`", text)
    named = {path for path in paths if "/" in path or path.endswith((".py", ".toml"))}
    assert len(named) > 30
    gone = sorted(path for path in named if not (ROOT / path).exists())
    assert not gone, f"diffclass/README.md names {', '.join(gone)}"


def row(begin: str) -> str:
    """Return the row of the table of places that begins so."""
    return next(line for line in GUIDE.splitlines() if line.startswith(f"| {begin} |"))


def test_a_reader_of_scenes_is_a_module_and_one_entry(tmp_path, monkeypatch):
    def read(path):
        return Contents(np.loadtxt(path)[np.newaxis], "lines of a row")

    module = SimpleNamespace(read=read)
    monkeypatch.setitem(sys.modules, "diffclass_hyperspectral.io.readers.lines", module)
    made = images._Format("lines", starts=(b"# lines",), suffixes=(".lines",))
    monkeypatch.setitem(images._FORMATS, "lines", made)
    for name in ("a.lines", "by_its_first_bytes"):
        np.savetxt(tmp_path / name, np.arange(6.0).reshape(2, 3), header="lines")
        assert open_scene(tmp_path / name).shape == (1, 2, 3)
    assert Path(images.__file__).relative_to(ROOT).as_posix() in row("add a reader of scenes")


def test_a_format_of_tables_is_a_module_and_one_entry(tmp_path, monkeypatch):
    def read(path, **_):
        values = np.loadtxt(path)
        return Table(path, "lines", 2, values, "all", "row", np.arange(2), (), {}.__getitem__)

    monkeypatch.setitem(opening._READERS, ".lines", read)
    np.savetxt(tmp_path / "a.lines", np.eye(2))
    assert open_table(tmp_path / "a.lines").values.tolist() == [[1, 0], [0, 1]]
    assert Path(opening.__file__).relative_to(ROOT).as_posix() in row("add a format of tables")


def test_the_table_of_jumps_has_each_size_with_its_value():
    text = section("## Jumps with n", "## What this is not for")
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \|", text, re.MULTILINE)
    told = {name: int(number.replace(",", "")) for name, number in rows}
    assert told == {name: size for name, size in vars(sizes).items() if name.isupper()}


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_each_file_that_a_guide_names_exists(guide):
    named = PATH.findall(guide.read_text("utf-8"))
    places = (ROOT, guide.parent)
    gone = [path for path in named if not any((place / path).exists() for place in places)]
    assert not gone, f"{guide.relative_to(ROOT)} names {', '.join(gone)}"


def test_each_command_that_decided_exists():
    text = (ROOT / "diffclass" / "DECISIONS.md").read_text("utf-8")
    sources = " ".join(re.findall(r"\(20[\d-]+, ([^)]*)\)", text))
    commands = set(re.findall(r"`([\w.]+)`", sources))
    assert len(commands) > 20
    scripts = {name: ROOT / "experiments" / f"{name.replace('.', '/')}.py" for name in commands}
    gone = sorted(name for name, script in scripts.items() if not script.exists())
    assert not gone, f"diffclass/DECISIONS.md names {', '.join(gone)}"
