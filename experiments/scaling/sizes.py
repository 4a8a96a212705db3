"""Seconds and accuracy of a fit against the number of points: neither may jump.

    python -m experiments.scaling.sizes [--most 1100000]

Two sets of points, from 1,000 up, each size twice the one before: features of synthetic scenes of
100 bands and 16 classes (`million`), where classes are mixed and walks are short, and two moons in
the plane, where five labels have to fill a whole one and walks are long. Five labels per class.
`DiffusionClassifier` is fitted and calibrated, each fit in a process of its own that has loaded the
compiled loops; the seconds are those of its stages, without the features. One line per fit goes to
standard output and to sizes.csv, and both are drawn against n in sizes.png.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons

from diffclass.classifier import DiffusionClassifier
from diffclass.system.memory import peak_memory_bytes
from diffclass.system.progress import stage_seconds
from diffclass_hyperspectral import SceneFeatures, open_scene
from experiments.datasets import make_hyperspectral_scene
from experiments.few_labels.draws import draw_labels
from experiments.figure import column_figure, save
from experiments.markdown import Row, markdown_table, read_rows, write_rows
from experiments.scaling import million

LABELS_PER_CLASS, LEAST = 5, 1000
STAGES = ("neighbors", "affinities", "diffusion", "calibration")
OUTPUT = Path(__file__).with_suffix(".csv")


def scene(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of a square synthetic scene of about n pixels, and classes from 1."""
    truth = million.fields(round(n**0.5))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.npy"
        np.save(path, make_hyperspectral_scene(truth, n_bands=million.N_BANDS))
        return SceneFeatures().fit_transform(open_scene(path)), truth.ravel()


def moons(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two interlocking half moons, and classes from 1."""
    points, codes = make_moons(n, noise=0.12, random_state=0)
    return points, codes + 1


POINTS = {"scene": scene, "two moons": moons}


def fit(name: str, n: int) -> dict[str, Any]:
    """Return the row of one fit."""
    draw_fit(*POINTS[name](LEAST))  # loads compiled code
    points, truth = POINTS[name](n)
    classifier, seconds, accuracy = draw_fit(points, truth)
    return {
        "points": name,
        "n": len(points),
        **{stage: f"{seconds.get(stage, 0):.3g}" for stage in STAGES},
        "total": f"{seconds['total']:.3g}",
        "tau": classifier.tau_,
        "recall": f"{classifier.graph_.recall:.3f}",
        "accuracy": f"{100 * accuracy:.1f}",
        "peak_memory_gib": f"{peak_memory_bytes() / 2**30:.2f}",
    }


def draw_fit(
    points: np.ndarray, truth: np.ndarray
) -> tuple[DiffusionClassifier, dict[str, float], float]:
    """Return a fitted classifier, the seconds of its stages, and its accuracy."""
    y, scored = draw_labels(truth, LABELS_PER_CLASS, seed=0)
    start = time.perf_counter()
    with stage_seconds() as seconds:
        classifier = DiffusionClassifier(random_state=0).fit(points, np.where(y > 0, y, -1))
        assert classifier.calibration_ is not None
    total = {"total": time.perf_counter() - start}
    right = classifier.transduction_ == truth
    return classifier, seconds | total, float(right[scored].mean())


def table(rows: list[Row]) -> list[str]:
    """Return the rows for the guide."""
    head = ["points", "n", *STAGES, "total, s", "tau", "recall", "accuracy, %", "peak, GiB"]
    cells = [[row["points"], f"{int(row['n']):,}", *list(row.values())[2:]] for row in rows]
    return markdown_table(head, cells)


def plot(results: dict[str, Any]) -> Figure:
    """Draw seconds and accuracy against n."""
    figure = column_figure(1.9)
    times, accuracies = figure.subplots(1, 2)
    for name in POINTS:
        rows = [row for row in results["rows"] if row["points"] == name]
        n = [int(row["n"]) for row in rows]
        times.plot(n, [float(row["total"]) for row in rows], "o-", label=name)
        accuracies.plot(n, [float(row["accuracy"]) for row in rows], "o-", label=name)
    times.set(xscale="log", yscale="log", xlabel="points", ylabel="seconds of a fit")
    accuracies.set(xscale="log", ylim=(50, 101), xlabel="points", ylabel="accuracy, %")
    times.legend()
    for panel in (times, accuracies):
        panel.grid(alpha=0.3)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1_100_000, help="points of the largest set")
    parser.add_argument("--one", nargs=2, metavar=("POINTS", "N"), help="one fit, as JSON")
    parser.add_argument("--draw", action="store_true", help="draw what was measured, and no more")
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(fit(arguments.one[0], int(arguments.one[1]))))
        return
    if not arguments.draw:
        rows = []
        for name in POINTS:
            for n in LEAST * 2 ** np.arange(int(np.log2(arguments.most / LEAST)) + 1):
                command = [sys.executable, "-m", "experiments.scaling.sizes", "--one", name, str(n)]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                rows.append(json.loads(done.stdout.splitlines()[-1]))
                print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
        write_rows(OUTPUT, rows)
    save(plot, {"rows": read_rows("scaling/sizes.csv")}, OUTPUT.with_suffix(".png"))


if __name__ == "__main__":
    main()
