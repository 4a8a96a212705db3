"""Workers killed at random while labels diffuse: the maps have to be the same.

    python -m experiments.scaling.kills [--kills 20] [--points 20000]

Two workers of this machine; at random moments one of them gets SIGKILL. Diffusions are repeated
until that has happened often enough. It prints one line per diffusion and fails if any map differs
from that of the whole graph in memory.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import diffuse_labels, markov_operator
from diffclass.blocks import BlockOperator, Scratch, diffuse_in_blocks
from diffclass.blocks.dask_engine import local_cluster
from experiments.scaling.workers import drawn


class Killer(threading.Thread):
    """Kills a random worker from time to time.

    Parameters
    ----------
    client : distributed.Client
    mean_pause : float
        Seconds.
    """

    def __init__(self, client: Any, *, mean_pause: float):
        super().__init__(daemon=True)
        self._client, self._mean_pause = client, mean_pause
        self._rng, self._over = np.random.default_rng(0), threading.Event()
        self.n_killed = 0

    def run(self) -> None:
        while not self._over.wait(self._rng.exponential(self._mean_pause)):
            pids = list(self._client.run(os.getpid, on_error="ignore").values())
            if pids and not self._over.is_set():
                os.kill(self._rng.choice(pids), signal.SIGKILL)
                self.n_killed += 1

    def stop(self) -> None:
        self._over.set()
        self.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--pause", type=float, default=8.0, help="mean seconds between kills")
    arguments = parser.parse_args()
    X, y = drawn(arguments.points)
    operator = markov_operator(X, n_neighbors=15)
    options = {"max_time": 64}
    expected = diffuse_labels(operator, y, label_mode="absorbing", **options)
    clear, n_killed = expected.margin > 1e-4, 0
    starts = np.linspace(0, len(y), 5).astype(int)
    with local_cluster(2, memory=4 * 2**30) as engine:
        while n_killed < arguments.kills:
            killer = Killer(engine.client, mean_pause=arguments.pause)
            killer.start()
            start = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                cut = BlockOperator.from_operator(operator, starts, Scratch(Path(folder)))
                found = diffuse_in_blocks(cut, y, engine=engine, **options)
                codes = np.concatenate(list(found.in_order("codes")))
            killer.stop()
            n_killed += killer.n_killed
            n_other = int((codes != expected.codes)[clear].sum())
            seconds = time.monotonic() - start
            print(f"{killer.n_killed} kills, {seconds:.0f} s, {n_other} other classes", flush=True)
            if n_other or found.tau != expected.tau:
                raise SystemExit("the map has changed")
    print(f"{n_killed} kills, every map the same")


if __name__ == "__main__":
    main()
