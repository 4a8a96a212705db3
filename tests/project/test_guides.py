"""The guides say what is true: their Python runs, and so do their commands.

Every guide has a folder and a namespace of its own, and its commands run as they are typed: those
that end by themselves in this process, those that serve a page in one of their own. A comment
``<!-- not run: why -->`` before a block leaves it out; the options of its commands have to exist
all the same, as those of commands within a line have to. Of ``make`` the target has to exist,
of ``python -m`` the module; any other program is left out by such a comment. One tutorial is run as
a notebook, by `test_site`.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from markdown_it import MarkdownIt

from diffclass.command_line import main as cli
from diffclass.system import extensions

from ..plugins.relabel.typed import serve_typed

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("diffclass", "experiments", "guide", "plugins", "tests", ".github")
TEXTS = [*ROOT.glob("*.md")] + [
    path for name in FOLDERS for path in sorted((ROOT / name).rglob("*.md"))
    if "node_modules" not in path.parts
]  # fmt: skip
TUTORIALS = sorted((ROOT / "guide" / "tutorials").glob("*.md"))
NOTEBOOK, MEMORY = (
    ROOT / "guide" / "tutorials" / f"{one}.md" for one in ("digits", "beyond_memory")
)
IN_THIS_PROCESS = [path for path in TEXTS if path not in (NOTEBOOK, MEMORY)]
SHELLS = {"", "console", "sh", "shell", "bash"}
# 4: the map is there, but the labels did not cover the graph; 130: a server is ended by Ctrl-C
DONE = {0, 4}
INTERRUPTED = 130
SERVES = {"relabel"}


def named(path):
    return str(path.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("guide", IN_THIS_PROCESS, ids=named)
def test_the_code_of_a_guide_runs(guide, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONWARNINGS", "error::UserWarning")  # as in notebooks
    mpl.use("agg")
    with nothing_left_behind():
        follow(guide)
    capsys.readouterr()


@contextmanager
def nothing_left_behind():
    """Give the process back as it was: guides add to the path, import from it and list parts."""
    path, modules = [*sys.path], {*sys.modules}
    try:
        with mpl.rc_context():
            yield
    finally:
        plt.close("all")
        added = [entry for entry in sys.path if entry not in path]
        sys.path[:] = path
        for name in {*sys.modules} - modules:
            origin = getattr(sys.modules[name], "__file__", None) or ""
            if any(Path(origin).is_relative_to(entry) for entry in added):
                del sys.modules[name]
        extensions._points.cache_clear()


@pytest.mark.slow
def test_the_code_about_memory_runs(tmp_path, monkeypatch):
    """In a process of its own, whose memory counts."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PYTHONWARNINGS", "error::UserWarning")  # as in notebooks
    process = multiprocessing.get_context("spawn").Process(target=follow, args=(MEMORY,))
    process.start()
    process.join()
    assert process.exitcode == 0


def follow(guide):
    """Do what a guide says, in this folder."""
    namespace = {"__name__": "__main__"}
    for language, text, line, is_run in blocks(guide):
        where = f"{named(guide)}:{line}"
        if language == "python" and is_run:
            exec(compile("\n" * line + text, str(guide), "exec"), namespace)
        elif language in SHELLS:
            for typed in lines_of(text):
                program, *arguments = shlex.split(typed, comments=True)
                if program == "diffclass":
                    check_command(typed, arguments, where, is_run=is_run)
                elif is_run:
                    check_program(program, arguments, where)


def blocks(guide):
    """Yield (language, text, line, whether to run it) for each block of code."""
    left_out = False
    for token in MarkdownIt("commonmark").parse(guide.read_text(encoding="utf-8")):
        if token.type == "html_block":
            left_out = token.content.startswith("<!-- not run: ")
        elif token.type in {"fence", "code_block"}:
            yield token.info.strip(), token.content, token.map[0] + 1, not left_out
            left_out = False


def lines_of(text):
    """Return the commands of a block, as they are typed."""
    lines = (line.removeprefix("$ ") for line in text.replace("\\\n", " ").splitlines())
    return [line for line in lines if shlex.split(line, comments=True)]


def check_command(typed, arguments, where, *, is_run):
    """Run a command, or at least look its options up."""
    check_options(arguments, where)
    if is_run:
        serves = arguments[0] in SERVES
        code = serve_typed(typed) if serves else cli.run(arguments)
        assert code in ({INTERRUPTED} if serves else DONE), f"{where}: {typed} ended with {code}"


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
    command = cli.diffclass.get_command(None, arguments[0])
    assert command is not None, f"{where}: diffclass has no command {arguments[0]}"
    known = {option for parameter in command.params for option in parameter.opts}
    known |= {"--help", "--help-all"}
    for option in (word for word in arguments[1:] if word.startswith("-")):
        assert option in known, f"{where}: diffclass {arguments[0]} has no {option}"


@pytest.mark.parametrize("text", TEXTS, ids=named)
def test_commands_within_a_line_have_options_that_exist(text):
    tokens = MarkdownIt("commonmark").enable("table").parse(text.read_text(encoding="utf-8"))
    pieces = (piece for token in tokens for piece in token.children or ())
    for piece in pieces:
        if piece.type == "code_inline" and piece.content.startswith("diffclass "):
            arguments = shlex.split(piece.content)[1:]
            if not arguments[0].startswith("-"):  # of the program itself
                check_options(arguments, f"{named(text)}: {piece.content}")


def test_a_block_is_left_out_by_a_comment_before_it(tmp_path):
    guide = tmp_path / "guide.md"
    guide.write_text(
        "<!-- not run: needs a scene -->\n\n```console\ndiffclass info a.hdr \\\n    --json  # b\n"
        "```\n\n```python\n1 / 0\n```\n"
    )
    (language, text, line, is_run), (_, _, _, next_is_run) = blocks(guide)
    assert (language, line, is_run, next_is_run) == ("console", 3, False, True)
    (typed,) = lines_of(text)
    assert shlex.split(typed, comments=True) == ["diffclass", "info", "a.hdr", "--json"]


def test_what_cannot_be_done_is_found():
    check_program("make", ["test"], "here")
    check_program(".venv/bin/python", ["-m", "pytest", "tests/project/test_guides.py"], "here")
    for words in (["make", "coffee"], ["python", "-m", "nothing_of_this_name"], ["qgis_process"],
                  ["python", "-m", "pytest", "tests/test_nothing.py"]):  # fmt: skip
        with pytest.raises(AssertionError, match="here: "):
            check_program(words[0], words[1:], "here")
