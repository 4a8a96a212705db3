"""``diffclass relabel`` without its preparation: servers forked from a process that has done it.

Reading, compiling and the graph take seconds, and are the same each time. A process does them once;
then each line of its standard input, {"session": path, "port": number, "out": path, "err": path},
forks a server that runs the rest of the command on that session, and the process answers with the
server's number. Only with one thread can a process be forked safely.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

PATIENCE = 120  # seconds until a server answers


class Nursery:
    """The process that servers are forked from.

    Parameters
    ----------
    scene : Path
    settings : dict
        Of `diffclass_relabel.workspace.SessionSettings`.
    environment : dict
    """

    def __init__(self, scene: Path, settings: dict[str, Any], environment: dict[str, str]):
        command = [sys.executable, "-m", __name__, str(scene), json.dumps(settings)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._folder = scene.parent
        self._n_servers = 0

    def server(self, session: Path, port: int = 0) -> ForkedServer:
        """Fork a server."""
        self._n_servers += 1
        out, err = (self._folder / f"{self._n_servers}.{kind}" for kind in ("out", "err"))
        wish = {"session": str(session), "port": port, "out": str(out), "err": str(err)}
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(wish) + "\n")
        stdin.flush()
        return ForkedServer(int(stdout.readline()), out, err)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class ForkedServer:
    """A server, as `tests.relabel.processes.Relabel`."""

    def __init__(self, pid: int, out: Path, err: Path):
        self.pid = pid
        self._err = err
        end = time.monotonic() + PATIENCE
        while self._runs() and not (out.exists() and out.read_text().endswith("\n")):
            if time.monotonic() > end:
                raise TimeoutError(self.said)
            time.sleep(0.01)
        line = out.read_text() if out.exists() else ""
        self.url = json.loads(line)["url"] if line else None
        if self.url is not None:
            parts = urlsplit(self.url)
            self.gate = SimpleNamespace(port=parts.port, token=parse_qs(parts.query)["token"][0])

    @property
    def said(self) -> str:
        """What it has written to standard error."""
        return self._err.read_text() if self._err.exists() else ""

    def end(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """End the server, if it still runs."""
        while self._runs():
            os.kill(self.pid, sig)
            time.sleep(0.005)

    def _runs(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True


def main(scene: Path, settings: dict[str, Any]) -> None:
    """Prepare the scene, then fork servers as they are asked for."""
    from diffclass_relabel import editor, warming
    from diffclass_relabel.workspace import SessionSettings, Workspace

    workspace = Workspace.open(scene, SessionSettings(**settings))
    warming.warm_up(workspace)
    warming.warm_up = lambda prepared: None
    editor.Workspace.open = classmethod(lambda cls, *_, **__: workspace)  # type: ignore[assignment]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that were killed
    assert threading.active_count() == 1, threading.enumerate()
    for line in sys.stdin:
        wish = json.loads(line)
        pid = os.fork()
        if not pid:
            os._exit(_serve(scene, settings, **wish))
        print(pid, flush=True)


def _serve(
    scene: Path, settings: dict[str, Any], *, session: str, port: int, out: str, err: str
) -> int:
    """Serve a session as the command does; returns its exit code."""
    from diffclass.command_line.main import run

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for path, number in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    options = {"--session": session, "--port": port}
    options |= {f"--{name.replace('_', '-')}": value for name, value in settings.items()}
    words = [str(word) for pair in options.items() for word in pair]
    return run(["relabel", str(scene), *words, "--json", "--no-browser"])


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
