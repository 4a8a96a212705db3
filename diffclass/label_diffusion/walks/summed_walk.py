"""Summed labels: free labels added up over the walk."""

from __future__ import annotations

from diffclass.label_diffusion.stopping_time import sum_end
from diffclass.label_diffusion.walks.free_walk import FreeWalk
from diffclass.targets import labels_per_class


class SummedWalk(FreeWalk):
    """The sum over the walk. The curve is that of A^t chi_i; `restore` then gives the sum."""

    _is_summed = True

    def checkpoint(self, *names: str) -> None:
        """Save the present time under some names, instead of those saved before."""
        self._checkpoints.update(dict.fromkeys(names, self.time))

    def restore(self, name: str) -> int:
        """Walk to the end of a checkpoint's sum and hold the sum from then on; return tau."""
        tau = self._checkpoints[name]
        self.advance_map(tau)
        return tau

    def advance_map(self, tau: int) -> None:
        """Walk to the end of the sum, from the start if it is past, and hold the sum."""
        columns, end = self._columns, sum_end(tau, labels_per_class(self.labels.codes))
        if columns.time > end:
            columns.start()
        columns.advance_along_curve(end)
        self.time, (self.state, self.limits) = end, columns.visited
