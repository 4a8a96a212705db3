"""Results as files: labels, map, margin, probability and report, names and colours kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from diffclass import __version__
from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.names import is_mark
from diffclass.system.output import write_json
from diffclass.system.temporary_folders import TemporaryFolder
from diffclass_hyperspectral import Cleanup, save_model, write_class_map, write_raster
from diffclass_hyperspectral.io.file_names import NAME, is_for_each, safe_name
from diffclass_hyperspectral.io.maps import place_of
from diffclass_hyperspectral.io.readers import SpectralLibrary, write_library
from diffclass_relabel.protocol import Result
from diffclass_relabel.queries.answers import class_spectra
from diffclass_relabel.queries.models import session_model
from diffclass_relabel.session import SessionEditor, class_table
from diffclass_relabel.session_file import SUFFIX
from diffclass_relabel.workspace import SceneWorkspace, TableWorkspace, Workspace, sizes_text
from diffclass_tables import write_rows

_IMAGES = {".img": "ENVI", ".tif": "GeoTIFF", ".png": "PNG", ".npy": "NumPy"}
_CLASSES = _IMAGES | {".npy": "NumPy, ids alone"}
# what the page offers; equivalent endings (.hdr, .dat) work too
FORMATS: dict[Result, dict[str, str]] = {
    "labels": _CLASSES,
    "map": _CLASSES,
    "polygons": {".gpkg": "GeoPackage", ".geojson": "GeoJSON"},
    "picture": {".png": "PNG with legend"},
    "margin": _IMAGES,
    "probability": {suffix: _IMAGES[suffix] for suffix in (".img", ".tif", ".npy")},
    "spectra": {".sli": "ENVI library", ".csv": "CSV"},
    "report": {".json": "JSON"},
    "model": {".model": "for other scenes"},
    "prediction": _CLASSES,
}
_COLUMNS = {".csv": "CSV", ".parquet": "Parquet", ".npz": "NumPy"}
ROW_FORMATS: dict[Result, dict[str, str]] = {
    "labels": _COLUMNS,
    "map": _COLUMNS | {".h5ad": "AnnData"},
    "report": {".json": "JSON"},
}
BLOCK_NOTE = (
    "the map is one of blocks of {side} x {side} pixels; classify_options and the exported labels "
    "make that of every pixel"
)
AGGREGATES_NOTE = (
    "the walk is warped, so the map is one of {n_aggregates} groups of similar pixels, and not of "
    "every pixel; unwarp for the map that classify_options and the exported labels make"
)
ONE_CLASS_NOTE = (
    "one class alone is labelled, {name}: the map has no other, and classify refuses these labels; "
    "label at least one more"
)
DEFAULT_NAMES = {
    "labels": "labels.img",
    "map": "map.img",
    "polygons": "polygons.gpkg",
    "picture": "picture.png",
    "margin": "margin.img",
    "probability": "probability.img",
    "spectra": "spectra.sli",
    "report": "report.json",
    "model": "session.model",
    "prediction": "prediction.img",
}
_RASTERS = ("labels", "map", "margin", "probability", "prediction")


def formats_of(workspace: Workspace) -> dict[Result, dict[str, str]]:
    """Return the results that can be exported, each with its formats by ending."""
    if isinstance(workspace, TableWorkspace):
        of_data = {".h5ad"} if workspace.paths[0].suffix.lower() != ".h5ad" else set()
        return {
            what: {ending: label for ending, label in formats.items() if ending not in of_data}
            for what, formats in ROW_FORMATS.items()
        }
    has_place = workspace.scene.georeference is not None
    return {what: formats for what, formats in FORMATS.items() if has_place or what != "polygons"}


def file_name(editor: SessionEditor, what: str, suffix: str | None = None) -> str:
    """Return the name of an exported file; rasters of scenes without a common grid have "{}"."""
    workspace = editor.workspace
    if isinstance(workspace, SceneWorkspace):
        plain = DEFAULT_NAMES[what] if suffix is None else what + suffix
        if what in _RASTERS and not workspace.tiles.is_mosaic:
            return f"{NAME}_{plain}"
    else:
        plain = what + (suffix or (".json" if what == "report" else ".csv"))
    # sessions of two scenes have two names (`diffclass_relabel.opening.default_session`)
    session = editor.log.path.name
    own = session.removesuffix(SUFFIX) if session.endswith(SUFFIX) else Path(workspace.name).stem
    return f"{safe_name(own)}_{plain}"


def export(
    editor: SessionEditor,
    what: Result,
    path: Path,
    *,
    min_area: int = 1,
    simplify: float = 0.0,
    overwrite: bool = False,
) -> tuple[Path, ...]:
    """Write one result; the map is brought up to date and refined first.

    - `what`: one of `FORMATS`. A picture is the map for people, with legend and scale bar; a
      prediction the map that a model of another scene made.
    - `path`: its ending chooses among the formats
    - `min_area`: pixels of the smallest segment (`diffclass_hyperspectral.Cleanup`)
    - `simplify`: of polygons, as of `diffclass_hyperspectral.write_class_map`
    - `DataError` where nothing is labelled yet
    """
    if not isinstance(what, str) or what not in DEFAULT_NAMES:
        raise ParameterError(
            f"there is nothing called {str(what)[:40]!r} to export; there are "
            f"{', '.join(DEFAULT_NAMES)}"
        )
    workspace = editor.workspace
    if isinstance(workspace, TableWorkspace):
        return _export_rows(editor, workspace, what, path, overwrite=overwrite)
    assert isinstance(workspace, SceneWorkspace)
    tiles = workspace.tiles
    if what in _RASTERS and not (tiles.is_mosaic or is_for_each(path)):
        raise ParameterError(
            f"{path.name}: the scenes lie on no common map grid, so it is a file for each; put "
            f"{NAME} for their names, as {NAME}_{path.name}"
        )
    if what != "prediction":
        _check_labelled(editor)
    if what == "spectra":
        return _write_spectra(editor, path, overwrite=overwrite)
    if what not in ("labels", "prediction"):
        editor.refine()
    if what == "model":
        _check_ending(path, what)
        return (save_model(path, session_model(editor), overwrite=overwrite),)
    if what == "report":
        _check_ending(path, what)
        return _write_report(editor, path, overwrite=overwrite)
    if what in ("polygons", "picture"):
        _check_ending(path, what)
    is_numbers = what in ("margin", "probability")
    write = _numbers_writer(editor, what) if is_numbers else _class_writer(editor, what, min_area)
    options = {"overwrite": overwrite} | ({"simplify": simplify} if what == "polygons" else {})
    written: list[Path] = []
    for file, scene, part in tiles.files(path):
        # labels in the scene's own grid, to be read again as labels of its pixels
        place = {"map_info": scene.map_info} if what == "labels" else place_of(scene, file)
        written += write(file, part, **options, **place)
    return tuple(written)


def _export_rows(
    editor: SessionEditor, workspace: TableWorkspace, what: Result, path: Path, *, overwrite: bool
) -> tuple[Path, ...]:
    if what not in ROW_FORMATS:
        raise ParameterError(f"{what} is no result of a table; there are {', '.join(ROW_FORMATS)}")
    _check_labelled(editor)
    if what != "labels":
        editor.refine()
    if what == "report":
        _check_ending(path, what)
        return _write_report(editor, path, overwrite=overwrite)
    return _write_rows(editor, workspace, what, path, overwrite=overwrite)


def _write_rows(
    editor: SessionEditor, workspace: TableWorkspace, what: Result, path: Path, *, overwrite: bool
) -> tuple[Path, ...]:
    """Write the labels of rows, or the refined classes of all with probability and margin."""
    if path.suffix.lower() == ".h5ad":
        workspace.check_unchanged()
    if what == "labels":
        with editor.lock:
            labels, names = editor.labels.ids, _row_names(editor)
        columns = {"class": _named(workspace, labels.ravel()[workspace.pixels], names)}
    else:
        session, names = editor.session, _row_names(editor)
        ids = session.map_ids
        columns = {
            "class": _named(workspace, ids, names),
            "probability": _where_known(workspace, session.probability, ids),
            "margin": _where_known(workspace, session.margin, ids),
        }
    return (write_rows(path, workspace.table, columns, overwrite=overwrite),)


def _row_names(editor: SessionEditor) -> dict[int, str]:
    names = {info.id: info.name for info in editor.session.classes}
    for name in names.values():
        if is_mark(name):
            raise DataError(f"a class is called {name!r}, which is no label in files; rename it")
    return names


def _named(workspace: TableWorkspace, ids: np.ndarray, names: dict[int, str]) -> np.ndarray:
    """Return the names of classes by row, None for none."""
    return workspace.rows.placed(np.array([names.get(i) for i in ids.tolist()], dtype=object), None)


def _where_known(workspace: TableWorkspace, values: np.ndarray, ids: np.ndarray) -> np.ndarray:
    known = np.where(ids > 0, values, np.nan).astype(np.float32)
    return workspace.rows.placed(known, np.nan)


# writes a part of a raster to a file, with where it lies
_Writer = Callable[..., tuple[Path, ...]]


def _class_writer(editor: SessionEditor, what: Result, min_area: int) -> _Writer:
    table, probability = class_table(editor.session.classes), None
    if what == "prediction":
        if editor.prediction is None:
            raise ParameterError("no model was applied to this scene")
        ids, table = editor.prediction.labels.ids, editor.prediction.labels.table
    elif what == "labels":
        ids = editor.labels.ids
    else:
        probability = editor.workspace.raster(editor.session.probability, fill=np.nan)
        mapped = editor.workspace.raster(editor.session.map_ids.astype(np.int32))
        ids = Cleanup(min_area=min_area).apply(mapped, probability)[0]

    def write(file: Path, part: tuple[slice, slice], **options: Any) -> tuple[Path, ...]:
        sure = None if probability is None else probability[part]
        legend = what == "picture"
        return write_class_map(file, ids[part], table, legend=legend, probability=sure, **options)

    return write


def _numbers_writer(editor: SessionEditor, what: Result) -> _Writer:
    session, raster = editor.session, editor.workspace.raster
    if what == "margin":
        values, names = raster(session.margin.astype(np.float32), fill=np.nan), ["margin"]
    else:
        values = raster(session.posteriors.astype(np.float32), fill=np.nan)
        by_id = {entry.id: entry.name for entry in session.classes}
        names = [by_id[int(i)] for i in session.mapped_classes]

    def write(file: Path, part: tuple[slice, slice], **options: Any) -> tuple[Path, ...]:
        return write_raster(file, values[part], band_names=names, **options)

    return write


def _write_spectra(editor: SessionEditor, path: Path, *, overwrite: bool) -> tuple[Path, ...]:
    """Write the mean spectra of the classes' labelled pixels."""
    scene, names = editor.workspace.scene, {info.id: info.name for info in editor.session.classes}
    found = class_spectra(scene, editor.labels.ids)
    means = np.array([one["mean"] for one in found], dtype=np.float64)  # None becomes NaN
    library = SpectralLibrary(tuple(names[one["class"]] for one in found), means, scene.wavelengths)
    return write_library(path, library, overwrite=overwrite)


