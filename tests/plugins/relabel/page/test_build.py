"""The committed page is the build of its sources."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import diffclass_relabel

from ..browser import lacking

PLUGIN = Path(diffclass_relabel.__file__).parent
WEB, STATIC = PLUGIN / "web", PLUGIN / "static"
COMPILER = WEB / "node_modules" / "typescript" / "bin" / "tsc"
TYPES = WEB / "src" / "session" / "protocol.generated.ts"


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
    subprocess.run([node, "build.mjs", str(tmp_path)], cwd=WEB, check=True)
    for name in ("app.js", "widget.js"):
        message = f"static/{name} is not the build of web/src; run npm run build in {WEB}"
        assert (tmp_path / name).read_bytes() == (STATIC / name).read_bytes(), message


def test_sources_are_sound_and_the_compiler_refuses_what_the_server_would(node, tmp_path):
    """Each line after the mark has to be an error, or the compiler complains about the mark."""
    wrong = [
        'const a: Operation = { op: "nix" };',
        'const b: Operation = { op: "stroke", class: 1, points: [1] };',
        'const c: Operation = { op: "hide_class", id: 1 };',
        'const d: Operation = { op: "tau", tau: "most" };',
        'const e: Question = { ask: "spectrum" };',
        'const f: Question = { ask: "suggest", rule: "best" };',
        'const g: Question = { ask: "export", what: "all" };',
    ]
    lines = [f'import type {{ Operation, Question }} from "{TYPES.with_suffix("").as_posix()}";']
    for line in wrong:
        lines += ["// @ts-expect-error", f"export {line}"]
    (tmp_path / "wrong.ts").write_text("\n".join(lines))
    options = {
        "extends": (WEB / "tsconfig.json").as_posix(),
        "include": [(WEB / "src").as_posix(), "wrong.ts"],
    }
    (tmp_path / "tsconfig.json").write_text(json.dumps(options))
    found = subprocess.run([node, COMPILER, "-p", tmp_path], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_files_of_the_page():
    app = (STATIC / "app.js").read_text(encoding="ascii")
    assert app.endswith("\n")
    # the bound of the first minute, 10,000 for rows of tables, and 10,000 for the first ten
    # minutes: a picture that stays, points without a class, small windows, a kernel that ends
    assert len(app) <= 150_000
    sources = {"index.html", "app.js", "style.css", "widget.js"}
    assert {file.name for file in STATIC.iterdir()} == sources
    for name in sources:
        # everything that the page needs is here: it works without a network
        assert "https://" not in (STATIC / name).read_text(encoding="utf-8"), name
