"""The chapters of the page's sources import downwards only, and no files import in a circle."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import diffclass_relabel

SOURCES = Path(diffclass_relabel.__file__).parent / "web" / "src"
#: From the top; chapters of one floor do not import each other.
FLOORS = (("main",), ("notebook", "panels"), ("tools",), ("canvas",), ("session",), ("base",))
FLOOR = {chapter: floor for floor, chapters in enumerate(FLOORS) for chapter in chapters}
_IMPORT = re.compile(r"""^(?:import|export)\b[^;]*?\bfrom\s+"(\.[^"]+)";""", re.MULTILINE)


def chapter(file):
    """Return the chapter of a source file; files outside the folders are the top."""
    folder = file.relative_to(SOURCES).parts[0]
    return folder if (SOURCES / folder).is_dir() else "main"


def imports(file):
    """Return the source files that one imports."""
    found = _IMPORT.findall(file.read_text(encoding="utf-8"))
    return [(file.parent / f"{name}.ts").resolve() for name in found]


@pytest.fixture(scope="module")
def graph():
    files = sorted(SOURCES.rglob("*.ts"))
    assert len(files) > 20
    return {file.resolve(): imports(file) for file in files}


def test_every_import_is_a_file(graph):
    assert {other for found in graph.values() for other in found} <= graph.keys()


def test_every_chapter_has_a_floor(graph):
    assert {chapter(file) for file in graph} == FLOOR.keys()


def test_chapters_import_downwards(graph):
    for file, found in graph.items():
        for other in found:
            here, there = chapter(file), chapter(other)
            is_down = here == there or FLOOR[here] < FLOOR[there]
            assert is_down, f"{file.name} of {here} imports {other.name} of {there}"


def test_no_file_imports_itself_through_others(graph):
    TopologicalSorter(graph).prepare()
