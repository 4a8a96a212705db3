"""The tables of speed, from what the scripts of this folder and `relabel.latency` have measured.

The scripts need a quiet machine and, for the others' figures, an environment of their own; the
tables need only the CSV files that they leave.
"""

from __future__ import annotations

import json
from pathlib import Path

from experiments.markdown import Row, markdown_table, read_numbers, read_rows

SCENE = ("512", "217")


def whole_scene() -> list[str]:
    """From opened file to class map, seconds by stage."""
    stages = ("features", "neighbors", "affinities", "diffusion", "total")
    columns = (*stages, "accuracy", "peak_memory_gib")
    head = ["", "features, s", "neighbours, s", "affinities, s", "diffusion, s", "total, s"]
    rows = [
        [row["run"], *(row[column] or "-" for column in columns)]
        for row in read_rows("scaling/whole_scene.csv")
    ]
    return markdown_table([*head, "accuracy, %", "peak memory, GiB"], rows)


def million() -> list[str]:
    """Whole runs of `classify` on larger and larger scenes."""
    columns = {
        "pixels": "pixels",
        "neighbors": "neighbours, s",
        "diffusion": "diffusion, s",
        "calibration": "calibration, s",
        "total": "total, s",
        "peak_memory_gib": "peak memory, GiB",
    }
    return _table("scaling/million.csv", columns)


def recalls() -> list[str]:
    """What less thorough searches of neighbours cost the map."""
    columns = {
        "problem": "problem",
        "points": "points",
        "cells": "cells",
        "rounds": "rounds",
        "draws": "draws",
        "recall": "recall",
        "accuracy": "accuracy, %",
        "difference": "difference",
        "error": "its error",
    }
    return _table("scaling/recalls.csv", columns)


def _table(name: str, heads: dict[str, str]) -> list[str]:
    """Return the table of some columns of a file, by their heads; "-" where there is no value."""
    rows = [[row[column] or "-" for column in heads] for row in read_rows(name)]
    return markdown_table(list(heads.values()), rows)


def first_run() -> list[str]:
    """The command on a small scene, with and without compiled loops on disk."""
    head = ["labels", "run", "processor seconds", "seconds"]
    names = ("case", "run", "cpu_seconds", "seconds")
    return markdown_table(
        head, [[row[name] for name in names] for row in read_rows("scaling/first_run.csv")]
    )


def busy() -> list[str]:
    """Small fits with one thread and with all, alone and beside endless loops."""
    by_load: dict[str, list[str]] = {}
    for row in read_rows("scaling/busy.csv"):
        by_load.setdefault(row["busy_loops"], []).append(row["seconds"])
    head = ["endless loops running", "one thread, s", "as many threads as cores, s"]
    return markdown_table(head, [[load, *seconds] for load, seconds in by_load.items()])


def ten_million() -> list[str]:
    """The report of a run in blocks: seconds and peak memory by the end of each stage."""
    report = json.loads(Path(__file__).with_name("ten_million.json").read_text())
    peaks = report["peak_memory_by_stage"]
    rows = [
        [name, f"{seconds:.0f}", f"{peaks[name] / 2**30:.2g}" if name in peaks else ""]
        for name, seconds in report["seconds"].items()
        if name in peaks or name == "total"
        if ":" not in name and seconds >= 1
    ]
    return markdown_table(["stage", "seconds", "peak memory so far, GiB"], rows)


def forecasts() -> list[str]:
    """Seconds as forecast before runs in blocks, and as taken."""
    head = ["pixels", "forecast, s", "taken, s"]
    rows = [
        [str(int(row["side"]) ** 2), row["forecast"], row["seconds"]]
        for row in read_rows("scaling/forecasts.csv")
        if row["stage"] == "all"
    ]
    return markdown_table(head, rows)


