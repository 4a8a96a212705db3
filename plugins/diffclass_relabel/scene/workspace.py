"""A scene made ready for labelling: features, graph, and a session whose points are its pixels.

The engine knows points 0 to n - 1, a user pixels: point i is the i-th pixel that has data, counted
row by row, or in a scene of many pixels the i-th block (`diffclass_relabel.scene.pixels`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from diffclass import MarkovOperator, StoppingRule, __version__, markov_operator
from diffclass.coarsening import CoarseGraph, coarsen
from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs import check_neighbors
from diffclass.kernels import SharedNeighbors
from diffclass.label_diffusion import sizes_as_text
from diffclass.progress import stage
from diffclass.relabel import KnownSizes, RelabelSession
from diffclass_hyperspectral import Scene, SceneFeatures, TiledScene, open_tiles
from diffclass_hyperspectral.io.labels import label_regions
from diffclass_hyperspectral.io.rasters import row_blocks
from diffclass_relabel.scene.pixels import block_side, blocks_of, mean_features, pixels_of


def fingerprint_of(scene: Scene) -> str:
    """Return the SHA-256 of everything in a scene that its class map can depend on.

    Stored values in the order (row, column, band), their type, which bands are good, what means
    "no data", the scale, and which pixels are left out, if any are.

    - returns: 64 hexadecimal digits

    >>> scene = Scene.from_array(np.ones((2, 3, 4), dtype=np.float32))
    >>> fingerprint_of(scene)[:8] == fingerprint_of(Scene.from_array(scene.data, path="x"))[:8]
    True
    """
    digest = hashlib.sha256()
    rows, columns, bands = scene.shape
    dtype = scene.data.dtype.newbyteorder("<")
    facts = {
        "shape": [rows, columns, bands],
        "dtype": dtype.str,
        "good": np.flatnonzero(scene.band_mask).tolist(),
        "ignore": str(scene.ignore_value),
        "scale": float(scene.scale_factor),
    }
    digest.update(json.dumps(facts, sort_keys=True).encode())
    if scene.region is not None and not scene.region.all():
        digest.update(np.packbits(scene.region).data)
    for some in row_blocks(rows, columns * bands):
        block = np.asarray(scene.data[some])
        digest.update(np.ascontiguousarray(block, dtype=dtype).data)
    return digest.hexdigest()


KERNEL = "shared"
# Points that a stroke is diffused over at once. Of more, its provisional map is that of aggregates,
# in a quarter of the time (`experiments.relabel.domains`).
MOST_DIRECT = 10_000
# Points that answers are made of and walks are warped on. Of more it is the aggregates: answers of
# the points take seconds. Of fewer, aggregates lose accuracy (diffclass/DECISIONS.md).
MOST_ANSWERED = 100_000


@dataclass(frozen=True)
class SessionSettings:
    """What a session's map depends on besides the scene and the steps.

    Attributes
    ----------
    features : {"spectral", "spatial"}
    components : int or None
        None for as many as ``diffclass classify`` takes of a scene; a workspace's own settings
        and session files have their number.
    neighbors : int
    label_mode : {"auto", "summed", "free", "absorbing"}
        How labels count at the beginning; see `diffclass.relabel.RelabelSession`.
    tau : int, "auto" or "margin"
        Diffusion time in steps at the beginning, or the rule that chooses it.
    max_time : int or None
        Last time that the rules look at; None leaves it to the library.
    seed : int
    variable : str or None
        Array to take from a file with several.
    bands, mask, roi : str or None
        Part of the scene to work with, see `diffclass_hyperspectral.open_tiles`; files by their
        absolute paths.
    """

    features: str = "spectral"
    components: int | None = None
    neighbors: int = 12
    label_mode: str = "auto"
    tau: int | str = "auto"
    max_time: int | None = None
    seed: int = 0
    variable: str | None = None
    bands: str | None = None
    mask: str | None = None
    roi: str | None = None

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> SessionSettings:
        """Return the settings that a session file was begun with.

        Raises
        ------
        DataError
            Where they are missing or were made by something else.
        """
        if _numbers(header.get("version")) > _numbers(__version__):
            raise DataError(
                f"the session was made by diffclass {header['version']}, newer than this one "
                f"({__version__}); install that version to go on with it"
            )
        if header.get("kernel") != KERNEL:
            raise DataError(
                f"the session was made with the kernel {header.get('kernel')!r}, which this "
                f"version of diffclass does not know ({KERNEL!r} only); use the version "
                f"{header.get('version')!r}"
            )
        try:
            return cls(**header["settings"])
        except (KeyError, TypeError) as error:
            raise DataError(f"the session's header lacks its settings ({error})") from error

    @property
    def given_tau(self) -> int | None:
        """The diffusion time, None where a rule chooses it."""
        return None if isinstance(self.tau, str) else self.tau

    @property
    def rule(self) -> StoppingRule:
        """How the time is chosen, with the limits that hold if it is given at first."""
        by = self.tau if isinstance(self.tau, str) else "auto"
        return StoppingRule(by, max_time=self.max_time)

    @property
    def opening(self) -> dict[str, str | None]:
        """What `diffclass_hyperspectral.open_tiles` takes."""
        return {name: getattr(self, name) for name in ("variable", "bands", "mask", "roi")}

    def to_header(self) -> dict[str, Any]:
        """Return what the header of a session file says of them."""
        return {"settings": asdict(self), "kernel": KERNEL}

    def classify_options(self, session: RelabelSession) -> list[str]:
        """Return the options of ``diffclass classify`` that make the refined map of a session.

        With the exported labels, `classify` gives the map of the session, pixel for pixel.
        """
        by_rule = session.tau_mode == "auto"
        named = {
            "features": self.features,
            "components": self.components,
            "neighbors": self.neighbors,
            "kernel": KERNEL,
            "label-mode": session.asked_label_mode if by_rule else session.label_mode,
            "class-sizes": sizes_text(session, session.counted_sizes),
            "tau": None if by_rule else session.tau,
            "max-time": self.max_time if by_rule else None,
            "seed": self.seed,
            **self.opening,
        }
        given = [(f"--{name}", str(value)) for name, value in named.items() if value is not None]
        return [word for pair in given for word in pair]


def sizes_text(session: RelabelSession, sizes: KnownSizes | None) -> str | None:
    """Return sizes of a session's classes as they are given, the classes by their present names."""
    if sizes is None or isinstance(sizes, str):
        return sizes
    names = {info.id: info.name for info in session.classes}
    return sizes_as_text([(size.class_id, size.written) for size in sizes], names)


