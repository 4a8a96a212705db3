"""Runs a program, passes on its lines as they come, and interrupts it when it is cancelled."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO

_LOOK = 0.1  # seconds between two looks at whether the run is cancelled
_PATIENCE = 20.0  # seconds that an interrupted program has to clean up

Listener = Callable[[str], None]


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    result: Listener,
    message: Listener,
    is_cancelled: Callable[[], bool],
) -> int | None:
    """Run a program to its end.

    Parameters
    ----------
    command : sequence of str
    environment : mapping of str to str
    result, message : callable
        Called, in this thread, with each line of standard output and of standard error.
    is_cancelled : callable
        Asked about ten times a second. If so the program is interrupted, as by Ctrl-C, and killed
        if it does not end within 20 s.

    Returns
    -------
    int or None
        The exit code; None: the run was cancelled.

    Raises
    ------
    OSError
        If the program cannot be started.
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
