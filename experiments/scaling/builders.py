"""`classify` in blocks by one process, and by the workers of a scheduler.

    python -m experiments.scaling.builders FOLDER

A scene of 600 x 600 pixels (`experiments.scaling.make_large_scene`, made in FOLDER unless it is
there) becomes a map and probabilities; the workers of a scheduler on this machine build and walk.
(Local workers, `--workers 2`, would need more memory than the whole graph in that of one process,
and are not started; they took 67 processor seconds for 51 of one process.) Blocks have 90,000
pixels in every run. One row per run goes to builders.csv: processor seconds and bytes written by
all processes of the run, as seen five times a second, the largest sum of their memory (proportional
set sizes), and the share of the pixels that have the class of the first run. Processes load
compiled loops that earlier runs have made; seconds by the clock are not told, for they are those of
the machine.
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

import numpy as np
import psutil

from experiments.markdown import Row, markdown_table, write_rows
from experiments.scaling.forecasts import scene_in

SIDE, N_WORKERS = 600, 2
NAME = "scaling/builders.csv"
OUTPUT = Path(__file__).with_name("builders.csv")
RUNS = {
    "one process": ("--memory=865763KB",),  # enough for blocks of 90,000 pixels, and no more
    "two workers of a scheduler": ("--memory=1.2GB",),  # each, 60 % of its limit
}
CLASSIFY = "from diffclass.command_line.start import main; main()"


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
def scheduler() -> Iterator[str]:
    """Start a scheduler with workers, as a user would; yield its address."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
        worker = [
            sys.executable, "-m", "distributed.cli.dask_worker", "--no-dashboard",
            f"--nworkers={N_WORKERS}", "--nthreads=1", "--memory-limit=2GB",
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


def watched(place: Path, words: tuple[str, ...]) -> tuple[Watch, np.ndarray]:
    """Classify the scene, and return what that used, and the map."""
    given = [
        "classify", "scene.img", "--labels", "labels.npy", "-o", "map.npy", "--overwrite", "-q",
        "--probability=probability.npy", *words,
    ]  # fmt: skip
    watch, run = Watch(), subprocess.Popen([sys.executable, "-c", CLASSIFY, *given], cwd=place)
    while run.poll() is None:
        watch.look()
        time.sleep(0.2)
    if run.returncode:
        raise SystemExit(f"classify {' '.join(words)} failed")
    return watch, np.load(place / "map.npy")


def compute(folder: Path) -> Iterator[dict[str, object]]:
    """Yield a row per run."""
    place, first = scene_in(folder, SIDE), None
    for name, words in RUNS.items():
        if "scheduler" in name:
            with scheduler() as address:
                watch, found = watched(place, (*words, f"--workers={address}"))
        else:
            watch, found = watched(place, words)
        first = found if first is None else first
        yield {"run": name} | watch.row() | {"equal_share": f"{np.mean(found == first):.6f}"}


def table(rows: list[Row]) -> list[str]:
    """Return the lines of the guide's table."""
    head = ["run", "processor, s", "written, GB", "memory, GB", "equal pixels, %"]
    columns = ("run", "processor_seconds", "written_gb", "peak_gb")
    return markdown_table(
        head,
        [[*(row[c] for c in columns), f"{100 * float(row['equal_share']):.4g}"] for row in rows],
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
