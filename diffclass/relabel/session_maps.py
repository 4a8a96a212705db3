"""From labels to a map: class sums in the order of the strokes, then every point's class.

Sums are never added to and subtracted from: each is formed anew, stroke by stroke, so that a
state has one map to the last bit, whatever was done and undone before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from diffclass import _compiled
from diffclass.label_diffusion.diffusion import LabelDiffusion, posteriors_of
from diffclass.label_diffusion.stopping_time import MarginCurve
from diffclass.operators.markov import MarkovOperator
from diffclass.relabel.columns import HEIGHT, Column, ColumnStore
from diffclass.relabel.strokes import Stroke


@dataclass(frozen=True, eq=False)
class ClassMap:
    """Every point's class.

    Attributes
    ----------
    class_ids : tuple of int
        Classes with labels, rising.
    ids : ndarray of uint8 of shape (n,)
        Class ids, 0 where nothing has arrived.
    probability : ndarray of float32 of shape (n,)
        The largest posterior, 0 where nothing has arrived.
    margin : ndarray of float32 of shape (n,)
        Difference of the two largest posteriors, 0 where nothing has arrived.
    values : tuple of n_classes ndarrays of shape (n,)
        N_i, each but for a factor.
    class_weight : ndarray of shape (n_classes,)
        That factor.
    tau : int
        Time in steps.
    """

    class_ids: tuple[int, ...]
    ids: np.ndarray
    probability: np.ndarray
    margin: np.ndarray
    values: tuple[np.ndarray, ...]
    class_weight: np.ndarray
    tau: int

    @classmethod
    def empty(cls, n_points: int, tau: int) -> ClassMap:
        """Return the map of no labels."""
        none = np.zeros(n_points, dtype=np.float32)
        return cls((), np.zeros(n_points, dtype=np.uint8), none, none, (), np.zeros(0), tau)

    @classmethod
    def from_diffusion(cls, diffusion: LabelDiffusion) -> ClassMap:
        """Return the map of labels whose values are the class ids."""
        reached = diffusion.reached
        class_ids = diffusion.classes.astype(np.uint8)
        probability = np.where(reached, diffusion.posteriors.max(axis=1), 0)
        return cls(
            tuple(class_ids.tolist()),
            np.where(reached, class_ids[diffusion.codes], 0).astype(np.uint8),
            probability.astype(np.float32),
            diffusion.margin.astype(np.float32),
            tuple(np.ascontiguousarray(diffusion.values.T)),
            diffusion.class_weight,
            diffusion.tau,
        )

    @cached_property
    def posteriors(self) -> np.ndarray:
        """p_i, rows sum to 1, uniform where nothing has arrived; float32, (n, n_classes)."""
        return self._posteriors()[0].astype(np.float32)

    def as_diffusion(self) -> LabelDiffusion:
        """Return the map as `diffclass.suggest` wants it."""
        posteriors, codes = self._posteriors()
        none = MarginCurve(np.zeros(0, int), np.zeros(0), np.zeros(0), 0.0)
        return LabelDiffusion(
            np.array(self.class_ids), np.column_stack(self.values), posteriors, self.margin, codes,
            self.class_weight, self.tau, none,
        )  # fmt: skip

    def _posteriors(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.values:
            return np.zeros((len(self.ids), 0)), np.full(len(self.ids), -1)
        values = np.maximum(np.column_stack(self.values), 0).astype(np.float64)
        return posteriors_of(values, self.class_weight)


class ClassSums:
    """Maps of free labels from the columns of their strokes.

    Parameters
    ----------
    operator : MarkovOperator
        Of n points.
    columns : ColumnStore
        Of the same operator.

    Notes
    -----
    A map costs the columns that are new, the sums of the classes whose strokes are others than in
    the map before, and one pass over n x n_classes numbers.
    """

    def __init__(self, operator: MarkovOperator, columns: ColumnStore):
        self._operator = operator
        self._columns = columns
        self._kept: dict[int, tuple[tuple[int, list[bytes]], np.ndarray]] = {}
        self._table = np.empty((0, len(operator)))
        self._rows: list[np.ndarray | None] = []

    def map_of(self, strokes: tuple[Stroke, ...], tau: int) -> ClassMap:
        """Return the map of some strokes, at least one, at the time tau."""
        columns = self._columns.of(strokes, tau)
        by_class: dict[int, list[int]] = {}
        for place, stroke in enumerate(strokes):
            by_class.setdefault(stroke.class_id, []).append(place)
        class_ids = tuple(sorted(by_class))
        sums, kept = [], {}
        for class_id in class_ids:
            places = by_class[class_id]
            key = tau, [strokes[place].fingerprint for place in places]
            kept[class_id] = key, self._sum(class_id, key, (columns[place] for place in places))
            sums.append(kept[class_id][1])
        self._kept = kept
        weight = 1 / (HEIGHT * self._masses(strokes, class_ids))
        return self._read_off(class_ids, tuple(sums), weight, tau)

    def _sum(
        self, class_id: int, key: tuple[int, list[bytes]], columns: Iterable[Column]
    ) -> np.ndarray:
        kept_key, kept = self._kept.get(class_id, (None, None))
        if kept is not None and kept_key == key:
            return kept
        total = np.zeros(len(self._operator))
        for column in columns:
            column.add_to(total, self._operator.components)
        return total

    def _masses(self, strokes: tuple[Stroke, ...], class_ids: tuple[int, ...]) -> np.ndarray:
        """Return pi(L_i) of each class, summed stroke by stroke."""
        pi, masses = self._operator.stationary_distribution, dict.fromkeys(class_ids, 0.0)
        for stroke in strokes:
            masses[stroke.class_id] += float(pi[stroke.points].sum())
        return np.array(list(masses.values()))

    def _read_off(
        self,
        class_ids: tuple[int, ...],
        sums: tuple[np.ndarray, ...],
        weight: np.ndarray,
        tau: int,
    ) -> ClassMap:
        n = len(self._operator)
        ids = np.empty(n, dtype=np.uint8)
        probability, margin = (np.empty(n, dtype=np.float32) for _ in range(2))
        numbers = np.array(class_ids, dtype=np.uint8)
        table = self._as_table(sums)
        _compiled.strokes.read_off(table, weight, numbers, ids, probability, margin)
        return ClassMap(class_ids, ids, probability, margin, sums, weight, tau)

    def _as_table(self, sums: tuple[np.ndarray, ...]) -> np.ndarray:
        """Return the sums as rows of one array, of which only those are written that are new."""
        if len(sums) != len(self._rows):
            self._table, self._rows = np.empty((len(sums), len(self._operator))), [None] * len(sums)
        for row, total in enumerate(sums):
            if self._rows[row] is not total:
                self._table[row], self._rows[row] = total, total
        return self._table
