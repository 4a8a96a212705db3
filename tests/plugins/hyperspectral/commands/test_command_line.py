"""What commands print, to whom, and that a classification can be run again."""

from __future__ import annotations

import json
import logging
import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.shell_completion import BashComplete

from diffclass.command_line import console as speaking
from diffclass.command_line import doctor
from diffclass.command_line.console import Console
from diffclass.command_line.main import diffclass, run
from diffclass.datasets import make_tissue_scene
from diffclass.system import costs
from diffclass_hyperspectral import ClassTable, write_class_map, write_raster
from diffclass_hyperspectral.commands._results import say_lost_names
from diffclass_hyperspectral.jobs.classification.lines import area_texts

from ..writers import PLACE

PROGRAM = [sys.executable, "-c", "from diffclass.command_line.start import main; main()"]
MOST_LINES = 15  # of a summary: one screen
FAST = ["--components", "6"]
CLASSIFY = ["classify", "scene.img", "--labels", "truth.img", "-o", "map.tif", *FAST]
CLASSIFY += ["--tau", "16"]  # no time is searched for


@pytest.fixture(scope="module")
def tissue():
    return make_tissue_scene(48, 48, n_bands=12)


@pytest.fixture
def files(folder, tissue):
    """The working folder, with a scene and its truth."""
    write_raster("scene.img", tissue.cube, map_info=PLACE)
    write_class_map("truth.img", tissue.truth, map_info=PLACE)
    return folder