def describe_session(editor: SessionEditor) -> dict[str, Any]:
    """Return the report of a session, as values that JSON can hold."""
    session, workspace = editor.session, editor.workspace
    labelled, n_empty = editor.labels.counts, len(workspace.missing)
    missing = n_empty
    if isinstance(workspace, TableWorkspace):
        missing = workspace.table.n_rows - len(workspace.features)
    mapped = np.bincount(workspace.raster(session.map_ids).ravel(), minlength=256)
    return {
        "scenes": [str(path) for path in workspace.paths],
        "sha256": workspace.fingerprint,
        "session": str(editor.log.path),
        "settings": workspace.settings.to_header(),
        "operations": editor.version,
        "strokes": len(session.strokes),
        "labelled_pixels": int(labelled[1:].sum()),
        "classes": [
            {
                "id": entry.id,
                "name": entry.name,
                "color": entry.color,
                "labelled": int(labelled[entry.id]),
                "pixels": int(mapped[entry.id]),
            }
            for entry in session.classes
        ],
        "unclassified": int(mapped[0]) - n_empty,  # the raster has 0 there too
        "missing": missing,
        "block": workspace.block,
        "map_note": map_note(editor),
        "tau": session.tau,
        "tau_mode": session.tau_mode,
        "class_sizes": sizes_text(session, session.class_sizes),
        "sizes_met": session.sizes_met,
        "warped": session.is_warped,
        # with the exported labels they give this map, or where it is one of blocks that of all
        # pixels; a walk warped by earlier labels has none
        "classify_options": None
        if session.is_warped
        else workspace.settings.classify_options(session),
        "mean_margin": float(session.margin.mean()),
        "contradicted_pixels": len(session.audit()),
        "accuracy": None,
        "accuracy_note": "labels painted where they are needed cannot measure accuracy; compare "
        "the map with labels that were held out (diffclass evaluate)",
        "version": __version__,
    }


