"""The command group: exit codes, messages, help."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest

from diffclass.command_line import main as cli
from diffclass.exceptions import DataError, ParameterError


@pytest.fixture
def command(monkeypatch):
    """Put one command, whose body the test gives, in place of the installed ones."""

    def install(body):
        @click.command()
        @click.option("--traceback", is_flag=True)
        def job(traceback):
            return body()

        monkeypatch.setattr(cli.CommandGroup, "get_command", lambda self, ctx, name: job)

    return install


def raising(error):
    def body():
        raise error

    return body


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ParameterError("tau is\nnegative"), 2),
        (DataError("the file is short"), 3),
        (FileNotFoundError("gone"), 3),
        (KeyboardInterrupt(), 130),
        (RuntimeError("surprise"), 1),
        (MemoryError("full"), 1),
    ],
)
def test_errors_are_one_line_and_a_code(command, capsys, error, code):
    command(raising(error))
    assert cli.run(["job"]) == code
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.strip().count("\n") == 0
    assert len(said.err) > 5
    assert "Traceback" not in said.err


def test_traceback_on_demand(command):
    command(raising(DataError("short")))
    with pytest.raises(DataError, match="short"):
        cli.run(["job", "--traceback"])


def test_a_command_can_return_its_code(command):
    command(lambda: 4)
    assert cli.run(["job"]) == 4
    command(lambda: None)
    assert cli.run(["job"]) == 0


def test_warnings_are_one_line(command, capsys):
    command(lambda: warnings.warn("mind\nthe gap", UserWarning, stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert cli.run(["job"]) == 0
    assert capsys.readouterr().err == "warning: mind the gap\n"


def test_wrong_usage(capsys):
    assert cli.run(["nonsense"]) == 2
    assert cli.run(["info"]) == 2
    assert cli.run(["info", "--nonsense", "x"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_help_names_every_command_and_loads_nothing_heavy():
    code = (
        "import sys; from diffclass.command_line.main import run; code = run(['--help']);"
        "heavy = {'numpy', 'sklearn', 'numba', 'spectral', 'matplotlib'} & set(sys.modules);"
        "sys.exit(f'loaded {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in ("bench", "classify", "demo", "evaluate", "info"):
        assert f"\n  {name}" in done.stdout


def test_help_names_every_format(capsys):
    from diffclass_hyperspectral.io import formats

    said = {}
    for command in ("info", "classify", "cluster", "anomaly", "suggest", "relabel", "evaluate"):
        assert cli.run([command, "--help"]) == 0
        said[command] = " ".join(capsys.readouterr().out.split())
    spellings = {".jpeg": ".jpg", ".tiff": ".tif", ".hdf5": ".h5"}
    known = {suffix for one in formats.FORMATS.values() for suffix in one.suffixes}
    endings = {spellings.get(ending, ending) for ending in known} - {".gis"}
    assert [ending for ending in endings if ending not in said["info"]] == []
    for command in ("classify", "cluster", "anomaly", "suggest", "relabel"):
        assert "diffclass info --help" in said[command], command
    shapes = [ending for ending in formats.SHAPE_ENDINGS if ending != ".json"]
    for command in ("classify", "suggest", "evaluate"):
        assert [ending for ending in shapes if ending not in said[command]] == [], command


@pytest.mark.parametrize(
    ("typed", "says"), [("clasify", "Did you mean classify?"), ("xyzzy", "No such command")]
)
def test_mistyped_commands(capsys, typed, says):
    assert cli.run([typed, "scene.tif"]) == 2
    err = capsys.readouterr().err
    assert says in err
    assert ("Did you mean" in err) == ("Did" in says)


@pytest.mark.parametrize("works_on", [False, True])
def test_a_thread_that_still_works_does_not_abort_the_program(works_on):
    code = (
        "import os, sys, threading, time\n"
        "from diffclass.command_line import main as program, start\n"
        "from diffclass.system.temporary_folders import TemporaryFolder\n"
        "leave = os._exit\n"
        "os._exit = lambda code: (os.write(2, b'at once'), leave(code))\n"
        "def command():\n"
        "    global kept\n"
        "    kept = TemporaryFolder('left')\n"
        "    print(kept.path, end='')\n"
        f"    if {works_on}:\n"
        "        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "    sys.exit(3)\n"
        "program.main = command\n"
        "start.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stdout
    assert not Path(done.stdout).exists()
    # what the compiler holds cannot be taken down beside a thread that compiles
    assert done.stderr == ("at once" if works_on else "")
