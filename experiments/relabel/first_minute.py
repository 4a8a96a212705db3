"""The first minute: from the command to a page that takes strokes, and to the map of the first two.

    python -m experiments.relabel.first_minute [--repeats 3]

8-bit Indian Pines, spectral features, in its own process: with an empty folder for compiled loops,
and again with what the first run has left there. The client speaks as the page does, but draws
nothing. Medians of runs in turn go to first_minute.csv, in seconds from the start of the command.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from experiments.markdown import write_rows
from experiments.relabel.driver.clients import PageClient
from experiments.relabel.driver.processes import Relabel
from experiments.relabel.screenshots import pines_scene

OUTPUT = Path(__file__).with_suffix(".csv")
PATIENCE = 300  # seconds


def run(scene: Path, session: Path, loops: Path) -> dict[str, float]:
    """Return the seconds until there is an address, a greeting, an answer and a map."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(loops), "DIFFCLASS_NUMBA_CACHE": "1"}
    start = time.perf_counter()
    process = Relabel(scene, "--session", session, environment=environment)
    seconds = {"address": time.perf_counter() - start}
    try:
        client = PageClient(process.gate)
        while "hello" not in client.seen:
            client.hear(PATIENCE)
        seconds["paintable"] = time.perf_counter() - start
        for name in ("one", "two"):
            client.do("add_class", name=name)
        for class_id, pixel in ((1, 3000), (2, 15_000)):
            client.do("stroke", **{"class": class_id, "pixels": [pixel, 8]})
        seconds["strokes on disk"] = time.perf_counter() - start
        while client.frames.get("map", ({"version": 0}, None))[0]["version"] < 4:
            client.hear(PATIENCE)
        seconds["their map"] = time.perf_counter() - start
        while client.seen["state"]["preparing"] is not None:
            client.hear(PATIENCE)
        seconds["all prepared"] = time.perf_counter() - start
        client.close()
    finally:
        process.end()
    return seconds


def compute(repeats: int) -> list[dict[str, object]]:
    """Run both cases in turn."""
    found: dict[str, list[dict[str, float]]] = {"first": [], "second": []}
    with pines_scene() as scene:
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as folder:
                for k, case in enumerate(found):
                    session = Path(folder) / f"{k}.jsonl"
                    found[case].append(run(scene, session, Path(folder) / "loops"))
    return [
        {"run": case}
        | {name: f"{statistics.median(one[name] for one in runs):.1f}" for name in runs[0]}
        for case, runs in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    rows = compute(parser.parse_args().repeats)
    write_rows(OUTPUT, rows)
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