def workers() -> list[str]:
    """Labels diffused by this process and by workers: seconds, and what goes through the engine."""
    head = [
        "workers",
        "blocks",
        "ghosts per point",
        "adjacent blocks",
        "tasks",
        "tasks per exchange",
        "MB per exchange",
        "ms per task",
        "seconds",
    ]
    columns = ("blocks", "ghosts_per_point", "adjacent", "tasks", "tasks_per_exchange")
    columns = (*columns, "megabytes_per_exchange", "task_milliseconds", "seconds")
    rows = [
        ["none" if row["workers"] == "0" else row["workers"], *_short(row, columns)]
        for row in read_rows("scaling/workers.csv")
    ]
    return markdown_table(head, rows)


def workers_model() -> list[str]:
    """Seconds per step on larger clusters, by the model of `experiments.scaling.workers`."""
    head = [
        "workers",
        "one node, s",
        "product, s",
        "halo, edges",
        "tasks",
        "scheduler, s",
        "network, s",
        "step, s",
        "faster from, points",
        "three times from",
    ]
    columns = ("one_node_seconds", "product_seconds", "depth", "tasks", "scheduler_seconds")
    columns = (*columns, "network_seconds", "step_seconds")
    columns = (*columns, "least_points", "least_points_of_a_third")
    rows = [
        [row["workers"], *_short(row, columns)] for row in read_rows("scaling/workers_model.csv")
    ]
    return markdown_table(head, rows)


def _short(row: dict[str, str], columns: tuple[str, ...]) -> list[str]:
    return [_digits(float(row[name])) for name in columns]


def _digits(value: float) -> str:
    return f"{value:.0f}" if 100 <= value < 1e5 else f"{value:.2g}"


def kills() -> list[str]:
    """Workers killed at random in each stage."""
    head = ["stage", "runs", "kills", "undisturbed, s", "with kills, s", "same files"]
    columns = ("stage", "runs", "kills", "undisturbed", "seconds")
    rows = [
        [*(row[name] for name in columns), "yes" if row["same"] == "True" else "no"]
        for row in read_rows("scaling/kills.csv")
    ]
    return markdown_table(head, rows)


def device() -> list[str]:
    """Steps, neighbours and whole fits on a device beside the processors of its machine."""
    found: dict[str, dict[str, str]] = {}
    for row in read_rows("scaling/device.csv"):
        found.setdefault(row["points"], {})[row["quantity"]] = row["value"]
    columns = {
        "product, processor, ms": "step, 16 cores, ms",
        "product, device, ms": "step, device, ms",
        "products per second, device": "steps per second",
        "product, device, GB per second": "GB per second",
        "product, device memory, GiB": "memory, GiB",
        "neighbors, processor, s": "neighbours, 16 cores, s",
        "neighbors, processor, recall": "their recall",
        "neighbors, device, s": "neighbours, device, s",
        "fit, cpu, s": "fit, 16 cores, s",
        "fit, cuda, s": "fit, device, s",
    }
    rows = [
        [points, *(f"{float(of[name]):.3g}" if name in of else "-" for name in columns)]
        for points, of in found.items()
        if int(points)
    ]
    return markdown_table(["points", *columns.values()], rows)


def ends() -> list[str]:
    """Walks on large graphs that end as soon as it is foreseen, beside one look later."""
    columns = {
        "use": "use",
        "problem": "problem",
        "points": "points",
        "per_class": "per class",
        "one_look_later": "one look later, %",
        "foreseen": "foreseen, %",
        "difference": "difference",
        "error": "its error",
        "steps_later": "steps",
        "steps_foreseen": "steps, foreseen",
    }
    return _table("scaling/ends.csv", columns)


def strokes() -> list[str]:
    """From a stroke to its map: the engine's part, and the page's."""
    quantities = ("milliseconds_per_stroke", "milliseconds_after_200_strokes", "fresh_milliseconds")
    rows = []
    for row in read_rows("relabel/latency.csv"):
        place = row["rows"], row["columns"]
        bench = _bench(place)
        engine = [bench.get(f"relabel.{name}", "-") for name in quantities]
        page = [row["page_median"], row["page_90"]]
        rows.append([" x ".join(place), *engine, *page])
    head = ["pixels", "engine, ms", "after 200 strokes", "all labels afresh"]
    return markdown_table([*head, "page: released to drawn, ms", "90th percentile"], rows)


