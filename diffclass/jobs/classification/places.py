"""Where points are classified: in memory, or block by block in a scratch folder.

Both places have the same methods. Which classifier works there is decided here alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from diffclass.blocks import BlockClassifier, BlockPlan, Engine, Scratch
from diffclass.classifier import DiffusionClassifier
from diffclass.exceptions import ParameterError, ScaleWarning
from diffclass.graph import PointGraph
from diffclass.jobs.classification.forecasts import forecast_blocks, forecast_classification
from diffclass.jobs.parameters import take_neighbors
from diffclass.jobs.point_set import PointSet
from diffclass.system.costs import Forecast, Size

_Points = TypeVar("_Points", bound=PointSet)
_SECOND = "second_seed"  # folder of another graph in the scratch folder


@contextmanager
def _scales_of(points: PointSet) -> Iterator[None]:
    """Keep a fit from warning of the scales of features that are meant to differ."""
    with warnings.catch_warnings():
        if points.scales_are_meant:
            warnings.simplefilter("ignore", ScaleWarning)
        yield


class InMemory:
    """The memory of this process."""

    has_graph: ClassVar = True  # for hints, and models that are saved

    def check_hints(self, hints: Any) -> None:
        """Raise `ParameterError` for hints that do not work here."""

    def points(self, points: _Points) -> _Points:
        """Return points that are made here: themselves."""
        return points

    def forecast(
        self, points: PointSet, classifier: DiffusionClassifier, n_classes: int, **repeated: Any
    ) -> Forecast:
        """Say what a classification will need; see `forecast_classification`."""
        return forecast_classification(points, classifier, n_classes, **repeated)

    def fit(
        self,
        classifier: DiffusionClassifier,
        points: PointSet,
        y: np.ndarray,
        *,
        groups: np.ndarray | None = None,
        hints: Any = None,
        score_accuracy: float | None = None,
        graph: PointGraph | None = None,
        second: bool = False,
    ) -> DiffusionClassifier:
        """Return a classifier fitted to points, of which some have labels, or hints.

        ``y`` (n,) is None or -1 without a label; ``groups``, ``hints``, ``score_accuracy`` and
        ``graph`` are as in `DiffusionClassifier.fit`, where hints are called ``score_prior``. A
        ``second`` one has a graph of its own, also where graphs lie on files.
        """
        take_neighbors(classifier, len(points.numbers))
        classifier.set_params(affinity=points.affinity)
        classifier.check_parameters()
        with _scales_of(points):
            return classifier.fit(
                points.points,
                y,
                groups=groups,
                score_prior=hints,
                score_accuracy=score_accuracy,
                graph=graph,
            )

    def kept(self, classes: np.ndarray) -> np.ndarray:
        """Return the classes by the second fit, to be compared later."""
        return classes

    def graph_of(self, classifier: DiffusionClassifier) -> PointGraph | None:
        """Return the graph of a fitted classifier, which the next fit can take over."""
        return classifier.graph_


MEMORY = InMemory()


@dataclass(frozen=True)
class InBlocks:
    """A scratch folder, on this machine or where the workers of an engine see it.

    ``memory`` is in bytes, of this process and those it starts, or of each worker of a scheduler;
    ``n_workers`` processes of this machine build the graph.
    """

    has_graph: ClassVar = False

    scratch: Scratch
    memory: float
    engine: Engine | None = None
    n_workers: int | None = None

    def check_hints(self, hints: Any) -> None:
        """Raise `ParameterError` for hints, which need the graph."""
        if hints is not None:
            raise ParameterError("hints need the graph in memory; leave them out, or the blocks")

    def forecast(
        self, points: PointSet, classifier: DiffusionClassifier, n_classes: int, **repeated: Any
    ) -> Forecast:
        """Say what a classification will need; see `forecast_blocks`."""
        plan = self.plan(points.size(classifier.n_neighbors, n_classes))
        n = self.n_machines
        return forecast_blocks(points, classifier, n_classes, plan, n_machines=n, **repeated)

    def fit(
        self,
        classifier: DiffusionClassifier,
        points: PointSet,
        y: np.ndarray,
        *,
        groups: np.ndarray | None = None,
        hints: Any = None,
        score_accuracy: float | None = None,
        graph: PointGraph | None = None,
        second: bool = False,
    ) -> BlockClassifier:
        """Return a classifier in blocks, with the parameters of one in memory, fitted to points.

        The graph lies in the scratch folder, where the next fit finds it; that of a ``second`` one
        lies beside it.
        """
        self.check_hints(hints)
        take_neighbors(classifier, len(points.numbers))
        classifier.set_params(affinity=points.affinity)  # a graph of one's own is refused
        scratch = self.scratch.folder / _SECOND if second else self.scratch
        in_blocks = self._classifier(classifier, scratch)
        in_blocks.check_parameters()
        with _scales_of(points):
            return in_blocks.fit(points.points, y, groups=groups)

    def kept(self, classes: np.ndarray) -> np.ndarray:
        """Return the classes by the second fit on a file, so that they take no memory."""
        self.scratch.save(f"{_SECOND}/class_map", classes)
        return self.scratch.load(f"{_SECOND}/class_map")

    def graph_of(self, classifier: BlockClassifier) -> None:
        """Return nothing: the next fit finds the graph by itself."""

    def plan(self, size: Size) -> BlockPlan:
        """Return how the points will be cut into blocks, and what that will take."""
        return self._classifier(DiffusionClassifier(), self.scratch).plan(size)

    @property
    def n_machines(self) -> int:
        """How many share the work; each worker of a scheduler counts as one."""
        return 1 if self.engine is None else self.engine.n_workers

    def _classifier(self, model: DiffusionClassifier, scratch: Scratch | Path) -> BlockClassifier:
        where = {"memory": self.memory, "engine": self.engine, "n_workers": self.n_workers}
        return BlockClassifier.like(model, scratch=scratch, **where)
