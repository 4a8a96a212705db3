"""Runs the program, passes on its lines as they come, and says how far it is by them."""

from __future__ import annotations

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

_LOOK = 0.1  # seconds between two looks at whether the run is cancelled
_PATIENCE = 20.0  # seconds that an interrupted program has to clean up
BEGINS, ENDS = "begins", "ends"

Listener = Callable[[str], None]


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    result: Listener,
    message: Listener,
    is_cancelled: Callable[[], bool],
) -> int | None:
    """Run a program to its end; return its exit code, or None where it was cancelled.

    ``result`` and ``message`` are called with each line of standard output and of standard error.
    A program that is cancelled is interrupted, as by Ctrl-C, and killed after 20 s.
    """
    process = subprocess.Popen(
        list(command),
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        creationflags=_flags(),
    )
    lines: queue.Queue[tuple[Listener, str] | None] = queue.Queue()
    for stream, hear in ((process.stdout, result), (process.stderr, message)):
        threading.Thread(target=_read, args=(stream, hear, lines), daemon=True).start()
    try:
        cancelled = _listen(lines, is_cancelled)
    except BaseException:
        _interrupt(process)
        raise
    if cancelled:
        _interrupt(process)
        return None
    return process.wait()


def _read(stream: IO[str], hear: Listener, lines: queue.Queue[tuple[Listener, str] | None]) -> None:
    with stream:
        for line in stream:
            lines.put((hear, line.rstrip("\r\n")))
    lines.put(None)


def _listen(
    lines: queue.Queue[tuple[Listener, str] | None], is_cancelled: Callable[[], bool]
) -> bool:
    """Pass on all lines of both streams; return whether the run was cancelled before their end."""
    n_open = 2
    while n_open:
        if is_cancelled():
            return True
        try:
            entry = lines.get(timeout=_LOOK)
        except queue.Empty:
            continue
        if entry is None:
            n_open -= 1
        else:
            hear, line = entry
            hear(line)
    return False


def _flags() -> int:
    # a group of its own can be sent Ctrl-Break without QGIS receiving it; no console opens
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


def _interrupt(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        if sys.platform == "win32":
            process.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            process.send_signal(signal.SIGINT)
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def parsed(line: str) -> dict[str, Any]:
    """Return a message of the command, whose "type" is "stage", "progress", "message" or "error".

    What is no such object, as the last words of a program that breaks down, is a "message".
    """
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if isinstance(message, dict) and isinstance(message.get("type"), str):
        return message
    return {"type": "message", "text": line}


class Progress:
    """The share of a command's work that is done, in percent; it never falls.

    ``stages`` are the main ones in their order, with about the share of the time that each takes.
    """

    def __init__(self, stages: Sequence[tuple[str, float]]):
        self.percent = 0.0
        total = sum(share for _, share in stages)
        self._spans: dict[str, tuple[float, float]] = {}
        done = 0.0
        for name, share in stages:
            self._spans[name] = (100 * done / total, 100 * (done + share) / total)
            done += share

    def hear(self, message: dict[str, Any]) -> str | None:
        """Take a message in, and return what the user may read about the work, if anything."""
        name = str(message.get("name", ""))
        # "features: projection" is a part of features, and its own progress not that of all
        span = self._spans.get(name)
        if message["type"] == "stage":
            begins = message.get("state") == BEGINS
            if span:
                self._reach(span[0] if begins else span[1])
            return f"{name} ..." if begins else None
        if message["type"] == "progress":
            share = message["done"] / max(message["parts"], 1)
            if span:
                self._reach(span[0] + share * (span[1] - span[0]))
            return f"{name}: {share:.0%}, about {message['seconds_left']:.0f} s left"
        return None

    def _reach(self, percent: float) -> None:
        self.percent = max(self.percent, percent)
