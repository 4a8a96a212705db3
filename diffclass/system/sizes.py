"""Numbers of points at which methods change, with the reason for each.

Results jump slightly where a graph passes one of these sizes, since another search, another last
time or another number of held-out labels is used. Nothing else in the core depends on thresholds of
n that change results. Thresholds of plots, chunks and threads stand where they act: they change
speed and memory alone.
"""

from __future__ import annotations

# Neighbours (`diffclass.neighbors.default_search`).
EXACT_SEARCH_POINTS = 4_096  # up to here, exact search is as fast as NN-descent

# Label diffusion (`diffclass.label_diffusion`).
HELD_OUT_POINTS = 10_000  # up to here 100 labels are held out for the calibration, above 32
# Up to here one label per class is also tried as summed labels, which take 1,536 steps.
LONG_WALK_POINTS = 65_536
# From here on labels diffuse in an order in which neighbours lie together in memory. A step then
# takes as little as a quarter of the time, because the values no longer fit into the processor's
# cache. Results are equal up to the last digit.
LOCAL_ORDER_POINTS = 8_192
