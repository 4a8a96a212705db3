"""Numbers of points at which methods change, with the reason for each.

Results jump slightly where a graph passes one of these sizes, since another search, another last
time or another number of held-out labels is used. Nothing else in the core depends on thresholds of
n that change results. Thresholds of plots, chunks and threads stand where they act: they change
speed and memory alone.
"""

from __future__ import annotations

# Neighbours (`diffclass.neighbors.default_search`).
EXACT_SEARCH_POINTS = 8_192  # up to here, exact search is as fast as any other
INVERTED_FILE_POINTS = 65_536  # above, NN-descent is faster, and its lead grows with n
# From here on NN-descent aims at a recall of 92 % instead of 96 %: the more points, the nearer is
# what is found instead of a missed neighbour, and the map of a million points loses nothing.
LOWER_RECALL_POINTS = 262_144

# Label diffusion (`diffclass.label_diffusion`).
HELD_OUT_POINTS = 10_000  # up to here 100 labels are held out for the calibration, above 32
LATE_TIMES_POINTS = 32_768  # up to here "auto" looks at times up to 16,384: steps take little time
# Up to here the last time is 1,024, above 256. Above, the walk ends where the margin has fallen,
# and one label per class is not tried as summed labels: these would take longer than all the rest.
LONG_WALK_POINTS = 65_536
# From here on labels diffuse in an order in which neighbours lie together in memory. A step then
# takes half as long, because the values no longer fit into the processor's cache. Results are equal
# up to the last digit.
LOCAL_ORDER_POINTS = 262_144
