"""Features join a map in blocks, as `diffclass.label_diffusion.feature_opinion` says.

What the features say is learnt from a sample of the points and from the labels, so it is a small
value. Then the map is written once more, joined, in the order in which the points lie on disk. For
sizes of the classes that it does not have, it is laid out on the blocks again.
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
from diffclass.blocks.block_walk import BlockWalk
from diffclass.blocks.engine import Engine
from diffclass.label_diffusion import Calibration, FeatureOpinion, Labels
from diffclass.label_diffusion.class_sizes import ClassSizes, SizedMap, with_sizes
from diffclass.label_diffusion.feature_opinion import opinion_of, read_rows
from diffclass.label_diffusion.held_out_labels import HeldOutLabels
from diffclass.label_diffusion.maps import decide, equal_weights, posteriors_of
from diffclass.system.identity import content_hash
from diffclass.system.progress import in_parts


@dataclass(frozen=True, eq=False)
class JoinedBlocks:
    """The map of all points in their order, what joined it, and its calibration."""

    found: BlockDiffusion  # of the labels; where borders have moved, with the map's weights
    map: BlockMap
    opinion: FeatureOpinion | None  # None where borders have moved to sizes: they forget it
    calibration: Calibration | None  # None there too


@dataclass(frozen=True, eq=False)
class PointsOnDisk:
    """Points on a file, read by their places."""

    points: np.ndarray  # (n, d), in the order of the file
    order: np.ndarray  # (n,), the point at each place

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, places: np.ndarray | slice) -> np.ndarray:
        return np.asarray(self.points[self.order[places]])


def join_in_blocks(
    found: BlockDiffusion,
    labels: Labels,
    on_disk: PointsOnDisk,
    engine: Engine,
    *,
    sizes: ClassSizes | None = None,
) -> JoinedBlocks | None:
    """Join diffused labels with what the features say.

    Parameters
    ----------
    found : BlockDiffusion
        Of the labels, with values for all classes, without sizes.
    labels : Labels
        By place.
    on_disk : PointsOnDisk
        The features.
    engine : Engine
    sizes : ClassSizes, optional
        Those that the joined map is to have.

    Returns
    -------
    JoinedBlocks or None
        None where no label can be held out. Costs what the calibration does, and one pass over the
        features.
    """
    of_walk, scratch = found.in_order(on_disk.order), found.operator.scratch
    name = found.name.replace("diffusion", "joined")
    made_from = {
        "map": content_hash(of_walk.codes, of_walk.posteriors),
        "labels": content_hash(labels.points, labels.codes, labels.weight, labels.groups),
    }

    def work() -> dict[str, Any]:
        parts = _join(found, of_walk, labels, on_disk, engine, name)
        return {part: _facts(value) for part, value in parts.items()}

    facts = scratch.completed(name, work, made_from=made_from, shown="calibration: features")
    if not facts:
        return None
    opinion, left = FeatureOpinion(**_arrays(facts["opinion"])), facts["left"]
    calibration = Calibration(**_arrays(facts["calibration"]))
    joined = JoinedBlocks(found, BlockMap.load(scratch, name, "equal"), opinion, calibration)
    if sizes is None:
        return joined
    return _at_sizes(joined, labels, HeldOutLabels(**_arrays(left)), on_disk.order, engine, sizes)


def _join(
    found: BlockDiffusion,
    of_walk: BlockMap,
    labels: Labels,
    on_disk: PointsOnDisk,
    engine: Engine,
    name: str,
) -> dict[str, Any]:
    """Find what the features say and write the joined map; return it by name, and the calibration.

    With it are the held-out labels; nothing is returned where there are none.
    """
    left = hold_out_in_blocks(found, labels, engine)
    if not len(left.points):
        return {}
    of_found = found.codes, found.posteriors_at
    calibration = calibrate_blocks_by(found, labels, left, engine, *of_found)
    opinion, without = opinion_of(
        on_disk,
        found.codes,
        labels,
        left,
        calibration,
        mass=found.operator.mass_at(np.arange(len(on_disk))[read_rows(*on_disk.points.shape)]),
    )
    codes, posteriors = _write_joined(found, of_walk, on_disk.points, opinion, name)
    order = on_disk.order
    left = replace(left, posteriors=without)
    of_joined = codes[order], lambda places: posteriors[order[places]]
    calibration = calibrate_blocks_by(found, labels, left, engine, *of_joined)
    return {"opinion": opinion, "calibration": calibration, "left": left}


def _at_sizes(
    joined: JoinedBlocks,
    labels: Labels,
    left: HeldOutLabels,
    order: np.ndarray,
    engine: Engine,
    sizes: ClassSizes,
) -> JoinedBlocks:
    """Bring a joined map to sizes as far as the graph agrees.

    As `diffclass.label_diffusion.diffuse_joined` does in memory.
    """
    found = joined.found
    operator, name = found.operator, f"{found.name}-sized"
    made_from = {
        "map": content_hash(joined.map.codes, joined.map.posteriors),
        "sizes": content_hash(sizes.least, sizes.most),
    }

    def work() -> dict[str, Any]:
        sized = _write_sized(joined, labels, order, engine, sizes, name)
        return {"weighting": sized.weighting, "class_weight": sized.class_weight.tolist()}

    facts = operator.scratch.completed(name, work, made_from=made_from, shown="")
    if facts["weighting"] is None:
        return joined
    weight = np.array(facts["class_weight"])
    sized = replace(found, name=name, class_weight=weight, weighting=facts["weighting"])
    if sized.weighting == "moved":
        return JoinedBlocks(sized, sized.in_order(order), None, None)
    left = replace(left, posteriors=posteriors_of(left.posteriors, weight))
    of_sized = sized.codes, sized.posteriors_at
    calibration = calibrate_blocks_by(found, labels, left, engine, *of_sized)
    opinion = None if joined.opinion is None else joined.opinion.weighed(weight)
    return JoinedBlocks(found, sized.in_order(order), opinion, calibration)


def _write_sized(
    joined: JoinedBlocks,
    labels: Labels,
    order: np.ndarray,
    engine: Engine,
    sizes: ClassSizes,
    name: str,
) -> SizedMap:
    """Find the map at sizes and write it, block by block, if it is another one."""
    operator, n_classes = joined.found.operator, labels.n_classes
    walk = BlockWalk(operator, labels, engine, name=name)
    for b, file in enumerate(walk.graph.files("values")):
        points = order[operator.starts[b] : operator.starts[b + 1]]
        reached = np.asarray(joined.map.codes[points])[:, None] >= 0
        values = np.where(reached, joined.map.posteriors[points], 0).astype(np.float64)
        operator.scratch.save(file, values)

    def work() -> SizedMap:
        values = walk.graph.kept("values")()
        sized = with_sizes(walk, values, equal_weights(n_classes), sizes)
        if sized.weighting is not None:
            walk.save_map(sized.values, sized.class_weight)
        walk.graph.drop("values")
        return sized

    sized = walk.retry(work)
    operator.scratch.sweep(name)
    return sized


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


def _facts(found: FeatureOpinion | Calibration | HeldOutLabels) -> dict[str, Any]:
    """Return the fields of a small value as JSON can hold them."""
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(found).items()
    }


def _arrays(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: np.array(value) if isinstance(value, list) else value for name, value in facts.items()
    }
