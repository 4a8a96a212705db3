"""The whole job of ``diffclass classify``: labels held out, fits, a cleaned map and its report.

A script that does what the command does:

    scene = open_scene("scene.hdr")
    labels = read_labels("labels.tif", grid=scene)
    run = classify_scene(scene, labels, holdout=Holdout("blocks"))
    write_maps("map.tif", run.result, scene)
    print(*run.report.lines(), sep="; ")
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import clone

from diffclass.classifier import DiffusionClassifier
from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.graph import PointGraph
from diffclass.jobs import (
    AT_RANDOM,
    IN_BLOCKS,
    MEMORY,
    Holdout,
    InMemory,
    warn_of_lost_labels,
)
from diffclass.kernels import check_kernel
from diffclass.options import check_options
from diffclass.system.costs import Forecast
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import LabelImage, label_regions
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.jobs.classification.block_runs import BlockRun
from diffclass_hyperspectral.jobs.classification.classifying import (
    LabelledPixels,
    apply_model,
    check_labels_with_data,
    checked_labels,
    hints_of,
)
from diffclass_hyperspectral.jobs.classification.cleanup import Cleanup, CleanupReport
from diffclass_hyperspectral.jobs.classification.models import load_model
from diffclass_hyperspectral.jobs.classification.report import (
    AppliedModel,
    ClassificationReport,
    FailedHoldout,
    HoldoutReport,
    report_classification,
    report_fit,
    report_holdout,
)
from diffclass_hyperspectral.jobs.classification.scene_classification import (
    SceneClassification,
)
from diffclass_hyperspectral.jobs.classification.stability import SecondMap, reseeded
from diffclass_hyperspectral.jobs.evaluation import Split, full_gap, groups_in_squares, hold_out
from diffclass_hyperspectral.options import OPTIONS
from diffclass_hyperspectral.pixels import Pixels


@dataclass(frozen=True)
class ClassificationRun:
    """A classified scene, its map cleaned if that was asked for, and what is known about it."""

    result: SceneClassification
    report: ClassificationReport


def classify_scene(
    scene: Scene,
    labels: LabelImage,
    *,
    features: SceneFeatures | None = None,
    classifier: DiffusionClassifier | None = None,
    hints: LabelImage | None = None,
    score_accuracy: float | None = None,
    holdout: Holdout | None = None,
    cleanup: Cleanup | None = None,
    stability: bool = False,
    place: InMemory | BlockRun = MEMORY,
    before: Callable[[Forecast], object] | None = None,
) -> ClassificationRun:
    """Classify a scene from labels, score it on those held out, and clean the map.

    Labelled pixels of a class that touch count as one label.

    Parameters
    ----------
    scene : Scene
    labels : LabelImage
        Of the scene's rows and columns.
    features : SceneFeatures, optional
        Spectral components by default; left unfitted, the fitted ones are ``result.model``'s.
    classifier : DiffusionClassifier, optional
        Left unfitted too.
    hints : LabelImage, optional
        A map of the same classes from elsewhere, such as last year's, of the scene's rows and
        columns; see ``score_prior`` of `diffclass.DiffusionClassifier`. Not in blocks.
    score_accuracy : float, optional
        Share of the hints that are right, as far as it is known, 0 to 1.
    holdout : diffclass.jobs.Holdout, optional
        Which labels are held out; none by default. Methods that use a pixel's surroundings (spatial
        features, filters) are always scored both at random and in blocks.
    cleanup : Cleanup, optional
        Nothing by default.
    stability : bool, default=False
        Whether the scene is classified once more with another seed of the neighbour search, for
        ``result.stability``; it takes one more graph and its diffusion.
    place : InMemory or BlockRun, optional
        Where the work is done; the second for a scene that is too large for memory.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    ClassificationRun

    Raises
    ------
    DataError
        For labels of another place, fewer than two classes, no label on a pixel with data, and
        where nothing is left to be held out.
    ParameterError
        For at least as many neighbours as pixels, hints in blocks, and as the features and the
        classifier. All but the number of pixels without data is checked before the scene is read.

    See Also
    --------
    classify_with_model : With a model of another scene, without labels.
    DiffusionClassifier : The estimator, for arrays.
    evaluate_map : Measures a map on labels that are held out already.

    Examples
    --------
    Five labels of each class, drawn from the truth; the others are held out:

    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass.jobs import Holdout
    >>> from diffclass_hyperspectral import LabelImage, Scene, classify_scene
    >>> tissue = make_tissue_scene(48, 48)
    >>> scene, labels = Scene.from_array(tissue.cube), LabelImage.from_array(tissue.truth)
    >>> run = classify_scene(scene, labels, holdout=Holdout(labels_per_class=5))
    >>> f"{run.report.holdout.scores.overall_accuracy:.0%} right"
    '97% right'
    """
    check_options(OPTIONS, stability=stability, score_accuracy=score_accuracy)
    if hints is None and score_accuracy is not None:
        raise ParameterError("score_accuracy is that of hints, which are not given")
    features = SceneFeatures() if features is None else features
    classifier = DiffusionClassifier(random_state=0) if classifier is None else classifier
    cleanup, holdout = cleanup or Cleanup(), holdout or Holdout()
    labels = checked_labels(scene, labels, features, classifier)
    place.check_hints(hints)
    others = None if hints is None else hints.on(scene)
    if others is not None:
        hints_of(others, labels)  # or raises what it would later
    kinds = _kinds(holdout, spatial=features.spatial or cleanup.is_spatial)
    pixels = place.points(Pixels(scene, clone(features)))
    n_fits, n_classes = max(1, len(kinds)), labels.n_classes
    memory = place.forecast(pixels, classifier, n_classes, n_fits=n_fits, second_seed=stability)
    if before is not None:
        before(memory)
    # The draw is tried with the least gap before the scene is read: reading takes minutes, and what
    # the least gap does not allow, no wider one does.
    if kinds:
        hold_out(labels.ids, holdout, kind=kinds[0])
    if place.has_graph:  # in blocks the scene is read once
        check_labels_with_data(scene, labels, None)
    n_lost = int(np.count_nonzero((labels.ids > 0) & ~pixels.valid))
    warn_of_lost_labels(n_lost, labels.path, pixels.noun)
    holdout.warn_of_few(pixels.noun, [e.name for e in labels.table], [*labels.counts().values()])
    # Only now is known how far a pixel's features reach, which is the gap between the blocks.
    reach = _weight_beyond(scene, pixels.features, cleanup) if IN_BLOCKS in kinds else np.zeros(1)
    labelled = LabelledPixels(pixels, labels, others, score_accuracy, place)
    job = _Job(labelled, classifier, holdout, cleanup, reach)
    split = job.split(kinds[0]) if kinds else None
    # What is only scored or compared comes first, so that memory never holds two results.
    second = job.second_map(split) if stability else None
    other, graph = job.scored(kinds[1]) if len(kinds) > 1 else (None, None)
    result, stable = job.fitted(split, graph), None
    # Scores and stability are of the map as the walk left it; cleaning comes last.
    if second is not None:
        result, stable = second.compared_with(result)
    scored = None if split is None else job.report(result, split)
    fit = report_fit(result, labels, split, holdout.random_state)
    result, changes = _cleaned(result, cleanup)
    report = replace(
        report_classification(result, fit),
        memory=memory,
        holdout=scored,
        other_holdout=other,
        cleanup=changes,
        stability=stable,
        # of probabilities that were scored
        calibration=None if scored is None else result.model.classifier.calibration_,
    )
    return ClassificationRun(result, report)


def classify_with_model(
    scene: Scene,
    path: str | os.PathLike[str],
    *,
    check_units: bool = True,
    classify_all: bool = False,
    cleanup: Cleanup | None = None,
    before: Callable[[Forecast], object] | None = None,
) -> ClassificationRun:
    """Classify a scene with a model from a file, and clean the map.

    Parameters
    ----------
    scene : Scene
        With the model's bands.
    path : path-like
        The model, by `save_model`.
    check_units, classify_all : bool
        As in `apply_model`.
    cleanup : Cleanup, optional
        Nothing by default.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    ClassificationRun

    Raises
    ------
    DataError
        Where the file is not a model, a band is missing, the units are others, or no pixel has
        data.

    See Also
    --------
    classify_scene : Where the scene has labels of its own.
    load_model : The model alone.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, classify_scene
    >>> from diffclass_hyperspectral import classify_with_model, save_model
    >>> tissue, other = make_tissue_scene(48, 48), make_tissue_scene(48, 48, random_state=1)
    >>> found = classify_scene(Scene.from_array(tissue.cube), LabelImage.from_array(tissue.labels))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_model(Path(folder) / "tissue.model", found.result.model)
    ...     run = classify_with_model(Scene.from_array(other.cube), path)
    >>> f"{(run.result.class_map == other.truth).mean():.0%} right"
    '94% right'
    """
    check_options(OPTIONS, check_units=check_units, classify_all=classify_all)
    model = load_model(path)
    memory = model.forecast(scene)
    if before is not None:
        before(memory)
    cleanup = cleanup or Cleanup()
    result = apply_model(scene, model, check_units=check_units, classify_all=classify_all)
    beyond = int(np.count_nonzero(result.beyond_reach))
    applied = AppliedModel(str(path), beyond, beyond_classified=classify_all)
    result, changes = _cleaned(result, cleanup)
    report = report_classification(result)
    report = replace(report, memory=memory, applied=applied, cleanup=changes)
    return ClassificationRun(result, report)


@dataclass(frozen=True)
class _Job:
    """What the fits of one run have in common."""

    points: LabelledPixels
    classifier: DiffusionClassifier
    holdout: Holdout
    cleanup: Cleanup
    weight_beyond: np.ndarray

    def split(self, kind: str) -> Split:
        gap = full_gap(self.weight_beyond)
        split = hold_out(self.points.labels.ids, self.holdout, kind=kind, gap=gap)
        segments = self.cleanup.segments
        return split if segments is None or kind == AT_RANDOM else split.outside(segments)

    def fitted(
        self,
        split: Split | None,
        graph: PointGraph | None = None,
        *,
        classifier: DiffusionClassifier | None = None,
        second: bool = False,
    ) -> SceneClassification:
        in_blocks = split is not None and split.kind == IN_BLOCKS
        return self.points.classified(
            classifier or clone(self.classifier),
            fit_on=None if split is None else split.fit,
            grouping=groups_in_squares if in_blocks else label_regions,
            graph=graph,
            second=second,
        )

    def second_map(self, split: Split | None) -> SecondMap:
        classifier = reseeded(self.classifier)
        with warnings.catch_warnings():  # those of the map itself are said
            warnings.simplefilter("ignore")
            found = self.fitted(split, classifier=classifier, second=True)
        kept = self.points.place.kept(found.class_map)
        return SecondMap(kept, classifier.get_params()["random_state"])

    def report(self, result: SceneClassification, split: Split) -> HoldoutReport:
        labels, cleanup, weights = self.points.labels, self.cleanup, self.weight_beyond
        return report_holdout(result, labels, split, cleanup=cleanup, weight_beyond=weights)

    def scored(self, kind: str) -> tuple[HoldoutReport | FailedHoldout, PointGraph | None]:
        """Fit and score with another split, or say why not; with the graph, if it can be reused."""
        try:
            split = self.split(kind)
            result = self.fitted(split)
            kernel = check_kernel(self.classifier.kernel or "shared")
            graph = (
                None if kernel.uses_scores else self.points.place.graph_of(result.model.classifier)
            )
            return self.report(result, split), graph
        except DataError as error:
            return FailedHoldout(kind, str(error)), None


def _weight_beyond(scene: Scene, features: SceneFeatures, cleanup: Cleanup) -> np.ndarray:
    """Return what `SceneFeatures.weight_beyond` does, farther by the reach of a majority filter."""
    with stage("features"):
        by_features = features.weight_beyond(scene)
    return np.concatenate([np.ones(cleanup.majority // 2), by_features])


def _kinds(holdout: Holdout, *, spatial: bool) -> tuple[str, ...]:
    """Return the ways of holding labels out; the map is that of the first."""
    kinds = holdout.kinds
    if not kinds or not spatial:
        return kinds
    # a random split flatters methods that use a pixel's surroundings: never one without the other
    return (kinds[0], *({AT_RANDOM, IN_BLOCKS} - {kinds[0]}))


def _cleaned(
    result: SceneClassification, cleanup: Cleanup
) -> tuple[SceneClassification, CleanupReport | None]:
    if cleanup.is_nothing:
        return result, None
    with stage("cleaning"):
        cleaned, changes = result.cleaned(cleanup)
    lost = np.setdiff1d(result.class_map, cleaned.class_map)
    names = [result.names.get(i, str(i)) for i in lost[lost != 0].tolist()]
    if names:
        warn_user(
            f"cleaning leaves no pixel of {', '.join(names[:5])}"
            + f" and {len(names) - 5} more" * (len(names) > 5)
            + "; a smaller window or area keeps small classes",
            UserWarning,
        )
    return cleaned, changes
