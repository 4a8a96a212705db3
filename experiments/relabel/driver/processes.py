"""``diffclass relabel`` as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

from experiments import PROGRAM


class Relabel:
    """The command, running.

    Attributes
    ----------
    url : str or None
        Address that it printed; None where it ended instead.
    gate : SimpleNamespace
        Port and token of that address.
    said : str
        What it had written to standard error when it ended.
    """

    def __init__(self, *words, environment, cwd=None):
        command = [sys.executable, "-c", PROGRAM, "relabel", *words, "--json", "--no-browser"]
        self._messages = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=self._messages,  # a pipe that nobody empties would stop the server
            text=True,
            env=environment,
            cwd=cwd,
        )
        self.pid = self.process.pid
        line = self.process.stdout.readline()
        self.url = json.loads(line)["url"] if line else None
        if line:
            parts = urlsplit(self.url)
            self.gate = SimpleNamespace(port=parts.port, token=parse_qs(parts.query)["token"][0])

    def end(self, sig=signal.SIGKILL):
        """End the process, if it still runs; returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        self.process.wait(timeout=60)
        if not self.process.stdout.closed:
            self._messages.seek(0)
            self.said = self._messages.read()
            self._messages.close()
            self.process.stdout.close()
        return self.process.returncode
