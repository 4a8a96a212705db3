"""What is known about a classification: its fit, scores of held-out labels, its classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from diffclass.evaluation import (
    Scores,  # noqa: F401  of an inherited field, for the reference
    classification_scores,
)
from diffclass.exceptions import DataError
from diffclass.jobs import (
    HIDDEN,
    IF_KNOWN,
    MERGED,
    Certainty,
    ClassesReport,
    ClassFacts,
    Facts,
    FitFacts,
    HoldoutFacts,
    measure_certainty,
    share,
)
from diffclass.label_diffusion import Calibration
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.jobs.classification.cleanup import Cleanup, CleanupReport
from diffclass_hyperspectral.jobs.classification.lines import (
    ambiguity_line,
    holdout_lines,
    report_lines,
    stability_line,
)
from diffclass_hyperspectral.jobs.classification.scene_classification import (
    UNCLASSIFIED,
    SceneClassification,
)
from diffclass_hyperspectral.jobs.classification.stability import Stability
from diffclass_hyperspectral.jobs.evaluation import (
    Split,
    describe_blocks,
    full_gap,
    probability_of_class,
)
from diffclass_hyperspectral.pixels import ScenePoints, feature_facts

_TRANSDUCTIVE = (
    "features and graph are made of all pixels, the tested ones too, without their labels "
    "(transductive): a scene that took no part may come out worse"
)
_FAR = "far from all that the model was fitted to, their classes are guesses"
_BY_MODEL = "unknown: a model was applied; diffclass evaluate compares the map with labels"
_NO_ACCURACY = (
    "unknown: no labels were held out; --labels-per-class N or --holdout blocks holds some out"
)
_NOT_HELD_OUT = (
    "no labels were held out, so there is no accuracy to report (--holdout, --labels-per-class)"
)


@dataclass(frozen=True, kw_only=True)
class HoldoutReport(HoldoutFacts):
    """Scores on held-out labels, of the cleaned map, and where these lie."""

    gap_pixels: int  # least distance between those fitted on and those tested; 0: no gap
    # beyond which less than a hundredth of a pixel's features is made; None at random
    full_gap_pixels: int | None
    # share of what makes a pixel's features, and its class by a majority filter, from the gap on
    weight_beyond_gap: float | None
    untested: tuple[int, ...]  # classes of which no pixel could be held out
    by_blocks: Mapping[str, Any]  # see `describe_blocks`
    certainty: Certainty  # of the map before it was cleaned, so that a threshold can be chosen
    names: Mapping[int, str] = field(metadata=HIDDEN)

    @property
    def interval(self) -> Sequence[float] | None:
        """Of the overall accuracy, with squares of the picture as independent."""
        span: Sequence[float] | None = self.by_blocks["overall_accuracy"]
        return span

    def lines(self) -> list[str]:
        """Return the scores as lines to read."""
        return holdout_lines(self.to_dict(), self.names)

    def certainty_lines(self) -> list[str]:
        """Return what margins and probabilities say as lines to read."""
        return self.certainty.lines(ScenePoints.noun)


@dataclass(frozen=True)
class FailedHoldout(Facts):
    """Labels that could not be held out in this way, and why."""

    kind: str
    failed: str

    def accuracy(self) -> str:
        """Return the reason as a line says it where an accuracy is asked for."""
        where = "in blocks of the picture" if self.kind == "blocks" else "at random"
        return f"{where}: not possible: {self.failed}"

    def lines(self) -> list[str]:
        """Return the reason as a line to read."""
        return [f"held out ({self.kind}): not possible: {self.failed}"]


def report_holdout(
    result: SceneClassification,
    labels: LabelImage,
    split: Split,
    *,
    cleanup: Cleanup,
    weight_beyond: np.ndarray,
) -> HoldoutReport:
    """Score a classification, not cleaned yet, on the held-out labels of a split.

    ``weight_beyond`` is the share of the weight of a pixel's features from farther than r = 0, 1,
    ... pixels. `DataError`: no held-out pixel has data.
    """
    class_map, has_data = result.class_map, np.isfinite(result.margin)
    tested = split.test & has_data
    if not tested.any():
        raise DataError("no held-out pixel has data; nothing can be scored")
    final, _ = result.cleaned(cleanup)
    in_blocks = split.kind == "blocks"
    return HoldoutReport(
        kind=split.kind,
        gap_pixels=split.gap,
        full_gap_pixels=full_gap(weight_beyond) if in_blocks else None,
        weight_beyond_gap=_weight_from(weight_beyond, split.gap) if in_blocks else None,
        n_fit=int(split.fit.sum()),
        untested=tuple(split.untested(np.where(has_data, labels.ids, 0))),
        scores=classification_scores(labels.ids[tested], final.class_map[tested]),
        by_blocks=describe_blocks(labels.ids, final.class_map, tested),
        certainty=measure_certainty(
            labels.ids == class_map,
            split.test,
            class_map > 0,
            result.margin,
            probability=probability_of_class(class_map, result.probabilities, result.class_ids),
            min_margin=cleanup.min_margin,
        ),
        names=result.names,
    )


def _weight_from(weight_beyond: np.ndarray, distance: int) -> float:
    """Share of the weight at a distance of at least 1 or farther."""
    farther = weight_beyond[distance - 1 : distance]
    return float(farther[0]) if len(farther) else 0.0


@dataclass(frozen=True, kw_only=True)
class FitReport(FitFacts):
    """How a classifier was fitted."""

    labels_used: Mapping[int, int]  # labelled pixels with data by class


@dataclass(frozen=True)
class AppliedModel(Facts):
    """The model that a scene was classified with, which was fitted to another."""

    model: str  # its file
    beyond_reach: int  # pixels beyond the reach of those that it was fitted to
    beyond_classified: bool  # whether these have a class all the same
    tau: None = None  # there was no walk

    def line(self) -> str:
        """Return how many pixels are unlike those of the model, as a line to read."""
        what = "classified all the same" if self.beyond_classified else "left unclassified"
        return (
            f"{self.beyond_reach:,} pixels lie beyond the reach of those that the model was fitted "
            f"to ({what})"
        )


@dataclass(frozen=True)
class Ambiguity(Facts):
    """How many classes may be each pixel's own."""

    level: float  # share of the sets that are to hold the true class
    mean_size: float  # classes in the set of a pixel, on average
    single: float  # share of the pixels whose set is a single class
    highest_level: float  # that as many held-out labels can tell; above it sets hold all classes


