"""The command's messages as progress, and programs that are run, heard and ended."""

from __future__ import annotations

import json
import os
import sys
import time

import pytest

from diffclass_qgis.algorithms import ALGORITHMS
from diffclass_qgis.running import Progress, parsed, run

STAGES = (("features", 25), ("neighbors", 75))


def line(kind, **facts):
    return json.dumps({"type": kind, **facts})


@pytest.mark.parametrize("text", ["Segmentation fault", "[1, 2]", '{"a": 1}', '{"type": 3}', ""])
def test_what_is_no_message_of_the_command_is_text(text):
    assert parsed(text) == {"type": "message", "text": text}


def test_progress_adds_up_the_stages_and_never_falls():
    progress = Progress(STAGES)
    heard = []
    for message in (
        line("stage", name="features", state="begins"),
        line("progress", name="features", done=1, parts=2, seconds_left=3.0),
        line("stage", name="features: projection", state="begins"),
        line("progress", name="features: projection", done=1, parts=1, seconds_left=0.0),
        line("stage", name="neighbors", state="begins"),
        line("progress", name="neighbors", done=1, parts=3, seconds_left=9.0),
        line("stage", name="features", state="ends", seconds=1.0),
        line("stage", name="neighbors", state="ends", seconds=1.0),
    ):
        progress.hear(parsed(message))
        heard.append(progress.percent)
    assert heard == [0, 12.5, 12.5, 12.5, 25, 50, 50, 100]


def test_progress_says_what_goes_on():
    progress = Progress(STAGES)
    begins = parsed(line("stage", name="features", state="begins"))
    advances = parsed(line("progress", name="features", done=1, parts=4, seconds_left=12.4))
    assert progress.hear(begins) == "features ..."
    assert progress.hear(advances) == "features: 25%, about 12 s left"
    assert progress.hear({"type": "warning", "text": "so so"}) is None


def test_a_command_without_stages_has_no_progress():
    progress = Progress(())
    progress.hear(parsed(line("stage", name="comparing", state="ends", seconds=1.0)))
    assert progress.percent == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda one: one.id)
def test_shares_of_stages_are_percents(algorithm):
    assert sum(share for _, share in algorithm.stages) in (0, 100)


def started(code, is_cancelled=lambda: False):
    results, messages = [], []
    hears = {"result": results.append, "message": messages.append}
    program = [sys.executable, "-c", code]
    exit_code = run(program, os.environ, **hears, is_cancelled=lambda: is_cancelled(messages))
    return exit_code, results, messages


def test_all_lines_are_heard_and_the_exit_code_comes_back():
    code = "import sys; [print(i) for i in range(2000)]; print('oh', file=sys.stderr); sys.exit(3)"
    exit_code, results, messages = started(code, lambda _: False)
    assert (exit_code, len(results), messages) == (3, 2000, ["oh"])


def test_cancelling_interrupts_so_that_the_program_can_clean_up(tmp_path):
    left = tmp_path / "cleaned up"
    code = (
        "import sys, time\n"
        "try:\n"
        "    print('ready', file=sys.stderr, flush=True); time.sleep(60)\n"
        f"except KeyboardInterrupt:\n    open({str(left)!r}, 'w').close()\n"
    )
    begin = time.monotonic()
    exit_code, _, _ = started(code, lambda messages: messages == ["ready"])
    assert exit_code is None
    assert left.exists()
    assert time.monotonic() - begin < 30


def test_program_that_cannot_start(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        run([str(tmp_path / "nowhere")], {}, result=print, message=print, is_cancelled=bool)
