"""The relabel tool as its users see it: a server in its own process, a page in Chromium."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments import PROGRAM
from experiments.relabel.driver.browser import Tab, chromium

FIRST_SIZE = 3  # of the brush, in pixels, when the page opens


@dataclass(frozen=True)
class Served:
    """A server in its own process.

    Attributes
    ----------
    url : str
        The page's address.
    process : Popen
    """

    url: str
    process: subprocess.Popen[str]

    def processor_seconds(self) -> float:
        """Return the processor time of all its threads so far (Linux)."""
        fields = self._told("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_bytes(self) -> int:
        """Return the largest memory that it has had (Linux), files it has mapped included."""
        return self._bytes_of("VmHWM")

    @contextmanager
    def own_bytes(self) -> Iterator[list[int]]:
        """Yield its memory (Linux) at each hundredth of a second, without files it has mapped.

        That is what it would keep from other processes: read pages of a file are given up at need.
        """
        seen: list[int] = []
        over = threading.Event()

        def look() -> None:
            while not over.wait(0.01):
                seen.append(self._bytes_of("RssAnon"))

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield seen
        finally:
            over.set()
            thread.join()

    def _bytes_of(self, name: str) -> int:
        (line,) = (line for line in self._told("status").splitlines() if name in line)
        return 1024 * int(line.split()[1])

    def _told(self, name: str) -> str:
        return Path(f"/proc/{self.process.pid}/{name}").read_text(encoding="ascii")


@contextmanager
def served(scene: Path, *options: str) -> Iterator[str]:
    """Serve a scene with a new session that is thrown away; yield the page's address."""
    with serving(scene, *options) as server:
        yield server.url


@contextmanager
def serving(scene: Path, *options: str) -> Iterator[Served]:
    """Serve a scene with a new session that is thrown away."""
    with tempfile.TemporaryDirectory() as name:
        session = str(Path(name) / "session.jsonl")
        with _relabel(str(scene), "--session", session, *options) as server:
            yield server


@contextmanager
def choosing(folder: Path, *options: str, recent: Path) -> Iterator[str]:
    """Serve the start page of a folder; yield its address.

    Recent sessions are those of the folder ``recent``, and no others.
    """
    with _relabel(str(folder), *options, XDG_STATE_HOME=str(recent)) as server:
        yield server.url


@contextmanager
def _relabel(*arguments: str, **variables: str) -> Iterator[Served]:
    """Run ``diffclass relabel`` with more variables in its environment."""
    command = [sys.executable, "-c", PROGRAM, "relabel", *arguments, "--json", "--no-browser"]
    environment = os.environ | variables
    with tempfile.TemporaryDirectory() as name:
        said = Path(name) / "said.txt"
        with said.open("w", encoding="utf-8") as errors:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
            )
        try:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"the server did not start: {said.read_text(encoding='utf-8')}")
            yield Served(json.loads(line)["url"], process)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)
            process.stdout.close()


@contextmanager
def opened(url: str, **options: Any) -> Iterator[Tab]:
    """Open the page in its own browser; options as in `Tab`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = chromium(playwright)
        tab = Tab(browser, url, **options)
        yield tab
        tab.close()
        browser.close()


def choose_class(tab: Tab, class_id: int) -> None:
    """Click a class in the list."""
    tab.find(f"[data-class='{class_id}'] button.class-name").click()


def set_brush(tab: Tab, size: int, *, now: int) -> int:
    """Press [ or ] until the brush has a size below 10; return it."""
    tab.key(*(["]"] * (size - now) + ["["] * (now - size)))
    return size


def next_suggestion(tab: Tab) -> tuple[int, int] | None:
    """Press n and wait for the row and column that it selects; None if no suggestion is left."""
    from playwright.sync_api import TimeoutError as NothingLeft

    before = tab.js("JSON.stringify(diffclass.suggestions)")
    tab.key("n")
    try:
        tab.page.wait_for_function(
            "before => diffclass.suggestions.current >= 0"
            " && JSON.stringify(diffclass.suggestions) !== before",
            arg=before,
            polling=10,
        )
    except NothingLeft:
        return None
    found = tab.js("diffclass.suggestions")
    row, column = divmod(found["pixels"][found["current"]], tab.js("diffclass.scene.columns"))
    return row, column
