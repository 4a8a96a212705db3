"""Calibration in blocks: labels are held out in folds, and the map predicts itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from diffclass.blocks import block_tasks
from diffclass.blocks.diffusion import BlockDiffusion
from diffclass.blocks.engine import Engine
from diffclass.blocks.graph import BlockGraph, Handles
from diffclass.blocks.labels import BlockLabels, save_labels
from diffclass.blocks.scratch import Scratch
from diffclass.blocks.walk import BlockWalk
from diffclass.label_diffusion.calibration import (
    MAP_STEPS,
    Calibration,
    calibrated,
    counted_points,
)
from diffclass.label_diffusion.early_stopping import walk_to
from diffclass.label_diffusion.held_out_labels import ChosenLabels, HeldOutLabels
from diffclass.label_diffusion.map_scores import class_indicators, normalised_scores
from diffclass.label_diffusion.posteriors import posteriors_of
from diffclass.progress import in_parts, stage


def calibrate_in_blocks(
    found: BlockDiffusion,
    codes: np.ndarray,
    *,
    engine: Engine,
    label_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Calibration:
    """Find the temperature of labels diffused in blocks.

    Parameters
    ----------
    found : BlockDiffusion
    codes, engine, label_weight, groups
        As for `diffuse_in_blocks`.

    Returns
    -------
    Calibration
        As `diffclass.label_diffusion.calibration.calibrate` has it, except that labels are always
        held out in five folds. Costs the steps of five diffusions, and four more.
    """
    codes = np.array(codes, dtype=np.int64)
    chosen = ChosenLabels.of(codes, label_weight, groups)

    def walk(rest: np.ndarray, places: np.ndarray) -> np.ndarray:
        labels = BlockLabels.of(rest, label_weight, groups, len(rest))
        return _values_of(labels, places, found, engine)

    with stage("calibration"):
        values = chosen.values_by_folds(codes, int(codes.max()) + 1, walk, _one_by_one)
        posteriors = posteriors_of(values, found.class_weight)
        held_out = HeldOutLabels(chosen.points, codes[chosen.points], posteriors)
        return calibrated(*_map_around(found, engine), held_out)


def _one_by_one(work: Callable[[int], None], folds: list[int]) -> None:
    for f in in_parts("calibration: folds", folds):
        work(f)


def _values_of(
    labels: BlockLabels, places: np.ndarray, found: BlockDiffusion, engine: Engine
) -> np.ndarray:
    """Return what some labels say of some places, and remove all that the walk kept."""
    name = f"{found.name}-fold"
    with stage("calibration: walk"):
        walk = labels.start_walk(found.operator, engine, name)
        walk_to(walk, found.tau)
        values = walk.retry(partial(_values_at, walk, places))
    found.operator.scratch.drop_stage(name)
    return values


def _values_at(walk: BlockWalk, places: np.ndarray) -> np.ndarray:
    return _rows_at(walk.graph, walk.values(), places)


def _rows_at(graph: BlockGraph, columns: Handles, places: np.ndarray) -> np.ndarray:
    """Return the rows at ascending places of columns in blocks."""
    starts = graph.operator.starts
    wanted = np.split(places, np.searchsorted(places, starts[1:-1]))
    local = [own - start for own, start in zip(wanted, starts[:-1], strict=True)]
    return np.concatenate(graph.gather(graph.apply(_taken, columns, local)))


def _map_around(found: BlockDiffusion, engine: Engine) -> tuple[np.ndarray, np.ndarray]:
    """Return posteriors of some points, and what the map says some steps away from them."""
    operator, n_classes = found.operator, len(found.class_weight)
    blocks = range(operator.n_blocks)
    reached = np.concatenate([found.part("codes", b) >= 0 for b in blocks])
    places = counted_points(reached)
    name = f"{found.name}-around"
    save_labels(operator.scratch, name, n_classes)  # none: the walk goes on for ever
    graph = BlockGraph(operator, engine, name=name)
    columns = [engine.submit(_class_columns, operator.scratch, found.name, b, n_classes)
               for b in blocks]  # fmt: skip
    for _ in range(MAP_STEPS):
        columns = graph.exchanged(block_tasks.walked, columns, values=(1,), row_bytes=4 * n_classes)
    around = normalised_scores(_rows_at(graph, columns, places))
    operator.scratch.drop_stage(name)
    return _rows(found, places), around


def _class_columns(scratch: Scratch, name: str, b: int, n_classes: int) -> np.ndarray:
    """Return the indicators of the classes of a block's map."""
    return class_indicators(np.array(scratch.load(f"{name}/codes.{b}")), n_classes, np.float32)


def _taken(columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return columns[rows]


def _rows(found: BlockDiffusion, places: np.ndarray) -> np.ndarray:
    """Return the posteriors at some places."""
    starts = np.array(found.operator.starts)
    home = np.searchsorted(starts, places, side="right") - 1
    out = np.empty((len(places), len(found.class_weight)))
    for b in np.unique(home).tolist():
        out[home == b] = found.part("posteriors", b)[places[home == b] - starts[b]]
    return out
