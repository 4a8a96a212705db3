"""What a session is over, made ready: points with features and a graph, and a raster to paint on.

The engine knows points 0 to n - 1, a user pixels of a raster: the picture of a scene (`scenes`), or
cells that hold one row of a table each (`tables`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from diffclass import MarkovOperator, markov_operator
from diffclass.exceptions import ParameterError
from diffclass.jobs import Measures
from diffclass.kernels import SharedNeighbors
from diffclass.relabel import CoarseGraph, RelabelSession, coarsen
from diffclass.system.progress import stage
from diffclass_hyperspectral import LabelImage, Scene
from diffclass_relabel.workspace.pixels import pixels_of
from diffclass_relabel.workspace.settings import SessionSettings

MOST_DIRECT = 10_000  # points; of more, provisional maps are those of aggregates
MOST_ANSWERED = 100_000  # points; of more, answers and warped walks are those of aggregates too
Graph = Future[tuple[MarkovOperator, CoarseGraph | None]]  # the walk, and aggregates of many points


@dataclass(frozen=True, eq=False, kw_only=True)
class Workspace(ABC):
    """Points with features and a graph, and where they lie on a raster."""

    things: ClassVar[str]  # what its points are called

    settings: SessionSettings  # with what was left open resolved
    fingerprint: str  # SHA-256 of all in the data that a map can depend on
    shape: tuple[int, int]  # rows and columns of the raster
    pixels: np.ndarray  # int64 (n,): pixel of each point, the first where it has several
    points: np.ndarray  # int32 (rows * columns,): point of each pixel, -1 for none
    features: np.ndarray  # float32 (n, p)
    coarse_answers: bool = False  # whether answers and warped walks are those of the aggregates
    block: int = 1  # side of the blocks of pixels that are points
    graph: Graph = field(default_factory=Graph)  # see `build`

    @property
    @abstractmethod
    def paths(self) -> list[Path]:
        """The files that it was opened from."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What users call it."""

    @property
    @abstractmethod
    def extent(self) -> tuple[int, ...]:
        """How large the data are, as they lie in their files."""

    @property
    @abstractmethod
    def measures(self) -> Measures:
        """In what sizes of classes may be given."""

    @property
    @abstractmethod
    def scene(self) -> Scene:
        """The scene; `ParameterError` where it is none."""

    @abstractmethod
    def read_labels(
        self, path: Path | str, *, variable: str | None = None, spectra: bool = True
    ) -> LabelImage:
        """Read a file of labels on the raster; ``spectra``: also those of a spectral library."""

    @abstractmethod
    def placed(self, labels: LabelImage) -> LabelImage:
        """Return labels on the raster; `DataError` where they lie elsewhere."""

    @abstractmethod
    def pieces_of(self, mask: np.ndarray) -> tuple[np.ndarray, int]:
        """Return each pixel's piece, from 1, 0 outside the mask, and the number of pieces."""

    @property
    def grouping(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """Which labels belong together, if any do; see `diffclass.relabel.RelabelSession`."""
        return None

    def note_on(self, ids: np.ndarray) -> str | None:
        """Return a remark on the class ids of all points, 0 for none."""
        return None

    def by_point(self, plane: np.ndarray) -> np.ndarray:
        """Return values of a raster as they lie in the data."""
        return plane

    def to_log(self, runs: list[int]) -> list[int]:
        """Return runs of pixels in the numbers that a session file has, whatever the raster."""
        return runs

    def from_log(self, runs: list[int]) -> list[int]:
        """Return runs of a session file in pixels; `ParameterError` where there are none."""
        return runs

    @property
    def coordinates(self) -> np.ndarray | None:
        """Rows and columns of the points, (n, 2); None where nearness there tells nothing."""
        return None

    def build(self) -> None:
        """Build the graph, if it is not there; all that waits for it also gets its error."""
        if self.graph.done():
            return
        try:
            with stage("graph"):
                operator, coarse = built_graph(self.features, self.settings)
        except BaseException as error:
            self.graph.set_exception(error)
            raise
        self.graph.set_result((operator, coarse))

    @property
    def operator(self) -> MarkovOperator:
        """The walk on the n points, waiting for it."""
        return self.graph.result()[0]

    @property
    def coarse(self) -> CoarseGraph | None:
        """Aggregates of more than 10,000 points, waiting for them."""
        return self.graph.result()[1]

    @property
    def n_pixels(self) -> int:
        """Rows times columns."""
        return len(self.points)

    @cached_property
    def missing(self) -> np.ndarray:
        """Raster numbers of the pixels without data."""
        return np.flatnonzero(self.points < 0)

    def new_session(self) -> RelabelSession:
        """Return a session without labels."""
        return RelabelSession(
            self.graph,
            label_mode=self.settings.label_mode,
            tau=self.settings.given_tau,
            rule=self.settings.rule,
            features=self.features,
            grouping=self.grouping,
            coarse_answers=self.coarse_answers,
            n_points=len(self.features),
            random_state=self.settings.random_state,
        )

    def pixels_of_runs(self, runs: list[int]) -> np.ndarray:
        """Return the pixels of runs that have data, ascending; `ParameterError` if none has."""
        pixels = pixels_of(runs, self.n_pixels)
        pixels = pixels[self.points[pixels] >= 0]
        if not len(pixels):
            raise ParameterError(
                f"no {self.things[:-1]} there has data; paint where the {self.settings.of} has some"
            )
        return pixels

    def point_of(self, pixel: Any) -> int:
        """Return the point of a pixel; `ParameterError` where there is none."""
        number = self.pixel_within(pixel)
        if self.points[number] < 0:
            raise ParameterError(f"pixel {number} has no data; ask about one that has")
        return int(self.points[number])

    def pixel_within(self, pixel: Any) -> int:
        """Return a pixel's number; `ParameterError` where there is no such pixel."""
        if type(pixel) is not int or not 0 <= pixel < self.n_pixels:
            raise ParameterError(
                f"pixel = {str(pixel)[:40]!r}; pixels of this {self.settings.of} are 0 to "
                f"{self.n_pixels - 1}"
            )
        return pixel

    def raster(self, values: np.ndarray, *, fill: float = 0) -> np.ndarray:
        """Return values of points, (n,) or (n, c), as a picture; ``fill`` where there are none."""
        # -1 takes the last point's value, which `fill` then replaces
        out = values.take(self.points, axis=0, mode="wrap")
        out[self.missing] = fill
        return out.reshape(*self.shape, *values.shape[1:])


def built_graph(
    features: np.ndarray, settings: SessionSettings
) -> tuple[MarkovOperator, CoarseGraph | None]:
    """Return the walk on points, and aggregates of more than 10,000."""
    options: dict[str, Any] = {"kernel": SharedNeighbors(), "random_state": settings.random_state}
    n_neighbors = min(settings.neighbors, len(features) - 1)
    operator = markov_operator(features, n_neighbors=n_neighbors, **options)
    if len(features) <= MOST_DIRECT:
        return operator, None
    return operator, coarsen(operator, features, n_neighbors=settings.neighbors, **options)
