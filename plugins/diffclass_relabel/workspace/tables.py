"""A table made ready: points are its rows with values, each on a cell of a raster of its own.

The raster is a drawing of the graph (`diffclass_relabel.workspace.layout`). It depends on the
machine in its last digits, so that a session file has the numbers of rows, not those of cells.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from diffclass.exceptions import DataError, ParameterError
from diffclass.jobs import Measures, taken_neighbors
from diffclass.relabel import LARGEST_CLASS_ID
from diffclass.system.identity import content_hash
from diffclass.system.progress import stage
from diffclass.targets import encode_labels
from diffclass_hyperspectral import LabelImage, Scene
from diffclass_relabel.workspace import workspace
from diffclass_relabel.workspace.layout import drawn, graph_coordinates, settled
from diffclass_relabel.workspace.pixels import pixels_of, runs_of
from diffclass_relabel.workspace.row_contents import RowContents, image_folder
from diffclass_relabel.workspace.settings import TableSettings
from diffclass_relabel.workspace.workspace import Graph, Workspace, built_graph
from diffclass_tables import Rows, Table, open_table, read_row_labels


def fingerprint_of_table(table: Table) -> str:
    """Return the SHA-256 of the features and ids of a table."""
    table.check_features()
    return content_hash(table.values, [str(name) for name in table.ids.tolist()])


@dataclass(frozen=True, eq=False, kw_only=True)
class TableWorkspace(Workspace):
    """A table with its features, its graph, and where its rows lie on the raster.

    Attributes
    ----------
    rows : Rows
        The table, and which of its rows are points.
    contents : RowContents
        What users see of a row.
    directions : ndarray of float64 of shape (n, 3)
        Diffusion coordinates, which colour the rows.
    """

    things: ClassVar[str] = "rows"

    settings: TableSettings
    rows: Rows
    contents: RowContents
    directions: np.ndarray

    @classmethod
    def open(
        cls,
        paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        settings: TableSettings | None = None,
        *,
        fingerprint: str | None = None,
        on_opened: Callable[[Table], None] | None = None,
        build: bool = True,
    ) -> TableWorkspace:
        """Open a table, build its graph and draw it.

        Parameters
        ----------
        paths : path-like, or sequence with one
            As for `diffclass_tables.open_table`.
        settings : TableSettings, optional
        fingerprint : str, optional
            Hash that the table has to have.
        on_opened : callable, optional
            Called with the table before anything is computed.
        build : bool, default=True
            Without effect: where rows lie follows from the graph.

        Raises
        ------
        DataError
            Where the table cannot be read, or is not the one with this fingerprint.
        ParameterError
            For columns that are not there, and more tables than one.
        """
        settings = TableSettings() if settings is None else settings
        given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        if len(given) > 1:
            raise ParameterError(f"one table at a time, but {given[1]} came too; join them first")
        with stage("opening"):
            table = _open(given[0], settings)
            if settings.images is not None:
                settings = replace(settings, images=image_folder(table, settings.images))
            contents = RowContents.of(table, settings.images, settings.text)
            found = fingerprint_of_table(table)
            if on_opened is not None:
                on_opened(table)
        if fingerprint is not None and found != fingerprint:
            raise DataError(
                f"{table.path}: is another table than the session's (its values hash to "
                f"{found[:12]}, those of the session's table to {fingerprint[:12]}); give that "
                "table with the same --columns and --id, or another session file"
            )
        rows = Rows(
            table,
            metric=settings.metric,
            n_components=settings.dimensions,
            random_state=settings.random_state,
        )
        return cls.from_rows(rows, settings, contents, fingerprint=found)

    @classmethod
    def from_rows(
        cls, rows: Rows, settings: TableSettings, contents: RowContents, *, fingerprint: str = ""
    ) -> TableWorkspace:
        """Make the workspace of rows that are read; see `open`."""
        n_points = len(rows.points)
        n_neighbors = taken_neighbors(settings.neighbors, n_points, usual=TableSettings.neighbors)
        settings = replace(settings, neighbors=n_neighbors)
        graph = Graph()
        with stage("graph"):
            operator, coarse = built_graph(rows.points, settings)
            directions = graph_coordinates(operator, random_state=settings.random_state)
            places = drawn(operator, directions, random_state=settings.random_state)
            # equal rows are one node of the graph, and lie beside each other on the raster
            directions, places = operator.at_points(directions), operator.at_points(places)
            cells, shape = settled(places, random_state=settings.random_state)
        graph.set_result((operator, coarse))
        points = np.full(shape[0] * shape[1], -1, dtype=np.int32)
        points[cells] = np.arange(len(cells), dtype=np.int32)
        return cls(
            settings=settings,
            fingerprint=fingerprint or fingerprint_of_table(rows.table),
            shape=shape,
            pixels=cells.astype(np.int64),
            points=points,
            features=rows.points,
            coarse_answers=len(cells) > workspace.MOST_ANSWERED,
            graph=graph,
            rows=rows,
            contents=contents,
            directions=directions,
        )

    @property
    def table(self) -> Table:
        """The table itself."""
        return self.rows.table

    @cached_property
    def row_numbers(self) -> np.ndarray:
        """Row of the table that each point is, int64 (n,)."""
        return np.flatnonzero(self.rows.valid)

    @property
    def paths(self) -> list[Path]:
        """The table's file."""
        return [self.table.path]

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.table.path.name

    @property
    def extent(self) -> tuple[int, ...]:
        """Rows and features."""
        return self.table.values.shape

    @property
    def scene(self) -> Scene:
        """There is none."""
        raise ParameterError(f"{self.name} is a table: its rows have no spectra and no bands")

    @property
    def measures(self) -> Measures:
        """Shares of the rows, and rows."""
        of = {"rows": lambda: float(len(self.features))}
        return Measures(of, "all rows", "20%, 10-20% or 1200rows")

    def read_labels(
        self, path: Path | str, *, variable: str | None = None, spectra: bool = True
    ) -> LabelImage:
        """Read a file of ids and classes, or a column of the table."""
        name = Path(path).name  # of a column, beside the table where the page asks
        source = name if name in self.table.column_names and not Path(path).is_file() else path
        given = read_row_labels(source, self.table, variable=variable)
        return self.labels_of(given, Path(path))

    def labels_of(self, given: np.ndarray, path: Path) -> LabelImage:
        """Return labels of the rows, object (n_rows,), None for none, on the raster."""
        classes, codes = encode_labels(given)
        if len(classes) > LARGEST_CLASS_ID:
            raise ParameterError(
                f"{path}: {len(classes)} classes; a session has {LARGEST_CLASS_ID} at most"
            )
        ids = self.raster((codes[self.row_numbers] + 1).astype(np.int32))
        names = {i: str(value) for i, value in enumerate(classes.tolist(), 1)}
        return LabelImage.from_array(ids, names=names, path=path)

    def check_unchanged(self) -> None:
        """Raise `DataError` where the file is another than when it was opened."""
        if fingerprint_of_table(_open(self.table.path, self.settings)) != self.fingerprint:
            raise DataError(f"{self.table.path}: has changed since it was opened; open it again")

    def placed(self, labels: LabelImage) -> LabelImage:
        """Return labels that lie on the raster."""
        if labels.ids.shape != self.shape:
            raise DataError(f"{labels.path}: labels of {labels.ids.shape}, not of {self.name}")
        return labels

    def pieces_of(self, mask: np.ndarray) -> tuple[np.ndarray, int]:
        """Return numbers of the rows: each is a piece by itself."""
        pieces = np.zeros(mask.shape, dtype=np.int64)
        n = int(np.count_nonzero(mask))
        pieces[mask] = np.arange(1, n + 1)
        return pieces, n

    def by_point(self, plane: np.ndarray) -> np.ndarray:
        """Return values by row of the table, 0 for those without a pixel."""
        return self.rows.placed(plane.ravel()[self.pixels], 0)

    def to_log(self, runs: list[int]) -> list[int]:
        """Return runs of cells as runs of rows."""
        points = self.points[pixels_of(runs, self.n_pixels)]
        return runs_of(np.sort(self.row_numbers[points[points >= 0]]))

    def from_log(self, runs: list[int]) -> list[int]:
        """Return runs of rows as runs of cells."""
        cells = self._cell_of_row[pixels_of(runs, self.table.n_rows)]
        return runs_of(np.sort(cells[cells >= 0]))

    @cached_property
    def _cell_of_row(self) -> np.ndarray:
        """Cell of each row of the table, -1 for those without values."""
        return self.rows.placed(self.pixels, -1)


def _open(path: str | os.PathLike[str], settings: TableSettings) -> Table:
    apart = settings.apart or []
    return open_table(path, columns=settings.columns, id_column=settings.id_column, apart=apart)
