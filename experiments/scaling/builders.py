"""`classify` in blocks by one process, and by the workers of a scheduler.

    python -m experiments.scaling.builders FOLDER

A scene of 600 x 600 pixels (`experiments.scaling.make_large_scene`, made in FOLDER unless it is
there) becomes a map and probabilities; 1, 2 and 4 workers of a scheduler on this machine build and
walk. (Local workers, `--workers 2`, would need more memory than the whole graph in that of one
process, and are not started; they took 67 processor seconds for 51 of one process.) One row per run
goes to builders.csv: processor seconds and bytes written by all processes of the run, as seen five
times a second, what workers sent each other, the largest sum of the processes' memory (proportional
set sizes), and the accuracy: blocks are smaller with more workers, which have two each, so graphs
differ. Processes load compiled loops that earlier runs have made; seconds by the clock are not
told, for they are those of the machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil
from distributed import Client

from experiments import PROGRAM
from experiments.markdown import Row, markdown_table, write_rows
from experiments.scaling.forecasts import scene_in

SIDE = 600
NAME = "scaling/builders.csv"
OUTPUT = Path(__file__).with_name("builders.csv")
MEMORY = "865763KB"  # enough for blocks of 90,000 pixels, and no more
WORKER_MEMORY = "1.2GB"  # of each, 60 % of its limit


class Watch:
    """What the processes that this one has started use, ended ones included."""

    def __init__(self) -> None:
        self.peak = self.written = 0
        self._seconds: dict[int, float] = {}

    def look(self) -> None:
        """Look at all that run now."""
        held = written = 0
        for process in psutil.Process().children(recursive=True):
            try:
                held += process.memory_full_info().pss
                written += process.io_counters().write_bytes  # with its ended children's
                times = process.cpu_times()
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue  # it has just ended
            self._seconds[process.pid] = times.user + times.system
        self.peak, self.written = max(self.peak, held), max(self.written, written)

    def row(self) -> dict[str, object]:
        """Return the sums."""
        return {
            "processor_seconds": f"{sum(self._seconds.values()):.0f}",
            "written_gb": f"{self.written / 1e9:.2f}",
            "peak_gb": f"{self.peak / 1e9:.2f}",
        }


@contextmanager
def scheduler(n_workers: int) -> Iterator[str]:
    """Start a scheduler with workers, as a user would; yield its address."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
        worker = [
            sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard",
            f"--nworkers={n_workers}", "--nthreads=1", "--memory-limit=2GB",
            f"--local-directory={folder}", f"--scheduler-file={file}",
        ]  # fmt: skip
        command += ["--host=127.0.0.1", "--port=0", f"--scheduler-file={file}"]
        started = [subprocess.Popen(command), subprocess.Popen(worker)]
        try:
            while not file.exists():
                time.sleep(0.1)
            yield json.loads(file.read_text())["address"]
        finally:
            for process in reversed(started):
                process.terminate()
                process.wait()


def watched(place: Path, words: tuple[str, ...]) -> dict[str, object]:
    """Classify the scene, and return what that used, and how much of the map is right."""
    given = [
        "classify", "scene.img", "--labels", "labels.npy", "-o", "map.npy", "--overwrite", "-q",
        "--probability=probability.npy", *words,
    ]  # fmt: skip
    watch, run = Watch(), subprocess.Popen([sys.executable, "-c", PROGRAM, *given], cwd=place)
    while run.poll() is None:
        watch.look()
        time.sleep(0.2)
    if run.returncode:
        raise SystemExit(f"classify {' '.join(words)} failed")
    is_right = np.load(place / "map.npy") == np.load(place / "truth.npy")
    return watch.row() | {"accuracy": f"{is_right.mean():.4f}"}


def compute(folder: Path) -> Iterator[dict[str, object]]:
    """Yield a row per run."""
    place = scene_in(folder, SIDE)
    yield {"workers": "none"} | watched(place, (f"--memory={MEMORY}",)) | {"sent_gb": 0}
    for n_workers in (1, 2, 4):
        with scheduler(n_workers) as address:
            words = (f"--memory={WORKER_MEMORY}", f"--workers={address}")
            row = {"workers": n_workers} | watched(place, words)
            with Client(address) as client:
                sent = sum(client.run(sent_bytes).values())
        yield row | {"sent_gb": f"{sent / 1e9:.2f}"}


def sent_bytes(dask_worker: Any) -> int:
    """Return what a worker has sent to the others."""
    return dask_worker.transfer_outgoing_bytes_total


def table(rows: list[Row]) -> list[str]:
    """Return the lines of the guide's table."""
    head = ["workers", "processor, s", "written, GB", "sent, GB", "memory, GB", "accuracy, %"]
    columns = ("workers", "processor_seconds", "written_gb", "sent_gb", "peak_gb")
    return markdown_table(
        head,
        [[*(row[c] for c in columns), f"{100 * float(row['accuracy']):.1f}"] for row in rows],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    rows = []
    for row in compute(parser.parse_args().folder):
        rows.append(row)
        print(*row.values(), sep=", ", flush=True)
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
