"""Calibration in blocks: labels are held out in folds, and the map predicts itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from diffclass.blocks import block_tasks
from diffclass.blocks.arrays import read_places
from diffclass.blocks.diffusion import BlockDiffusion
from diffclass.blocks.engine import Engine
from diffclass.blocks.graph import BlockGraph
from diffclass.blocks.halo import save_labels
from diffclass.blocks.scratch import Scratch
from diffclass.blocks.walk import BlockWalk
from diffclass.label_diffusion import Calibration, Labels
from diffclass.label_diffusion.calibration import MAP_STEPS, calibrated, counted_points
from diffclass.label_diffusion.held_out_labels import ChosenLabels, HeldOutLabels
from diffclass.label_diffusion.map_scores import class_indicators, normalised_scores
from diffclass.label_diffusion.posteriors import posteriors_of
from diffclass.progress import in_parts, stage


def calibrate_in_blocks(found: BlockDiffusion, labels: Labels, engine: Engine) -> Calibration:
    """Find the temperature of labels diffused in blocks.

    Parameters
    ----------
    found : BlockDiffusion
    labels, engine
        As for `diffuse_in_blocks`.

    Returns
    -------
    Calibration
        As `diffclass.label_diffusion.calibration.calibrate` has it, except that labels are always
        held out in five folds. Costs the steps of five diffusions, and four more.
    """
    chosen, name = ChosenLabels.of(labels), f"{found.name}-fold"

    def walk_without(rest: Labels, places: np.ndarray) -> np.ndarray:
        with stage("calibration: walk"):
            walk = BlockWalk(found.operator, rest, engine, name=name)
            walk.advance_map(found.tau)
            values = walk.retry(lambda: walk.graph.rows_at(walk.values(), places))
        found.operator.scratch.drop_stage(name)
        return values

    with stage("calibration"):
        values = chosen.values_by_folds(walk_without, _one_by_one)
        posteriors = posteriors_of(values, found.class_weight)
        held_out = HeldOutLabels(chosen.points, chosen.codes, posteriors)
        return calibrated(*_map_around(found, labels, engine), held_out)


def _one_by_one(work: Callable[[int], None], folds: list[int]) -> None:
    for f in in_parts("calibration: folds", folds):
        work(f)


def _map_around(
    found: BlockDiffusion, labels: Labels, engine: Engine
) -> tuple[np.ndarray, np.ndarray]:
    """Return posteriors of some points, and what the map says some steps away from them."""
    operator, n_classes = found.operator, labels.n_classes
    scratch, blocks = operator.scratch, range(operator.n_blocks)
    places = counted_points(np.concatenate([found.part("codes", b) >= 0 for b in blocks]))
    name = f"{found.name}-around"
    save_labels(scratch, name, labels.only(slice(0)))  # none: the walk goes on for ever
    graph = BlockGraph(operator, engine, name=name)
    columns = [engine.submit(_class_columns, scratch, found.name, b, n_classes) for b in blocks]
    for _ in range(MAP_STEPS):
        columns = graph.exchanged(block_tasks.walked, columns, values=(1,), row_bytes=4 * n_classes)
    around = normalised_scores(graph.rows_at(columns, places))
    scratch.drop_stage(name)
    return read_places(scratch, f"{found.name}/posteriors", operator.starts, places), around


def _class_columns(scratch: Scratch, name: str, b: int, n_classes: int) -> np.ndarray:
    """Return the indicators of the classes of a block's map."""
    return class_indicators(np.array(scratch.load(f"{name}/codes.{b}")), n_classes, np.float32)
