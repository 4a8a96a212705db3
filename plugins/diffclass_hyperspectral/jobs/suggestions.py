"""Which pixels to label next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from diffclass import suggest
from diffclass.acquisition import MEDOID_BYTES, by_coverage, well_apart
from diffclass.classifier import DiffusionClassifier
from diffclass.exceptions import DataError
from diffclass.jobs import Facts, RunReport
from diffclass.options import check_options
from diffclass.system.costs import Cost, Forecast
from diffclass.system.progress import stage
from diffclass_hyperspectral.features.feature_costs import feature_costs, scene_size
from diffclass_hyperspectral.features.scene_features import SceneFeatures
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.io.scenes import Scene
from diffclass_hyperspectral.jobs.classification import (
    SceneClassification,
    checked_labels,
    classify_scene,
)
from diffclass_hyperspectral.jobs.classification.forecasts import forecast_classification
from diffclass_hyperspectral.options import OPTIONS


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

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import Scene, suggest_first
    >>> scene = Scene.from_array(make_tissue_scene(48, 48).cube)
    >>> pixel = suggest_first(scene, 3).pixels[0]
    >>> pixel.rank, pixel.rule, pixel.current_class, pixel.margin
    (1, 'coverage', 0, None)
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
    """What is suggested, and how it was chosen."""

    rule: str
    min_distance: float  # between two of them, in pixels
    tau: int | None  # in steps; None where there are no labels
    pixels: tuple[SuggestedPixel, ...]  # the best first

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
    """Pixels to label next, and the scene as classified so far (None where there are no labels)."""

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
    rule: str = "coverage",
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
        As for `diffclass.suggest`, in pixels.
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

    See Also
    --------
    suggest_first : Where nothing is labelled yet.
    validation_design : Pixels to measure the map by, not to improve it.
    diffclass.suggest : For points of any kind.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, suggest_for_scene
    >>> tissue = make_tissue_scene(48, 48)
    >>> labels = LabelImage.from_array(tissue.labels)
    >>> run = suggest_for_scene(Scene.from_array(tissue.cube), labels, 3)
    >>> [(pixel.rank, pixel.current_class) for pixel in run.pixels]
    [(1, 3), (2, 2), (3, 3)]
    """
    check_options(OPTIONS, n_pixels=n_pixels, rule=rule, min_distance=min_distance)
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
    """Choose the first pixels to label where there is no label yet: those that stand for most.

    Parameters
    ----------
    scene : Scene
    n_pixels : int, default=10
        Number of pixels. Better ask for as many as will be labelled at once.
    min_distance : float, default=0
        Least distance between the centres of two of them, in pixels.
    features : SceneFeatures, optional
        Fitted here; spectral components by default.
    random_state : int, default=0
        Draws the pixels that are looked at, where there are more than 2,000.
    before : callable, optional
        Called with the forecast of memory before the scene is read.

    Returns
    -------
    SuggestionRun
        With the rule "coverage", by the features; see `diffclass.acquisition.coverage`.

    Raises
    ------
    DataError
        Where no pixel has data or every band is constant.
    ParameterError
        For parameters out of range.

    See Also
    --------
    suggest_for_scene : Once some pixels are labelled.
    cluster_scene : The groups themselves, with their mean spectra.

    Examples
    --------
    Six pixels, among which are all three classes:

    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import Scene, suggest_first
    >>> tissue = make_tissue_scene(48, 48)
    >>> run = suggest_first(Scene.from_array(tissue.cube), 6)
    >>> sorted({int(tissue.truth[pixel.row, pixel.column]) for pixel in run.pixels})
    [1, 2, 3]
    """
    check_options(OPTIONS, n_pixels=n_pixels, min_distance=min_distance, random_state=random_state)
    features = SceneFeatures() if features is None else features
    features.check_parameters()
    size = scene_size(scene, features)
    costs = feature_costs(scene, features, size.points) | {"suggestions": Cost(MEDOID_BYTES)}
    memory = Forecast.of(costs)
    if before is not None:
        before(memory)
    with stage("features"):
        points, valid = features.fit_transform_points(scene)
    places = np.column_stack(np.unravel_index(np.flatnonzero(valid), scene.shape[:2]))

    def near(point: int) -> np.ndarray:
        away = np.linalg.norm(places - places[point], axis=1)
        return (away < min_distance) | (away == 0)

    with stage("suggestions"):
        choice = by_coverage(points, random_state=random_state)
        found, scores = well_apart(choice, np.ones(len(points), dtype=bool), n_pixels, near)
    chosen = zip(places[found].tolist(), scores, strict=True)
    pixels = tuple(
        _pixel(scene, rank, (row, column), score, rule="coverage")
        for rank, ((row, column), score) in enumerate(chosen, start=1)
    )
    report = SuggestionReport("coverage", min_distance, None, pixels, memory=memory)
    return SuggestionRun(None, report)


def suggest_pixels(
    scene: Scene,
    labels: LabelImage,
    result: SceneClassification,
    n_pixels: int = 10,
    *,
    rule: str = "coverage",
    min_distance: float = 0.0,
) -> list[SuggestedPixel]:
    """Choose unlabelled pixels of a scene, classified with all its labels, to label next.

    Fewer than asked for if no more are far enough apart. `DataError`: all are labelled.
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
        features=result.model.features.transform_points(scene)[0] if rule == "coverage" else None,
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