def map_note(editor: SessionEditor) -> str | None:
    """Return a remark on a refined map that is not one of several classes and every pixel."""
    workspace, notes = editor.workspace, []
    alone = _class_alone(editor)
    if alone is not None:
        notes.append(ONE_CLASS_NOTE.format(name=alone))
    if editor.map is not None and editor.map.note is not None:
        notes.append(editor.map.note)
    if workspace.block > 1:
        notes.append(BLOCK_NOTE.format(side=workspace.block))
    coarse = workspace.coarse
    if coarse is not None and workspace.coarse_answers and editor.session.is_warped:
        notes.append(AGGREGATES_NOTE.format(n_aggregates=len(coarse)))
    return "; ".join(notes) or None


def _class_alone(editor: SessionEditor) -> str | None:
    """Return the name of the class that is labelled, if it is one alone."""
    labelled = {stroke.class_id for stroke in editor.session.strokes}
    names = [entry.name for entry in editor.session.classes if entry.id in labelled]
    return names[0] if len(names) == 1 else None


def _write_report(editor: SessionEditor, path: Path, *, overwrite: bool) -> tuple[Path, ...]:
    write_json(path, describe_session(editor), overwrite=overwrite)
    return (path,)


def _check_ending(path: Path, what: Result) -> None:
    endings = FORMATS[what]
    if path.suffix.lower() not in endings:
        raise ParameterError(f"{path.name}: {what} is written as {' or '.join(endings)}")


