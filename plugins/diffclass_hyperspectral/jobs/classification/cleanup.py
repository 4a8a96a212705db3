"""Cleaning a class map: unknown pixels, a majority filter, a minimum mapping unit, given segments.

Class 0 takes no part: pixels without data, out of reach of all labels or below the margin stay 0,
have no vote in a window or segment, and no segment can join them.

*Majority*: each pixel takes the class that is most frequent in the square window around it, its
own class where that is among the most frequent, else the smallest id among those.

*Minimum area*: a segment is a set of pixels of one class connected by their edges. From the
smallest up, each segment of fewer than N pixels joins the neighbouring class with which it shares
the longest border (in a tie the smallest id). It comes after the majority filter.

*Given segments*, such as the fields of a register: last of all each takes the class that most of
its pixels have, in a tie the smallest id.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from scipy.ndimage import correlate1d

from diffclass.exceptions import DataError
from diffclass.jobs import HIDDEN, IF_KNOWN, MERGED, Facts
from diffclass.options import check_options
from diffclass_hyperspectral.io.maps import neighboring, segments_of
from diffclass_hyperspectral.options import OPTIONS


@dataclass(frozen=True)
class Cleanup(Facts):
    """What is done to a class map after classification; nothing by default.

    Attributes
    ----------
    min_margin : float, default=0
        Pixels with a smaller margin become class 0.
    majority : int, default=1
        Width of the majority filter's window in pixels, odd; 1 for none.
    min_area : int, default=1
        Smallest segment that stays, in pixels.
    segments : ndarray of int of shape (rows, columns), optional
        Number of each pixel's segment, 0 for none; see `read_tile_segments`.

    See Also
    --------
    read_tile_segments : Reads the segments.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral import Cleanup
    >>> found = np.array([[1, 1, 1, 2], [1, 2, 1, 2], [1, 1, 1, 2]])
    >>> margin = np.full((3, 4), 0.8)
    >>> margin[0, 3] = 0.1
    >>> Cleanup(min_margin=0.2, min_area=2).apply(found, margin)[0]
    array([[1, 1, 1, 0],
           [1, 1, 1, 2],
           [1, 1, 1, 2]])
    """

    min_margin: float = 0.0
    majority: int = 1
    min_area: int = 1
    segments: np.ndarray | None = field(default=None, compare=False, repr=False, metadata=HIDDEN)

    def __post_init__(self) -> None:
        check_options(
            OPTIONS, min_margin=self.min_margin, majority=self.majority, min_area=self.min_area
        )

    @property
    def is_spatial(self) -> bool:
        """Whether a pixel's class depends on its surroundings."""
        return self.majority > 1 or self.min_area > 1 or self.segments is not None

    @property
    def is_nothing(self) -> bool:
        """Whether the map stays as it is."""
        return self.min_margin == 0 and not self.is_spatial

    def apply(self, class_map: np.ndarray, margin: np.ndarray) -> tuple[np.ndarray, CleanupReport]:
        """Return a cleaned class map (rows, columns), 0 = no class, and a report.

        ``margin`` is 0 to 1, NaN without data. `DataError`: segments are of another picture.
        """
        unknown = (class_map != 0) & (margin < self.min_margin)
        kept = np.where(unknown, 0, class_map)
        smooth = majority_filter(kept, self.majority)
        merged = merge_small_segments(smooth, self.min_area)
        voted = merged if self.segments is None else class_by_segment(merged, self.segments)
        report = CleanupReport(
            self,
            below_margin=int(np.count_nonzero(unknown)),
            by_majority=int(np.count_nonzero(smooth != kept)),
            by_min_area=int(np.count_nonzero(merged != smooth)),
            small_segments_left=_n_small(merged, self.min_area),
            by_segments=None if self.segments is None else int(np.count_nonzero(voted != merged)),
        )
        return voted, report


@dataclass(frozen=True)
class CleanupReport(Facts):
    """How many pixels each step changed."""

    cleanup: Cleanup = field(metadata=MERGED)
    below_margin: int = 0  # became class 0
    by_majority: int = 0  # were given another class
    by_min_area: int = 0
    small_segments_left: int = 0  # below the area, and touch no other class
    by_segments: int | None = field(default=None, metadata=IF_KNOWN)


def majority_filter(class_map: np.ndarray, width: int) -> np.ndarray:
    """Give each pixel the most frequent class of the window around it; class 0 has no vote.

    Class 0 stays. O(n width) per class, two arrays of n counts.
    """
    if width == 1:
        return class_map.copy()
    classes = np.unique(class_map[class_map != 0])
    own = np.zeros(class_map.shape, dtype=np.int32)
    for value in classes:
        member = class_map == value
        own[member] = _votes(member, width)[member]
    most, winner = own, class_map.copy()
    for value in classes:
        votes = _votes(class_map == value, width)
        wins = (votes > most) & (class_map != 0)
        winner[wins] = value
        most = np.where(wins, votes, most)
    return winner


def merge_small_segments(class_map: np.ndarray, min_area: int) -> np.ndarray:
    """Let segments below an area join the class they share the longest border with; 0 is no class.

    O(n) for the segments, O(b log b) for the b borders between them.
    """
    if min_area == 1 or not class_map.any():
        return class_map.copy()
    segments = segments_of(class_map)
    merger = _Merger(class_map, segments)
    merger.merge_below(min_area)
    return merger.classes_now()[segments].astype(class_map.dtype, copy=False)


