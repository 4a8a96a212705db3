"""The map of the same labels at every time of the margin curve, for a slider of tau.

Here all labels of a class walk together: as many columns as there are classes, not strokes.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from diffclass import _compiled
from diffclass.label_diffusion.diffusion import kept_share, start_walk
from diffclass.label_diffusion.stopping_time import MarginCurve, curve_times, hop_coverage
from diffclass.label_diffusion.walks import Walk
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import WarpedOperator
from diffclass.targets import encode_labels

Frame = tuple[np.ndarray, np.ndarray]


class TimeSweep:
    """Class ids and margins at the times of the curve, and the curve.

    Parameters
    ----------
    operator : MarkovOperator or WarpedOperator
        Of n points.
    y : ndarray of int of shape (n,)
        Class ids, -1 where there is no label.
    label_mode : {"free", "absorbing"}
    max_time : int
        Last time of the curve.

    Notes
    -----
    Cost: products with n_classes columns, one a step, up to the latest time that was asked for;
    a time that is none of the curve's is walked to anew. Memory: 5 n bytes a time, about 30 times
    up to 256.
    """

    def __init__(
        self,
        operator: MarkovOperator | WarpedOperator,
        y: np.ndarray,
        *,
        label_mode: str,
        max_time: int,
    ):
        self._operator = operator
        self._classes, self._codes = encode_labels(y)
        self.label_mode = label_mode
        self._times = curve_times(max_time)
        self._walk = self._start()
        self._frames: dict[int, Frame] = {}

    @cached_property
    def curve(self) -> MarginCurve:
        """Mean margin and coverage at every time of the curve."""
        self._shoot_up_to(self._times[-1])
        margin = [margin.mean(dtype=np.float64) for _, margin in self._frames.values()]
        coverage = hop_coverage(self._walk.hops_to_cover())
        coverage = coverage[np.minimum(self._times, len(coverage) - 1)]
        share = kept_share(self.label_mode, self._codes)
        return MarginCurve(self._times, np.array(margin), coverage, share)

    def at(self, tau: int) -> Frame:
        """Return class ids and margins at a time, which need not be one of the curve."""
        if tau in self._times:
            self._shoot_up_to(tau)
            return self._frames[tau]
        walk = self._start()
        for time in curve_times(tau):
            walk.advance(int(time))
        return self._read_off(walk)

    def _shoot_up_to(self, tau: int) -> None:
        for time in self._times[len(self._frames) :].tolist():
            if time > tau:
                break
            self._walk.advance(time)
            self._frames[time] = self._read_off(self._walk)

    def _read_off(self, walk: Walk) -> Frame:
        values = np.ascontiguousarray(walk.values().T)
        values[:, ~walk.has_label[walk.operator.components]] = 0
        weight, class_ids = walk.class_weight(None), self._classes.astype(np.uint8)
        ids = np.empty(values.shape[1], dtype=np.uint8)
        probability, margin = (np.empty(len(ids), dtype=np.float32) for _ in range(2))
        _compiled.strokes.read_off(values, weight, class_ids, ids, probability, margin)
        return ids, margin

    def _start(self) -> Walk:
        trust = np.ones(len(self._codes))
        n_classes = len(self._classes)
        return start_walk(self._operator, self._codes, trust, n_classes, label_mode=self.label_mode)
