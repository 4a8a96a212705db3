"""Scenes beyond memory: features, graph and maps lie in a scratch folder, made block by block.

A script that does what ``classify --memory 8GB`` does:

    with BlockRun.opened(scene, features, classifier, folder="scratch", memory=8e9) as blocks:
        run = classify_scene(
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
from typing import Any

import numpy as np

from diffclass import __version__
from diffclass.blocks import (
    BlockClassifier,
    Engine,
    Scratch,
    cluster_at,
    graph_identity,
    require_distributed,
    room_in,
)
from diffclass.classifier import DiffusionClassifier
from diffclass.jobs import InBlocks, MadePoints
from diffclass.model_files import read_model, write_model
from diffclass.system.costs import Cost
from diffclass.system.identity import sources
from diffclass.system.progress import stage
from diffclass.system.temporary_folders import TemporaryFolder
from diffclass_hyperspectral.features.feature_costs import feature_cost
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.scenes import Scene, scene_identity
from diffclass_hyperspectral.jobs.classification.models import FEATURES
from diffclass_hyperspectral.pixels import Pixels, feature_facts

_FEATURES = "diffclass scene features"
_WINDOW_SHARE = 0.25  # of the memory, for windows of a picture that is smoothed


@dataclass(frozen=True)
class BlockRun(InBlocks):
    """Where a scene beyond memory is worked on: a scratch folder, on this machine or by an engine.

    Its fields are those of `InBlocks`.
    """

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
            As of `InBlocks`.
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

    def points(self, pixels: Pixels) -> Pixels:
        """Return the pixels with features that are made on files."""
        return _PixelsOnFiles(pixels.scene, pixels.features, place=self)


@dataclass(frozen=True, eq=False, kw_only=True)
class _PixelsOnFiles(Pixels):
    """Pixels whose features lie in a scratch folder; those of a resumed run are taken over."""

    place: InBlocks

    def costs(self) -> dict[str, Cost]:
        """Return the costs of making the features, which are not kept in memory."""
        n_bands = int(self.scene.band_mask.sum())
        making = feature_cost(self.features, self.scene.shape, n_bands, on_disk=True)
        return {"features": making}

    def make(self) -> MadePoints:
        """Fit features to the scene and write them, or read what is written."""
        scratch, features = self.place.scratch, self.features
        model = scratch.folder / "features" / "features.model"

        def work() -> dict[str, Any]:
            _, valid = features.fit_transform_points(
                self.scene,
                lambda shape: scratch.create("features/points", shape, np.float32),
                window_bytes=int(self.place.memory * _WINDOW_SHARE),
            )
            scratch.save("features/valid", valid)
            _save_features(model, features)
            return {}

        scratch.completed("features", work)
        valid, points = (scratch.load(f"features/{name}") for name in ("valid", "points"))
        features.__dict__.update(vars(read_model(model, FEATURES, kind=_FEATURES)))
        return MadePoints(points, np.array(valid), feature_facts(features))


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