def _check_labelled(editor: SessionEditor) -> None:
    """Refuse a session without labels; warn of one class alone."""
    if not editor.session.strokes:
        raise DataError("nothing is labelled yet; paint at least one stroke")
    alone = _class_alone(editor)
    if alone is not None:
        warn_user(ONE_CLASS_NOTE.format(name=alone))


class Downloads:
    """Files that the page may fetch."""

    def __init__(self) -> None:
        self.files: dict[str, Path] = {}
        self._folder: TemporaryFolder | None = None

    def export(
        self, editor: SessionEditor, what: Result, name: str | None = None, **options: Any
    ) -> list[str]:
        """Write one result and return the names of its files, the one to read first."""
        if name is None:
            name = file_name(editor, what) if what in DEFAULT_NAMES else ""
        own = name.removeprefix(f"{NAME}_")
        if own != safe_name(own):
            raise ParameterError(
                f"name = {name[:40]!r} is no name of a file on every system; "
                f"take {safe_name(own)!r}"
            )
        try:
            if self._folder is None:
                self._folder = TemporaryFolder("diffclass-exports")
            place = self._folder.path / name
            written = export(editor, what, place, overwrite=True, **options)
        except OSError as error:
            raise DataError(
                f"{name} cannot be written to the system's temporary folder ({error.strerror}); "
                "make room there and export again"
            ) from error
        self.files.update({file.name: file for file in written})
        return [file.name for file in written]

    def close(self) -> None:
        """Remove the folder and all files in it."""
        self.files.clear()
        if self._folder is not None:
            self._folder.remove()
