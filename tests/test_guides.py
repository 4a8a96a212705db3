"""The guides say what is true: their Python runs, and so do their commands.

Every guide has a folder of its own, with a small scene (`scene.hdr`, `labels.png`) in it, and one
namespace. A comment ``<!-- not run: why -->`` before a block leaves it out; the options of its
commands have to exist all the same.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from markdown_it import MarkdownIt

from diffclass.command_line import main as cli
from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import write_class_map, write_raster

ROOT = Path(__file__).resolve().parents[1]
GUIDES = [
    path
    for path in (
        *ROOT.glob("*.md"), *(ROOT / name / "README.md" for name in ("diffclass", "plugins")),
        *(ROOT / name / "README.md" for name in ("experiments", "tests")),
    ) if path.exists()
]  # fmt: skip
SHELLS = {"", "console", "sh", "shell", "bash"}
# these wait for a person in front of a browser, or take minutes
NEVER_RUN = {"relabel", "bench"}
# 4: the map is there, but the labels did not cover the graph
DONE = {0, 4}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with a scene and labels of which every class has 20."""
    mpl.use("agg")
    scene = make_tissue_scene(64, 64, n_bands=12, random_state=1)
    monkeypatch.chdir(tmp_path)
    write_raster("scene.hdr", scene.cube)
    rng = np.random.default_rng(0)
    chosen = [rng.choice(np.flatnonzero(scene.truth == k), 20, replace=False) for k in (1, 2, 3)]
    labels = np.zeros_like(scene.truth)
    labels.flat[np.concatenate(chosen)] = scene.truth.flat[np.concatenate(chosen)]
    write_class_map("labels.png", labels)
    return tmp_path


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_code_of_a_guide_runs(guide, folder, capsys):
    namespace = {"__name__": "__main__"}
    for language, text, line, is_run in blocks(guide):
        where = f"{guide}:{line}"
        if language == "python" and is_run:
            exec(compile("\n" * line + text, str(guide), "exec"), namespace)
        elif language in SHELLS:
            for command in commands(text):
                check_command(command, where, is_run=is_run)
    capsys.readouterr()


def blocks(guide):
    """Yield (language, text, line, whether to run it) for each block of code."""
    left_out = False
    for token in MarkdownIt("commonmark").parse(guide.read_text(encoding="utf-8")):
        if token.type == "html_block":
            left_out = token.content.startswith("<!-- not run: ")
        elif token.type in {"fence", "code_block"}:
            yield token.info.strip(), token.content, token.map[0] + 1, not left_out
            left_out = False


def commands(text):
    """Return the arguments of each command ``diffclass ...`` in a block, its comments left out."""
    lines = text.replace("\\\n", " ").splitlines()
    words = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]
    return [line[1:] for line in words if line[:1] == ["diffclass"]]


def check_command(arguments, where, *, is_run):
    """Run a command, or at least look its options up."""
    if is_run and arguments[0] not in NEVER_RUN:
        code = cli.run([*arguments, "-q"])
        assert code in DONE, f"{where}: diffclass {' '.join(arguments)} ended with {code}"
        return
    known = {
        option for parameter in cli.diffclass.get_command(None, arguments[0]).params
        for option in parameter.opts
    }  # fmt: skip
    for option in (word for word in arguments[1:] if word.startswith("-")):
        assert option in known, f"{where}: diffclass {arguments[0]} has no {option}"


def test_a_block_is_left_out_by_a_comment_before_it(tmp_path):
    guide = tmp_path / "guide.md"
    guide.write_text(
        "<!-- not run: needs a scene -->\n\n```console\ndiffclass info a.hdr \\\n    --json  # b\n"
        "```\n\n```python\n1 / 0\n```\n"
    )
    (language, text, line, is_run), (_, _, _, next_is_run) = blocks(guide)
    assert (language, line, is_run, next_is_run) == ("console", 3, False, True)
    assert commands(text) == [["info", "a.hdr", "--json"]]
