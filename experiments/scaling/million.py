"""How time and memory grow up to four million pixels: whole runs of `diffclass classify`.

    python -m experiments.scaling.million [--sides 354 500 707 1000 2000]
        [--features spatial] [--device cuda]

Square synthetic scenes of 100 bands on fields of random shape, 16 classes, written to disk and
opened as memory maps; 5 labels per class. Each run has its own process; its seconds and peak memory
by stage are those of its report. They go to standard output and, with spectral features, to
million.csv, unless an NVIDIA device is asked for. Compiled code is on disk from a small run before.
The last line gives the exponent of time against pixels from the smallest to the largest scene.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from experiments import PROGRAM
from experiments.datasets import make_hyperspectral_scene
from experiments.markdown import write_rows

N_CLASSES, N_BANDS, LABELS_PER_CLASS = 16, 100, 5
PIXELS_PER_FIELD = 2500
STAGES = ("features", "neighbors", "affinities", "diffusion", "calibration", "total")
OUTPUT = Path(__file__).with_name("million.csv")


def n_fields(side: int) -> int:
    """Return how many fields a square scene has."""
    return max(2 * N_CLASSES, side * side // PIXELS_PER_FIELD)


def cells(side: int, rows: range, seed: int = 0) -> np.ndarray:
    """Return the field of each pixel of some rows of a square scene: cells of random points."""
    rng = np.random.default_rng(seed)
    centers = rng.random((n_fields(side), 2)) * side
    places = np.meshgrid(np.arange(rows.start, rows.stop), np.arange(side), indexing="ij")
    pixels = np.stack(places, axis=-1).reshape(-1, 2)
    return cKDTree(centers).query(pixels)[1].reshape(len(rows), side)


def fields(side: int, seed: int = 0) -> np.ndarray:
    """Return the class of each pixel of a square scene."""
    return class_of(cells(side, range(side), seed))


def class_of(fields: np.ndarray) -> np.ndarray:
    """Return the class of each field, by its number."""
    return (1 + fields % N_CLASSES).astype(np.uint8)


def run(side: int, folder: Path, features: str, device: str) -> dict[str, Any]:
    """Classify a scene in its own process and return its report."""
    truth = fields(side)
    np.save(folder / "truth.npy", truth)
    np.save(folder / "scene.npy", make_hyperspectral_scene(truth, n_bands=N_BANDS))
    words = [
        "classify", "scene.npy", "--labels", "truth.npy", "-o", "map.npy", "--overwrite",
        f"--labels-per-class={LABELS_PER_CLASS}", f"--features={features}", "--json", "-q",
        f"--device={device}",
    ]  # fmt: skip
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def csv_row(side: int, report: dict[str, Any]) -> dict[str, object]:
    seconds = {stage: f"{report['seconds'][stage]:.3g}" for stage in STAGES}
    return {
        "pixels": side**2,
        **seconds,
        "peak_memory_gib": f"{report['peak_memory_bytes'] / 2**30:.2f}",
        "accuracy": f"{100 * report['holdout']['overall_accuracy']:.1f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sides", type=int, nargs="+", default=[354, 500, 707, 1000, 2000])
    parser.add_argument("--features", choices=["spectral", "spatial"], default="spectral")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    arguments = parser.parse_args()
    chosen = arguments.features, arguments.device
    totals, rows = [], []
    with tempfile.TemporaryDirectory() as folder:
        run(80, Path(folder), *chosen)  # larger than `EXACT_SEARCH_POINTS`: all is compiled
        for side in arguments.sides:
            report = run(side, Path(folder), *chosen)
            stages = {name: round(value, 1) for name, value in report["seconds"].items()}
            memory = report["peak_memory_bytes"] / 2**30
            accuracy = report["holdout"]["overall_accuracy"]
            rows.append(csv_row(side, report))
            totals.append((side**2, report["seconds"]["total"]))
            print(f"{side**2} pixels: {stages}, {memory:.2f} GiB, {accuracy:.1%}", flush=True)
            for name, forecast in report["memory"].get("forecast_seconds", {}).items():
                print(f"  {name}: forecast {forecast:.1f} s", flush=True)
    if chosen == ("spectral", "cpu"):
        write_rows(OUTPUT, rows)
    if len(totals) > 1:
        (n, first), (m, last) = totals[0], totals[-1]
        print(f"time grows as n^{np.log(last / first) / np.log(m / n):.2f}")


if __name__ == "__main__":
    main()
