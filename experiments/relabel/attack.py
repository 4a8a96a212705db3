"""What a session loses when everything goes wrong: killed servers, two tabs, a full disk.

    python -m experiments.relabel.attack [--operations 1000] [--kills 100] [--seed 0]

Two tabs of the page's protocol send random operations to ``diffclass relabel`` without waiting for
answers, as careless users do: many are refused, and some of them cannot but be. The server is a
process of its own on a made scene of 48 x 48 pixels, begun again after each kill. As the page does,
the tabs go back to the port and token that they know, and send again, in order, what was not
answered. The first and the last life and every eighth are the command itself; the others, to save
time, are forked from a process that has the scene prepared (`experiments.relabel.forked_server`),
and run all the rest of the command.

Every life of the server ends with SIGKILL: at a random moment among the operations, or, every
eighth time, while the session is still being opened. Every fifth life the disk is full for a while
(the file may not grow, by a limit of the process), which refuses operations. Every tenth life
begins with a second server on the same session, which has to be refused, and with another session
on the same port, which must take nothing from the tabs. A last life takes in what is left and ends
with Ctrl-C.

Before the tabs are back, each life of which the opening ends replays the file by ``diffclass
replay``, forked too, and the last life once more by the command itself. Its labels and map have to
be those that the server shows.

Then these have to be 0:

- lost: operations that were acknowledged, but are not in the session's file;
- twice: operations that are there more than once;
- disorder: operations of a tab that stand there in another order than it sent them;
- wrongly refused: operations that are in the file although their tab was told otherwise;
- not acknowledged: operations that are in the file, but were never answered;
- strayed: operations in the session that shared the port;
- differences: pixels of labels or map in which the tabs, the reopened session, and its replays
  disagree;
- failed replays;
- tracebacks of the server, second servers let in, exit codes other than 130 after Ctrl-C.

The counts are printed, as JSON; the exit code is 1 if one of these is not 0. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from diffclass.datasets import make_tissue_scene
from diffclass_relabel.session.session_files import replayed
from diffclass_relabel.session_file.session_log import done_in, read_session
from experiments import PROGRAM
from experiments.relabel.driver.clients import PageClient
from experiments.relabel.driver.operations import random_operation
from experiments.relabel.driver.processes import Relabel
from experiments.relabel.forked_server import ForkedServer, Nursery

SIZE = 48  # rows and columns
LONGEST_LIFE = 0.6  # seconds among operations
ROOM = 150  # bytes that a full disk still has
FIRST_CLASSES = 3  # of each tab: without any, little can be done
IMPOSSIBLE = 0.1  # share of operations that no session can do
GONE = (ConnectionClosed, InvalidHandshake, OSError, TimeoutError, EOFError)


class Tab:
    """A page as far as operations go: numbers them, and keeps each until it is answered."""

    def __init__(self, name: str, rng: np.random.Generator):
        self.name = name
        self.done: set[int] = set()
        self.refused: set[int] = set()
        self.without_room: set[int] = set()
        self._rng = rng
        self._waiting: dict[int, dict[str, Any]] = {}
        self.n_sent = 0
        self._session: str | None = None
        self._client: PageClient | None = None

    def connect(self, gate: Any) -> None:
        """Go back to the server and send again what has no answer."""
        self._client = PageClient(gate, name=self.name, session=self._session)
        hello = self._client.hello()
        self._session = hello["id"]
        for number, operation in list(self._waiting.items()):
            self._client.send({"op": operation}, number=number)

    def act(self) -> None:
        """Send one operation."""
        assert self._client is not None
        if self.n_sent < FIRST_CLASSES:
            operation = {"op": "add_class"}
        elif self._rng.random() < IMPOSSIBLE:
            operation = impossible_operation(self._rng)
        else:
            operation = random_operation(self._rng, self._client.state, SIZE * SIZE)
        self.n_sent += 1
        self._waiting[self.n_sent] = operation
        self._client.send({"op": operation}, number=self.n_sent)

    def listen(self, timeout: float) -> None:
        """Take in what has arrived, and what arrives in so many seconds."""
        assert self._client is not None
        end = time.monotonic() + timeout
        with suppress(TimeoutError):
            while True:
                self._take(self._client.hear(max(end - time.monotonic(), 0.001)))

    def answered(self) -> None:
        """Wait for all answers."""
        while self._waiting:
            self.listen(0.05)

    def finish(self) -> PageClient:
        """Wait for all answers and the map."""
        assert self._client is not None
        self.answered()
        self._client.ask("update")
        self._client.refined()
        return self._client

    def drop(self) -> None:
        """Lose the connection, with all that was on its way."""
        if self._client is not None:
            with suppress(*GONE):
                while True:
                    self._take(self._client.hear(0.01))
            self._client.close()
            self._client = None

    def _take(self, message: Any) -> None:
        number = message.get("seq") if isinstance(message, dict) else None
        if number is None or self._waiting.pop(number, None) is None:
            return
        if message["kind"] == "done":
            self.done.add(number)
        elif "make room" in message["message"]:
            self.without_room.add(number)
        else:
            self.refused.add(number)


def impossible_operation(rng: np.random.Generator) -> dict[str, Any]:
    """Return an operation that is refused whatever was done before."""
    choices = [
        {"op": "undo", "steps": 100_000},
        {"op": "remove", "stroke": 10_000_000},
        {"op": "rename_class", "id": 255, "name": "corn"},
        {"op": "erase", "pixels": [SIZE * SIZE, 1]},
        {"op": "batch", "operations": [{"op": "add_class"}, {"op": "remove_class", "id": 255}]},
    ]
    return choices[int(rng.integers(len(choices)))]


class Attack:
    """One session, its tabs, and what happened to them."""

    def __init__(self, folder: Path, seed: int):
        self.rng = np.random.default_rng(seed)
        self.tabs = [Tab(name, self.rng) for name in ("one", "two")]
        self.session = folder / "attacked.jsonl"
        self.counts: Counter[str] = Counter()
        self._folder = folder
        self._scene = folder / "scene.npy"
        np.save(self._scene, make_tissue_scene(SIZE, SIZE, n_bands=8).cube)
        # maps of summed labels, whose time is given: what is shown is known at once
        self._settings = {"components": 4, "label_mode": "summed", "tau": 12}
        own = {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._environment = os.environ | own | {"XDG_STATE_HOME": str(folder / "state")}
        self._nursery = Nursery(self._scene, self._settings, self._environment)

    @contextmanager
    def server(
        self, session: Path, *, port: int = 0, is_forked: bool = True
    ) -> Iterator[Relabel | ForkedServer]:
        """A server of a session, killed at the end if it still runs."""
        server: Relabel | ForkedServer
        if is_forked:
            server = self._nursery.server(session, port)
        else:
            options = {f"--{k.replace('_', '-')}": v for k, v in self._settings.items()}
            words = [word for pair in options.items() for word in pair]
            words = [self._scene, "--session", session, "--port", port, *words]
            server = Relabel(*words, environment=self._environment)
        try:
            yield server
        finally:
            server.end()
            if "Traceback" in server.said:
                self.counts["tracebacks"] += 1
                print(server.said, file=sys.stderr)

    def life(self, number: int, n_operations: int) -> None:
        """One life of the server, ended by a kill."""
        if number % 10 == 9:
            self._meet_strangers()
        is_early = number % 8 == 7
        with self.server(self.session, is_forked=number > 0 and not is_early) as server:
            self._require(server)
            if not is_early:
                self._replay(server)
            if is_early:
                time.sleep(float(self.rng.uniform(0, 2)))
                self.counts["kills while it was opened"] += 1
            else:
                is_full = number % 5 == 4
                self._operate(server, n_operations, is_full=is_full)
                self.counts["kills among operations"] += 1
                self.counts["full disks"] += is_full
        for tab in self.tabs:
            tab.drop()

    def _replay(self, server: Relabel | ForkedServer, *, is_forked: bool = True) -> None:
        """Compare what a server shows, before anything is sent to it, with a replay."""
        watcher = PageClient(server.gate)
        shown, labels = watcher.refined()[0], watcher.labels
        watcher.close()
        files = [self._folder / name for name in ("replayed.npy", "replayed_labels.npy")]
        outputs = ["-o", files[0], "--labels", files[1]]
        if is_forked:
            replay = self._nursery.replay(self.session, *outputs)
            is_done, said = replay.facts is not None, replay.said
        else:
            words = ["replay", self.session, "--scene", self._scene, *outputs, "-q"]
            command = [sys.executable, "-c", PROGRAM, *map(str, words)]
            run = subprocess.run(command, capture_output=True, text=True, env=self._environment)
            is_done, said = run.returncode == 0, run.stderr
        if not labels.any():
            self.counts["failed replays"] += "nothing is labelled" not in said
            return
        self.counts["replays"] += 1
        self.counts["failed replays"] += not is_done
        if not is_done:
            print(said, file=sys.stderr)
            return
        for file, plane in zip(files, (shown, labels), strict=True):
            self.counts["differences"] += int((np.load(file).ravel() != plane).sum())
            file.unlink()

    def _operate(self, server: Relabel | ForkedServer, n_operations: int, *, is_full: bool) -> None:
        moment = float(self.rng.uniform(0.02, LONGEST_LIFE))
        killer = threading.Timer(moment, os.kill, [server.pid, signal.SIGKILL])
        try:
            for tab in self.tabs:
                tab.connect(server.gate)
            if is_full:
                self._limit(server, self.session.stat().st_size + ROOM)
            for i in range(n_operations):
                if i == (n_operations // 2 if is_full else 0):
                    self._make_room(server)
                    killer.start()
                self.tabs[i % 2].act()
                if self.rng.random() < 0.1:
                    self.tabs[i % 2].listen(0.02)
            while True:
                for tab in self.tabs:
                    tab.listen(0.02)
        except GONE:
            return
        finally:
            if killer.is_alive():
                killer.join()

    def _make_room(self, server: Relabel | ForkedServer) -> None:
        """Let the file grow again, after what was sent so far has been answered."""
        for tab in self.tabs:
            tab.answered()
        self._limit(server, resource.RLIM_INFINITY)

    def _limit(self, server: Relabel | ForkedServer, size: int) -> None:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    def _meet_strangers(self) -> None:
        """Have a second server on the session, and another session where the tabs look for it."""
        with self.server(self.session) as first, self.server(self.session) as second:
            self._require(first)
            self.counts["second servers let in"] += second.url is not None
            port = first.gate.port
        other = self._folder / "other.jsonl"
        (self._folder / "other.jsonl.address").write_text(
            json.dumps({"port": first.gate.port, "token": first.gate.token})
        )
        (self._folder / "other.jsonl.address").chmod(0o600)
        with self.server(other, port=port) as stranger:
            self._require(stranger)
            for tab in self.tabs:
                with suppress(*GONE, KeyError):
                    tab.connect(stranger.gate)
                    tab.listen(0.2)
                tab.drop()
        self.counts["strayed"] = len(done_in(read_session(other)[1]))

    def _require(self, server: Relabel | ForkedServer) -> None:
        if server.url is None:
            server.end()
            raise SystemExit(f"the server did not come back:\n{server.said}")

    def end(self) -> None:
        """A last life, in which everything is delivered, and the comparison."""
        with self.server(self.session, is_forked=False) as server:
            self._require(server)
            self._replay(server)
            self._nursery.close()
            for tab in self.tabs:
                tab.connect(server.gate)
            first, second = (tab.finish() for tab in self.tabs)
            shown = [first.refined()[0], second.refined()[0]]
            labels = [first.labels, second.labels]
            for tab in self.tabs:
                tab.drop()
            self._replay(server, is_forked=False)
            self.counts["exit codes other than 130"] += server.end(signal.SIGINT) != 130
        again = replayed(self.session, self._scene)
        shown.append(again.map.ids.ravel())
        labels.append(again.labels.ids.ravel())
        for planes in (shown, labels):
            found = sum(int((a != b).sum()) for a, b in pairwise(planes))
            self.counts["differences"] += found
        self._compare(read_session(self.session)[1])

    def _compare(self, entries: list[dict[str, Any]]) -> None:
        for tab in self.tabs:
            kept = [e["seq"] for e in done_in(entries) if e.get("client") == tab.name]
            self.counts["acknowledged"] += len(tab.done)
            self.counts["refused"] += len(tab.refused)
            self.counts["without room"] += len(tab.without_room)
            self.counts["lost"] += len(tab.done - set(kept))
            self.counts["twice"] += len(kept) - len(set(kept))
            self.counts["disorder"] += sum(a > b for a, b in pairwise(kept))
            self.counts["wrongly refused"] += len((tab.refused | tab.without_room) & set(kept))
            self.counts["not acknowledged"] += len(set(kept) - tab.done)
        self.counts["in the file"] = len(done_in(entries))


FATAL = (
    "lost", "twice", "disorder", "wrongly refused", "not acknowledged", "strayed", "differences",
    "failed replays", "tracebacks", "second servers let in", "exit codes other than 130",
)  # fmt: skip


def attack(n_operations: int, n_kills: int, seed: int, *, told: bool = False) -> dict[str, int]:
    """Return the counts of an attack."""
    with tempfile.TemporaryDirectory() as folder:
        attacked = Attack(Path(folder), seed)
        n_lives = sum(number % 8 != 7 for number in range(n_kills))
        for number in range(n_kills):
            attacked.life(number, -(-n_operations // max(n_lives, 1)))
            if told:
                print(f"life {number + 1} of {n_kills}: {dict(attacked.counts)}", file=sys.stderr)
        attacked.end()
        counts = dict.fromkeys(FATAL, 0) | dict(attacked.counts)
    return counts | {"operations": sum(tab.n_sent for tab in attacked.tabs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts = attack(arguments.operations, arguments.kills, arguments.seed, told=True)
    print(json.dumps(counts, indent=2))
    sys.exit(any(counts[name] for name in FATAL))


if __name__ == "__main__":
    main()
