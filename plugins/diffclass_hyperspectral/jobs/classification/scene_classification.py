"""A classified scene: its class map, posteriors and margins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from diffclass.graph import REACH
from diffclass.label_diffusion import Decision, LabelDiffusion
from diffclass_hyperspectral.io.labels import ClassTable
from diffclass_hyperspectral.io.rasters import ComputedRaster, PointPicture
from diffclass_hyperspectral.jobs.classification.cleanup import Cleanup, CleanupReport
from diffclass_hyperspectral.jobs.classification.models import SceneModel

UNCLASSIFIED = 0


@dataclass(frozen=True)
class SceneClassification:
    """A classified scene.

    Attributes
    ----------
    class_map : ndarray of int of shape (rows, columns)
        Class ids; 0 where the scene has no data or no label can reach.
    raw_posteriors : PointPicture of shape (rows, columns, n_classes)
        Of the walk, in the order of ``class_ids``, read in rows, as ``raw_posteriors[:]``; NaN
        where the scene has no data.
    margin : ndarray of shape (rows, columns)
        Of the walk, 0 to 1; NaN where the scene has no data.
    class_ids : ndarray of int of shape (n_classes,)
    table : ClassTable
    n_missing, n_unreached : int
        Pixels without data, and pixels with data that no label can reach.
    model : SceneModel
        Features and classifier, fitted or given.
    novelty : ndarray of shape (rows, columns) or None
        Of a model that was given: distance of each pixel to its training neighbours in units of
        their own; NaN where the scene has no data. Above 5 a pixel
        lies beyond their reach.
    stability : ndarray of float32 of shape (rows, columns) or None
        1 where a second seed of the neighbour search gives the same class, before any cleaning, 0
        where it gives another; NaN where the scene has no data. None where it was not asked for.
    """

    class_map: np.ndarray
    raw_posteriors: PointPicture
    margin: np.ndarray
    class_ids: np.ndarray
    table: ClassTable
    n_missing: int
    n_unreached: int
    model: SceneModel
    novelty: np.ndarray | None = None
    stability: np.ndarray | None = None

    @classmethod
    def of_points(
        cls,
        posteriors: np.ndarray,
        decision: LabelDiffusion | Decision,
        valid: np.ndarray,
        model: SceneModel,
    ) -> SceneClassification:
        """Put what was found for the n pixels with data into their places, bool (rows, columns)."""
        class_ids = model.classifier.classes_
        class_map = np.zeros(valid.shape, dtype=np.int32)
        class_map[valid] = np.append(class_ids, UNCLASSIFIED)[decision.codes]
        margin = np.full(valid.shape, np.nan, dtype=np.float32)
        margin[valid] = decision.margin
        single = posteriors.astype(np.float32, copy=False)
        return cls(
            class_map=class_map,
            raw_posteriors=PointPicture(single, valid, fill=np.nan),
            margin=margin,
            class_ids=class_ids,
            table=model.table,
            n_missing=int(np.count_nonzero(~valid)),
            n_unreached=int(np.count_nonzero(decision.codes < 0)),
            model=model,
        )

    def cleaned(self, cleanup: Cleanup) -> tuple[SceneClassification, CleanupReport]:
        """Return it with a cleaned map, posteriors and margins as they were."""
        class_map, report = cleanup.apply(self.class_map, self.margin)
        return replace(self, class_map=class_map), report

    @property
    def names(self) -> dict[int, str]:
        """Names of the classes by id."""
        return {entry.id: entry.name for entry in self.table}

    @property
    def probabilities(self) -> ComputedRaster:
        """Calibrated probabilities of the classes, otherwise as ``raw_posteriors``."""
        calibration, raw = self.model.classifier.calibration_, self.raw_posteriors
        return ComputedRaster(raw.shape, np.float32, lambda rows: calibration.apply(raw[rows]))

    @property
    def beyond_reach(self) -> np.ndarray:
        """Pixels beyond the reach of the training pixels, bool of shape (rows, columns)."""
        if self.novelty is None:
            return np.zeros(self.class_map.shape, dtype=bool)
        return self.novelty > REACH  # NaN, without data, is not above

    @cached_property
    def posteriors(self) -> np.ndarray:
        """The same as an array in memory."""
        return self.probabilities[:]

    def set_sizes(self, *, level: float) -> np.ndarray:
        """Return how many classes may be each pixel's own, int (rows, columns); 0 without data.

        ``level``, between 0 and 1, is the share of the sets that are to hold the true class; see
        `diffclass.DiffusionClassifier.predict_set`.
        """
        sets = self.model.classifier.calibration_.sets(self.posteriors, level=level)
        return sets.sum(axis=-1)

    def part(self, rows: slice, columns: slice) -> SceneClassification:
        """Return the classification of a part of the picture; both slices have both ends."""
        margin = self.margin[rows, columns]
        picture = self.raw_posteriors[rows][:, columns]
        valid = np.ascontiguousarray(self.raw_posteriors.valid[rows, columns])
        class_map = self.class_map[rows, columns]
        unreached = valid & (class_map == UNCLASSIFIED) & ~self.beyond_reach[rows, columns]
        return replace(
            self,
            class_map=class_map,
            raw_posteriors=PointPicture(picture[valid], valid, fill=np.nan),
            margin=margin,
            n_missing=int(np.count_nonzero(~valid)),
            n_unreached=int(np.count_nonzero(unreached)),
            novelty=None if self.novelty is None else self.novelty[rows, columns],
            stability=None if self.stability is None else self.stability[rows, columns],
        )
