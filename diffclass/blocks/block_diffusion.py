"""Absorbing labels diffuse over a graph in blocks: tau, every point's class, and the calibration.

The choice of the time and of the weights of the classes, of the labels that are held out and of the
temperature is that of `diffclass.label_diffusion`; only where columns and sums are differs.

More than 4,096 steps at once are single steps here, in the operator's precision, unless the walk is
late enough for a series; in memory they are those of `diffclass.label_diffusion.long_walk`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diffclass._validation import check_choice
from diffclass.blocks import block_tasks
from diffclass.blocks.arrays import BlockArrays
from diffclass.blocks.block_graph import BlockGraph, Traffic
from diffclass.blocks.block_walk import BlockWalk
from diffclass.blocks.engine import Engine, SerialEngine
from diffclass.blocks.halo import save_labels
from diffclass.blocks.operator import BlockOperator
from diffclass.blocks.scratch import Scratch
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion import Calibration, Decision, DiffusionRules, Labels
from diffclass.label_diffusion.calibration import MAP_STEPS, calibrated, counted_points
from diffclass.label_diffusion.class_sizes import weighed_again
from diffclass.label_diffusion.diffusion import read_map
from diffclass.label_diffusion.held_out_labels import ChosenLabels, HeldOutLabels
from diffclass.label_diffusion.label_modes import ABSORBING, LABEL_MODES
from diffclass.label_diffusion.maps import class_indicators, normalised_scores
from diffclass.label_diffusion.stopping import MarginCurve, stop_early
from diffclass.neighbors import Nodes
from diffclass.system.identity import content_hash
from diffclass.system.progress import in_parts, stage

MAP_PARTS = ("codes", "probability", "margin", "posteriors")


@dataclass(frozen=True, eq=False)
class BlockMap(Decision):
    """Each point's class, on files, in the order of the points; all classes are kept."""

    posteriors: np.ndarray  # float32 (n, n_classes); uniform where no label has arrived
    weighting: str  # as of `BlockDiffusion`
    label_mode: str = ABSORBING.name
    kept_classes: None = None
    dropped: None = None

    @classmethod
    def load(cls, scratch: Scratch, folder: str, weighting: str) -> BlockMap:
        """Return the map whose parts lie in a folder of scratch."""
        codes, probability, margin, posteriors = (
            scratch.load(f"{folder}/{part}") for part in MAP_PARTS
        )
        return cls(codes, probability, margin, posteriors, weighting)


