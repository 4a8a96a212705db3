"""`diffclass bench` on graphs of two sizes: steps, large times, and strokes to maps.

    python -m experiments.scaling.bench [--repeats 15]

Each figure that the command gives as JSON becomes a row of bench.csv: the picture's rows and
columns, the quantity (``relabel.milliseconds_per_stroke``; of the large times by their number of
steps, ``powers.64.times_faster_than_plain``) and its value.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments import PROGRAM
from experiments.markdown import write_rows

SHAPES = ((145, 145), (512, 217))
OUTPUT = Path(__file__).with_name("bench.csv")


def flat(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of nested JSON, each with the names that lead to it."""
    prefix = f"{name}." if name else ""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(inner, f"{prefix}{key}")
    elif isinstance(value, list):
        for row in value:  # a row for each number of steps
            yield from flat(row, f"{prefix}{row['n_steps']}")
    elif isinstance(value, int | float):
        yield name, float(value)


def measured(shape: tuple[int, int], repeats: int) -> dict[str, Any]:
    """Return what the command prints, in a process of its own."""
    words = ["bench", f"--rows={shape[0]}", f"--columns={shape[1]}", f"--repeats={repeats}", "-q"]
    command = [sys.executable, "-c", PROGRAM, *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    rows: list[dict[str, object]] = []
    for shape in SHAPES:
        for quantity, value in flat(measured(shape, repeats)):
            place = {"rows": shape[0], "columns": shape[1]}
            rows.append(place | {"quantity": quantity, "value": value})
            print(f"{shape[0]} x {shape[1]}: {quantity}: {value:.3g}", flush=True)
    write_rows(OUTPUT, rows)


if __name__ == "__main__":
    main()
