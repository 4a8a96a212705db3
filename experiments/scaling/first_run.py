"""The first run of `diffclass classify`, which compiles, and the second, which does not.

    python -m experiments.scaling.first_run [--checkout FOLDER]

Salinas-A, spectral features, with all labels and with five per class; each first run has an
empty folder for compiled loops. Three times in turn; the least of each is kept, in processor
seconds, which other work on the machine disturbs less, and in seconds by the clock. Writes
``first_run.csv`` and prints it. ``--checkout`` measures another checkout of the project, and only
prints.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from experiments import PROGRAM
from experiments.markdown import write_rows
from experiments.problems import DATA

REPEATS = 3
CASES = {"all labels": (), "5 labels per class": ("--labels-per-class", "5")}


def run(options: Sequence[str], loops: Path, checkout: Path) -> tuple[float, float]:
    """Return the processor seconds and the seconds of one command."""
    scene, labels = (
        str(DATA / "salinas_a" / f"SalinasA_{name}.mat") for name in ("corrected", "gt")
    )
    folders = os.pathsep.join([str(checkout), str(checkout / "plugins")])
    environment = os.environ | {"PYTHONPATH": folders, "NUMBA_CACHE_DIR": str(loops)}
    environment["DIFFCLASS_NUMBA_CACHE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        command = ["classify", scene, "--labels", labels, "-q", "-o", f"{folder}/map.npy", *options]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *command],
            env=environment,
            cwd=checkout,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        spent = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, spent


def compute(checkout: Path) -> list[dict[str, object]]:
    """Run all cases in turn, first with an empty folder and then again."""
    times: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for _ in range(REPEATS):
        for case, options in CASES.items():
            with tempfile.TemporaryDirectory() as loops:
                for which in ("first", "second"):
                    spent = run(options, Path(loops), checkout)
                    times.setdefault((case, which), []).append(spent)
    return [
        {
            "case": case,
            "run": which,
            "cpu_seconds": round(min(cpu for cpu, _ in pairs), 1),
            "seconds": round(min(seconds for _, seconds in pairs), 1),
        }
        for (case, which), pairs in times.items()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", type=Path)
    options = parser.parse_args(arguments)
    here = Path(__file__).resolve()
    rows = compute((options.checkout or here.parents[2]).resolve())
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    if options.checkout is None:
        write_rows(here.with_suffix(".csv"), rows)


if __name__ == "__main__":
    main()
