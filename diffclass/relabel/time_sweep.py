"""The maps of the same labels at every time of the margin curve, for a slider of tau.

All labels of a class diffuse together here: one column per class, not per stroke.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from diffclass.exceptions import CancelledError
from diffclass.label_diffusion import Labels, MarginCurve, Reach
from diffclass.label_diffusion.diffusion import margin_curve, start_walk
from diffclass.label_diffusion.maps import equal_weights
from diffclass.label_diffusion.walk import Walk, curve_times
from diffclass.operators.warped import Operator

Frame = tuple[np.ndarray, np.ndarray]


class TimeSweep:
    """Class ids and margins at the times of the margin curve, and the curve itself.

    - `y` int (n,): class ids of what the operator is on or of all points, -1 where unlabelled
    - `label_mode`: one of `LABEL_MODES`
    - `max_time`: last time of the curve

    Cost: one product with n_classes columns per step up to the latest requested time; a time
    between those of the curve needs a new walk. Memory: 5 n bytes for each of about 40 times.
    """

    def __init__(
        self,
        operator: Operator,
        y: np.ndarray,
        *,
        label_mode: str,
        max_time: int,
    ):
        self._operator = operator
        self._labels = Labels.of(y).at_nodes(operator.unwarped.nodes)
        self._label_mode = label_mode
        self._times = curve_times(max_time)
        self._walk = self._start()
        self._reach = Reach(self._walk.operator, self._labels.points)
        self._frames: dict[int, Frame] = {}

    @cached_property
    def curve(self) -> MarginCurve:
        """Mean margin and coverage at every time of the curve."""
        return margin_curve(
            self._operator,
            self._labels,
            label_mode=self._label_mode,
            max_time=int(self._times[-1]),
        )

    def at(self, tau: int) -> Frame:
        """Return class ids and margins at any time, on the curve or between its times."""
        if tau not in self._times:
            walk = self._start()
            # by the same stops as along the curve, so that columns turn late at the same times
            for time in curve_times(tau):
                walk.advance_map(int(time))
            return self._read_off(walk)
        for time in self._times[len(self._frames) :].tolist():
            if time > tau:
                break
            self._frames[time] = self._frame_at(time)
        return self._frames[tau]

    def _frame_at(self, time: int) -> Frame:
        """Walk on to a time of the curve; an interrupted walk begins again."""
        try:
            self._walk.advance_map(time)
        except CancelledError:
            self._walk, self._frames = self._start(), {}
            raise
        return self._read_off(self._walk)

    def _read_off(self, walk: Walk) -> Frame:
        decision = self._reach.decide(
            walk.values(),
            equal_weights(self._labels.n_classes),
            n_steps=walk.time,
            dtype=np.float32,
        )
        ids = np.append(self._labels.classes, 0).astype(np.uint8)[decision.codes]
        return ids, decision.margin

    def _start(self) -> Walk:
        return start_walk(self._operator, self._labels, label_mode=self._label_mode)