def steps() -> list[str]:
    """One step, and A^t by the Chebyshev series, beside their references."""
    bench = _bench(SCENE)
    compared = [
        ["one step of 16 columns", "scipy's CSR product", "product.times_faster_than_scipy"],
        *(
            [f"A^{t}", f"{t} plain steps", f"powers.{t}.times_faster_than_plain"]
            for t in (32, 64, 256, 1024)
        ),
    ]
    cells = [[name, beside, bench[quantity]] for name, beside, quantity in compared]
    return markdown_table(["", "compared with", "times faster"], cells)


def eigenpairs() -> list[str]:
    """Eigenpairs of a scene's graph beside scikit-learn's solvers."""
    names = ("solver", "seconds", "residual", "eigenvalues_off")
    rows = [[row[name] for name in names] for row in _solvers()]
    return markdown_table(["solver", "seconds", "largest residual", "eigenvalues off by"], rows)


def local_covariance() -> list[str]:
    """What local covariance costs beside neighbours and Gaussian affinities."""
    found = read_numbers("scaling/local_covariance.csv")
    return markdown_table(["111,104 x 30", ""], [[name, f"{found[name]:g}"] for name in found])


def best_and_worst() -> list[str]:
    """The short table: what is much faster than something else, and what is hardly faster."""
    scene = {row["run"]: row["total"] for row in read_rows("scaling/whole_scene.csv")}
    bench = _bench(SCENE)
    solvers = {row["solver"]: row["seconds"] for row in _solvers()}
    pairs = solvers["diffclass"]
    stroke, fresh = (
        bench[f"relabel.{name}"] for name in ("milliseconds_per_stroke", "fresh_milliseconds")
    )
    ours, theirs = scene["diffclass, spectral"], scene["GraphLearning"]
    finished = ("scikit-learn, amg", "scikit-learn, lobpcg")
    name = min(finished, key=lambda solver: float(solvers[solver]))
    peer = solvers[name]
    step, faster = bench["product.milliseconds"], bench["product.times_faster_than_scipy"]
    rows = [
        ("a stroke to its map", f"{stroke} ms", f"all labels afresh, {fresh} ms"),
        ("a scene from file to map", f"{ours} s", f"GraphLearning, Laplace, {theirs} s"),
        ("one diffusion step", f"{step} ms", "scipy's CSR product"),
        ("20 eigenpairs", f"{pairs} s", f"{name}, {peer} s"),
    ]
    ratios = (_ratio(fresh, stroke), _ratio(theirs, ours), faster, _ratio(peer, pairs))
    commands = ("bench", "whole_scene --peer PYTHON", "bench", "spectrum --peer PYTHON")
    cells = [
        [*row, ratio, f"`{command}`"]
        for row, ratio, command in zip(rows, ratios, commands, strict=True)
    ]
    head = ["512 x 217 pixels", "diffclass", "compared with", "times faster"]
    return markdown_table([*head, "`python -m experiments.scaling.`"], cells)


def _solvers() -> list[Row]:
    return [row for row in read_rows("scaling/spectrum.csv") if row["task"] == "eigenpairs"]


def _bench(place: tuple[str, str]) -> dict[str, str]:
    """What `bench` measured at one size: two digits, or whole numbers from 10 on."""
    rows = _of_place("scaling/bench.csv", place)
    return {
        row["quantity"]: f"{value:.0f}" if (value := float(row["value"])) >= 10 else f"{value:.1f}"
        for row in rows
    }


def _ratio(theirs: str, ours: str) -> str:
    return f"{float(theirs) / float(ours):.1f}"


def _of_place(name: str, place: tuple[str, str]) -> list[Row]:
    return [row for row in read_rows(name) if (row["rows"], row["columns"]) == place]