@pytest.fixture
def call(files, capsys):
    """Run a command and return its exit code, what it printed, and its messages."""

    def called(*words):
        code = run(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return called


# What classify prints


def test_a_screen_at_the_end(call):
    code, out, _ = call(*CLASSIFY, "--labels-per-class", "5", "--margin", "margin.tif")
    assert code == 0
    lines = out.splitlines()
    assert len(lines) <= MOST_LINES
    assert "[" in lines[0]
    assert "labels held out at random" in lines[0]
    assert lines[1].startswith("unsure ")
    assert "ha" in out or "km2" in out
    assert "map.tif, margin.tif" in lines[-1]


def test_two_ways_of_holding_out_and_blocks(call):
    words = ["--features", "spatial", "--holdout", "blocks", "--min-margin", "0.3"]
    code, out, _ = call(*CLASSIFY, *words)
    assert code == 0
    assert len(out.splitlines()) <= MOST_LINES
    assert "in blocks of the picture" in out
    assert "at random" in out
    assert "below --min-margin" in out


def test_many_classes_fit_on_the_screen(call):
    ids = 1 + np.add.outer(np.arange(48) // 6, 8 * (np.arange(48) // 12))
    write_class_map("many.img", ids)
    code, out, _ = call("classify", "scene.img", "--labels", "many.img", "-o", "map.npy", *FAST)
    assert code == 0
    assert len(out.splitlines()) <= MOST_LINES
    assert "26 smaller classes" in out


def test_without_held_out_labels_it_says_how(call):
    _, out, _ = call(*CLASSIFY)
    assert "--labels-per-class N or --holdout blocks" in out.splitlines()[0]


def test_areas():
    assert area_texts([34_000, 120, 0]) == ["34,000 m2", "120 m2", "0 m2"]
    assert area_texts([340_000, 1.2e6, 900, 400]) == ["34.0 ha", "120.0 ha", "0.1 ha", "0.04 ha"]
    assert area_texts([12.3e6, 900]) == ["12.3 km2", "0.0009 km2"]
    assert area_texts([]) == []


# Quiet, and for programs


def test_quiet_prints_nothing_but_errors(call):
    assert call(*CLASSIFY, "--labels-per-class", "1200", "-q") == (0, "", "")
    assert call("info", "scene.img", "-q") == (0, "", "")
    code, out, err = call("info", "nothing.img", "-q")
    assert (code, out) == (3, "")
    assert err.startswith("error: ")
    code, out, err = call(*CLASSIFY, "-q", "--json", "--overwrite")
    assert (code, err) == (0, "")
    assert json.loads(out)["classes"]


def test_progress_as_json_lines(call):
    code, out, err = call(*CLASSIFY, "--progress", "json", "--json")
    assert code == 0
    json.loads(out)
    events = [json.loads(line) for line in err.splitlines()]
    assert {"stage", "message", "progress"} <= {event["type"] for event in events}
    stages = [event["name"] for event in events if event["type"] == "stage"]
    assert {"opening", "neighbors", "diffusion", "writing"} <= set(stages)
    assert all(stages.count(name) % 2 == 0 for name in stages)


@pytest.mark.parametrize("words", [["info", "nothing.img"], ["classify", "--nonsense"], ["none"]])
def test_errors_as_json_lines(call, words):
    code, out, err = call(*words, "--progress", "json")
    assert out == ""
    event = json.loads(err)
    assert (event["type"], event["code"]) == ("error", code)
    assert event["text"]


def test_warnings_as_json_lines(call, tissue):
    ids = tissue.truth.copy()
    write_class_map("few.img", np.where(np.arange(48) < 3, ids, 0))
    words = ["classify", "scene.img", "--labels", "few.img", "-o", "map.npy", *FAST]
    code, _, err = call(*words, "--labels-per-class", "30", "--progress=json")
    assert code in (0, 4), err
    events = [json.loads(line) for line in err.splitlines()]
    warned = [event["text"] for event in events if event["type"] == "warning"]
    assert any("half of them are fitted on" in text for text in warned)


def test_others_are_quiet_if_asked(call):
    # of the commands on inputs command_line/test_verbs.py asks it
    assert call(*CLASSIFY, "--report", "report.json", "-q") == (0, "", "")
    for words in (
        ["rerun", "report.json", "--into", "again"],
        ["bench", "--rows", "32", "--columns", "32", "--repeats", "1"],
        ["doctor"],
    ):
        assert call(*words, "-q") == (0, "", ""), words


def in_a_shell(line):
    """Run a line of the shell, in which DIFFCLASS is the program."""
    line = line.replace("DIFFCLASS", shlex.join(PROGRAM))
    return subprocess.run(line, shell=True, capture_output=True, text=True)


def test_streams_of_the_shell(files):
    """One that is closed, one whose reader leaves early, and one on a full disk."""
    done = in_a_shell("DIFFCLASS info scene.img 2>&-")
    assert (done.returncode, "48 rows" in done.stdout) == (0, True)
    assert in_a_shell("DIFFCLASS info scene.img | true").stderr == ""
    if Path("/dev/full").exists():
        done = in_a_shell("DIFFCLASS info scene.img > /dev/full")
        assert done.returncode == 3
        assert done.stderr.startswith("error: the standard output: no room left on its disk")
        assert done.stderr.count("\n") == 1
    closed = speaking.Messages()
    closed._echo = lambda line: None
    closed.fail("nobody hears", 3)


def test_no_file_takes_the_place_of_a_closed_stream(files):
    code = """
import os
from diffclass.command_line import start
start._hold_standard_streams()
number = os.open("seen", os.O_CREAT | os.O_WRONLY)
os.write(number, str(number).encode())
"""
    subprocess.run(f"{sys.executable} -c '{code}' <&- >&- 2>&-", shell=True, check=True)
    assert int(Path("seen").read_text()) > 2


def test_the_first_run_says_that_it_compiles_and_the_second_has_no_need_to(files, tmp_path):
    kept = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "DIFFCLASS_NUMBA_CACHE": "1"}
    words = [*PROGRAM, *CLASSIFY, "--overwrite", "--progress"]
    line = "compiling loops for this processor, in the first run only ..."
    for how, times in (("text", 1), ("json", 0)):
        done = subprocess.run([*words, how], env=kept | cache, capture_output=True, text=True)
        assert done.returncode in (0, 4), done.stderr
        assert done.stderr.count(line) == times


def test_programs_hear_of_the_compilation_too(capsys, caplog):
    speaking.use_messages(speaking.Messages(as_json=True))
    console = Console()
    with console.timing():
        logging.getLogger("diffclass.compiling").info("one loop")
    assert not caplog.records  # handlers of the root logger, as relabel has one, show no loops
    speaking.use_messages(speaking.Messages())
    said = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [one["type"] for one in said] == ["message"]
    assert said[0]["text"].startswith("compiling loops for this processor")


def test_an_interrupt_while_it_loads(files):
    code = """
import sys
from diffclass.command_line.start import main

class Impatient:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Impatient())
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted before anything was done\n"


# First screens


def test_the_first_screen_shows_a_line_that_works(call):
    for words in ([], ["classify"], ["info"], ["rerun"]):
        code, _, err = call(*words)
        assert code == 2
        assert "Example" in err
    _, out, _ = call("classify", "--help")
    assert "Example: diffclass classify" in out


def test_versions(call):
    code, out, _ = call("--version")
    assert code == 0
    assert out.count("\n") == 1
    assert all(name in out for name in ("diffclass 0.", "Python 3.", "numpy", "numba"))


def test_the_doctor(call):
    code, out, err = call("doctor")
    assert (code, err) == (0, "")
    for word in ("[maps]", "[plots]", "GDAL", "threads", "compiled", "GPU", "memory"):
        assert word in out
    assert isinstance(json.loads(call("doctor", "--json")[1]), dict)


def test_the_doctor_imports_a_package_by_the_name_of_its_module():
    assert "cannot be imported" not in doctor._working_version("pytest-timeout")
    assert "cannot be imported" not in doctor._working_version("pillow")


def test_a_shell_completes_commands_and_options(monkeypatch):
    for typed, offered in (
        ("diffclass class", "classify"),
        ("diffclass classify --labels-p", "--labels-per-class"),
        ("diffclass suggest --rule cov", "coverage"),
    ):
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
        shell = BashComplete(diffclass, {}, "diffclass", "_DIFFCLASS_COMPLETE")
        assert shell.complete() == f"plain,{offered}"
    monkeypatch.setenv("_DIFFCLASS_COMPLETE", "bash_complete")
    done = subprocess.run(PROGRAM, capture_output=True, text=True)
    assert done.stdout == "plain,coverage\n", done.stderr


# Again


def test_an_input_that_is_gone_is_said(call, files):
    assert call(*CLASSIFY, "--report", "report.json")[0] == 0
    (files / "truth.img").unlink()
    assert call("rerun", "report.json", "--into", "again")[0] == 3
    assert not (files / "again").exists()


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"recipe": {"command": "classify"}}', "3", "[" * 10**5],
    ids=lambda text: str(len(text)),
)
def test_files_that_hold_no_recipe(call, files, content):
    (files / "r.json").write_text(content)
    code, _, err = call("rerun", "r.json")
    assert code == 3
    assert err.startswith("error: ")
    assert err.count("\n") == 1


# Inputs


def test_labels_without_data_are_counted(call, tissue):
    cube = tissue.cube.astype(np.float32)
    cube[:5, :5] = np.nan
    np.save("gaps.npy", cube)
    ids = np.zeros((48, 48), dtype=np.uint8)
    ids[:, :6], ids[:, -6:] = 1, 2
    np.save("ids.npy", ids)
    words = ["classify", "gaps.npy", "--labels", "ids.npy", "-o", "map.npy", *FAST]
    code, out, err = call(*words, "--json")
    assert code in (0, 4)
    assert "25 labelled pixels have no data" in err
    assert json.loads(out)["labels_without_data"] == 25


@pytest.mark.parametrize(
    "words",
    [
        ["info", "loop"],
        ["classify", "loop", "--labels", "truth.img", "-o", "map.npy"],
        ["classify", "scene.img", "--labels", "loop", "-o", "map.npy"],
        ["classify", "scene.img", "--labels", "truth.img", "--mask", "loop", "-o", "map.npy"],
        ["classify", "scene.img", "--model", "loop", "-o", "map.npy"],
        ["suggest", "loop", "-o", "s.csv"],
        ["cluster", "loop", "-o", "c.npy"],
        ["anomaly", "loop", "-o", "a.npy"],
        ["embed", "loop", "-o", "e.npy"],
        ["evaluate", "loop", "truth.img"],
        ["evaluate", "truth.img", "loop"],
        ["replay", "loop", "--scene", "scene.img", "-o", "map.npy"],
        ["rerun", "loop"],
    ],
)
def test_links_in_a_circle_are_no_input(call, files, words):
    (files / "loop").symlink_to("back")
    (files / "back").symlink_to("loop")
    code, out, err = call(*words)
    assert (code, out) == (3, "")
    assert err.splitlines()[-1].startswith("error: loop: ")
    assert sorted(path.name for path in files.glob("*.np*")) == []


# Memory


def test_a_forecast_far_beyond_the_memory_is_refused(call, monkeypatch):
    monkeypatch.setattr(costs, "available_memory_bytes", lambda: 2**20)
    commands = [
        CLASSIFY,
        ["suggest", "scene.img", "--labels", "truth.img", "-o", "s.csv", *FAST],
        ["cluster", "scene.img", "-o", "c.npy", "-k", "3"],
        ["embed", "scene.img", "-o", "e.npy"],
        ["anomaly", "scene.img", "-o", "a.npy"],
        ["evaluate", "truth.img", "truth.img"],
        ["bench", "--rows", "32", "--columns", "32"],
    ]
    for words in commands:
        code, _, err = call(*words)
        assert code == 2, words
        assert "only 1 MiB are free" in err
        assert "--force" in err
    assert call(*CLASSIFY, "--force")[0] == 0


def test_a_map_that_cannot_hold_the_names_of_its_classes_is_told():
    said = []
    console = SimpleNamespace(say=said.append)
    named, plain = (ClassTable.from_ids([1, 2], names=names) for names in ({1: "corn"}, {}))
    for table, file in ((plain, "map.npy"), (named, "map.tif"), (named, "map.npy")):
        say_lost_names(console, Path(file), table)
    assert said == ["map.npy: holds ids alone; the report and maps as .tif and .img have the names"]
