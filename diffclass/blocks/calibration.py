"""Calibration of posteriors on blocks: labels are left out in folds, the map predicts itself."""

from __future__ import annotations

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
from diffclass.label_diffusion.held_out_labels import FOLDS, HeldOutLabels, chosen_labels
from diffclass.label_diffusion.posteriors import posteriors_of
from diffclass.progress import in_parts, stage
from diffclass.targets import encode_groups


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
        left out in five folds. Costs the steps of five diffusions, and four more.
    """
    with stage("calibration"):
        codes = np.array(codes, dtype=np.int64)
        left = _left_out(found, codes, engine, label_weight, groups)
        posteriors, around = _map_around(found, engine)
        return calibrated(posteriors, around, left)


def _left_out(
    found: BlockDiffusion,
    codes: np.ndarray,
    engine: Engine,
    label_weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> HeldOutLabels:
    counted = codes if label_weight is None else np.where(np.asarray(label_weight) > 0, codes, -1)
    group = encode_groups(groups, counted)
    places, rank = chosen_labels(counted, group)
    values = np.zeros((len(places), int(codes.max()) + 1))
    fold = rank % FOLDS
    for f in in_parts("calibration: folds", np.unique(fold).tolist()):
        tested = fold == f
        fewer = np.where(np.isin(group, group[places[tested]]), -1, codes)
        labels = BlockLabels.of(fewer, label_weight, groups, len(fewer))
        name = f"{found.name}-fold{f}"
        values[tested] = _values_of(labels, places[tested], found, engine, name=name)
    return HeldOutLabels(places, codes[places], posteriors_of(values, found.class_weight))


def _values_of(
    labels: BlockLabels, places: np.ndarray, found: BlockDiffusion, engine: Engine, *, name: str
) -> np.ndarray:
    """Return what some labels say of some places, and let go of all that the walk held."""
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
    scores = np.maximum(_rows_at(graph, columns, places), 0)
    scores = scores.astype(np.float64)
    operator.scratch.drop_stage(name)
    return _rows(found, places), scores / scores.sum(axis=1, keepdims=True)


def _class_columns(scratch: Scratch, name: str, b: int, n_classes: int) -> np.ndarray:
    """Return the indicators of the classes of a block's map; an equal part of each for none."""
    codes = np.array(scratch.load(f"{name}/codes.{b}"))
    columns = np.full((len(codes), n_classes), 1 / n_classes, dtype=np.float32)
    columns[codes >= 0] = np.eye(n_classes, dtype=np.float32)[codes[codes >= 0]]
    return columns


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
