"""A 512 x 217 x 204 scene with 16 classes, from opened file to class map, beside GraphLearning.

    python3 -m venv .peers && .peers/bin/pip install graphlearning annoy
    python -m experiments.scaling.whole_scene --peer .peers/bin/python

The scene has synthetic spectra on the real fields of Salinas (on synthetic fields where that label
image is missing), with 5 labels per class. Ours: open the file, features, neighbours, affinities,
diffusion with its choice of tau; with spectral and with spatial features, and with summed labels,
which choose it by the margin alone. The peer: its
kNN graph (12 neighbours) and Laplace learning on our spectral features, which are given to it. Runs
alternate; the figures are medians of five. Imports and compilation are not timed. The report goes
to standard output, the table's figures to whole_scene.csv where the peer has run too.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.classifier import DiffusionClassifier
from diffclass.system.memory import peak_memory_bytes
from diffclass.system.progress import stage_seconds
from diffclass_hyperspectral import LabelImage, SceneFeatures, open_scene, read_labels
from diffclass_hyperspectral.jobs.classification import (
    SceneClassification,
    classify_scene,
)
from experiments.datasets import make_hyperspectral_scene
from experiments.few_labels.draws import draw_labels
from experiments.markdown import write_rows
from experiments.problems import DATA

SHAPE, N_BANDS = (512, 217), 204
OUTPUT = Path(__file__).with_name("whole_scene.csv")
STAGES = ("features", "neighbors", "affinities", "diffusion", "total")


def fields() -> np.ndarray:
    """Return the class of each pixel, 0 between the fields."""
    path = DATA / "ground_truth_only" / "Salinas_gt.mat"
    if path.exists():
        return read_labels(path).ids
    rows, columns = np.indices(SHAPE)
    return 1 + (rows // 128) * 4 + columns // 55


def ours(
    scene: Path, labels: LabelImage, *, spatial: bool = False, summed: bool = False
) -> tuple[SceneClassification, dict[str, float]]:
    """Return the class map, and the seconds of each stage."""
    start = time.perf_counter()
    with stage_seconds() as seconds:
        features = SceneFeatures(spatial=spatial)
        classifier = DiffusionClassifier(random_state=0)
        if summed:
            classifier.set_params(label_mode="summed", tau="margin")
        run = classify_scene(open_scene(scene), labels, features=features, classifier=classifier)
    return run.result, seconds | {"total": time.perf_counter() - start}


def theirs(python: str, folder: Path) -> dict[str, float]:
    """Return the seconds of one run of the peer."""
    script = str(Path(__file__).with_name("laplace_peer.py"))
    files = [str(folder / name) for name in ("points.npy", "y.npy", "found.npy")]
    done = subprocess.run([python, script, *files, "1"], capture_output=True, text=True, check=True)
    run = json.loads(done.stdout.strip().splitlines()[-1])[0]
    return run | {"total": run["graph"] + run["laplace"]}


def compute(python: str | None, repeats: int) -> dict[str, Any]:
    truth = fields()
    y, scored = draw_labels(truth.ravel(), 5, seed=0)
    labels = LabelImage.from_array(np.maximum(y, 0).reshape(truth.shape))
    runs: list[dict[str, float]] = []
    peers: list[dict[str, float]] = []
    spatial_runs: list[dict[str, float]] = []
    summed_runs: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "scene.npy", make_hyperspectral_scene(truth, n_bands=N_BANDS))
        np.save(folder / "y.npy", y)
        features = SceneFeatures().fit_transform(open_scene(folder / "scene.npy"))
        np.save(folder / "points.npy", features)
        ours(folder / "scene.npy", labels, spatial=True)  # loads compiled code
        for _ in range(repeats):
            result, seconds = ours(folder / "scene.npy", labels)
            runs.append(seconds)
            spatial, seconds = ours(folder / "scene.npy", labels, spatial=True)
            spatial_runs.append(seconds)
            summed, seconds = ours(folder / "scene.npy", labels, summed=True)
            summed_runs.append(seconds)
            if python is not None:
                peers.append(theirs(python, folder))
        found = result.class_map.ravel()
        report = {
            "tau": int(result.model.classifier.tau_),
            "seconds": medians(runs),
            "accuracy": float((found == truth.ravel())[scored].mean()),
            "neighbor_recall": result.model.classifier.graph_.recall,
            "spatial_seconds": medians(spatial_runs),
            "spatial_accuracy": float((spatial.class_map.ravel() == truth.ravel())[scored].mean()),
            "summed_seconds": medians(summed_runs),
            "summed_accuracy": float((summed.class_map.ravel() == truth.ravel())[scored].mean()),
            "peak_memory_bytes": peak_memory_bytes(),
        }
        if peers:
            peer_found = np.load(folder / "found.npy")
            report["graphlearning_seconds"] = medians(peers)
            report["graphlearning_accuracy"] = float((peer_found == truth.ravel())[scored].mean())
            report["times_faster"] = (
                report["graphlearning_seconds"]["total"] / report["seconds"]["total"]
            )
    return report


def csv_rows(report: dict[str, Any]) -> list[dict[str, object]]:
    """Return a row for each run; what one does not have, or shares with another, stays empty."""
    peer = report["graphlearning_seconds"]
    peer_stages = {"neighbors": peer["graph"], "diffusion": peer["laplace"], "total": peer["total"]}
    runs = {
        "diffclass, spectral": (report["seconds"], report["accuracy"]),
        "diffclass, spatial": (report["spatial_seconds"], report["spatial_accuracy"]),
        "diffclass, spectral, summed labels": (report["summed_seconds"], report["summed_accuracy"]),
        "GraphLearning": (peer_stages, report["graphlearning_accuracy"]),
    }
    rows: list[dict[str, object]] = [
        {"run": name}
        | {stage: f"{seconds[stage]:.3g}" if stage in seconds else "" for stage in STAGES}
        | {"accuracy": f"{100 * accuracy:.1f}", "neighbor_recall": "", "peak_memory_gib": ""}
        for name, (seconds, accuracy) in runs.items()
    ]
    rows[0]["neighbor_recall"] = f"{report['neighbor_recall']:.3f}"
    rows[0]["peak_memory_gib"] = f"{report['peak_memory_bytes'] / 2**30:.2f}"
    return rows


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.median([run[name] for run in runs])) for name in runs[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="Python of an environment that has graphlearning")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    report = compute(arguments.peer, arguments.repeats)
    print(json.dumps(report, indent=1))
    if arguments.peer is not None:
        write_rows(OUTPUT, csv_rows(report))


if __name__ == "__main__":
    main()