def class_by_segment(class_map: np.ndarray, segments: np.ndarray) -> np.ndarray:
    """Give each segment the class that most of its pixels have, the smallest id in a tie.

    Class 0 stays and has no vote; pixels of segment 0 stay. O(n log n).
    """
    if segments.shape != class_map.shape:
        raise DataError(
            f"segments of {segments.shape} pixels for a picture of {class_map.shape}; give those "
            "of this scene"
        )
    voting = (class_map > 0) & (segments > 0)
    classes, codes = np.unique(class_map[voting], return_inverse=True)
    if not len(classes):
        return class_map.copy()
    numbers, places = np.unique(segments[voting], return_inverse=True)
    pairs, votes = np.unique(places * len(classes) + codes, return_counts=True)
    place, code = np.divmod(pairs, len(classes))
    order = np.lexsort((-code, votes, place))  # the last of each segment wins
    winner = np.zeros(len(numbers), dtype=np.intp)
    winner[place[order]] = code[order]
    voted = class_map.copy()
    voted[voting] = classes[winner[places]]
    return voted


class _Merger:
    """Segments with their sizes and borders, joined one by one (union-find)."""

    def __init__(self, class_map: np.ndarray, segments: np.ndarray):
        n = int(segments.max()) + 1
        self.sizes = np.bincount(segments.ravel(), minlength=n).tolist()
        self.classes = np.zeros(n, dtype=np.int64)
        self.classes[segments.ravel()] = class_map.ravel()
        self.parents = list(range(n))
        self.borders = _borders(segments, self.classes)

    def merge_below(self, min_area: int) -> None:
        """Join segments from the smallest up until none below ``min_area`` has a neighbour."""
        small = [(size, s) for s, size in enumerate(self.sizes) if size < min_area]
        waiting = [(size, s) for size, s in small if self.classes[s]]
        heapq.heapify(waiting)
        while waiting:
            size, segment = heapq.heappop(waiting)
            stale = self.root(segment) != segment or self.sizes[segment] != size
            if stale or not self.borders.get(segment):
                continue
            joined = self.join(segment)
            if self.sizes[joined] < min_area:
                heapq.heappush(waiting, (self.sizes[joined], joined))

    def join(self, segment: int) -> int:
        """Let a segment join the class of its longest border; return the joined segment."""
        lengths: dict[int, int] = {}
        for neighbor, length in self.borders[segment].items():
            value = int(self.classes[neighbor])
            lengths[value] = lengths.get(value, 0) + length
        winner = min(lengths, key=lambda value: (-lengths[value], value))
        touched = [s for s in self.borders[segment] if self.classes[s] == winner]
        # into the one with most borders, so that few have to be moved
        into = max(touched, key=lambda s: len(self.borders[s]))
        for s in [segment, *(s for s in touched if s != into)]:
            self._absorb(into, s)
        return into

    def root(self, segment: int) -> int:
        """Return the segment that a segment is now part of."""
        while self.parents[segment] != segment:
            self.parents[segment] = self.parents[self.parents[segment]]
            segment = self.parents[segment]
        return segment

    def classes_now(self) -> np.ndarray:
        """Return the class that each of the original segments has now."""
        return self.classes[[self.root(s) for s in range(len(self.parents))]]

    def _absorb(self, into: int, segment: int) -> None:
        self.parents[segment] = into
        self.sizes[into] += self.sizes[segment]
        for neighbor, length in self.borders.pop(segment).items():
            theirs = self.borders[neighbor]
            del theirs[segment]
            if neighbor != into:
                theirs[into] = theirs.get(into, 0) + length
                self.borders[into][neighbor] = theirs[into]


def _borders(segments: np.ndarray, classes: np.ndarray) -> dict[int, dict[int, int]]:
    """Length of the border of each segment with each other segment, without class 0."""
    one, other = neighboring(segments)
    apart = (one != other) & (classes[one] != 0) & (classes[other] != 0)
    ends = np.sort(np.column_stack([one[apart], other[apart]]), axis=1).astype(np.int64)
    pairs, lengths = np.unique(ends[:, 0] * len(classes) + ends[:, 1], return_counts=True)
    borders: dict[int, dict[int, int]] = {s: {} for s in np.flatnonzero(classes).tolist()}
    for pair, length in zip(pairs.tolist(), lengths.tolist(), strict=True):
        a, b = divmod(pair, len(classes))
        borders[a][b] = borders[b][a] = length
    return borders


def _votes(member: np.ndarray, width: int) -> np.ndarray:
    ones = np.ones(width, dtype=np.int32)
    along = correlate1d(member.astype(np.int32), ones, axis=0, mode="constant")
    return correlate1d(along, ones, axis=1, mode="constant")


def _n_small(class_map: np.ndarray, min_area: int) -> int:
    if min_area == 1:
        return 0
    segments = segments_of(class_map)
    has_class = np.bincount(segments[class_map != 0], minlength=segments.max() + 1) > 0
    return int(np.count_nonzero(has_class & (np.bincount(segments.ravel()) < min_area)))
