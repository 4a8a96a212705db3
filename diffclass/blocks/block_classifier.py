"""`DiffusionClassifier` beyond memory, and over the workers of a cluster."""

from __future__ import annotations

import math
import os
import weakref
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from diffclass._validation import (
    RandomState,
    check_points,
    check_positive,
    check_seed,
    warn_of_scales,
)
from diffclass.blocks.affinities import BlockKernel
from diffclass.blocks.block_diffusion import (
    ROWS,
    BlockDiffusion,
    BlockMap,
    calibrate_in_blocks,
    check_label_mode,
    diffuse_in_blocks,
)
from diffclass.blocks.block_features import JoiningInBlocks, PointsOnDisk
from diffclass.blocks.build import build_operator
from diffclass.blocks.dask_engine import local_cluster
from diffclass.blocks.engine import Engine, SerialEngine
from diffclass.blocks.operator import BlockOperator
from diffclass.blocks.partition import check_file
from diffclass.blocks.plan import BlockPlan
from diffclass.blocks.scratch import Scratch
from diffclass.exceptions import ParameterError, UnreachedWarning, warn_user
from diffclass.kernels import Kernel
from diffclass.label_diffusion import Calibration, DiffusionRules, FeatureOpinion, Labels
from diffclass.label_diffusion.feature_opinion import check_join_features
from diffclass.label_diffusion.labels import warn_of_lost_classes
from diffclass.label_diffusion.stopping import MarginCurve, Tau, checked_tau, is_automatic
from diffclass.neighbors import Nodes
from diffclass.neighbors.number_range import fits, in_single_precision
from diffclass.operators.local_order import inverse
from diffclass.system.costs import Size
from diffclass.system.identity import content_hash
from diffclass.system.mapped_files import release_pages
from diffclass.system.temporary_folders import TemporaryFolder
from diffclass.targets import decode_labels

_OF_BOTH = (
    "n_neighbors", "kernel", "alpha", "label_mode", "tau", "class_prior", "join_features",
    "random_state",
)  # fmt: skip


