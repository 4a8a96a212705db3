"""What held-out labels say about a classification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffclass.evaluation import Scores, classification_scores
from diffclass.exceptions import DataError
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.workflows.classification.cleanup import Cleanup
from diffclass_hyperspectral.workflows.classification.scene_classification import (
    SceneClassification,
)
from diffclass_hyperspectral.workflows.evaluation import (
    Certainty,
    Holdout,
    describe_blocks,
    full_gap,
    measure_certainty,
    probability_of_class,
)
from diffclass_hyperspectral.workflows.reports import (
    HIDDEN,
    MERGED,
    Facts,
    certainty_lines,
    holdout_lines,
)


@dataclass(frozen=True)
class HoldoutReport(Facts):
    """Scores on held-out labels.

    Attributes
    ----------
    kind : {"random", "blocks"}
    gap_pixels : int
        Least distance in pixels between those fitted on and those tested; 0 for no gap.
    full_gap_pixels : int or None
        The gap beyond which less than a hundredth of a pixel's features is made; larger than
        ``gap_pixels`` where it would leave too little to test, None at random.
    weight_beyond_gap : float or None
        Share of the weight that makes a pixel's features (and its class, by a majority filter)
        from that gap on, 0 to 1; None at random.
    n_fit : int
        Labelled pixels that were fitted on.
    untested : tuple of int
        Classes of which no pixel could be held out.
    scores : Scores
        Of the cleaned map; pixels without a class count as wrong.
    by_blocks : mapping
        Interval of the overall accuracy with squares of the picture as independent.
    names : mapping of int to str
        Names of the classes by id.
    certainty : Certainty
        What margins and probabilities say; of the map before it was cleaned, so that a threshold
        can be chosen.
    """

    kind: str
    gap_pixels: int
    full_gap_pixels: int | None
    weight_beyond_gap: float | None
    n_fit: int
    untested: tuple[int, ...]
    scores: Scores = field(metadata=MERGED)
    by_blocks: Mapping[str, Any]
    certainty: Certainty
    names: Mapping[int, str] = field(metadata=HIDDEN)

    def lines(self) -> list[str]:
        """Return the scores as lines to read."""
        return holdout_lines(self.to_dict(), self.names)

    def certainty_lines(self) -> list[str]:
        """Return what margins and probabilities say as lines to read."""
        return certainty_lines(self.certainty.to_dict())


@dataclass(frozen=True)
class FailedHoldout(Facts):
    """Labels that could not be held out in this way, and why.

    Attributes
    ----------
    kind : {"random", "blocks"}
    failed : str
        The reason.
    """

    kind: str
    failed: str

    def lines(self) -> list[str]:
        """Return the reason as a line to read."""
        return [f"held out ({self.kind}): not possible: {self.failed}"]


def report_holdout(
    result: SceneClassification,
    labels: LabelImage,
    split: Holdout,
    *,
    cleanup: Cleanup,
    weight_beyond: np.ndarray,
) -> HoldoutReport:
    """Score a classification on its held-out labels.

    Parameters
    ----------
    result : SceneClassification
        Not cleaned.
    labels : LabelImage
    split : Holdout
        The labels that the classification was fitted on, and the others.
    cleanup : Cleanup
        What will be done to the map.
    weight_beyond : ndarray of shape (n,)
        Share of the weight of a pixel's features from farther than r = 0, 1, ... pixels.

    Raises
    ------
    DataError
        Where no held-out pixel has data.
    """
    has_data = np.isfinite(result.margin)
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
            np.where(split.test, labels.ids, 0),
            result.class_map,
            result.margin,
            probability=probability_of_class(
                result.class_map, result.probabilities, result.class_ids
            ),
            min_margin=cleanup.min_margin,
        ),
        names=result.names,
    )


def _weight_from(weight_beyond: np.ndarray, distance: int) -> float:
    """Share of the weight at a distance of at least 1 or farther."""
    farther = weight_beyond[distance - 1 : distance]
    return float(farther[0]) if len(farther) else 0.0
