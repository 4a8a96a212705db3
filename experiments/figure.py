"""How every figure of a paper is made: computed, then written beside its script, then drawn.

A script has three functions: ``compute(quick)`` returns arrays by name and never draws;
``numbers(results)`` returns a few numbers that tell how well the paper is reproduced;
``plot(results)`` draws. Its last line is ``main(compute, numbers, plot)``; run it as a module,

    python -m experiments.coifman_2005.figure_2 [--quick] [-o FOLDER]

and it writes ``figure_2.csv`` (quantity, value; the seconds are the last row) and ``figure_2.png``
into the script's folder, or into FOLDER.

Pictures are made at the size at which they are read, the width of a column: text of 7 points in
them is 7 points on paper.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

Results = dict[str, Any]

COLUMN = 3.35  # inches: 8.5 cm
LEAST_TEXT = 6.0  # points
STYLE = {
    "font.size": 7.0,
    "axes.titlesize": 7.0,
    "axes.labelsize": 7.0,
    "xtick.labelsize": LEAST_TEXT,
    "ytick.labelsize": LEAST_TEXT,
    "legend.fontsize": LEAST_TEXT,
    "legend.frameon": False,
    "legend.handlelength": 1.5,
    "legend.borderaxespad": 0.2,
    "axes.linewidth": 0.6,
    "axes.labelpad": 1.5,
    "axes.titlepad": 3.0,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.0,
    "ytick.major.size": 2.0,
    "xtick.minor.size": 1.0,
    "ytick.minor.size": 1.0,
    "xtick.major.pad": 1.5,
    "ytick.major.pad": 1.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.0,
    "patch.linewidth": 0.6,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "savefig.dpi": 200,
}


def column_figure(height: float) -> Figure:
    """Return an empty figure as wide as a column; the height is in inches."""
    return Figure(figsize=(COLUMN, height), layout="constrained")


def save(plot: Callable[[Results], Any], results: Results, path: Path) -> None:
    """Draw a picture and write it with 256 colours, a third as large as with all."""
    with rc_context(STYLE):  # to the end: ticks are made only when they are drawn
        plot(results).savefig(path)
    with Image.open(path) as picture:
        reduced = picture.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE
        )
    reduced.save(path, optimize=True)


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
    save(plot, results, folder / f"{script.stem}.png")
    return found


def _write(path: Path, found: dict[str, float]) -> None:
    with path.open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["quantity", "value"])
        for quantity, value in found.items():
            rows.writerow([quantity, f"{value:.4g}"])
            print(f"{quantity:40} {value:.4g}")
