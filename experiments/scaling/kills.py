"""Workers, and whole runs, killed at random in every stage: the results have to be the same.

    python -m experiments.scaling.kills [--kills 20] [--points 20000] [--run-kills 20] [--side 150]

Two workers of this machine build the operator of points in four blocks and diffuse labels. In each
stage one of them gets SIGKILL at a random moment of the time that the stage takes undisturbed, and
again and again while it goes on. Runs are repeated until that has happened often enough, and in
every stage. The files that each stage writes are compared, byte for byte, with those of an
undisturbed run.

A worker whose sources differ in a comment joins them, and has to be refused. Last, ``diffclass
classify --memory`` of a scene in blocks is killed at random moments and goes on with ``--resume``,
again and again until it is done: map and probabilities have to be those of a run that nobody
disturbed, byte for byte, and nothing else may be left.

One row per stage, and one for whole runs, goes to kills.csv: runs, kills, seconds undisturbed, mean
seconds with kills, and whether all files were the same. It fails if any is not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import numpy as np

import diffclass
from diffclass import StoppingRule
from diffclass.blocks import Scratch, build_operator, diffuse_in_blocks
from diffclass.blocks.dask_engine import DaskEngine, local_cluster
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion import DiffusionRules, Labels
from diffclass.system.progress import listening
from experiments import PROGRAM
from experiments.markdown import write_rows
from experiments.scaling.make_large_scene import LargeScene, write_scene
from experiments.scaling.searches import points_of
from experiments.scaling.workers import N_FEATURES, labels_of

WORDS = [
    "classify", "scene.hdr", "--labels", "labels.npy", "-o", "map.img",
    "--probability", "probability.img", "--memory", "580MB", "--quiet",
]  # fmt: skip
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
            labels = Labels.of(y[scratch.load("cells/order")])
            rules = DiffusionRules.of(labels, tau=StoppingRule(max_time=64))
            diffuse_in_blocks(operator, labels, rules, engine=engine)
    return stages


def changed(found: Stages, expected: Stages) -> list[str]:
    """Return the stages whose files differ."""
    return [stage for stage in expected.digests if found.digests[stage] != expected.digests[stage]]


class WholeRuns:
    """Runs of the command in a folder that are killed, and go on.

    Parameters
    ----------
    folder : Path
        Gets a scene.
    side : int
        Rows and columns of it: so many that its graph does not fit into the budget.
    """

    def __init__(self, folder: Path, side: int):
        self._folder, self._rng = folder, np.random.default_rng(0)
        write_scene(folder, LargeScene(side), labels_per_class=10)
        self._inputs = set(folder.iterdir())

    def undisturbed(self) -> tuple[dict[str, str], float]:
        """Return digests of what a run writes, and its seconds."""
        start = time.perf_counter()
        self._started().wait()
        return self._written(), time.perf_counter() - start

    def killed(self, usual: float) -> tuple[dict[str, str], float, int]:
        """Kill a run and go on until it is done; return digests, seconds, and the kills."""
        start, kills = time.perf_counter(), 0
        while True:
            process = self._started(*([] if not kills else ["--resume", "--overwrite"]))
            with suppress(subprocess.TimeoutExpired):
                process.wait(self._rng.uniform(0.1, 1.2) * usual)
                break
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
                kills += 1
            process.wait()
        return self._written(), time.perf_counter() - start, kills

    def _started(self, *more: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-W", "ignore", "-c", PROGRAM, *WORDS, *more]
        return subprocess.Popen(command, cwd=self._folder, start_new_session=True)

    def _written(self) -> dict[str, str]:
        """Return the digests of all that is not input, also of what should not be left."""
        written = sorted(set(self._folder.iterdir()) - self._inputs)
        digests = {
            file.name: sha256(file.read_bytes()).hexdigest() if file.is_file() else "a folder"
            for file in written
        }
        for file in written:
            file.unlink() if file.is_file() else shutil.rmtree(file)
        return digests


def whole_runs(n_kills: int, side: int) -> dict[str, object]:
    """Return the row of runs that were killed as a whole."""
    with tempfile.TemporaryDirectory() as folder:
        runs = WholeRuns(Path(folder), side)
        runs.undisturbed()  # compiles
        expected, usual = runs.undisturbed()
        if len(expected) != 4:
            raise SystemExit(f"a run that nobody disturbed left {sorted(expected)}")
        found: list[tuple[dict[str, str], float, int]] = []
        while sum(kills for _, _, kills in found) < n_kills:
            found.append(runs.killed(usual))
            print(found[-1][2], "kills,", "same" if found[-1][0] == expected else found[-1][0])
    return {
        "stage": "whole runs",
        "runs": len(found),
        "kills": sum(kills for _, _, kills in found),
        "undisturbed": f"{usual:.1f}",
        "seconds": f"{np.mean([seconds for _, seconds, _ in found]):.1f}",
        "same": all(written == expected for written, _, _ in found),
    }


def refuses_other_sources(X: np.ndarray, y: np.ndarray, engine: DaskEngine) -> bool:
    """Tell whether a run ends with an error once a worker of changed sources has joined."""
    package = Path(diffclass.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, package.name)
        shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
        with (copy / "output.py").open("a") as file:
            file.write("# changed\n")
        worker = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_worker", "--nthreads", "1",
             engine.client.cluster.scheduler_address],
            env=os.environ | {"PYTHONPATH": folder, "PYTHONSAFEPATH": "1"},
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            engine.client.wait_for_workers(3, timeout=120)
            run(X, y, engine)
        except ParameterError as error:
            print(error)
            return "other sources" in str(error)
        finally:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--pause", type=float, default=8.0, help="mean seconds to a second kill")
    parser.add_argument("--run-kills", type=int, default=20)
    parser.add_argument("--side", type=int, default=150, help="rows and columns of the scene")
    arguments = parser.parse_args()
    X = points_of("scene", arguments.points, N_FEATURES)
    y = labels_of(len(X))
    with local_cluster(2, memory=4 * 2**30) as engine:
        run(X, y, engine)  # compiles
        expected, disturbed = run(X, y, engine), list[Stages]()
        killer = Killer(engine, expected.seconds, mean_pause=arguments.pause)
        while sum(killer.kills.values()) < arguments.kills or not all(killer.kills.values()):
            disturbed.append(run(X, y, engine, killer))
            print(killer.kills, changed(disturbed[-1], expected) or "all the same", flush=True)
        is_refused = refuses_other_sources(X, y, engine)
    rows: list[dict[str, object]] = [
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
    rows.append(whole_runs(arguments.run_kills, arguments.side))
    for row in rows:
        print(row)
    if not is_refused:
        raise SystemExit("a worker of other sources was not refused")
    if not all(row["same"] for row in rows):
        raise SystemExit("a result has changed")
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