@dataclass(frozen=True, eq=False)
class BlockDiffusion:
    """Labels diffused to the time tau; each point's class lies in the scratch folder.

    Attributes
    ----------
    operator : BlockOperator
    name : str
        Folder in scratch that holds the arrays of each block.
    class_weight : ndarray of shape (n_classes,)
        The weights of the classes; they sum to 1.
    weighting : {"equal", "balanced", "matched", "moved"}
        How they were chosen.
    tau : int
        The time in steps.
    curve : MarginCurve
    traffic : Traffic
        What went through the engine.
    """

    operator: BlockOperator
    name: str
    class_weight: np.ndarray
    weighting: str
    tau: int
    curve: MarginCurve
    traffic: Traffic

    def part(self, part: str, b: int) -> np.ndarray:
        """Return an array of a block, on its file.

        Parameters
        ----------
        part : {"codes", "probability", "margin", "posteriors"}
            Index of the class as int16, -1 where no label is within reach; the largest posterior;
            its distance to the second; all posteriors, (n_own, n_classes). The last three are of
            single precision.
        b : int
        """
        return self.operator.load(f"{self.name}/{part}", b)

    @property
    def codes(self) -> np.ndarray:
        """The class of each place, in memory; see `part`."""
        return self.operator.all(f"{self.name}/codes")

    def posteriors_at(self, places: np.ndarray) -> np.ndarray:
        """Return the posteriors (m, n_classes) at some places, ascending."""
        return self.operator.at(f"{self.name}/posteriors", places)

    def in_order(self, order: np.ndarray, *, n_rows: int = 1_000_000) -> BlockMap:
        """Write the map in the order of the points, unless an earlier run wrote the same.

        Parameters
        ----------
        order : ndarray of int of shape (n,)
            The point at each place.
        n_rows : int, default=1000000
            Points that are sorted at once. Each time costs one pass over ``order``.
        """
        blocks = range(self.operator.n_blocks)
        written = (self.part(part, b) for part in MAP_PARTS for b in blocks)
        made_from = {"order": content_hash(order), "diffusion": content_hash(self.facts, *written)}

        def rows_of(part: str, rows: slice) -> np.ndarray:
            return self._rows(part, order, rows)

        return self._kept("maps", len(self.operator), rows_of, made_from, n_rows=n_rows)

    def _kept(
        self,
        stage_name: str,
        n_points: int,
        rows_of: Callable[[str, slice], np.ndarray],
        made_from: dict[str, Any],
        *,
        n_rows: int,
    ) -> BlockMap:
        """Write a map of some points, ``n_rows`` at once, unless an earlier run wrote the same."""
        scratch, folder = self.operator.scratch, self.name.replace("diffusion", stage_name)

        def work() -> dict[str, Any]:
            for part in in_parts("maps", MAP_PARTS):
                like = self.part(part, 0)
                shape = n_points, *like.shape[1:]
                out = scratch.create(f"{folder}/{part}", shape, like.dtype)
                for start in range(0, n_points, n_rows):
                    rows = slice(start, min(start + n_rows, n_points))
                    out[rows] = rows_of(part, rows)
            return {}

        scratch.completed(folder, work, made_from=made_from, shown="")
        return BlockMap.load(scratch, folder, self.weighting)

    def _rows(self, part: str, order: np.ndarray, rows: slice) -> np.ndarray:
        """Return an array of some points next to one another, in memory."""
        starts, like = self.operator.starts, self.part(part, 0)
        out = np.empty((rows.stop - rows.start, *like.shape[1:]), dtype=like.dtype)
        for b in range(self.operator.n_blocks):
            points = np.asarray(order[starts[b] : starts[b + 1]])
            inside = (points >= rows.start) & (points < rows.stop)
            out[points[inside] - rows.start] = self.part(part, b)[inside]
        return out

    def at_points(self, of_nodes: BlockMap, nodes: Nodes | None) -> BlockMap:
        """Write a map of the distinct points as one of all; see `in_order`."""
        if nodes is None:
            return of_nodes
        made_from = {
            "nodes": content_hash(nodes.of_points),
            "map": content_hash(*(getattr(of_nodes, part) for part in MAP_PARTS)),
        }

        def rows_of(part: str, rows: slice) -> np.ndarray:
            return getattr(of_nodes, part)[nodes.of_points[rows]]

        found = self._kept("points", nodes.n_points, rows_of, made_from, n_rows=ROWS)
        return replace(found, weighting=of_nodes.weighting)

    @property
    def facts(self) -> dict[str, Any]:
        """All but the operator, in values that JSON can hold."""
        curve = self.curve
        return {
            "name": self.name,
            "starts": self.operator.starts,
            "class_weight": self.class_weight.tolist(),
            "weighting": self.weighting,
            "tau": self.tau,
            "curve": {
                **{name: getattr(curve, name).tolist() for name in _CURVE},
                "kept_share": curve.kept_share,
            },
            "traffic": vars(self.traffic),
        }

    @classmethod
    def from_facts(cls, operator: BlockOperator, facts: dict[str, Any]) -> BlockDiffusion:
        """Return the diffusion of these `facts`, whatever blocks the operator joins."""
        curve = facts["curve"]
        arrays = {name: np.array(curve[name]) for name in _CURVE}
        return cls(
            operator.with_starts(tuple(facts["starts"])),
            facts["name"],
            np.array(facts["class_weight"]),
            facts["weighting"],
            facts["tau"],
            MarginCurve(**arrays, kept_share=curve["kept_share"]),
            Traffic(**facts["traffic"]),
        )


ROWS = 65_536  # that are copied at once
_CURVE = ("times", "margin", "coverage", "cut")


def diffuse_in_blocks(
    operator: BlockOperator,
    labels: Labels,
    rules: DiffusionRules,
    *,
    engine: Engine | None = None,
    name: str = "diffusion",
    depth: int | None = None,
) -> BlockDiffusion:
    """Diffuse labels over a graph in blocks and find the class of every point.

    Parameters
    ----------
    operator : BlockOperator
    labels : Labels
        Of the points in the order of places.
    rules : DiffusionRules
        As in `diffclass.diffuse_labels`; labels always absorb the walk.
    engine : Engine, optional
        By default the work is done here.
    name : str, default="diffusion"
        Folder in scratch.
    depth : int, optional
        Steps between two exchanges of the blocks' borders; by default as many as cost little.

    Returns
    -------
    BlockDiffusion
        With the classes of `diffclass.diffuse_labels`, up to rounding, whatever the blocks are.

    Raises
    ------
    ParameterError
        If labels are to count in another way.
    DataError
        If the labels are those of another number of points, or the operator's files are not those
        that were written.
    ClusterError
        If the cluster cannot go on.

    Warns
    -----
    ConvergenceWarning
        If the labels do not cover the graph by the rule's last time.

    See Also
    --------
    BlockClassifier : From a file of points to the map.
    diffuse_labels : For an operator in memory.

    Notes
    -----
    Cost: per step a product within each block and an exchange of borders.
    Memory of a process: the blocks that it works on, and two arrays of n_own x n_classes for each
    of its blocks, six while a series runs. Scratch: up to six such arrays and the map.

    Examples
    --------
    A path of 20 points in two blocks, with a label at each end:

    >>> import tempfile
    >>> import numpy as np
    >>> from diffclass import MarkovOperator
    >>> from diffclass.blocks import BlockOperator, Scratch, diffuse_in_blocks
    >>> from diffclass.label_diffusion import DiffusionRules, Labels
    >>> path = MarkovOperator.from_affinity(np.eye(20) + np.eye(20, k=1) + np.eye(20, k=-1))
    >>> y = np.full(20, -1); y[0] = 3; y[19] = 7
    >>> labels = Labels.of(y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     operator = BlockOperator.from_operator(path, [0, 12, 20], Scratch(folder))
    ...     found = diffuse_in_blocks(operator, labels, DiffusionRules.of(labels))
    ...     labels.classes[found.part("codes", 0)].tolist()
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 7, 7]
    """
    check_label_mode(rules.label_mode)
    labels.check_number(len(operator))
    operator.check()
    engine = SerialEngine() if engine is None else engine
    engine.require_visible(operator.scratch.folder)
    with stage("diffusion"):
        walk = BlockWalk(operator, labels, engine, name=name, depth=depth)
        stopped = stop_early(walk, rules)
        found = walk.retry(lambda: read_map(walk, stopped, rules.sizes))
        operator.scratch.sweep(name)
    traffic = walk.graph.traffic
    return BlockDiffusion(
        operator, name, found.class_weight, found.weighting, stopped.tau, stopped.curve, traffic
    )


