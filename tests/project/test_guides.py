"""The guides say what is true: their Python runs, and so do their commands.

Every guide has a folder and a namespace of its own. A comment ``<!-- not run: why -->`` before a
block leaves it out; the options of its commands have to exist all the same. ``diffclass relabel``
waits for somebody who paints: two strokes are painted instead. Of ``make`` the target
has to exist, of ``python -m`` the module; any other program is left out by such a comment.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import matplotlib as mpl
import pytest
from markdown_it import MarkdownIt

from diffclass.command_line import main as cli
from diffclass.extensions import TABLE_COMMANDS, own_points
from diffclass_relabel import open_editor
from diffclass_relabel.opening import default_session
from diffclass_relabel.workspace import SceneSettings

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [
    path
    for path in (
        *ROOT.glob("*.md"), *(ROOT / name / "README.md" for name in ("diffclass", "plugins")),
        *(ROOT / name / "README.md" for name in ("experiments", "tests")),
        ROOT / "plugins" / "TABLES.md", *(ROOT / "guide").glob("*.md"),
        *(ROOT / "experiments" / "results").glob("*.md"),
    ) if path.exists()
]  # fmt: skip
SHELLS = {"", "console", "sh", "shell", "bash"}
# 4: the map is there, but the labels did not cover the graph
DONE = {0, 4}


@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_code_of_a_guide_runs(guide, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    namespace = {"__name__": "__main__"}
    for language, text, line, is_run in blocks(guide):
        where = f"{guide}:{line}"
        if language == "python" and is_run:
            exec(compile("\n" * line + text, str(guide), "exec"), namespace)
        elif language in SHELLS:
            for program, *arguments in commands(text):
                if program == "diffclass":
                    check_command(arguments, where, is_run=is_run)
                elif is_run:
                    check_program(program, arguments, where)
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
    """Return the words of each command in a block, its comments left out."""
    lines = text.replace("\\\n", " ").splitlines()
    words = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines]
    return [line for line in words if line]


def check_command(arguments, where, *, is_run):
    """Run a command, or at least look its options up."""
    check_options(arguments, where)
    if is_run and arguments[0] == "relabel":
        paint(arguments[1:])
    elif is_run:
        code = cli.run([*arguments, "-q"])
        assert code in DONE, f"{where}: diffclass {' '.join(arguments)} ended with {code}"


def check_program(program, arguments, where):
    """See that there is what another program than diffclass is told to do."""
    if program == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert set(arguments) <= set(targets), f"{where}: the Makefile lacks one of {arguments}"
        return
    is_module = Path(program).name == "python" and arguments[:1] == ["-m"]
    assert is_module, f"{where}: {program} is not run; say why, in a comment before the block"
    assert importlib.util.find_spec(arguments[1]), f"{where}: no module {arguments[1]}"
    for word in arguments[2:]:
        assert not word.startswith("tests/") or (ROOT / word).exists(), f"{where}: no {word}"


def check_options(arguments, where):
    """See that a command has the options that it is given."""
    commands = [cli.diffclass.get_command(None, arguments[0])]
    if arguments[0] in own_points(TABLE_COMMANDS):
        commands.append(own_points(TABLE_COMMANDS)[arguments[0]].load())
    parameters = [parameter for command in commands for parameter in command.params]
    known = {option for parameter in parameters for option in parameter.opts}
    for option in (word for word in arguments[1:] if word.startswith("-")):
        assert option in known, f"{where}: diffclass {arguments[0]} has no {option}"


def paint(arguments):
    """Begin the session that the page would begin, with a stroke of each of two classes."""
    given = cli.diffclass.get_command(None, "relabel").make_context("relabel", arguments).params
    settings = {field.name: given[field.name] for field in fields(SceneSettings)}
    scenes = given["scenes"]
    log = default_session(scenes)
    with closing(open_editor(scenes, log, settings=settings)) as editor:
        for class_id, first in ((1, 0), (2, 2_000)):
            editor.apply({"op": "add_class", "id": class_id})
            editor.apply({"op": "stroke", "class": class_id, "pixels": [first, 9]})
        editor.update()


def test_a_block_is_left_out_by_a_comment_before_it(tmp_path):
    guide = tmp_path / "guide.md"
    guide.write_text(
        "<!-- not run: needs a scene -->\n\n```console\ndiffclass info a.hdr \\\n    --json  # b\n"
        "```\n\n```python\n1 / 0\n```\n"
    )
    (language, text, line, is_run), (_, _, _, next_is_run) = blocks(guide)
    assert (language, line, is_run, next_is_run) == ("console", 3, False, True)
    assert commands(text) == [["diffclass", "info", "a.hdr", "--json"]]


def test_what_cannot_be_done_is_found():
    check_program("make", ["test"], "here")
    check_program(".venv/bin/python", ["-m", "pytest", "tests/project/test_guides.py"], "here")
    for words in (["make", "coffee"], ["python", "-m", "nothing_of_this_name"], ["qgis_process"],
                  ["python", "-m", "pytest", "tests/test_nothing.py"]):  # fmt: skip
        with pytest.raises(AssertionError, match="here: "):
            check_program(words[0], words[1:], "here")
