"""How every figure of a paper is made: computed, then written beside its script, then drawn.

A script has three functions: ``compute(quick)`` returns arrays by name and never draws;
``numbers(results)`` returns a few numbers that tell how well the paper is reproduced;
``plot(results)`` draws. Its last line is ``main(compute, numbers, plot)``; run it as a module,

    python -m experiments.coifman_2005.figure_2 [--quick] [-o FOLDER]

and it writes ``figure_2.csv`` (quantity, value; the seconds are the last row) and ``figure_2.png``
into the script's folder, or into FOLDER.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Results = dict[str, Any]


def main(
    compute: Callable[[bool], Results],
    numbers: Callable[[Results], dict[str, float]],
    plot: Callable[[Results], Any],
    arguments: Sequence[str] | None = None,
) -> dict[str, float]:
    """Run a figure's script and return its numbers."""
    script = Path(inspect.getfile(compute))
    parser = argparse.ArgumentParser(description=inspect.getdoc(inspect.getmodule(compute)))
    parser.add_argument("--quick", action="store_true", help="few points, to see that it runs")
    parser.add_argument("-o", "--output", type=Path, help="folder of the results")
    options = parser.parse_args(arguments)
    if options.quick and options.output is None:
        parser.error("--quick needs -o FOLDER: its numbers are not those to keep")
    folder = options.output or script.parent
    start = time.perf_counter()
    results = compute(options.quick)
    found = numbers(results) | {"seconds": time.perf_counter() - start}
    _write(folder / f"{script.stem}.csv", found)
    figure = plot(results)
    figure.savefig(folder / f"{script.stem}.png", dpi=80)
    return found


def _write(path: Path, found: dict[str, float]) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["quantity", "value"])
        for quantity, value in found.items():
            rows.writerow([quantity, f"{value:.4g}"])
            print(f"{quantity:40} {value:.4g}")
