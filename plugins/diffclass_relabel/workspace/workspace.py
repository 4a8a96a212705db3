"""What a session is over, made ready: points with features and a graph, and a raster to paint on.

The engine knows points 0 to n - 1, a user pixels of a raster. Of a scene the raster is its picture
(`diffclass_relabel.workspace.scenes`); of a table its cells hold one row each
(`diffclass_relabel.workspace.tables`).
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

# Points that a stroke is diffused over at once. Of more, its provisional map is that of aggregates,
# in a quarter of the time (`experiments.relabel.domains`).
MOST_DIRECT = 10_000
# Points that answers are made of and walks are warped on. Of more it is the aggregates: answers of
# the points take seconds. Of fewer, aggregates lose accuracy (diffclass/DECISIONS.md).
MOST_ANSWERED = 100_000

Graph = Future[tuple[MarkovOperator, CoarseGraph | None]]
"""The walk on the points, and their aggregates if there are many, once they are there."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Workspace(ABC):
    """Points with features and a graph, and where they lie on a raster.

    Attributes
    ----------
    settings : SessionSettings
        With what was left open resolved.
    fingerprint : str
        SHA-256 of everything that a map can depend on: 64 hexadecimal digits.
    shape : (int, int)
        Rows and columns of the raster.
    graph : Graph
        See `build`.
    pixels : ndarray of int64 of shape (n,)
        Raster number of each point, that of the first pixel where it has several.
    points : ndarray of int32 of shape (rows * columns,)
        Point of each pixel, -1 where there is none.
    features : ndarray of float32 of shape (n, p)
    coarse_answers : bool
        Whether answers and warped walks are those of the aggregates: of more than 100,000 points.
    block : int
        Side of the blocks of pixels that are points; 1 where each pixel is one.
    """

    things: ClassVar[str]  # what its points are called

    settings: SessionSettings
    fingerprint: str
    shape: tuple[int, int]
    pixels: np.ndarray
    points: np.ndarray
    features: np.ndarray
    coarse_answers: bool = False
    block: int = 1
    graph: Graph = field(default_factory=Graph)

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
        """Read a file of labels on the raster; ``spectra``: also those of a spectral library.

        - `DiffclassError` where it holds none of this raster
        """

    @abstractmethod
    def placed(self, labels: LabelImage) -> LabelImage:
        """Return labels on the raster; `DataError` where they lie elsewhere."""

    @abstractmethod
    def pieces_of(self, mask: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the number of each pixel's piece, and of all; points of one tell of each other.

        - `mask` bool (rows, columns): a class
        - returns int (rows, columns): from 1, 0 outside the mask
        """

    @property
    def grouping(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """What groups labels as `diffclass classify` does, if it does; see `RelabelSession`."""
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
        """Places of the points in the picture, (n, 2); None where nearness there tells nothing."""
        return None

    def build(self) -> None:
        """Build the graph, for which all maps wait; an error is theirs too. Once is enough."""
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
        """Aggregates of more than 10,000 points, whose maps are the provisional ones; waits too."""
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
            grouping=self.grouping,
            coarse_answers=self.coarse_answers,
            n_points=len(self.features),
            random_state=self.settings.random_state,
        )

    def pixels_of_runs(self, runs: list[int]) -> np.ndarray:
        """Return the pixels of runs, ascending; those without data are left out.

        Raises
        ------
        ParameterError
            Where ``runs`` leave the image, or no pixel of it has data.
        """
        pixels = pixels_of(runs, self.n_pixels)
        pixels = pixels[self.points[pixels] >= 0]
        if not len(pixels):
            raise ParameterError(
                f"no {self.things[:-1]} there has data; paint where the {self.settings.of} has some"
            )
        return pixels

    def point_of(self, pixel: Any) -> int:
        """Return the point of a pixel.

        Raises
        ------
        ParameterError
            Where there is no such pixel, or it has no data.
        """
        number = self.pixel_within(pixel)
        if self.points[number] < 0:
            raise ParameterError(f"pixel {number} has no data; ask about one that has")
        return int(self.points[number])

    def pixel_within(self, pixel: Any) -> int:
        """Return a pixel's number, or say why the scene has no such pixel."""
        if type(pixel) is not int or not 0 <= pixel < self.n_pixels:
            raise ParameterError(
                f"pixel = {str(pixel)[:40]!r}; pixels of this {self.settings.of} are 0 to "
                f"{self.n_pixels - 1}"
            )
        return pixel

    def raster(self, values: np.ndarray, *, fill: float = 0) -> np.ndarray:
        """Return values of points as a picture.

        Parameters
        ----------
        values : ndarray of shape (n,) or (n, c)
        fill : number, default=0
            For pixels without data.

        Returns
        -------
        ndarray of shape (rows, columns) or (rows, columns, c)
        """
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