def check_label_mode(label_mode: str) -> None:
    """Raise `ParameterError` for labels that do not absorb the walk."""
    check_choice(label_mode, "label_mode", tuple(LABEL_MODES))
    if not LABEL_MODES[label_mode].in_blocks:
        raise ParameterError(
            f"label_mode = {label_mode!r} needs the whole graph in memory; in blocks labels are "
            "absorbing"
        )


def calibrate_in_blocks(found: BlockDiffusion, labels: Labels, engine: Engine) -> Calibration:
    """Find the temperature of labels diffused in blocks; labels are held out in five folds."""
    left = hold_out_in_blocks(found, labels, engine)
    return calibrate_blocks_by(found, labels, left, engine, found.codes, found.posteriors_at)


def hold_out_in_blocks(found: BlockDiffusion, labels: Labels, engine: Engine) -> HeldOutLabels:
    """Hold labels out in five folds, and return what the others say of their points."""
    chosen, name = ChosenLabels.of(labels), f"{found.name}-fold"
    codes = found.codes

    def weighed_rows(walk: BlockWalk, places: np.ndarray) -> np.ndarray:
        values, weight = weighed_again(walk, found.weighting, found.class_weight, codes)
        return walk.graph.rows_at(values, places) * weight

    def walk_without(rest: Labels, places: np.ndarray) -> np.ndarray:
        with stage("calibration: walk"):
            walk = BlockWalk(found.operator, rest, engine, name=name)
            walk.advance_map(found.tau)
            values = walk.retry(lambda: weighed_rows(walk, places))
        found.operator.scratch.drop_stage(name)
        return values

    with stage("calibration"):
        return HeldOutLabels.of(chosen, chosen.values_by_folds(walk_without, _one_by_one))


def _one_by_one(work: Callable[[int], None], folds: list[int]) -> None:
    for f in in_parts("calibration: folds", folds):
        work(f)


def calibrate_blocks_by(
    found: BlockDiffusion,
    labels: Labels,
    left: HeldOutLabels,
    engine: Engine,
    codes: np.ndarray,
    posteriors_at: Callable[[np.ndarray], np.ndarray],
) -> Calibration:
    """Find the temperature of a map by labels that are already held out.

    ``codes`` (n,) and ``posteriors_at`` some places are those of the diffusion, or of a map that
    it has become.
    """
    with stage("calibration"):
        places = counted_points(codes >= 0)
        around = _map_around(found, labels, codes, places, engine)
        return calibrated(posteriors_at(places), around, left, found.operator.mass_at(places))


def _map_around(
    found: BlockDiffusion, labels: Labels, codes: np.ndarray, places: np.ndarray, engine: Engine
) -> np.ndarray:
    """Return what a map says some steps away from some places, (m, n_classes)."""
    operator, name, n_classes = found.operator, f"{found.name}-around", labels.n_classes
    scratch, blocks = operator.scratch, range(operator.n_blocks)
    save_labels(scratch, name, labels.only(slice(0)))  # none: the walk goes on for ever
    for b in blocks:
        operator.save(f"{name}/codes", b, codes[operator.starts[b] : operator.starts[b + 1]])
    graph = BlockGraph(operator, engine, name=name)
    columns = [engine.submit(_class_columns, operator, name, b, n_classes) for b in blocks]
    for _ in range(MAP_STEPS):
        columns = graph.exchanged(block_tasks.walked, columns, values=(1,), row_bytes=4 * n_classes)
    around = normalised_scores(graph.rows_at(columns, places))
    scratch.drop_stage(name)
    return around


def _class_columns(arrays: BlockArrays, name: str, b: int, n_classes: int) -> np.ndarray:
    """Return the indicators of the classes of a block's map."""
    return class_indicators(np.array(arrays.load(f"{name}/codes", b)), n_classes, np.float32)
