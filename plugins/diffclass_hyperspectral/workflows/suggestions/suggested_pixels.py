"""Which pixels to label next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from diffclass import suggest
from diffclass.classifier import DiffusionClassifier
from diffclass.costs import Forecast
from diffclass.exceptions import DataError
from diffclass.mode_clustering import DiffusionModes
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.workflows.classification import (
    SceneClassification,
    checked_labels,
    classify_scene,
)
from diffclass_hyperspectral.workflows.classification.forecasts import (
    forecast_classification,
)
from diffclass_hyperspectral.workflows.clustering import cluster_scene
from diffclass_hyperspectral.workflows.reports import Facts, RunReport


@dataclass(frozen=True)
class SuggestedPixel(Facts):
    """A pixel to label, and its class as it is now.

    Attributes
    ----------
    rank : int
        From 1, the best first.
    row, column : int
        From 0.
    x, y : float or None
        Of its centre, in the scene's coordinate system; None where the scene has none.
    rule : str
    score : float
        Larger = more worth a label; scales differ from rule to rule.
    current_class : int
        Class id that it has now; 0 if no label has reached it, or there is none.
    current_name : str
        That class's name; empty for 0.
    margin : float or None
        Of that class, 0 to 1; None where there are no labels.
    """

    rank: int
    row: int
    column: int
    x: float | None
    y: float | None
    rule: str
    score: float
    current_class: int
    current_name: str
    margin: float | None


@dataclass(frozen=True, eq=False)
class SuggestionReport(RunReport):
    """What is suggested, and how it was chosen.

    Attributes
    ----------
    rule : str
    min_distance : float
        Least distance between two of them, in pixels.
    tau : int or None
        Diffusion time in steps; None where there are no labels.
    pixels : tuple of SuggestedPixel
        The best first.
    """

    rule: str
    min_distance: float
    tau: int | None
    pixels: tuple[SuggestedPixel, ...]

    def lines(self) -> list[str]:
        """Return the pixels as lines to read."""
        lines = [f"{'':>4}  {'row':>6}  {'column':>6}  {'score':>10}  {'margin':>6}  class now"]
        lines += [
            f"{pixel.rank:>4}  {pixel.row:>6}  {pixel.column:>6}  {pixel.score:>10.4g}  "
            f"{_margin_text(pixel.margin):>6}  {pixel.current_class} {pixel.current_name}".rstrip()
            for pixel in self.pixels
        ]
        return lines


@dataclass(frozen=True)
class SuggestionRun:
    """Pixels of a scene to label next.

    Attributes
    ----------
    result : SceneClassification or None
        The scene as classified so far; None where there are no labels.
    report : SuggestionReport
    """

    result: SceneClassification | None
    report: SuggestionReport

    @property
    def pixels(self) -> tuple[SuggestedPixel, ...]:
        """The pixels, the best first."""
        return self.report.pixels

    @property
    def is_covered(self) -> bool:
        """Whether the labels covered the graph by the last time looked at; true without any."""
        if self.result is None:
            return True
        return bool(self.result.model.classifier.margin_curve_.is_covered)


def suggest_for_scene(
    scene: Scene,
    labels: LabelImage,
    n_pixels: int = 10,
    *,
    rule: str = "hybrid",
    min_distance: float = 0.0,
    features: SceneFeatures | None = None,
    classifier: DiffusionClassifier | None = None,
    before: Callable[[Forecast], object] | None = None,
) -> SuggestionRun:
    """Classify a scene from all its labels and choose pixels to label next.

    Parameters
    ----------
    scene : Scene
    labels : LabelImage
    n_pixels, rule, min_distance
        As for `suggest_pixels`.
    features, classifier
        As for `classify_scene`.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    SuggestionRun

    Raises
    ------
    DataError, ParameterError
        As `classify_scene` and `suggest_pixels`.
    """
    features = SceneFeatures() if features is None else features
    classifier = DiffusionClassifier(random_state=0) if classifier is None else classifier
    labels = checked_labels(scene, labels, features, classifier)
    n_classes = labels.n_classes
    memory = forecast_classification(scene, features, classifier, n_classes, suggesting=True)
    if before is not None:
        before(memory)
    result = classify_scene(scene, labels, features=features, classifier=classifier)
    pixels = suggest_pixels(scene, labels, result, n_pixels, rule=rule, min_distance=min_distance)
    report = SuggestionReport(
        rule=rule,
        min_distance=min_distance,
        tau=int(result.model.classifier.tau_),
        pixels=tuple(pixels),
        memory=memory,
    )
    return SuggestionRun(result, report)


def suggest_first(
    scene: Scene,
    n_pixels: int = 10,
    *,
    min_distance: float = 0.0,
    features: SceneFeatures | None = None,
    random_state: int = 0,
    before: Callable[[Forecast], object] | None = None,
) -> SuggestionRun:
    """Choose the first pixels to label where there is no label yet: one per mode of the density.

    Parameters
    ----------
    scene : Scene
    n_pixels : int, default=10
        Number of modes that are looked for; see `diffclass.DiffusionModes`.
    min_distance : float, default=0
        Least distance between the centres of two of them, in pixels; of two that are nearer the
        less clear mode is left out.
    features : SceneFeatures, optional
        As for `cluster_scene`.
    random_state : int, default=0
        Seeds the neighbour search and the eigensolver.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    SuggestionRun
        With the rule "modes", whose score is sqrt(density) times the diffusion distance to the
        nearest denser pixel.

    Raises
    ------
    DataError, ParameterError
        As `cluster_scene`.
    """
    model = DiffusionModes(n_pixels, random_state=random_state)
    found = cluster_scene(scene, features=features, model=model, before=before)
    scores = dict(zip(found.modes or (), model.mode_scores_[found.order], strict=True))
    kept: list[tuple[int, int]] = []
    for place in sorted(scores, key=lambda place: -scores[place]):
        if all(np.hypot(*np.subtract(place, other)) >= min_distance for other in kept):
            kept.append(place)
    pixels = tuple(
        _pixel(scene, rank, place, scores[place], rule="modes")
        for rank, place in enumerate(kept, start=1)
    )
    report = SuggestionReport("modes", min_distance, None, pixels, memory=found.memory)
    return SuggestionRun(None, report)


def suggest_pixels(
    scene: Scene,
    labels: LabelImage,
    result: SceneClassification,
    n_pixels: int = 10,
    *,
    rule: str = "hybrid",
    min_distance: float = 0.0,
) -> list[SuggestedPixel]:
    """Choose pixels to label next.

    Parameters
    ----------
    scene : Scene
    labels : LabelImage
        All labels so far.
    result : SceneClassification
        By `classify_scene`, with all these labels.
    n_pixels : int, default=10
        How many.
    rule : str, default="hybrid"
        See `diffclass.acquisition`.
    min_distance : float, default=0
        Least distance between the centres of two of them, in pixels.

    Returns
    -------
    list of SuggestedPixel
        Unlabelled pixels with data; fewer than asked for if no more are far enough apart.

    Raises
    ------
    ParameterError
        For an unknown rule or numbers out of range.
    DataError
        Where every pixel with data is labelled.
    """
    pixels = np.flatnonzero(np.isfinite(result.margin.ravel()))
    ids = labels.ids.ravel()[pixels]
    if (ids > 0).all():
        raise DataError(f"{labels.path}: every pixel with data is labelled; nothing to suggest")
    classifier = result.model.classifier
    assert isinstance(classifier, DiffusionClassifier)
    places = np.column_stack(np.unravel_index(pixels, scene.shape[:2]))
    found = suggest(
        classifier.walk_,
        classifier.diffusion_,
        np.flatnonzero(ids > 0),
        n_pixels,
        rule=rule,
        coordinates=places,
        min_distance=min_distance,
    )
    chosen = zip(places[found.points].tolist(), found.scores, strict=True)
    return [
        _pixel(scene, rank, (row, column), score, rule=found.rule, result=result)
        for rank, ((row, column), score) in enumerate(chosen, start=1)
    ]


def _margin_text(margin: float | None) -> str:
    return "-" if margin is None else f"{margin:.3f}"


def _pixel(
    scene: Scene,
    rank: int,
    place: tuple[int, int],
    score: float,
    *,
    rule: str,
    result: SceneClassification | None = None,
) -> SuggestedPixel:
    """Return a pixel to label with what a classification says of it, if there is one."""
    x, y = scene.centre(*place) or (None, None)
    class_id = 0 if result is None else int(result.class_map[place])
    return SuggestedPixel(
        rank=rank,
        row=place[0],
        column=place[1],
        x=x,
        y=y,
        rule=rule,
        score=float(score),
        current_class=class_id,
        current_name=result.table[class_id].name if result is not None and class_id else "",
        margin=None if result is None else float(result.margin[place]),
    )
