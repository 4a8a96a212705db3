"""Forecasts of time beside what runs in blocks take, over sizes of scenes.

    python -m experiments.scaling.forecasts FOLDER [--sides 600 1000 1600 3200]

Scenes of `experiments.scaling.make_large_scene` are made in FOLDER unless they are there, and
classified by ``diffclass classify --memory``, each in its own process, with too little memory for
the whole graph (300 x 300 pixels fit into any); 6 GB for ten million pixels, which take some 20
minutes. A report that is there is not made again. One row per scene and stage goes to
forecasts.csv: seconds as forecast before the start (`diffclass.blocks.plan`), as taken, and their
ratio, by which its constants would have been right on this machine. "all" is to the map: the
calibration of probabilities has a row of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from experiments import PROGRAM
from experiments.markdown import write_rows
from experiments.scaling.make_large_scene import LABELS_PER_CLASS, LargeScene, write_scene

OUTPUT = Path(__file__).with_name("forecasts.csv")
# what the run calls stages that a forecast takes together
PARTS = {"affinities": ("graph", "affinities", "operator")}


def scene_in(folder: Path, side: int) -> Path:
    """Return the folder of a scene, which is made unless it is there."""
    place = folder / str(side)
    if not (place / "labels.npy").exists():
        place.mkdir(parents=True, exist_ok=True)
        write_scene(place, LargeScene(side, 0.02, 0), labels_per_class=2 * LABELS_PER_CLASS)
    return place


def run(place: Path, side: int) -> dict[str, Any]:
    """Classify a scene in blocks, in its own process, and return its report."""
    report = place / "report.json"
    if not report.exists():
        words = [
            "classify", "scene.img", "--labels", "labels.npy", "-o", "map.npy", "--overwrite",
            f"--memory={memory_of(side)}MB", "--report", report.name, "-q",
            "--probability=probability.npy",
        ]  # fmt: skip
        subprocess.run([sys.executable, "-c", PROGRAM, *words], cwd=place, check=True)
    return json.loads(report.read_text())


def memory_of(side: int) -> int:
    """Return a budget in MB."""
    return min(400 + 1000 * side**2 // 10**6, 6000)


def rows_of(side: int, report: dict[str, Any]) -> list[dict[str, object]]:
    """Return a row for each stage, and one for all."""
    forecast, taken = report["memory"].get("forecast_seconds"), report["seconds"]
    if forecast is None:
        raise SystemExit(f"{side} x {side} pixels fit into the memory given; take a larger scene")
    found = {name: sum(taken[part] for part in PARTS.get(name, [name])) for name in forecast}
    rows = [_row(side, name, seconds, found[name]) for name, seconds in forecast.items()]
    told, took = (sum(s for name, s in of.items() if name != "calibration")
                  for of in (forecast, found))  # fmt: skip
    return [*rows, _row(side, "all", told, took)]


def _row(side: int, name: str, forecast: float, taken: float) -> dict[str, object]:
    return {
        "side": side,
        "stage": name,
        "forecast": f"{forecast:.3g}",
        "seconds": f"{taken:.3g}",
        "ratio": f"{taken / forecast:.3g}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sides", type=int, nargs="+", default=[600, 1000, 1600, 3200])
    arguments = parser.parse_args()
    rows = []
    for side in arguments.sides:
        place = scene_in(arguments.folder, side)
        rows += rows_of(side, run(place, side))
        print(*(row for row in rows if row["side"] == side), sep="\n", flush=True)
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
