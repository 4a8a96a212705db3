"""``diffclass relabel`` without its preparation: servers forked from a process that has done it.

Reading, compiling and the graph take seconds, and are the same each time. A process does them once;
then each line of its standard input, {"words": [...], "out": path, "err": path}, forks a process
that runs the rest of that command, ``relabel`` or ``replay``, and the process answers with its
number. Only with one thread can a process be forked safely.
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
        Of `diffclass_relabel.workspace.workspace.SceneSettings`.
    environment : dict
    """

    def __init__(self, scene: Path, settings: dict[str, Any], environment: dict[str, str]):
        command = [sys.executable, "-m", __name__, str(scene), json.dumps(settings)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self._scene = scene
        self._settings = settings
        self._n_forked = 0

    def server(self, session: Path, port: int = 0) -> ForkedServer:
        """Fork a server."""
        options = {"--session": session, "--port": port}
        options |= {f"--{name.replace('_', '-')}": v for name, v in self._settings.items()}
        words = [word for pair in options.items() for word in pair]
        return ForkedServer(*self._forked("relabel", self._scene, *words, "--no-browser"))

    def replay(self, session: Path, *outputs: str | Path) -> ForkedReplay:
        """Fork a replay of a session and wait for its end."""
        words = ["replay", session, "--scene", self._scene, *outputs]
        return ForkedReplay(*self._forked(*words))

    def _forked(self, *words: Any) -> tuple[int, Path, Path]:
        """Fork a command; returns its number and the files that it writes its messages to."""
        self._n_forked += 1
        out, err = (self._scene.parent / f"{self._n_forked}.{kind}" for kind in ("out", "err"))
        wish = {"words": [*map(str, words), "--json"], "out": str(out), "err": str(err)}
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(wish) + "\n")
        stdin.flush()
        return int(stdout.readline()), out, err

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


class _Forked:
    """A command that was forked, which has ended or said what it had to say.

    Attributes
    ----------
    facts : dict or None
        What it wrote to standard output; None where it ended without a word.
    """

    def __init__(self, pid: int, out: Path, err: Path):
        self.pid = pid
        self._err = err
        end = time.monotonic() + PATIENCE
        while self._runs() and not (out.exists() and out.read_text().endswith("\n")):
            if time.monotonic() > end:
                raise TimeoutError(self.said)
            time.sleep(0.01)
        line = out.read_text() if out.exists() else ""
        self.facts: dict[str, Any] | None = json.loads(line) if line else None

    @property
    def said(self) -> str:
        """What it has written to standard error."""
        return self._err.read_text() if self._err.exists() else ""

    def _runs(self) -> bool:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True


class ForkedServer(_Forked):
    """A server, as `driver.processes.Relabel`."""

    def __init__(self, pid: int, out: Path, err: Path):
        super().__init__(pid, out, err)
        self.url = self.facts["url"] if self.facts else None
        if self.url is not None:
            parts = urlsplit(self.url)
            self.gate = SimpleNamespace(port=parts.port, token=parse_qs(parts.query)["token"][0])

    def end(self, sig: signal.Signals = signal.SIGKILL) -> None:
        """End the server, if it still runs."""
        while self._runs():
            os.kill(self.pid, sig)
            time.sleep(0.005)


class ForkedReplay(_Forked):
    """A replay that has ended."""

    def __init__(self, pid: int, out: Path, err: Path):
        super().__init__(pid, out, err)
        while self._runs():
            time.sleep(0.005)


def main(scene: Path, settings: dict[str, Any]) -> None:
    """Prepare the scene, then fork servers as they are asked for."""
    from diffclass_relabel import workspace as chapter
    from diffclass_relabel.workspace import SceneSettings, SceneWorkspace

    workspace = SceneWorkspace.open(scene, SceneSettings(**settings))
    chapter.warm_up(workspace)
    chapter.warm_up = lambda prepared: None

    def opened(cls: type, *_: Any, on_opened: Any = None, **__: Any) -> SceneWorkspace:
        if on_opened is not None:
            on_opened(workspace.tiles)
        return workspace

    SceneWorkspace.open = classmethod(opened)  # type: ignore[assignment]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that were killed
    assert threading.active_count() == 1, threading.enumerate()
    for line in sys.stdin:
        wish = json.loads(line)
        pid = os.fork()
        if not pid:
            os._exit(_run(**wish))
        print(pid, flush=True)


def _run(words: list[str], out: str, err: str) -> int:
    """Run a command in this process; returns its exit code."""
    from diffclass.command_line.main import run

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for path, number in ((out, 1), (err, 2)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    return run(words)


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]))
