"""Features join a map in blocks, as `diffclass.label_diffusion.feature_opinion` says.

What the features say is learnt from a sample of the points and from the labels, so it is a small
value. Then the map is written once more, joined, in the order in which the points lie on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diffclass.blocks.block_diffusion import (
    MAP_PARTS,
    ROWS,
    BlockDiffusion,
    BlockMap,
    calibrate_blocks_by,
    hold_out_in_blocks,
)
from diffclass.blocks.engine import Engine
from diffclass.label_diffusion import Calibration, FeatureOpinion, Labels
from diffclass.label_diffusion.feature_opinion import opinion_of, read_rows
from diffclass.label_diffusion.maps import decide, equal_weights
from diffclass.system.identity import content_hash
from diffclass.system.progress import in_parts


@dataclass(frozen=True, eq=False)
class JoinedBlocks:
    """The map of all points in their order, what joined it, and its calibration."""

    map: BlockMap
    opinion: FeatureOpinion | None  # None where no label can be held out
    calibration: Calibration


@dataclass(frozen=True, eq=False)
class _AtPlaces:
    """Points on disk, by their places."""

    points: np.ndarray  # (n, d), in the order of the file
    order: np.ndarray  # (n,), the point at each place

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, places: np.ndarray | slice) -> np.ndarray:
        return np.asarray(self.points[self.order[places]])


def join_in_blocks(
    found: BlockDiffusion, labels: Labels, points: np.ndarray, order: np.ndarray, engine: Engine
) -> JoinedBlocks:
    """Join diffused labels with what the features say.

    Parameters
    ----------
    found : BlockDiffusion
        Of the labels, with values for all classes.
    labels : Labels
        By place.
    points : ndarray of shape (n, d)
        The features, on disk, in the order of the points.
    order : ndarray of int of shape (n,)
        The point at each place.
    engine : Engine

    Returns
    -------
    JoinedBlocks
        Costs what the calibration does, and one pass over the features.
    """
    of_walk, scratch = found.in_order(order), found.operator.scratch
    name = found.name.replace("diffusion", "joined")
    made_from = {
        "map": content_hash(of_walk.codes, of_walk.posteriors),
        "labels": content_hash(labels.points, labels.codes, labels.weight, labels.groups),
    }

    def work() -> dict[str, Any]:
        opinion, calibration = _join(found, of_walk, labels, points, order, engine, name)
        return {
            "opinion": None if opinion is None else _facts(opinion),
            "calibration": _facts(calibration),
        }

    facts = scratch.completed(name, work, made_from=made_from, shown="calibration: features")
    calibration = Calibration(**_arrays(facts["calibration"]))
    if facts["opinion"] is None:
        return JoinedBlocks(of_walk, None, calibration)
    joined = BlockMap.load(scratch, name, "equal")
    return JoinedBlocks(joined, FeatureOpinion(**_arrays(facts["opinion"])), calibration)


def _join(
    found: BlockDiffusion,
    of_walk: BlockMap,
    labels: Labels,
    points: np.ndarray,
    order: np.ndarray,
    engine: Engine,
    name: str,
) -> tuple[FeatureOpinion | None, Calibration]:
    """Find what the features say and write the joined map; return it and the calibration."""
    left = hold_out_in_blocks(found, labels, engine)
    of_found = found.codes, found.posteriors_at
    calibration = calibrate_blocks_by(found, labels, left, engine, *of_found)
    if not len(left.points):
        return None, calibration
    opinion, without = opinion_of(
        _AtPlaces(points, order),
        found.codes,
        labels,
        left,
        calibration,
        mass=found.operator.mass_at(np.arange(len(points))[read_rows(*points.shape)]),
    )
    codes, posteriors = _write_joined(found, of_walk, points, opinion, name)
    left = replace(left, posteriors=without)
    of_joined = codes[order], lambda places: posteriors[order[places]]
    return opinion, calibrate_blocks_by(found, labels, left, engine, *of_joined)


def _write_joined(
    found: BlockDiffusion,
    of_walk: BlockMap,
    points: np.ndarray,
    opinion: FeatureOpinion,
    name: str,
) -> tuple[np.ndarray, np.ndarray]:
    """Write the joined map; return its classes and posteriors, on their files."""
    scratch, n_classes = found.operator.scratch, of_walk.posteriors.shape[1]
    likes = {part: getattr(of_walk, part) for part in MAP_PARTS}
    out = {
        part: scratch.create(f"{name}/{part}", like.shape, like.dtype)
        for part, like in likes.items()
    }
    for start in in_parts("maps", range(0, len(points), ROWS)):
        rows = slice(start, start + ROWS)
        reached = np.asarray(of_walk.codes[rows])[:, None] >= 0
        q = opinion.joined(np.array(of_walk.posteriors[rows]), points[rows])
        values = np.where(reached, q, 0).astype(np.float64)
        decision = decide(values, equal_weights(n_classes), dtype=q.dtype)
        out["codes"][rows] = decision.codes
        out["probability"][rows] = decision.probability
        out["margin"][rows] = decision.margin
        out["posteriors"][rows] = np.where(reached, q, 1 / n_classes)
    return out["codes"], out["posteriors"]


def _facts(found: FeatureOpinion | Calibration) -> dict[str, Any]:
    """Return the fields of a small value as JSON can hold them."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(found).items()
    }


def _arrays(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: np.array(value, dtype=np.float64) if isinstance(value, list) else value
        for name, value in facts.items()
    }
