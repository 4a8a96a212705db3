"""The committed page is the build of its sources."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import diffclass_relabel

from .browser import lacking

PLUGIN = Path(diffclass_relabel.__file__).parent
WEB, STATIC = PLUGIN / "web", PLUGIN / "static"


@pytest.fixture
def node():
    """The node that builds the page, or a skip that says what is missing."""
    found = shutil.which("node")
    if found is None:
        lacking("no node; only those who change the page need it")
    if not (WEB / "node_modules").is_dir():
        lacking(f"no tools to build the page; run npm install in {WEB}")
    return found


def test_app_is_the_build_of_its_sources(node, tmp_path):
    built = tmp_path / "app.js"
    subprocess.run([node, "build.mjs", str(built)], cwd=WEB, check=True)
    message = f"static/app.js is not the build of web/src; run npm run build in {WEB}"
    assert built.read_bytes() == (STATIC / "app.js").read_bytes(), message


def test_sources_have_sound_types(node):
    compiler = WEB / "node_modules" / "typescript" / "bin" / "tsc"
    found = subprocess.run([node, compiler, "--noEmit"], cwd=WEB, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_files_of_the_page():
    app = (STATIC / "app.js").read_text(encoding="ascii")
    assert app.endswith("\n")
    assert len(app) < 80_000
    sources = {"index.html", "app.js", "style.css"}
    assert {file.name for file in STATIC.iterdir()} == sources
    for name in sources:
        # everything that the page needs is here: it works without a network
        assert "https://" not in (STATIC / name).read_text(encoding="utf-8"), name
