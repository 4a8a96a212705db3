"""The tables of the guides, made from the CSV files that the experiments leave.

    python -m experiments.tables [--check]

A table stands in a guide between two comments,

    <!-- table: NAME, made by COMMAND -->
    <!-- end of table -->

where COMMAND is what writes the CSV file, too long to run each time. This command rewrites all that
is between them; ``--check`` only says whether anything would change, and fails where it would.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.anomaly import scenes as anomaly_scenes
from experiments.clustering import comparison
from experiments.clustering import scenes as cluster_scenes
from experiments.coifman_2005 import chi, figure_5_table, kernels_ablation, warping_tables
from experiments.few_labels import (
    accumulated,
    acquisition,
    calibration,
    many_classes,
    paired_table,
    runs,
    score_accuracy,
    scores,
    spatial,
    tau,
    unequal,
)
from experiments.markdown import markdown_table, read_rows
from experiments.multiscale import powers
from experiments.potsdam import tiles as potsdam_tiles
from experiments.relabel import domains, drawings, provisional_maps
from experiments.scaling import builders, graphs, rows, sizes, speed_tables, stability, waiting

ROOT = Path(__file__).parents[1]
GUIDES = (
    "README.md",
    "guide/how_long.md",
    *(
        f"experiments/results/{file.name}"
        for file in sorted((ROOT / "experiments/results").glob("*.md"))
    ),
)
BLOCK = re.compile(
    r"(<!-- table: (?P<name>[\w-]+), made by [^>]+ -->\n).*?(<!-- end of table -->)", re.DOTALL
)


def _runs(name: str = "benchmark") -> dict[runs.Key, float]:
    return runs.runs_of(read_rows(f"few_labels/{name}.csv"))


def _all_runs() -> dict[runs.Key, float]:
    return _runs() | _runs("families")


def _benchmark(*ways: str) -> list[str]:
    return paired_table.table(_runs(), ways=ways, each_other=False)


def _sessions() -> list[str]:
    rows = read_rows("relabel/session.csv")
    columns = ("scene", "features", "seed", "goal", "strokes", "pixels", "seconds", "accuracy")
    return markdown_table(columns, [[row[column] for column in columns] for row in rows])


TABLES: dict[str, Callable[[], list[str]]] = {
    "accuracy": lambda: _benchmark("equal"),
    "accuracy-other-draws": lambda: _benchmark("blocks", "proportional", "strokes", "wrong"),
    "accuracy-families": lambda: paired_table.table(_runs("families"), each_other=False),
    "accuracy-with-sizes": lambda: paired_table.sized_table(_all_runs()),
    "joined-features": lambda: paired_table.joined_table(_all_runs()),
    "leads": lambda: paired_table.leads(_all_runs()),
    "shortfalls": lambda: paired_table.shortfalls(_all_runs()),
    "accuracy-best-and-worst": lambda: paired_table.best_and_worst(_runs(), 4),
    "goals": lambda: paired_table.goals(_runs()),
    "kernels": lambda: kernels_ablation.table(read_rows("coifman_2005/kernels_ablation.csv")),
    "chi": lambda: chi.table(read_rows(chi.NAME)),
    "tissue-rules": figure_5_table.table,
    "warping": warping_tables.rounds,
    "claims": warping_tables.claims,
    "overturned": warping_tables.overturned,
    "unequal": lambda: unequal.table(read_rows("few_labels/unequal.csv")),
    "tau": lambda: tau.losses(read_rows("few_labels/tau.csv")),
    "accumulated": lambda: accumulated.table(read_rows("few_labels/accumulated.csv")),
    "scores": lambda: scores.table(read_rows("few_labels/scores.csv")),
    "score-accuracy": lambda: score_accuracy.table(read_rows("few_labels/score_accuracy.csv")),
    "many-classes": lambda: many_classes.table(read_rows("few_labels/many_classes.csv")),
    "rows": lambda: rows.table(read_rows("scaling/rows.csv")),
    "calibration": lambda: calibration.table(read_rows("few_labels/calibration.csv")),
    "calibration-each": lambda: calibration.each_table(read_rows("few_labels/calibration.csv")),
    "spatial": lambda: spatial.table(read_rows("few_labels/spatial.csv")),
    "acquisition": lambda: acquisition.table(read_rows("few_labels/acquisition.csv")),
    "anomalies": lambda: anomaly_scenes.table(read_rows("anomaly/scenes.csv")),
    "anomalies-made": lambda: anomaly_scenes.made_table(read_rows("anomaly/made.csv")),
    "clusters": lambda: comparison.table(read_rows(comparison.NAME)),
    "clusters-of-scenes": lambda: cluster_scenes.table(read_rows(cluster_scenes.NAME)),
    "potsdam": lambda: potsdam_tiles.table(read_rows(potsdam_tiles.NAME)),
    "sessions": _sessions,
    "drawings": lambda: drawings.table(read_rows("relabel/drawings.csv")),
    "waiting": lambda: waiting.table(read_rows("scaling/waiting.csv")),
    "points-or-aggregates": lambda: domains.table(read_rows("relabel/domains.csv")),
    "provisional-maps": lambda: provisional_maps.table(read_rows("relabel/provisional_maps.csv")),
    "whole-scene": speed_tables.whole_scene,
    "million": speed_tables.million,
    "recalls": speed_tables.recalls,
    "sizes": lambda: sizes.table(read_rows("scaling/sizes.csv")),
    "stability": lambda: stability.table(read_rows("scaling/stability.csv")),
    "graphs": graphs.table,
    "ends": speed_tables.ends,
    "device": speed_tables.device,
    "first-run": speed_tables.first_run,
    "busy": speed_tables.busy,
    "ten-million": speed_tables.ten_million,
    "forecasts": speed_tables.forecasts,
    "builders": lambda: builders.table(read_rows(builders.NAME)),
    "workers": speed_tables.workers,
    "workers-model": speed_tables.workers_model,
    "kills": speed_tables.kills,
    "strokes": speed_tables.strokes,
    "steps": speed_tables.steps,
    "eigenpairs": speed_tables.eigenpairs,
    "multiscale": lambda: powers.table(read_rows("multiscale/powers.csv")),
    "local-covariance": speed_tables.local_covariance,
    "speed-best-and-worst": speed_tables.best_and_worst,
}


def rewritten(text: str) -> str:
    """Return a guide's text with its tables made anew.

    Raises
    ------
    KeyError
        Where a comment names a table that is not in TABLES.
    """

    def block(found: re.Match[str]) -> str:
        table = "\n".join(TABLES[found["name"]]())
        return f"{found[1]}\n{table}\n\n{found[3]}"

    return BLOCK.sub(block, text)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    check = parser.parse_args(arguments).check
    changed = []
    for name in GUIDES:
        path = ROOT / name
        before = path.read_text("utf-8")
        after = rewritten(before)
        if after != before:
            changed.append(name)
            if not check:
                path.write_text(after, "utf-8")
    for name in changed:
        print(f"{name}: {'differs from its CSV files' if check else 'rewritten'}")
    if check and changed:
        sys.exit("run python -m experiments.tables and commit what it writes")


if __name__ == "__main__":
    main()
