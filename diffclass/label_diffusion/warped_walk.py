"""Warped walks: each class walks by its own operator."""

from __future__ import annotations

import numpy as np

from diffclass.exceptions import DataError
from diffclass.label_diffusion import long_walk
from diffclass.label_diffusion.label_modes import LabelMode
from diffclass.label_diffusion.labels import Labels
from diffclass.label_diffusion.long_walk import LongWalk
from diffclass.label_diffusion.maps import Decision, decide
from diffclass.label_diffusion.walk import Walk, long_steps, mass_of_nodes, takes_long_walk
from diffclass.operators.absorbing import AbsorbingLabels
from diffclass.operators.warped import WarpedOperator


class WarpedWalk(Walk):
    """Each class walks by its own operator A_i. The state is h_i = s_i f_i.

    The walks stop at labels if the mode absorbs; summed labels are free ones.
    """

    def __init__(self, warped: WarpedOperator, labels: Labels, mode: LabelMode):
        super().__init__(warped.unwarped, labels)
        self.warped = warped
        _check_labels(warped, labels)
        self._stops = self._absorbing_labels() if mode.absorbs else None
        self.labels_shield = mode.absorbs
        if self._stops is None:
            self._start_free(is_counted=mode.is_counted)
        else:
            self._stops.start(self.state)

    def values(self) -> np.ndarray:
        """N_i, between forward and backward values; see `diffclass.operators.warped`."""
        values = self.warped.read(self.state).astype(np.float64)
        values[values < self.least] = 0
        return values

    def decision(self, class_weight: np.ndarray) -> Decision:
        """Return the class of each point at the present time, -1 where nothing has arrived."""
        return decide(self.warped.read(self.state), class_weight)

    def _absorbing_labels(self) -> AbsorbingLabels:
        labels = self.labels
        return AbsorbingLabels.at(
            labels.points,
            labels.codes,
            labels.weight,
            n_classes=labels.n_classes,
            dtype=self.state.dtype,
            heights=self.warped.scores[labels.points, labels.codes],
        )

    def _start_free(self, *, is_counted: bool) -> None:
        """Start with chi_i of mass 1 in the measure of its walk, or of sum 1 over the points."""
        labels, at = self.labels, (self.labels.points, self.labels.codes)
        degrees = self.warped.degrees
        if is_counted:
            measure, total = mass_of_nodes(self.operator)[labels.points], np.ones(labels.n_classes)
        else:
            measure, total = degrees[at], degrees.sum(axis=0, dtype=np.float64)
        mass = np.bincount(labels.codes, labels.weight * measure, labels.n_classes)
        height = labels.weight * (total / mass)[labels.codes]
        self.state[at] = (height * self.warped.scores[at]).astype(self.state.dtype)

    def advance(self, time: int) -> None:
        """Walk on to a later time."""
        n_steps = time - self.time
        if self._stops is None:
            self._walk_free(n_steps)
        elif takes_long_walk(self.time, n_steps):
            product = self.warped.in_double_precision().product
            hops = self._hops(self.labels.codes)
            self.state = long_steps(self.state, n_steps, product, self._stops, hops)
        else:
            for _ in range(n_steps):
                self.state = self.warped.advance(self.state, 1)
                self._stops.set_again(self.state)
        self.time = time

    def _walk_free(self, n_steps: int) -> None:
        if n_steps > long_walk.LONGEST_SERIES:
            product = self.warped.in_double_precision().product
            walk = LongWalk(product, self._hops(self.labels.codes))
            self.state = walk.free(self.state.astype(np.float64), n_steps)
        else:
            self.state = self.warped.advance(self.state, n_steps)


def _check_labels(warped: WarpedOperator, labels: Labels) -> None:
    """Raise `DataError` for a class whose walk is at none of its labels."""
    is_there = warped.degrees[labels.points, labels.codes] > 0
    lost = np.bincount(labels.codes, is_there, labels.n_classes) == 0
    if lost.any():
        raise DataError(
            f"the walk of class {labels.classes[lost].tolist()[0]!r} is at none of its labels, "
            "where its scores or those of all neighbours are 0; pass y to warped_operator, or a "
            "floor above 0"
        )
