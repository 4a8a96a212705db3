"""Which points to label next, or first where nothing is labelled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from diffclass.acquisition import MEDOID_BYTES, RULES, by_coverage, suggest, well_apart
from diffclass.classifier import DiffusionClassifier
from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs.classification.forecasts import classification_costs
from diffclass.jobs.classification.places import MEMORY
from diffclass.jobs.classification.report import feature_lines, features_weight, met_sizes
from diffclass.jobs.point_set import PointSet
from diffclass.jobs.reports import HIDDEN, IF_KNOWN, MERGED, Facts, PointsReport, size_lines
from diffclass.neighbors import Nodes
from diffclass.operators import MarkovOperator
from diffclass.options import COUNT, SEED, Number, OneOf, check_options
from diffclass.system.costs import Cost, Forecast
from diffclass.system.progress import stage
from diffclass.targets import decode_labels, encode_labels

OPTIONS = {
    "n_points": COUNT,
    "rule": OneOf(RULES),
    "min_distance": Number(0),
    "random_state": SEED,
}


@dataclass(frozen=True)
class Suggestion(Facts):
    """A point to label, and its class as it is now.

    Attributes
    ----------
    rank : int
        From 1, the best first.
    point : mapping
        What it is called: its id, or row and column.
    rule : str
    score : float
        Larger = more worth a label; scales differ from rule to rule.
    current_class : int, str or None
        Class that it has now; of scenes an id, 0 for none, of tables None for none.
    current_name : str
        That class's name; empty for none.
    margin : float or None
        Of that class, 0 to 1; None where there are no labels.
    """

    rank: int
    point: Mapping[str, Any] = field(metadata=MERGED)
    rule: str
    score: float
    current_class: Any
    current_name: str
    margin: float | None


@dataclass(frozen=True, eq=False)
class SuggestionReport(PointsReport):
    """What is suggested, and how it was chosen."""

    rule: str
    min_distance: float  # between two of them on a grid
    tau: int | None  # in steps; None where there are no labels
    suggestions: tuple[Suggestion, ...]  # the best first
    class_sizes: tuple[str, ...] | None = field(default=None, metadata=IF_KNOWN)
    features_weight: float | None = field(default=None, metadata=IF_KNOWN)
    # whether the labels covered the graph by the last time looked at; true without any
    is_covered: bool = field(default=True, metadata=HIDDEN)

    def lines(self) -> list[str]:
        """Return the points as lines to read."""
        lines = [*size_lines(self.class_sizes), *feature_lines(self.features_weight)]
        lines += [f"{'':>4}  {'score':>10}  {'margin':>6}  {self.points.noun}, class now"]
        for one in self.suggestions:
            margin = "-" if one.margin is None else f"{one.margin:.3f}"
            now = dict.fromkeys((str(one.current_class), one.current_name))  # ids and names
            named = f", {' '.join(now)}" if one.current_name else ""
            words = self.points.in_words(one.point)
            lines.append(f"{one.rank:>4}  {one.score:>10.4g}  {margin:>6}  {words}{named}")
        return lines


def suggest_points(
    points: PointSet,
    y: np.ndarray | None = None,
    n_points: int = 10,
    *,
    rule: str = "coverage",
    min_distance: float = 0.0,
    classifier: DiffusionClassifier | None = None,
    groups: np.ndarray | None = None,
    names: Mapping[Any, str] | None = None,
    random_state: int = 0,
    before: Callable[[Forecast], object] | None = None,
) -> SuggestionReport:
    """Choose points to label next, or first without labels, the best first.

    Parameters
    ----------
    points : PointSet
        Such as ``Pixels`` of a scene or ``Rows`` of a table.
    y : ndarray, optional
        Classes of all rows or pixels, in the shape of `PointSet.valid`; None or -1 for none.
    n_points : int, default=10
        Better ask for as many as will be labelled at once.
    rule, min_distance
        As for `diffclass.suggest`; a distance needs places on a grid.
    classifier : DiffusionClassifier, optional
        Fitted here.
    groups : ndarray, optional
        Labels of a class with the same value are one observation; in the shape of y.
    names : mapping, optional
        Of classes that are ids.
    random_state : int, default=0
        Draws the points that are looked at, where there are more than 2,000.
    before : callable, optional
        Called with the forecast of memory before the points are made.

    Returns
    -------
    SuggestionReport

    Raises
    ------
    DataError
        Where no points can be made, or all of them have labels.
    ParameterError
        For parameters out of range.

    See Also
    --------
    suggest_next : With a classifier that is fitted already.
    diffclass.suggest : For arrays.

    Examples
    --------
    Six pixels, among which are all three classes:

    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass.jobs import suggest_points
    >>> from diffclass_hyperspectral import Pixels, Scene
    >>> tissue = make_tissue_scene(48, 48)
    >>> found = suggest_points(Pixels(Scene.from_array(tissue.cube)), n_points=6).suggestions
    >>> places = [(one.point["row"], one.point["column"]) for one in found]
    >>> sorted({int(tissue.truth[place]) for place in places})
    [1, 2, 3]
    """
    _check(points, n_points=n_points, rule=rule, min_distance=min_distance)
    check_options(OPTIONS, random_state=random_state)
    if y is None:
        return _first(points, n_points, min_distance, random_state, before)
    classifier = classifier or DiffusionClassifier(random_state=random_state)
    memory = forecast_suggestions(points, classifier, len(encode_labels(y.ravel())[0]))
    if before is not None:
        before(memory)
    y, groups = y[points.valid], None if groups is None else groups[points.valid]
    report = suggest_next(
        points,
        MEMORY.fit(classifier, points, y, groups=groups),
        encode_labels(y)[1] >= 0,
        n_points,
        rule=rule,
        min_distance=min_distance,
        random_state=random_state,
        names=names,
    )
    return replace(report, memory=memory)


def suggest_next(
    points: PointSet,
    classifier: DiffusionClassifier,
    is_labelled: np.ndarray,
    n_points: int = 10,
    *,
    rule: str = "coverage",
    min_distance: float = 0.0,
    random_state: int = 0,
    names: Mapping[Any, str] | None = None,
) -> SuggestionReport:
    """Choose points to label next, the best first, with a classifier fitted to them.

    ``is_labelled`` says which points are, bool (n,). Classes that are ids have ``names``. Fewer
    than asked for if no more are far enough apart. `DataError`: all are labelled.
    """
    _check(points, n_points=n_points, rule=rule, min_distance=min_distance)
    if is_labelled.all():
        raise DataError(
            f"{points.path}: all {points.noun} with data are labelled; nothing to suggest"
        )
    has_features = rule == "coverage" and points.affinity is None
    found = suggest(
        classifier.walk_,
        classifier.diffusion_,
        np.flatnonzero(is_labelled),
        n_points,
        rule=rule,
        features=points.points if has_features else None,
        coordinates=points.places,
        min_distance=min_distance,
        random_state=random_state,
    )
    return replace(
        _reported(points, found.points, found.scores, rule, min_distance, classifier, names),
        tau=int(classifier.tau_),
        is_covered=bool(classifier.margin_curve_.is_covered),
        class_sizes=_sizes_of(classifier, names),
        features_weight=features_weight(classifier),
    )


def forecast_suggestions(
    points: PointSet, classifier: DiffusionClassifier, n_classes: int
) -> Forecast:
    """Say what `suggest_points` will need with labels."""
    costs = classification_costs(points, classifier, n_classes)
    size = points.size()
    # the posteriors once more, the doubts, and the distances
    values = 8 * size.points * n_classes
    choosing = Cost(values + 16 * size.points + MEDOID_BYTES)
    return Forecast.of(costs | {"suggestions": choosing, "writing": Cost()})


def _sizes_of(
    classifier: DiffusionClassifier, names: Mapping[Any, str] | None
) -> tuple[str, ...] | None:
    codes = classifier.diffusion_.codes
    sizes = np.bincount(codes[codes >= 0], minlength=len(classifier.classes_))
    called = [str(one) if names is None else names[one] for one in classifier.classes_.tolist()]
    return met_sizes(classifier, called, sizes.tolist(), int(sizes.sum()))


def _check(points: PointSet, **given: Any) -> None:
    check_options(OPTIONS, **given)
    if given["min_distance"] and not points.has_grid:
        raise ParameterError(
            f"{points.path}: min_distance = {given['min_distance']:g}; its {points.noun} lie on no "
            "grid, so that none has a distance to another; leave it out"
        )


def _first(
    points: PointSet,
    n_points: int,
    min_distance: float,
    random_state: int,
    before: Callable[[Forecast], object] | None,
) -> SuggestionReport:
    """Choose points that stand for most others."""
    memory = Forecast.of(points.costs() | {"suggestions": Cost(MEDOID_BYTES)})
    if before is not None:
        before(memory)
    if points.affinity is not None:
        operator = MarkovOperator.from_affinity(points.points)
        chosen = suggest(operator, n_points=n_points, random_state=random_state)
        found, scores = chosen.points, chosen.scores
    else:
        with stage("suggestions"):
            choice = by_coverage(points.points, random_state=random_state)
            free = np.ones(len(points.points), dtype=bool)
            found, scores = well_apart(choice, free, n_points, _nearness(points, min_distance))
    report = _reported(points, found, scores, "coverage", min_distance, None, None)
    return replace(report, memory=memory)


def _nearness(points: PointSet, min_distance: float) -> Callable[[int], np.ndarray]:
    """Return what tells which points are too near to one, or equal to it."""
    places, nodes = points.places, Nodes.of(points.points)
    node = np.arange(len(points.points)) if nodes is None else nodes.of_points

    def near(point: int) -> np.ndarray:
        is_equal = node == node[point]
        if places is None:
            return is_equal
        return is_equal | (np.linalg.norm(places - places[point], axis=1) < min_distance)

    return near


def _reported(
    points: PointSet,
    found: np.ndarray,
    scores: Iterable[float],
    rule: str,
    min_distance: float,
    classifier: DiffusionClassifier | None,
    names: Mapping[Any, str] | None,
) -> SuggestionReport:
    called = points.names(found)
    nothing = None if names is None else 0
    now: list[tuple[Any, str, float | None]] = [(nothing, "", None)] * len(called)
    if classifier is not None:
        now = [_class_now(classifier, point, names) for point in found]
    return SuggestionReport(
        rule=rule,
        min_distance=min_distance,
        tau=None,
        suggestions=tuple(
            Suggestion(rank, name, rule, float(score), *classed)
            for rank, (name, score, classed) in enumerate(
                zip(called, scores, now, strict=True), start=1
            )
        ),
        points=points,
    )


def _class_now(
    classifier: DiffusionClassifier, point: int, names: Mapping[Any, str] | None
) -> tuple[Any, str, float]:
    """Return the class of a point, its name and its margin."""
    margin = float(classifier.margin_[point])
    code = classifier.diffusion_.codes[point : point + 1]
    if code[0] < 0:
        return None if names is None else 0, "", margin
    value = decode_labels(classifier.classes_, code)[0]
    value = value.item() if isinstance(value, np.generic) else value
    plain = value if isinstance(value, str | int | float) else str(value)
    return plain, str(plain) if names is None else names[plain], margin
