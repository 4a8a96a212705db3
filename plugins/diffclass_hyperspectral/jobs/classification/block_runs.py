"""Scenes beyond memory: features, graph and maps lie in a scratch folder, made block by block.

A script that does what ``classify --memory 8GB`` does:

    with BlockRun.opened(scene, features, classifier, folder="scratch", memory=8e9) as blocks:
        run = classify_with_holdout(
            scene, labels, features=features, classifier=classifier, place=blocks
        )
        write_maps("map.tif", run.result, scene)
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from diffclass import __version__
from diffclass.blocks import (
    BlockClassifier,
    BlockPlan,
    Engine,
    Scratch,
    cluster_at,
    graph_identity,
    require_distributed,
    room_in,
)
from diffclass.classifier import DiffusionClassifier
from diffclass.model_files import read_model, write_model
from diffclass.system.costs import Forecast, Size
from diffclass.system.identity import sources
from diffclass.system.progress import stage
from diffclass.system.temporary_folders import TemporaryFolder
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.scenes import Scene, scene_identity
from diffclass_hyperspectral.jobs.classification.classifying import LabelledPoints
from diffclass_hyperspectral.jobs.classification.forecasts import forecast_blocks
from diffclass_hyperspectral.jobs.classification.models import FEATURES

_FEATURES = "diffclass scene features"
_SECOND = "second_seed"  # folder of another graph in the scratch folder
_WINDOW_SHARE = 0.25  # of the memory, for windows of a picture that is smoothed


@dataclass(frozen=True)
class BlockRun:
    """Where a scene beyond memory is worked on: a scratch folder, on this machine or by an engine.

    ``memory`` is in bytes, of this process and those it starts, or of each worker of a scheduler;
    ``n_workers`` processes of this machine build the graph.
    """

    has_graph: ClassVar = False

    scratch: Scratch
    memory: float
    engine: Engine | None = None
    n_workers: int | None = None

    @classmethod
    @contextmanager
    def opened(
        cls,
        scene: Scene,
        features: SceneFeatures,
        classifier: DiffusionClassifier,
        *,
        folder: str | os.PathLike[str],
        memory: float,
        n_workers: int | None = None,
        scheduler: str | None = None,
        resume: bool = False,
    ) -> Iterator[BlockRun]:
        """Open a scratch folder for a scene, and join the workers of a scheduler.

        Parameters
        ----------
        scene : Scene
        features : SceneFeatures
        classifier : DiffusionClassifier
            Neither is changed.
        folder : path-like
            Removed at the end, also after Ctrl-C; after an error complete stages stay. Of a link,
            both it and the folder are removed.
        memory, n_workers
            As of `BlockRun`.
        scheduler : str, optional
            Address of a dask scheduler, such as "tcp://host:8786".
        resume : bool, default=False
            Whether what an earlier run completed in the folder is taken over. The values of the
            scene, its part, the features, the parameters of the graph and the sources of diffclass
            have to be the same; other labels diffuse over the same graph.

        Raises
        ------
        ParameterError
            If the classifier has parameters that need the graph in memory, or dask.distributed is
            missing, or workers do not see the folder.
        DataError
            If the folder holds anything else, or the run of another job, or is damaged.
        ClusterError
            If the scheduler does not answer.
        """
        BlockClassifier.like(classifier).check_parameters()
        job = _job(scene, features, classifier)
        with ExitStack() as stack:
            opened = Scratch.opened(folder, job=job, resume=resume, keep=True)
            scratch = stack.enter_context(opened)
            engine: Engine | None = None
            if scheduler is not None:
                engine = stack.enter_context(cluster_at(scheduler))
                engine.require_visible(scratch.folder)
            elif n_workers is not None:
                require_distributed()  # before features are made
            yield cls(scratch, memory, engine, n_workers)

    def forecast(
        self,
        scene: Scene,
        features: SceneFeatures,
        classifier: DiffusionClassifier,
        n_classes: int,
        **repeated: Any,
    ) -> Forecast:
        """Say what a classification will need; see `forecast_blocks`."""
        job = scene, features, classifier, n_classes
        return forecast_blocks(*job, self.plan, n_machines=self.n_machines, **repeated)

    def points(self, scene: Scene, labels: LabelImage, features: SceneFeatures) -> LabelledPoints:
        """Fit features to a scene and write them; those of a resumed run are taken over."""
        model = self.scratch.folder / "features" / "features.model"

        def work() -> dict[str, Any]:
            _, valid = features.fit_transform_points(
                scene,
                lambda shape: self.scratch.create("features/points", shape, np.float32),
                window_bytes=int(self.memory * _WINDOW_SHARE),
            )
            self.scratch.save("features/valid", valid)
            _save_features(model, features)
            return {}

        self.scratch.completed("features", work)
        valid, points = (self.scratch.load(f"features/{name}") for name in ("valid", "points"))
        fitted = read_model(model, FEATURES, kind=_FEATURES)
        return LabelledPoints(scene, labels, points, np.array(valid), fitted)

    def classifier(self, model: DiffusionClassifier) -> BlockClassifier:
        """Return the classifier in blocks with the parameters of one in memory."""
        return self._classifier(model, self.scratch)

    def second_classifier(self, model: DiffusionClassifier) -> BlockClassifier:
        """Return one whose graph is another, which lies beside the first."""
        return self._classifier(model, self.scratch.folder / _SECOND)

    def kept(self, class_map: np.ndarray) -> np.ndarray:
        """Return the map of the second classifier on a file, so that it takes no memory."""
        self.scratch.save(f"{_SECOND}/class_map", class_map)
        return self.scratch.load(f"{_SECOND}/class_map")

    def graph_of(self, classifier: BlockClassifier) -> None:
        """Return nothing: the graph lies in the scratch folder, where the next fit finds it."""

    def _classifier(self, model: DiffusionClassifier, scratch: Scratch | Path) -> BlockClassifier:
        return BlockClassifier.like(
            model,
            memory=self.memory,
            engine=self.engine,
            n_workers=self.n_workers,
            scratch=scratch,
        )

    def plan(self, size: Size) -> BlockPlan:
        """Return how the points will be cut into blocks, and what that will take."""
        return self.classifier(DiffusionClassifier()).plan(size)

    @property
    def n_machines(self) -> int:
        """How many share the work; each worker of a scheduler counts as one."""
        return 1 if self.engine is None else self.engine.n_workers


def _save_features(path: Path, features: SceneFeatures) -> None:
    """Write fitted features; temporary folders come and go elsewhere than in the scratch folder."""
    with TemporaryFolder("diffclass-features") as folder, room_in(path.parents[1]):
        new = folder.path / path.name
        write_model(new, features, FEATURES, kind=_FEATURES, version=__version__)
        shutil.copyfile(new, path)


def _job(scene: Scene, features: SceneFeatures, classifier: DiffusionClassifier) -> dict[str, Any]:
    names = ("n_neighbors", "kernel", "alpha", "random_state")
    graph = graph_identity(*(getattr(classifier, name) for name in names))
    chosen = {name: repr(value) for name, value in features.get_params().items()}
    chosen["sources of scenes"] = sources(Path(__file__).parents[2])
    with stage("hashing"):
        return scene_identity(scene) | chosen | graph
