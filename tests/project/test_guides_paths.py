"""The guides name files that exist, and those of the core the sizes of `system.sizes`."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

import diffclass
from diffclass.system import sizes

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


STARTS = sorted((ROOT / "guide" / "start").glob("*.md"))


@pytest.mark.parametrize("page", STARTS, ids=lambda path: path.stem)
def test_a_first_page_is_short_and_leads_on(page):
    text = page.read_text("utf-8")
    assert len(text.split()) <= 300
    assert len(re.findall(r"\]\(\.\./", text)) >= 5
    assert f"guide/start/{page.name}" in (ROOT / "README.md").read_text("utf-8")


def test_the_decisions_answer_questions_of_every_section():
    text = (ROOT / "diffclass" / "DECISIONS.md").read_text("utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    contents = text.split("## By question")[1].split("\n## ")[0]
    anchors = {re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-") for name in sections}
    assert {*re.findall(r"\]\(#(.+?)\)", contents)} == anchors - {"by-question"}
    questions = re.findall(r"^\| (.+?) \| (.+?) \|$", contents, re.MULTILINE)
    asked = [pair for pair in questions if pair[0].endswith("?")]
    assert len(asked) >= 2 * len(anchors)