def measure_ambiguity(result: SceneClassification, *, level: float) -> Ambiguity:
    """Return how many classes may be each pixel's own in a classified scene."""
    sizes = result.set_sizes(level=level)[np.isfinite(result.margin)]
    highest = result.model.classifier.calibration_.highest_level
    return Ambiguity(level, float(sizes.mean()), float((sizes == 1).mean()), highest)


def _calibration_line(calibration: Calibration) -> str:
    line = f"probabilities are calibrated: temperature {calibration.temperature:.3g}"
    if not calibration.n_held_out:
        return f"{line}, by the map alone, as no label could be left out"
    return (
        f"{line}; log loss of {calibration.n_held_out} held-out labels "
        f"{calibration.log_loss_before:.3f} before, {calibration.log_loss_after:.3f} after"
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassificationReport(ClassesReport):
    """What is known about a classification besides its map.

    Attributes
    ----------
    facts : mapping
        Of the pixels and their features: how many have data, how they are compared.
    classes : tuple of ClassFacts
    unclassified, unreached, unsure : int
        Pixels of class 0, among these those with data that no label reaches; pixels with a margin
        below 0.1.
    mean_margin : float or None
        Over the pixels with data.
    parameters : mapping
        Of the classifier.
    class_sizes : tuple of str or None
        For each class with a size, what was asked for and what the map has.
    fit : FitReport or None
        None where a model was applied, which is ``applied``.
    applied : AppliedModel or None
    holdout, other_holdout : HoldoutReport, FailedHoldout or None
        Scores on held-out labels; the map is that of the first.
    cleanup, calibration, ambiguity, stability : or None
        What cleaning changed, how probabilities are calibrated, how many classes a pixel may have,
        how much another seed changes; None where nothing of it was asked for.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, Scene, classify_scene
    >>> tissue = make_tissue_scene(48, 48)
    >>> names = dict(enumerate(tissue.class_names, start=1))
    >>> labels = LabelImage.from_array(tissue.labels, names=names)
    >>> report = classify_scene(Scene.from_array(tissue.cube), labels).report
    >>> [one.name for one in report.classes], report.facts["n_without_data"], report.unreached
    (['nuclei', 'cytoplasm', 'stroma'], 0, 0)
    """

    class_lines: ClassVar[int] = 7
    where_unsure: ClassVar[str] = "; --margin FILE shows where"

    applied: AppliedModel | None = field(default=None, metadata=MERGED)
    holdout: HoldoutReport | None = field(default=None, metadata=IF_KNOWN)
    other_holdout: HoldoutReport | FailedHoldout | None = field(default=None, metadata=IF_KNOWN)
    cleanup: CleanupReport | None = field(default=None, metadata=IF_KNOWN)
    calibration: Calibration | None = field(default=None, metadata=IF_KNOWN)
    ambiguity: Ambiguity | None = field(default=None, metadata=IF_KNOWN)
    stability: Stability | None = field(default=None, metadata=IF_KNOWN)

    def accuracies(self) -> list[str]:
        """Return one line, or two for the two ways in which labels were held out."""
        scored = [one for one in (self.holdout, self.other_holdout) if one is not None]
        if scored:
            return [one.accuracy() for one in scored]
        return [_NO_ACCURACY if self.applied is None else _BY_MODEL]

    def asides(self) -> list[str]:
        """Return how stable the map is, and how many classes are possible."""
        lines = []
        if self.stability is not None:
            lines.append(f"stability     {stability_line(self.stability.to_dict())}")
        if self.ambiguity is not None:
            lines.append(f"possible      {ambiguity_line(self.ambiguity.to_dict())}")
        if self.applied is not None and self.applied.beyond_classified:
            beyond = self.applied.beyond_reach
            if beyond:
                part = share(beyond, self.facts["n_points"])
                lines.append(f"beyond reach  {part} of the pixels: {_FAR}")
        return lines

    def reasons(self) -> list[tuple[int, str]]:
        """Return why pixels have no class, also by a model's reach and by cleaning."""
        found = super().reasons()
        if self.applied is not None and not self.applied.beyond_classified:
            found.append((self.applied.beyond_reach, "beyond the reach of the model's pixels"))
        if self.cleanup is not None:
            found.append((self.cleanup.below_margin, "below --min-margin"))
        return found

    def lines(self) -> list[str]:
        """Return the report as lines to read."""
        lines = report_lines(self.to_dict())
        if self.applied is not None:
            lines.append(self.applied.line())
        if self.calibration is not None:
            lines.append(_calibration_line(self.calibration))
        if self.ambiguity is not None:
            lines.append(ambiguity_line(self.ambiguity.to_dict()))
        if self.stability is not None:
            lines.append(stability_line(self.stability.to_dict()))
        if self.holdout is None:
            return [*lines, _NOT_HELD_OUT]
        lines += self.holdout.lines()
        if self.other_holdout is not None:
            lines += self.other_holdout.lines()
        return [*lines, _TRANSDUCTIVE, *self.holdout.certainty_lines()]


def report_fit(
    result: SceneClassification, labels: LabelImage, split: Split | None, random_state: int
) -> FitReport:
    """Describe the fit of a classification to labels, or to those of a split."""
    fit = labels.ids > 0 if split is None else split.fit
    has_data = np.isfinite(result.margin)
    used = np.bincount(labels.ids[fit & has_data])
    lost = int(np.count_nonzero((labels.ids > 0) & ~has_data))
    return FitReport.of(
        result.model.classifier,
        seed=random_state,
        labels_without_data=lost,
        labels_used={i: int(n) for i, n in enumerate(used) if n},
    )


def report_classification(
    result: SceneClassification, fit: FitReport | None = None
) -> ClassificationReport:
    """Describe a classification, without accuracy, cleaning, costs; ``fit`` is None for a model."""
    ids, counts = np.unique(result.class_map, return_counts=True)
    pixels = dict(zip(ids.tolist(), counts.tolist(), strict=True))
    n_missing, class_ids = result.n_missing, set(result.class_ids.tolist())
    counted = {"n_points": result.class_map.size - n_missing, "n_without_data": n_missing}
    return ClassificationReport.of(
        result.model.classifier,
        {"points": ScenePoints.noun, **counted, **feature_facts(result.model.features)},
        [
            ClassFacts(
                id=entry.id,
                name=entry.name,
                n_points=pixels.get(entry.id, 0),
                labels=None if fit is None else fit.labels_used.get(entry.id, 0),
            )
            for entry in result.table
            if entry.id in class_ids
        ],
        result.margin[np.isfinite(result.margin)],
        fit=fit,
        unclassified=pixels.get(UNCLASSIFIED, 0),
        unreached=result.n_unreached,
    )
