"""Strokes under way when a notebook's kernel is restarted, shut down or killed: none is lost."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request

import numpy as np
import pytest

from diffclass_relabel.session_file.session_log import read_session

from ..jupyter import TOKEN, Lab, NotebookTab, kernel_environment, write_notebook

ROUNDS = int(os.environ.get("DIFFCLASS_KERNELS", "3"))
WIDGET = (
    "import os, pathlib\npathlib.Path('pid').write_text(str(os.getpid()))\n"
    "from diffclass_relabel import RelabelWidget\nw = RelabelWidget('scene.npy', components=6)\nw"
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory, tissue, process_environment):
    folder = tmp_path_factory.mktemp("notebooks")
    np.save(folder / "scene.npy", tissue.cube)
    write_notebook(folder / "paint.ipynb", WIDGET)
    private = tmp_path_factory.mktemp("lab")
    opened = Lab(folder, private, kernel_environment(process_environment))
    opened.folder = folder
    yield opened
    opened.close()


def kernels(lab, path="", method="GET"):
    """Ask the server about its kernels."""
    address = f"http://127.0.0.1:{lab.port}/api/kernels{path}?token={TOKEN}"
    request = urllib.request.Request(address, method=method, data=b"" if method == "POST" else None)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def end_kernel(lab, how):
    (kernel,) = kernels(lab)
    if how == "restarted":
        kernels(lab, f"/{kernel['id']}/restart", "POST")
    elif how == "shut down":
        kernels(lab, f"/{kernel['id']}", "DELETE")
    else:
        os.kill(int((lab.folder / "pid").read_text()), signal.SIGKILL)


def strokes_in(lab):
    """Return the rows of the pixels of each stroke that is on disk."""
    _, entries = read_session(lab.folder / "scene.relabel.jsonl")
    operations = [entry["op"] for entry in entries if "op" in entry]
    return [one["pixels"][0] // 50 for one in operations if one.get("op") == "stroke"]


@pytest.mark.slow
@pytest.mark.timeout(120 * (ROUNDS + 1))
def test_no_stroke_is_lost_with_a_kernel(lab, browser):
    tab = NotebookTab(browser, lab.address("paint.ipynb"), height=1000)
    painted = []
    for number in range(ROUNDS + 1):
        if number:
            tab.page.goto("about:blank")  # as somebody who comes back to the notebook
            tab.page.goto(lab.address("paint.ipynb"))
            tab.page.wait_for_selector(".jp-StatusBar-TextItem:has-text('| Idle')", timeout=120_000)
            tab.page.locator(".jp-CodeCell").first.locator(".cm-content").click()
        tab.run_cell(patience=120_000)
        tab.enter_frame()
        tab.wait("diffclass.pending === 0")
        end = time.monotonic() + 60
        while sorted(strokes_in(lab)) != sorted(painted) and time.monotonic() < end:
            time.sleep(0.2)  # those of the kernel before are sent
        assert sorted(strokes_in(lab)) == sorted(painted)
        if number == ROUNDS:
            break
        if not number:
            tab.add_class("one")
        row = number % 40
        how = ("restarted", "shut down", "killed")[number % 3]
        for k in range(4):
            if k == 2:
                end_kernel(lab, how)
            # as the tool does when the button is released
            tab.js(
                "pixel => void diffclass.apply({ op: 'stroke', class: 1, pixels: [pixel, 3] })",
                50 * row + 4 * k,
            )
            painted.append(row)
    tab.wait("!Object.keys(localStorage).some(key => key.startsWith('diffclass-kept'))")
    tab.context.close()
