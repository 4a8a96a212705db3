"""Workers killed at random in every stage, from points to map: the results have to be the same.

    python -m experiments.scaling.kills [--kills 20] [--points 20000]

Two workers of this machine build the operator of points in four blocks and diffuse labels. In each
stage one of them gets SIGKILL at a random moment of the time that the stage takes undisturbed, and
again and again while it goes on. Runs are repeated until that has happened often enough, and in
every stage. The files that each stage writes are compared, byte for byte, with those of an
undisturbed run. One row per stage goes to kills.csv: runs, kills, seconds undisturbed, mean seconds
with kills, and whether all files were the same. It fails if any is not.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np

from diffclass.blocks import Scratch, build_operator, diffuse_in_blocks
from diffclass.blocks.dask_engine import DaskEngine, local_cluster
from diffclass.progress import listening
from experiments.markdown import write_rows
from experiments.scaling.workers import drawn

OUTPUT = Path(__file__).with_name("kills.csv")


class Stages:
    """Hears of stages, times them and computes digests of what they write.

    Parameters
    ----------
    folder : Path
        Scratch; each stage writes into the folder of its name.
    killer : Killer, optional
        Kills within each stage.

    Attributes
    ----------
    seconds, digests : dict
        By stage.
    """

    def __init__(self, folder: Path, killer: Killer | None = None):
        self._folder, self._killer = folder, killer
        self.seconds: dict[str, float] = {}
        self.digests: dict[str, str] = {}

    def begins(self, name: str) -> None:
        if self._killer and ":" not in name:
            self._killer.begin(name)

    def advances(self, name: str, done: int, parts: int) -> None:
        pass

    def ends(self, name: str, seconds: float) -> None:
        if ":" in name:  # a part of a stage
            return
        if self._killer:
            self._killer.end()
        digest = sha256()
        for file in sorted((self._folder / name).glob("[!.]*")):  # killed writers leave others
            digest.update(file.name.encode() + file.read_bytes())
        self.seconds[name], self.digests[name] = seconds, digest.hexdigest()


class Killer:
    """Kills random workers at random moments of a stage.

    Parameters
    ----------
    engine : DaskEngine
        With a cluster of this machine.
    usual : dict of str to float
        Seconds of each stage undisturbed: the first kill is within them.
    mean_pause : float
        Seconds between further kills, on average.

    Attributes
    ----------
    kills : dict of str to int
        By stage.
    """

    def __init__(self, engine: DaskEngine, usual: dict[str, float], *, mean_pause: float):
        self._cluster, self._usual, self._mean_pause = engine.client.cluster, usual, mean_pause
        self._rng, self._killed = np.random.default_rng(0), set[int]()
        self.kills = dict.fromkeys(usual, 0)

    def begin(self, stage: str) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._kill, args=(stage,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _kill(self, stage: str) -> None:
        pause = self._rng.uniform(0, self._usual[stage])
        while not self._over.wait(pause):
            pids = {nanny.pid for nanny in self._cluster.workers.values()} - {None, *self._killed}
            if pids:
                pid = int(self._rng.choice(sorted(pids)))
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self._killed.add(pid)
                    self.kills[stage] += 1
            pause = self._rng.exponential(self._mean_pause)


def run(X: np.ndarray, y: np.ndarray, engine: DaskEngine, killer: Killer | None = None) -> Stages:
    """Go from points to map and return what was heard of the stages."""
    with tempfile.TemporaryDirectory() as folder:
        points, stages = Path(folder, "points.npy"), Stages(Path(folder, "scratch"), killer)
        np.save(points, X)
        with Scratch.opened(Path(folder, "scratch"), job={}) as scratch, listening(stages):
            operator, _ = build_operator(
                points, scratch=scratch, engine=engine, block_points=len(X) // 4, random_state=0
            )
            codes = y[scratch.load("cells/order")]
            diffuse_in_blocks(operator, codes, engine=engine, max_time=64)
    return stages


def changed(found: Stages, expected: Stages) -> list[str]:
    """Return the stages whose files differ."""
    return [stage for stage in expected.digests if found.digests[stage] != expected.digests[stage]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--pause", type=float, default=8.0, help="mean seconds to a second kill")
    arguments = parser.parse_args()
    X, y = drawn(arguments.points)
    with local_cluster(2, memory=4 * 2**30) as engine:
        run(X, y, engine)  # compiles
        expected, disturbed = run(X, y, engine), list[Stages]()
        killer = Killer(engine, expected.seconds, mean_pause=arguments.pause)
        while sum(killer.kills.values()) < arguments.kills or not all(killer.kills.values()):
            disturbed.append(run(X, y, engine, killer))
            print(killer.kills, changed(disturbed[-1], expected) or "all the same", flush=True)
    rows = [
        {
            "stage": stage,
            "runs": len(disturbed),
            "kills": killer.kills[stage],
            "undisturbed": f"{expected.seconds[stage]:.1f}",
            "seconds": f"{np.mean([stages.seconds[stage] for stages in disturbed]):.1f}",
            "same": not any(stage in changed(stages, expected) for stages in disturbed),
        }
        for stage in expected.seconds
    ]
    for row in rows:
        print(row)
    if not all(row["same"] for row in rows):
        raise SystemExit("a result has changed")
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
