"""Absorbing labels diffuse over a graph in blocks: tau, and every point's class.

The choice of the time and of the weights of the classes is that of `diffclass.label_diffusion`;
only where columns and sums are differs.

More than 4,096 steps at once are single steps here, in the operator's precision, unless the walk is
late enough for a series; in memory they are those of `diffclass.label_diffusion.walks.long_walk`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass.blocks import block_tasks
from diffclass.blocks.engine import Engine, SerialEngine
from diffclass.blocks.graph import Handles, Traffic
from diffclass.blocks.label_distance import LabelDistance
from diffclass.blocks.labels import BlockLabels
from diffclass.blocks.operator import BlockOperator
from diffclass.blocks.scratch import Scratch
from diffclass.blocks.unreached_points import fill_unreached
from diffclass.blocks.walk import BlockWalk
from diffclass.exceptions import ParameterError
from diffclass.label_diffusion.class_weights import counted_every
from diffclass.label_diffusion.cut import Cut
from diffclass.label_diffusion.diffusion import read_map
from diffclass.label_diffusion.early_stopping import stop_early
from diffclass.label_diffusion.parameters import DiffusionRules
from diffclass.label_diffusion.posteriors import decide, posteriors_of
from diffclass.label_diffusion.stopping_time import MarginCurve, Tau
from diffclass.progress import stage

PARTS = ("codes", "probability", "margin", "posteriors")


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
    weighting : {"equal", "balanced", "matched"}
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
        return self.operator.scratch.load(f"{self.name}/{part}.{b}")

    def in_order(
        self, part: str, order: np.ndarray | None = None, *, n_rows: int = 1_000_000
    ) -> Iterator[np.ndarray]:
        """Yield an array in the order of the points, slice by slice.

        Parameters
        ----------
        part : str
            As in `part`.
        order : ndarray of int of shape (n,), optional
            The point at each place; by default points are in the order of places.
        n_rows : int, default=1000000
            Length of a slice. Each slice costs one pass over ``order``.
        """
        starts = self.operator.starts
        for first in range(0, len(self.operator), n_rows):
            size = min(n_rows, len(self.operator) - first)
            out: np.ndarray | None = None
            for b in range(self.operator.n_blocks):
                places = np.arange(starts[b], starts[b + 1])
                points = places if order is None else np.asarray(order[places[0] : places[-1] + 1])
                inside = (points >= first) & (points < first + size)
                values = self.part(part, b)
                if out is None:
                    out = np.empty((size, *values.shape[1:]), dtype=values.dtype)
                out[points[inside] - first] = values[inside]
            assert out is not None
            yield out

    def drop(self) -> None:
        """Remove the arrays."""
        self.operator.scratch.drop_stage(self.name)

    @property
    def facts(self) -> dict[str, Any]:
        """All but the operator, in values that JSON can hold."""
        curve = self.curve
        return {
            "name": self.name,
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
        """Return the diffusion of which these are the `facts`."""
        curve = facts["curve"]
        arrays = {name: np.array(curve[name]) for name in _CURVE}
        return cls(
            operator,
            facts["name"],
            np.array(facts["class_weight"]),
            facts["weighting"],
            facts["tau"],
            MarginCurve(**arrays, kept_share=curve["kept_share"]),
            Traffic(**facts["traffic"]),
        )


_CURVE = ("times", "margin", "coverage", "cut")


def diffuse_in_blocks(
    operator: BlockOperator,
    codes: np.ndarray,
    *,
    engine: Engine | None = None,
    label_mode: str = "auto",
    tau: Tau = "auto",
    class_prior: ArrayLike | None = None,
    label_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    depth: int | None = None,
    name: str = "diffusion",
) -> BlockDiffusion:
    """Diffuse labels over a graph in blocks and find the class of every point.

    Parameters
    ----------
    operator : BlockOperator
    codes : ndarray of int of shape (n,)
        Index of the class of the point at each place, -1 where unlabelled; may lie on a file.
    engine : Engine, optional
        By default the work is done here.
    label_mode : {"auto", "absorbing"}, default="auto"
        Labels always absorb the walk.
    tau, class_prior, label_weight, groups
        As in `diffclass.diffuse_labels`; arrays are in the order of places.
    depth : int, optional
        Steps between two exchanges of the blocks' borders; by default as many as cost little.
    name : str, default="diffusion"
        Folder in scratch.

    Returns
    -------
    BlockDiffusion
        With the classes of `diffclass.diffuse_labels` where margins are not smaller than rounding,
        whatever the blocks and the workers are.

    Raises
    ------
    ParameterError
        If labels are to count in another way, or as `diffclass.diffuse_labels`.
    DataError
        If codes has another length, holds no label, or a class has none.
    ClusterError
        If the cluster cannot go on.

    Warns
    -----
    ConvergenceWarning
        If the labels do not cover the graph by the rule's last time.

    Notes
    -----
    Cost: per step a product within each block and an exchange of borders; on a cluster a task per
    block, and one per block and worker beside it: blocks should be as large as workers can hold.
    Memory of a process: the blocks that it works on, and two arrays of n_own x n_classes for each
    of its blocks, six while a series runs. Scratch: up to six such arrays and the map.
    """
    check_label_mode(label_mode)
    engine = SerialEngine() if engine is None else engine
    labels = BlockLabels.of(codes, label_weight, groups, len(operator))
    n_classes = labels.n_classes
    rules = DiffusionRules.checked(
        "absorbing",
        tau,
        class_prior,
        n_points=len(operator),
        n_classes=n_classes,
        per_class=labels.per_class,
    )
    engine.require_visible(operator.scratch.folder)
    with stage("diffusion"):
        walk = labels.start_walk(operator, engine, name, depth)
        stopped = stop_early(walk, rules)
        weighting, weight, _ = walk.retry(
            lambda: read_map(_BlockValues.of(walk, labels.all_count), stopped, rules, n_classes)
        )
        operator.scratch.sweep(name)
    return BlockDiffusion(
        operator, name, weight, weighting, stopped.tau, stopped.curve, walk.graph.traffic
    )


def check_label_mode(label_mode: str) -> None:
    """Raise `ParameterError` for labels that do not absorb the walk."""
    if label_mode not in ("auto", "absorbing"):
        raise ParameterError(
            f"label_mode = {label_mode!r} needs the whole graph in memory; in blocks labels are "
            "absorbing"
        )


@dataclass(frozen=True)
class _BlockValues:
    """Values in blocks, off which a map is read."""

    walk: BlockWalk
    values: Handles
    all_count: bool

    @classmethod
    def of(cls, walk: BlockWalk, all_count: bool) -> _BlockValues:
        return cls(walk, walk.values(), all_count)

    def mass(self) -> np.ndarray:
        return self.walk.mass_of(self.values)

    def counted(self) -> np.ndarray:
        graph, distance = self.walk.graph, counted_every(self.walk.n_points)
        starts = graph.operator.starts[:-1]
        return np.concatenate(
            graph.gather(
                graph.apply(block_tasks.counted, self.values, starts, [distance] * len(starts))
            )
        )

    def cut(self, class_weight: np.ndarray) -> Cut:
        return self.walk.cut(self.values, class_weight)

    def decide(self, class_weight: np.ndarray, n_steps: int | None) -> None:
        """Write the map of each block."""
        walk, graph = self.walk, self.walk.graph
        distance = walk.label_distance if self.all_count else LabelDistance(graph, weighted=True)
        values = fill_unreached(
            graph, self.values, distance.get(), n_steps=n_steps, n_classes=walk.n_classes
        )
        blocks = range(graph.operator.n_blocks)
        files = [(graph.operator.scratch, graph.name, b) for b in blocks]
        graph.gather(graph.apply(_save_map, values, files, [class_weight] * len(files)))
        graph.drop("values")


def _save_map(values: np.ndarray, file: tuple[Scratch, str, int], weight: np.ndarray) -> None:
    scratch, name, b = file
    decision = decide(values, weight, dtype=np.float32)
    scratch.save(f"{name}/codes.{b}", decision.codes.astype(np.int16))
    scratch.save(f"{name}/probability.{b}", decision.probability)
    scratch.save(f"{name}/margin.{b}", decision.margin)
    scratch.save(f"{name}/posteriors.{b}", posteriors_of(values, weight).astype(np.float32))