class BlockClassifier(ClassifierMixin, BaseEstimator):
    """Classify points on disk from a few labels, block by block, here or on a cluster.

    The map is that of `diffclass.DiffusionClassifier`, up to the neighbours that either misses.

    Parameters
    ----------
    n_neighbors, kernel, alpha, label_mode, tau, class_prior, join_features, random_state
        As for `diffclass.DiffusionClassifier`. The kernel is the self-tuning `Gaussian`, or
        `SharedNeighbors` over it, which is the default; labels are absorbing.
    memory : float, default=4e9
        Bytes that this process with the processes it starts, or each worker of a cluster, may use.
    engine : Engine, optional
        Runs the work, as a `DaskEngine` does on a cluster; by default this process does.
    n_workers : int, optional
        Processes of this machine that build the graph, in place of an engine. They have ended when
        the labels diffuse: one process with all cores does that in less processor time.
    scratch : Scratch or path-like, optional
        Folder for what does not fit into memory; by default one among the system's temporary files.
        A folder that is given stays, with the graph, the maps and all that a killed run completed:
        fitting again with the same points takes it over, also with other labels. Other points or
        parameters of the graph are refused: each has a folder of its own, with nothing else in it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    diffusion_ : BlockMap
        Class, probability, margin and posteriors of each point, on files in the scratch folder,
        that are there as long as the folder is.
    raw_label_distributions_, margin_ : ndarray of shape (n, n_classes) and (n,)
        The same posteriors and margins.
    tau_ : int
    margin_curve_ : MarginCurve
    calibration_ : Calibration
    feature_opinion_ : FeatureOpinion or None
    recall_ : float
        Share of the true neighbours that were found, measured on 256 points.
    crossing_recall_ : float
        Share of the true edges between blocks that were found, measured on about 1,024 points.
    is_joined_ : bool
        Whether that is as much as is aimed at: 95 % of the share found within blocks, and half of
        it at each block.
    facts_ : dict
        Numbers of points, blocks, edges, ghosts and overlap points, the least ``crossing_recall_``
        ("crossing_bound"), and what went through the engine.

    See Also
    --------
    DiffusionClassifier : For points whose graph fits into memory: all kernels, and new points.
    diffuse_in_blocks : For an operator of `build_operator`.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.blocks import BlockClassifier
    >>> X = np.random.default_rng(0).normal(size=(3000, 3)) + np.repeat([[0], [5]], 1500, axis=0)
    >>> y = np.full(3000, -1); y[0] = 3; y[1500] = 7
    >>> model = BlockClassifier(random_state=0).fit(X.astype(np.float32), y)
    >>> np.unique(model.transduction_, return_counts=True)
    (array([3, 7]), array([1500, 1500]))
    """

    def __init__(
        self,
        n_neighbors: int = 12,
        *,
        kernel: Kernel | None = None,
        alpha: float = 0.0,
        label_mode: str = "auto",
        tau: Tau = "auto",
        class_prior: ArrayLike | None = None,
        join_features: bool | str = "auto",
        memory: float = 4e9,
        engine: Engine | None = None,
        n_workers: int | None = None,
        scratch: Scratch | str | os.PathLike[str] | None = None,
        random_state: RandomState = None,
    ):
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.alpha = alpha
        self.label_mode = label_mode
        self.tau = tau
        self.class_prior = class_prior
        self.join_features = join_features
        self.memory = memory
        self.engine = engine
        self.n_workers = n_workers
        self.scratch = scratch
        self.random_state = random_state

    @classmethod
    def like(cls, model: Any, **where: Any) -> BlockClassifier:
        """Return a classifier with the parameters of a `diffclass.DiffusionClassifier`.

        ``where`` are ``memory``, ``engine``, ``n_workers`` and ``scratch``. `ParameterError`:
        another parameter differs from its default, and needs the whole graph in memory.
        """
        default = type(model)()
        for name, value in model.get_params(deep=False).items():
            if name not in _OF_BOTH and value != getattr(default, name):
                raise ParameterError(
                    f"{name} = {value!r} needs the whole graph in memory; leave it out, or the "
                    "blocks"
                )
        return cls(**{name: getattr(model, name) for name in _OF_BOTH}, **where)

    def fit(
        self,
        X: np.ndarray | str | os.PathLike[str],
        y: Any,
        *,
        label_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> BlockClassifier:
        """Build the graph of all points and diffuse the labels over it.

        Parameters
        ----------
        X : path-like or array of shape (n, p)
            A ``.npy`` file of float32 that the workers see too. An array is written to the scratch
            folder in single precision, unless it is a memory map with the content of such a file;
            so are points whose squared differences single precision does not hold, in another unit.
        y : array-like of shape (n,)
            Labels; -1, None and NaN mean unlabelled.
        label_weight, groups : array-like of shape (n,), optional
            As for `diffclass.DiffusionClassifier.fit`.

        Returns
        -------
        BlockClassifier
            Itself.

        Raises
        ------
        ParameterError
            If a parameter is out of range, works only in memory, or the memory is too little.
        DataError
            If X cannot be read or is not finite, y has another length or no label, the scratch
            folder holds the graph of other points or parameters, or was damaged, or no space is
            left.
        ClusterError
            If the cluster cannot go on.

        Warns
        -----
        ConvergenceWarning
            If fewer edges between blocks were found than are aimed at.
        UnreachedWarning
            If no label reaches some points.
        ScaleWarning
            As `diffclass.DiffusionClassifier.fit`.
        UserWarning
            If every point has a label, and 0 or "" looks like a mark of those without one.
        """
        self.check_parameters()
        labels = Labels.of(y, label_weight, groups)
        rules = self._rules(labels)
        self.classes_ = labels.classes
        scratch = self._scratch()
        path, content = self._file_of(X, scratch)
        labels.check_number(check_file(path)[0], of="X")
        path, nodes = _nodes_of(path, content, scratch)
        if nodes is not None:
            labels = labels.at_nodes(nodes)
            rules = self._rules(labels)
        n, p = check_file(path)
        plan = self.plan(Size(n, p, self.n_neighbors, len(self.classes_)))
        engine = self.engine
        if engine is None:
            held = math.inf if plan.is_joined else plan.held_bytes
            engine = SerialEngine(memory=held, folder=scratch.folder)
        with self._builders(plan, scratch, otherwise=engine) as builder:
            operator, facts = build_operator(
                path, scratch=scratch, engine=builder, n_neighbors=self.n_neighbors,
                kernel=self.kernel, alpha=self.alpha, random_state=self.random_state,
                block_points=plan.block_points, mass=None if nodes is None else nodes.mass,
                content=content if nodes is None else None,
            )  # fmt: skip
        if plan.is_joined:
            operator = operator.joined(engine.n_workers)
        order = scratch.load("cells/order")
        labels = labels.moved(inverse(order))
        points = np.load(path, mmap_mode="r")
        on_disk = PointsOnDisk(points, order)
        found, of_nodes = self._diffused(operator, labels, rules, on_disk, engine)
        self.recall_, self.crossing_recall_ = facts["recall"], facts["crossing_recall"]
        self.facts_ = facts | found.facts["traffic"]
        self.tau_: int = found.tau
        self.margin_curve_: MarginCurve = found.curve
        self.diffusion_ = found.at_points(of_nodes, nodes)
        self._warn_of_what_is_missing()
        warn_of_lost_classes(labels, np.asarray(self.diffusion_.codes))
        return self

    def _diffused(
        self,
        operator: BlockOperator,
        labels: Labels,
        rules: DiffusionRules,
        on_disk: PointsOnDisk,
        engine: Engine,
    ) -> tuple[BlockDiffusion, BlockMap]:
        """Diffuse labels, and make the map of all distinct points, joined with features or not."""
        self.feature_opinion_: FeatureOpinion | None = None
        self._calibration: Calibration | None = None
        if self.joins_features:
            found = _diffused(operator, labels, replace(rules, sizes=None), engine)
            joined = JoiningInBlocks(labels, on_disk, engine).joined(found, rules.sizes)
            if joined is not None:
                self.feature_opinion_, self._calibration = joined.opinion, joined.calibration
                return found, joined.map
        found = _diffused(operator, labels, rules, engine)
        self._calibrating = found, labels, engine
        return found, found.in_order(on_disk.order)

    @property
    def joins_features(self) -> bool:
        """Whether the features join the map of labels, by the parameters."""
        if self.join_features != "auto":
            return bool(self.join_features)
        return is_automatic(self.label_mode, self.tau)

    def _rules(self, labels: Labels) -> DiffusionRules:
        return DiffusionRules.of(
            labels, label_mode=self.label_mode, tau=self.tau, class_prior=self.class_prior
        )

    def check_parameters(self) -> None:
        """Raise `ParameterError` for a kernel, labels or a time that do not work in blocks.

        Also for workers that nobody can start.
        """
        BlockKernel.of(self.kernel)
        check_label_mode(self.label_mode)
        checked_tau(self.tau)
        check_join_features(self.join_features)
        check_seed(self.random_state)
        if self.n_workers is not None:
            check_positive(self.n_workers, "n_workers", integer=True)
            if self.engine is not None:
                raise ParameterError("an engine has workers of its own; leave out n_workers")

    def plan(self, size: Size) -> BlockPlan:
        """Return how points will be cut into blocks, and what that will take."""
        n_workers = 1 if self.engine is None else self.engine.n_workers
        return BlockPlan.within(self.memory, size, n_workers=n_workers, n_builders=self.n_workers)

    @property
    def raw_label_distributions_(self) -> np.ndarray:
        """Posteriors of the walk at each point."""
        return self.diffusion_.posteriors

    @property
    def margin_(self) -> np.ndarray:
        """Difference of the two largest posteriors of each point, 0 to 1."""
        return self.diffusion_.margin

    @property
    def calibration_(self) -> Calibration:
        """How the posteriors become probabilities; found when it is first asked for."""
        if self._calibration is None:
            self._calibration = calibrate_in_blocks(*self._calibrating)
        return self._calibration

    def __getstate__(self) -> dict[str, Any]:
        """Return the parameters and results with their arrays; the blocks stay where they are."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "_calibrating" in state:
            state |= {"_calibration": self.calibration_, "_calibrating": None}
        return state

    @property
    def transduction_(self) -> np.ndarray:
        """Class of each point, -1 where no label arrives; in memory, of shape (n,)."""
        return decode_labels(self.classes_, self.diffusion_.codes)

    def _scratch(self) -> Scratch:
        if isinstance(self.scratch, Scratch):
            return self.scratch
        if self.scratch is not None:
            return Scratch.kept(self.scratch)
        temporary = TemporaryFolder("diffclass-blocks")
        # with the maps, which lie there; also at the end of the process, as after Ctrl-C
        weakref.finalize(self, temporary.remove)
        return Scratch(temporary.path)

    def _builders(
        self, plan: BlockPlan, scratch: Scratch, *, otherwise: Engine
    ) -> AbstractContextManager[Engine]:
        if self.n_workers is None or "operator" in scratch.completed_stages:
            return nullcontext(otherwise)
        memory = plan.builder_bytes * self.n_workers
        return local_cluster(self.n_workers, memory=memory, folder=scratch.folder / "workers")

    def _file_of(self, X: Any, scratch: Scratch) -> tuple[Path, str]:
        """Return the file of the points in single precision, and the hash of these."""
        path = _own_file(X)
        if path is not None:
            check_file(path)
            X = np.load(path, mmap_mode="r")
            if _fits(X):
                warn_of_scales(X)
                return path, content_hash(X)
        given = check_points(X)
        warn_of_scales(given)
        points = in_single_precision(given)
        content = content_hash(points)

        def work() -> dict[str, Any]:
            scratch.save("points/points", points)
            return {}

        scratch.completed("points", work, made_from={"points": content})
        return scratch.path("points/points"), content

    @property
    def is_joined_(self) -> bool:
        """Whether as many edges between blocks were found as are aimed at."""
        facts = self.facts_
        return bool(facts["crossing_recall"] >= facts["crossing_bound"] and not facts["n_cut_off"])

    def _warn_of_what_is_missing(self) -> None:
        lost = "" if self.is_joined_ else _lost_edges(self.facts_)
        if lost:
            warn_user(lost, ConvergenceWarning)
        n_unreached = int(np.count_nonzero(self.diffusion_.codes < 0))
        if n_unreached:
            cause = (
                f"which may be for want of edges: {lost}"
                if lost
                else "they lie in parts of the graph without a label, or farther than the walk; "
                "label a point in each part, or raise n_neighbors"
            )
            warn_user(
                f"no label reaches {n_unreached} of {len(self.diffusion_.codes)} points: {cause}",
                UnreachedWarning,
            )


def _fits(points: np.ndarray) -> bool:
    """Return whether single precision holds the squared differences of points on a file.

    Those that are no numbers are refused where they are read.
    """
    starts = range(0, len(points), ROWS)
    ends = [np.stack([rows.min(axis=0), rows.max(axis=0)])
            for rows in (points[start : start + ROWS] for start in starts)]  # fmt: skip
    release_pages(points)
    found = np.concatenate(ends)
    return not np.isfinite(found).all() or fits(found, np.float32)


def _nodes_of(path: Path, content: str, scratch: Scratch) -> tuple[Path, Nodes | None]:
    """Return a file of the distinct points, and which points are equal; the same file without."""
    points = np.load(path, mmap_mode="r")
    nodes = Nodes.of(points)
    if nodes is None:
        return path, None

    def work() -> dict[str, Any]:
        out = scratch.create("distinct/points", (len(nodes), points.shape[1]), points.dtype)
        for start in range(0, len(out), ROWS):
            out[start : start + ROWS] = points[nodes.first[start : start + ROWS]]
        return {}

    scratch.completed("distinct", work, made_from={"points": content}, shown="")
    return scratch.path("distinct/points"), nodes


def _diffused(
    operator: BlockOperator, labels: Labels, rules: DiffusionRules, engine: Engine
) -> BlockDiffusion:
    """Diffuse labels, unless an earlier run with the same labels and rules did."""
    sizes, scratch = rules.sizes, operator.scratch
    given = (None, None) if sizes is None else (sizes.least, sizes.most)
    parts = labels.points, labels.codes, labels.weight, labels.groups, labels.n_classes, *given
    asked = content_hash(repr(replace(rules, sizes=None)), *parts)
    name = f"diffusion-{asked[:12]}"

    def work() -> dict[str, Any]:
        return diffuse_in_blocks(operator, labels, rules, engine=engine, name=name).facts

    made_from = {"labels": asked, "operator": scratch.identity_of("operator")}
    facts = scratch.completed(name, work, made_from=made_from, shown="")
    return BlockDiffusion.from_facts(operator, facts)


def _lost_edges(facts: dict[str, Any]) -> str:
    n_cut_off = facts["n_cut_off"]
    cut_off = f", less than half of those of {n_cut_off} blocks" if n_cut_off else ""
    return (
        f"{facts['crossing_recall']:.1%} of the edges between blocks were found{cut_off}; "
        f"{facts['crossing_bound']:.1%} are aimed at; give more memory, so that blocks are larger"
    )


def _own_file(X: Any) -> Path | None:
    """Return the ``.npy`` file of float32 of which X is the path, or a memory map.

    A view of the file or a changed copy-on-write map is not, nor where the file was replaced.
    """
    if isinstance(X, str | os.PathLike):
        return Path(X)
    if not isinstance(X, np.memmap) or X.filename is None:
        return None
    try:
        whole = np.load(str(X.filename), mmap_mode="r")
    except (OSError, ValueError):
        return None
    if whole.shape != X.shape or not whole.dtype == X.dtype == np.float32:
        return None
    parts = (slice(start, start + ROWS) for start in range(0, len(X), ROWS))
    is_same = all(X[rows].tobytes() == whole[rows].tobytes() for rows in parts)
    return Path(X.filename) if is_same else None