def _numbers(version: Any) -> tuple[int, ...]:
    """Return the numbers of a version such as "1.2.0"; what is unreadable counts as newest."""
    found = re.match(r"\d+(\.\d+)*", version) if isinstance(version, str) else None
    return tuple(map(int, found.group().split("."))) if found else (sys.maxsize,)


@dataclass(frozen=True, eq=False)
class Workspace:
    """A scene, or several as one, with its features, its graph, and where its points lie.

    Attributes
    ----------
    tiles : TiledScene
        The scene, or several as one picture.
    settings : SessionSettings
        With what was left to the scene resolved.
    fingerprint : str
        See `fingerprint_of`.
    graph : Future of (MarkovOperator, CoarseGraph or None)
        Of the n pixels with data, or blocks of them, and of its aggregates; see `build`.
    pixels : ndarray of int64 of shape (n,)
        Raster number of each point, that of a block's first pixel.
    points : ndarray of int32 of shape (rows * columns,)
        Point of each pixel, -1 without data.
    features : ndarray of float32 of shape (n, p)
    coarse_answers : bool
        Whether answers and warped walks are those of the aggregates: of more than 100,000 points.
    block : int
        Side of the blocks in pixels; 1 where each pixel is a point.
    """

    tiles: TiledScene
    settings: SessionSettings
    fingerprint: str
    pixels: np.ndarray
    points: np.ndarray
    features: np.ndarray
    coarse_answers: bool = False
    block: int = 1
    graph: Future[tuple[MarkovOperator, CoarseGraph | None]] = field(default_factory=Future)

    @classmethod
    def open(
        cls,
        scenes: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        settings: SessionSettings | None = None,
        *,
        fingerprint: str | None = None,
        on_scenes: Callable[[TiledScene], None] | None = None,
        build: bool = True,
    ) -> Workspace:
        """Open a scene, or several as one, and build its graph.

        Parameters
        ----------
        scenes : path-like or sequence of them
            As for `diffclass_hyperspectral.open_scene`; several as for `open_tiles`.
        settings : SessionSettings, optional
        fingerprint : str, optional
            Hash that the scene has to have.
        on_scenes : callable, optional
            Called once the scenes' sizes are known, before anything is computed.
        build : bool, default=True
            Whether the graph is there in the end; else maps wait until `build` was called.

        Raises
        ------
        DataError
            Where the scene cannot be read, or is not the one with this fingerprint.
        ParameterError
            For settings out of their range.
        """
        settings = SessionSettings() if settings is None else settings
        with stage("opening"):
            paths = [scenes] if isinstance(scenes, str | os.PathLike) else scenes
            tiles = open_tiles(paths, **settings.opening)
            if on_scenes is not None:
                on_scenes(tiles)
            found = fingerprint_of(tiles.scene)
        if fingerprint is not None and found != fingerprint:
            raise DataError(
                f"{tiles.scene.path}: is another scene than the session's, or another part of it "
                f"(its values hash to {found[:12]}, those of the session's scene to "
                f"{fingerprint[:12]}); give that scene, --bands, --mask and --roi as they were, or "
                "another session file"
            )
        return cls.from_scene(tiles, settings, fingerprint=found, build=build)

    @classmethod
    def from_scene(
        cls,
        tiles: TiledScene,
        settings: SessionSettings,
        *,
        fingerprint: str = "",
        build: bool = True,
    ) -> Workspace:
        """Make the workspace of scenes that are open; see `open`."""
        scene = tiles.scene
        with stage("features"):
            spatial = settings.features == "spatial"
            found = SceneFeatures(settings.components, spatial=spatial)
            side = block_side(*scene.shape[:2])
            if side == 1:
                features, valid = found.fit_transform_points(scene)
            else:
                features, valid = mean_features(partial(found.fit_transform_points, scene), side)
            points = blocks_of(valid, side)
            if settings.components is None:
                settings = replace(settings, components=found.n_components_)
        check_neighbors(settings.neighbors, len(features))
        pixels = np.unique(points, return_index=True)[1][-len(features) :]
        made = cls(
            tiles=tiles,
            settings=settings,
            fingerprint=fingerprint or fingerprint_of(scene),
            pixels=pixels,
            points=points,
            features=features,
            coarse_answers=len(features) > MOST_ANSWERED,
            block=side,
        )
        if build:
            made.build()
        return made

    def build(self) -> None:
        """Build the graph, for which all maps wait; an error is theirs too. Once is enough."""
        if self.graph.done():
            return
        try:
            with stage("graph"):
                operator = _graph(self.features, self.settings)
                coarse = None
                if len(self.features) > MOST_DIRECT:
                    options = _graph_options(self.settings)
                    coarse = coarsen(operator, self.features, **options)
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
    def scene(self) -> Scene:
        """The scene, or the joint picture of several."""
        return self.tiles.scene

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns, _ = self.scene.shape
        return rows, columns

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
            grouping=self._regions_of,
            coarse_answers=self.coarse_answers,
            n_points=len(self.features),
            random_state=self.settings.seed,
        )

    def _regions_of(self, label_ids: np.ndarray) -> np.ndarray:
        """Return the region of each point's label, as `diffclass classify` groups them."""
        return label_regions(self.raster(label_ids)).ravel()[self.pixels]

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
            raise ParameterError("no pixel there has data; paint where the scene has some")
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
                f"pixel = {str(pixel)[:40]!r}; pixels of this scene are 0 to {self.n_pixels - 1}"
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


def _graph(features: np.ndarray, settings: SessionSettings) -> MarkovOperator:
    options = _graph_options(settings)
    options["n_neighbors"] = min(settings.neighbors, len(features) - 1)
    return markov_operator(features, **options)


def _graph_options(settings: SessionSettings) -> dict[str, Any]:
    """Return the neighbours, the kernel and the seed of a session's graphs."""
    return {
        "n_neighbors": settings.neighbors,
        "kernel": SharedNeighbors(),
        "random_state": settings.seed,
    }
