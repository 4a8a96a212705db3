"""Features join a map in blocks, as `diffclass.label_diffusion.feature_opinion` says.

What the features say is learnt from a sample of the points and from the labels, so it is a small
value. Then the map is written once more, joined, in the order in which the points lie on disk. To
be brought to sizes of the classes, it is laid out on the blocks again.
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
from diffclass.blocks.scratch import Scratch
from diffclass.label_diffusion import Calibration, FeatureOpinion, Labels
from diffclass.label_diffusion.class_sizes import (
    SIZED,
    ClassSizes,
    SizedMap,
    weights_as_of,
    with_sizes,
)
from diffclass.label_diffusion.feature_opinion import opinion_of, read_rows
from diffclass.label_diffusion.held_out_labels import HeldOutLabels
from diffclass.label_diffusion.maps import counted_every, decide, equal_weights, posteriors_of
from diffclass.system.identity import content_hash
from diffclass.system.progress import in_parts


@dataclass(frozen=True, eq=False)
class PointsOnDisk:
    """Points on a file, read by their places."""

    points: np.ndarray  # (n, d), in the order of the file
    order: np.ndarray  # (n,), the point at each place

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, places: np.ndarray | slice) -> np.ndarray:
        return np.asarray(self.points[self.order[places]])


@dataclass(frozen=True, eq=False)
class JoinedBlocks:
    """The map of all points in their order, what joined it, and its calibration."""

    walked: BlockMap  # before the features joined it
    map: BlockMap
    opinion: FeatureOpinion
    left: HeldOutLabels  # and what the map says of their points without them
    calibration: Calibration


@dataclass(frozen=True, eq=False)
class JoiningInBlocks:
    """Joins diffused labels with what the features say.

    Attributes
    ----------
    labels : Labels
        By place.
    on_disk : PointsOnDisk
        The features.
    engine : Engine
    """

    labels: Labels
    on_disk: PointsOnDisk
    engine: Engine

    def joined(self, found: BlockDiffusion, sizes: ClassSizes | None = None) -> JoinedBlocks | None:
        """Return the joined map, brought to sizes as far as the graph agrees.

        ``found`` are the diffused labels, with values for all classes and without sizes. The result
        is None where no label can be held out. Costs what the calibration does, and one pass over
        the features; with sizes that move borders twice that, and the rounds.
        """
        joined = self._joined(found)
        if joined is None or sizes is None:
            return joined
        sized = self._at_sizes(found, joined.map, sizes)
        if sized.weighting not in SIZED:
            return joined
        weight = sized.class_weight
        if sized.weighting == "moved":  # the rounds have forgotten what the features said
            found, joined = sized, self._joined(sized)
            assert joined is not None  # the labels held out are the same
            places = np.arange(0, len(self.on_disk), counted_every(len(self.on_disk)))
            values = joined.map.posteriors[self.on_disk.order[places]]
            mass = found.operator.mass_at(places)
            weight = weights_as_of(found.codes[places], values, mass)
        left = replace(joined.left, posteriors=posteriors_of(joined.left.posteriors, weight))
        opinion, name = joined.opinion.weighed(weight), sized.name.replace("diffusion", "weighed")
        return self._written(found, joined.walked, opinion, left, name, "matched")

    def _joined(self, found: BlockDiffusion) -> JoinedBlocks | None:
        """Join a map with what the features say, unless an earlier run did."""
        walked, labels = found.in_order(self.on_disk.order), self.labels
        made_from = {
            "map": content_hash(walked.codes, walked.posteriors),
            "labels": content_hash(labels.points, labels.codes, labels.weight, labels.groups),
        }
        name = _opinion_stage(found)
        facts = found.operator.scratch.completed(
            name, lambda: self._opinion(found), made_from=made_from, shown="calibration: features"
        )
        if not facts:
            return None
        opinion = FeatureOpinion(**_arrays(facts["opinion"]))
        left, name = HeldOutLabels(**_arrays(facts["left"])), name.replace("opinion", "joined")
        return self._written(found, walked, opinion, left, name, "equal")

    def _opinion(self, found: BlockDiffusion) -> dict[str, Any]:
        """Return what the features say, and the joined posteriors of held-out labels if any are."""
        left = hold_out_in_blocks(found, self.labels, self.engine)
        if not len(left.points):
            return {}
        of_found = found.codes, found.posteriors_at
        calibration = calibrate_blocks_by(found, self.labels, left, self.engine, *of_found)
        read = np.arange(len(self.on_disk))[read_rows(*self.on_disk.points.shape)]
        mass = found.operator.mass_at(read)
        opinion, without = opinion_of(
            self.on_disk, found.codes, self.labels, left, calibration, mass=mass
        )
        return {"opinion": _facts(opinion), "left": _facts(replace(left, posteriors=without))}

    def _written(
        self,
        found: BlockDiffusion,
        walked: BlockMap,
        opinion: FeatureOpinion,
        left: HeldOutLabels,
        name: str,
        weighting: str,
    ) -> JoinedBlocks:
        """Write the joined map and calibrate it, unless an earlier run did."""
        scratch = found.operator.scratch
        made_from = {
            "learnt": scratch.identity_of(_opinion_stage(found)),
            "opinion": content_hash(*vars(opinion).values()),  # with the weights of the classes
        }

        def work() -> dict[str, Any]:
            codes, posteriors = self._write(walked, opinion, scratch, name)
            order = self.on_disk.order
            of_joined = codes[order], lambda places: posteriors[order[places]]
            return _facts(calibrate_blocks_by(found, self.labels, left, self.engine, *of_joined))

        facts = scratch.completed(name, work, made_from=made_from, shown="calibration: features")
        joined = BlockMap.load(scratch, name, weighting)
        return JoinedBlocks(walked, joined, opinion, left, Calibration(**_arrays(facts)))

    def _write(
        self, walked: BlockMap, opinion: FeatureOpinion, scratch: Scratch, name: str
    ) -> tuple[np.ndarray, np.ndarray]:
        """Write the joined map; return its classes and posteriors, on their files."""
        points, n_classes = self.on_disk.points, walked.posteriors.shape[1]
        likes = {part: getattr(walked, part) for part in MAP_PARTS}
        out = {
            part: scratch.create(f"{name}/{part}", like.shape, like.dtype)
            for part, like in likes.items()
        }
        for start in in_parts("maps", range(0, len(points), ROWS)):
            rows = slice(start, start + ROWS)
            reached = np.asarray(walked.codes[rows])[:, None] >= 0
            q = opinion.joined(np.array(walked.posteriors[rows]), points[rows])
            values = np.where(reached, q, 0).astype(np.float64)
            decision = decide(values, equal_weights(n_classes), dtype=q.dtype)
            out["codes"][rows] = decision.codes
            out["probability"][rows] = decision.probability
            out["margin"][rows] = decision.margin
            out["posteriors"][rows] = np.where(reached, q, 1 / n_classes)
        return out["codes"], out["posteriors"]

    def _at_sizes(
        self, found: BlockDiffusion, joined: BlockMap, sizes: ClassSizes
    ) -> BlockDiffusion:
        """Return a diffusion whose borders have moved to sizes, or whose weights meet them.

        It is as it was where the graph does not agree.
        """
        scratch, asked = found.operator.scratch, content_hash(sizes.least, sizes.most)
        name = f"{found.name}-{asked[:12]}"  # other sizes have a stage of their own
        made_from = {"map": content_hash(joined.codes, joined.posteriors), "sizes": asked}

        def work() -> dict[str, Any]:
            sized = self._find_sized(found, joined, sizes, name)
            return {"weighting": sized.weighting, "class_weight": sized.class_weight.tolist()}

        facts = scratch.completed(name, work, made_from=made_from, shown="")
        if facts["weighting"] is None:
            return found
        weight = np.array(facts["class_weight"])
        return replace(found, name=name, class_weight=weight, weighting=facts["weighting"])

    def _find_sized(
        self, found: BlockDiffusion, joined: BlockMap, sizes: ClassSizes, name: str
    ) -> SizedMap:
        """Find the map at sizes; write it, block by block, if borders have moved."""
        operator = found.operator
        walk = BlockWalk(operator, self.labels, self.engine, name=name)
        for b, file in enumerate(walk.graph.files("values")):
            points = self.on_disk.order[operator.starts[b] : operator.starts[b + 1]]
            reached = np.asarray(joined.codes[points])[:, None] >= 0
            values = np.where(reached, joined.posteriors[points], 0).astype(np.float64)
            operator.scratch.save(file, values)

        def work() -> SizedMap:
            values = walk.graph.kept("values")()
            sized = with_sizes(walk, values, equal_weights(self.labels.n_classes), sizes)
            if sized.weighting == "moved":
                walk.save_map(sized.values, sized.class_weight)
            return sized

        sized = walk.retry(work)
        walk.graph.drop("values")
        operator.scratch.sweep(name)
        return sized


def _opinion_stage(found: BlockDiffusion) -> str:
    return found.name.replace("diffusion", "opinion")


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
