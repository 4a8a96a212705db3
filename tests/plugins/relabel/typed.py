"""``diffclass relabel`` as it is typed: in a shell, in the folder, with a browser, ended by Ctrl-C.

The browser is a script that notes what it is told to open.
"""

from __future__ import annotations

import html
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import httpx

from experiments.relabel.driver.clients import PageClient

ROOT = Path(__file__).resolve().parents[3]
LONGEST = 120  # seconds
ADDRESS = re.compile(r"^(http\S+)\?token=(\S+)$", re.MULTILINE)


def serve_typed(line, *, on_page=None):
    """Run a line of a shell until its page has answered; returns the exit code after Ctrl-C.

    - `on_page`: called with port and token of the page; by default two strokes are painted
    """
    words = shlex.split(line, comments=True)[1:]
    with TemporaryDirectory() as place:
        opened, said = Path(place) / "opened", Path(place) / "said"
        browser = Path(place) / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}.new"; mv "{opened}.new" "{opened}"\n')
        browser.chmod(0o755)
        with started(line, browser, said) as process:
            visit(process, words, said, opened, on_page or paint)
            process.send_signal(signal.SIGINT)
            process.wait(LONGEST)
        assert "Traceback" not in said.read_text(), said.read_text()
        return process.returncode


@contextmanager
def started(line, browser, said):
    """Start a line of a shell in which this environment is active."""
    paths = [ROOT, ROOT / "plugins"]
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "BROWSER": f"{browser} %s",
    }
    with said.open("w") as errors:
        process = subprocess.Popen(
            ["sh", "-c", f"exec {line}"], stderr=errors, stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL, env=environment,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()  # nothing, where it has ended
            process.wait()


def visit(process, words, said, opened, on_page):
    """Go where a server's command leads a browser to."""
    base, token = waited(process, said, lambda: ADDRESS.search(said.read_text())).groups()
    if "--base-url" in words:  # nothing is opened: the address is that of another machine
        port = int(words[words.index("--port") + 1])
    else:
        waited(process, said, opened.exists)
        page = Path(unquote(urlsplit(opened.read_text().strip()).path)).read_text()
        assert html.escape(f"{base}?token={token}") in page
        port = urlsplit(base).port
    answer = httpx.get(f"http://127.0.0.1:{port}/?token={token}", follow_redirects=True)
    assert answer.status_code == httpx.codes.OK
    assert "<title>" in answer.text
    on_page(SimpleNamespace(port=port, token=token))


def waited(process, said, found):
    """Return what is found, once it is, while a process goes on."""
    end = time.monotonic() + LONGEST
    while not (result := found()):
        assert process.poll() is None, said.read_text()
        assert time.monotonic() < end, said.read_text()
        time.sleep(0.05)
    return result


def paint(gate):
    """Paint a stroke of each of two new classes, across the picture."""
    with closing(PageClient(gate)) as client:
        known = [one["id"] for one in client.hello()["state"]["classes"]]
        for third, number in enumerate(range(max(known, default=0) + 1, 256)[:2], 1):
            runs = [client.rows * third // 3 * client.columns, client.columns]
            client.do("add_class", id=number)
            answer = client.do({"op": "stroke", "class": number, "pixels": runs})
            assert answer["kind"] == "done", answer
