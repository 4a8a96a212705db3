"""Answers to the page's questions, as values that JSON can hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from diffclass.exceptions import DataError, ParameterError, kept_warnings
from diffclass.relabel import Contradiction
from diffclass.system.temporary_folders import TemporaryFolder
from diffclass_hyperspectral import LabelImage, Scene
from diffclass_relabel import protocol
from diffclass_relabel.maps import NO_DATA, as_bytes, pack_frame
from diffclass_relabel.protocol import (
    AuditAnswer,
    ClassSpectrum,
    ContradictedStroke,
    CurveAnswer,
    ReadLabelsAnswer,
    RowFacts,
    RowsAnswer,
    SegmentAnswer,
    SentFile,
    SuggestAnswer,
    WhyAnswer,
)
from diffclass_relabel.session import (
    NO_REFERENCE,
    FileClass,
    Reference,
    SessionEditor,
    label_import,
)
from diffclass_relabel.workspace import TableWorkspace, Workspace, runs_of

_MOST_ITEMS = 500
_MOST_SHARES = 20
_STEPS = 64  # of the walk that tells what is like a pixel
_LEVELS, _FARTHEST = 254, 0.5  # of likeness, and the share of the points at the last
# pixels between two suggestions: neighbours would tell the same thing
LEAST_DISTANCE = 5.0


def why(editor: SessionEditor, pixel: int) -> WhyAnswer:
    """Return the shares of the strokes in a pixel's posterior, the largest first."""
    shares = editor.session.explain(editor.workspace.point_of(pixel))
    # painting goes on in another thread: strokes that were undone meanwhile are left out
    pixels = editor.workspace.pixels
    firsts = {stroke.number: int(pixels[stroke.points[0]]) for stroke in editor.session.strokes}
    shares = [share for share in shares if share.stroke in firsts]
    return {
        "pixel": pixel,
        "shares": [
            {
                "stroke": share.stroke,
                "class": share.class_id,
                "share": float(share.share),
                "pixel": firsts[share.stroke],
            }
            for share in shares[:_MOST_SHARES]
        ],
    }


def audit(editor: SessionEditor) -> AuditAnswer:
    """Return the strokes with pixels that all other strokes contradict, the strongest first."""
    by_stroke: dict[tuple[int, int], list[Contradiction]] = {}
    for one in editor.session.audit():
        by_stroke.setdefault((one.stroke, one.says_id), []).append(one)
    return {
        "count": len(by_stroke),
        "items": [
            _contradicted(editor.workspace.pixels, found)
            for found in list(by_stroke.values())[:_MOST_ITEMS]
        ],
    }


def _contradicted(pixels: np.ndarray, found: list[Contradiction]) -> ContradictedStroke:
    """Describe the pixels of a stroke that are said to be of one other class, clearest first."""
    places = pixels[[one.point for one in found]]
    return {
        "pixel": int(places[0]),
        "pixels": runs_of(np.sort(places)),
        "count": len(found),
        "stroke": found[0].stroke,
        "class": found[0].class_id,
        "says": found[0].says_id,
        "margin": float(found[0].margin),
    }


def suggestions(
    editor: SessionEditor, n: int = 10, rule: str = "coverage", passed: Sequence[int] = ()
) -> SuggestAnswer:
    """Return pixels to label next, the best first; those `passed` over count as asked."""
    workspace = editor.workspace
    found = editor.session.suggest(
        n,
        rule=rule,
        asked=[workspace.point_of(pixel) for pixel in passed],
        features=workspace.features,
        coordinates=workspace.coordinates,
        min_distance=0.0 if workspace.coordinates is None else LEAST_DISTANCE,
    )
    return {
        "pixels": workspace.pixels[found.points].tolist(),
        "scores": [float(score) for score in found.scores],
        "rule": found.rule,
    }


def curve(editor: SessionEditor) -> CurveAnswer:
    """Return the mean margin and coverage by time."""
    found = editor.session.margin_curve()
    return {
        "times": found.times.tolist(),
        "margin": [float(value) for value in np.nan_to_num(found.margin)],
        "coverage": [float(value) for value in np.nan_to_num(found.coverage)],
        "tau": editor.session.tau,
    }


def preview_frame(editor: SessionEditor, tau: int) -> bytes:
    """Return the binary message of the map at another time."""
    latest = editor.session.max_time
    if tau > latest:
        raise ParameterError(f"tau = {tau}; this session looks at times of 1 to {latest} steps")
    ids, margin = editor.session.tau_preview(tau)
    raster = editor.workspace.raster
    return pack_frame(
        {"kind": "preview", "tau": tau},
        raster(ids.astype(np.uint8), fill=NO_DATA),
        raster(as_bytes(margin)),
    )


def compared_frame(
    editor: SessionEditor, step: int | None = None, prediction: bool = False
) -> bytes:
    """Return the binary message of the map of an earlier state or a model, or of the reference."""
    other = editor.prediction if prediction else editor.reference
    if step is not None:
        ids = editor.session.map_at(step)
    elif other is not None:
        ids = in_own_classes(editor, other).astype(np.uint8)
    else:
        raise ParameterError("no model was applied to this scene" if prediction else NO_REFERENCE)
    return pack_frame(
        {"kind": "compared", "step": step}, editor.workspace.raster(ids, fill=NO_DATA)
    )


def similar_frame(editor: SessionEditor, pixel: int) -> bytes:
    """Return the binary message of how like all pixels are to one, by the walk's visits to it.

    A pixel has the least k of 1 to 254 with which it is among the nearest (k / 254)^2 of half of
    the scene's points; the others, and those that the walk does not reach, have 255.
    """
    workspace = editor.workspace
    visits = editor.session.visits_to(workspace.point_of(pixel), _STEPS)
    shares = _FARTHEST * (np.arange(1, _LEVELS + 1) / _LEVELS) ** 2
    least = np.quantile(-visits, shares)
    levels = np.minimum(np.searchsorted(least, -visits) + 1, 255).astype(np.uint8)
    levels[visits == 0] = 255
    plane = workspace.raster(levels, fill=255)
    return pack_frame({"kind": "similar", "pixel": pixel}, plane)


def in_own_classes(editor: SessionEditor, other: Reference) -> np.ndarray:
    """Return the session's class of each point on another map; 0 for one that it lacks."""
    with editor.lock:
        classes, found = editor.session.classes, editor.compared_classes()
    return np.maximum(other.truth(other.match(classes, found))[0], 0)


def segment(editor: SessionEditor, pixel: int) -> SegmentAnswer:
    """Return the runs of the map's segment that holds a pixel, connected by edges alone."""
    from scipy.ndimage import label

    number, shown = editor.workspace.pixel_within(pixel), editor.map
    if shown is None:
        raise ParameterError("there is no map yet; paint strokes of two classes first")
    class_id = shown.ids.flat[number]
    if class_id in (0, NO_DATA):
        raise ParameterError(f"pixel {number} has no class in the map; fill where it has one")
    segments, _ = label(shown.ids == class_id)
    return {
        "pixel": number,
        "class": int(class_id),
        "pixels": runs_of(np.flatnonzero(segments == segments.flat[number])),
    }


def labels_of_file(
    editor: SessionEditor,
    path: str | None = None,
    files: list[protocol.SentFile] | None = None,
    variable: str | None = None,
) -> ReadLabelsAnswer:
    """Return what the labels of a file would add to the session."""
    if (path is None) == (files is None):
        raise ParameterError("read_labels: give either a path or files")
    with kept_warnings() as said:
        if files is None:
            labels = read_at(editor.workspace, str(path), variable)
        else:
            labels = read_sent(editor.workspace, files, variable)
        with editor.lock:
            classes, known = editor.session.classes, editor.known_classes()
        found = label_import(labels, editor.workspace, classes, known=known)
    return {
        "title": found.title,
        "classes": [_file_class(one) for one in found.classes],
        "asks": found.asks,
        "left_out": found.n_left_out,
        "said": said,
    }


def _file_class(one: FileClass) -> protocol.FileClass:
    return {
        "id": one.entry.id,
        "name": one.entry.name,
        "color": one.entry.hex_color,
        "count": len(one.pixels),
        "compared": one.compared,
        "agreed": one.agreed,
        "to": one.to,
        "proposed": one.proposed,
        "pixels": runs_of(one.pixels),
        "new": one.new,
    }


def rows_at(editor: SessionEditor, pixels: Sequence[int]) -> RowsAnswer:
    """Return what users see of the rows at pixels; `ParameterError` where there is no row."""
    workspace = editor.workspace
    if not isinstance(workspace, TableWorkspace):
        raise ParameterError(f"{workspace.name} is a scene: its pixels are no rows of a table")
    contents, facts = workspace.contents, list[RowFacts]()
    for pixel in pixels:
        row = int(workspace.row_numbers[workspace.point_of(pixel)])
        values = [list(pair) for pair in contents.values(row)]
        name, text = contents.name(row), contents.words(row)
        facts.append({"pixel": pixel, "name": name, "text": text, "values": values})
    return {"rows": facts}


_MOST_PIXELS = 200  # of a class
_SPREAD = (10, 90)  # percentiles


def drawn_bands(scene: Scene) -> np.ndarray:
    """Return the bands to draw, bool of shape (bands,): good and not empty."""
    return scene.band_mask & ~scene.empty_bands


def spectrum_at(scene: Scene, pixel: int) -> list[float | None]:
    """Return the reflectances of a pixel, None in bands that are not drawn and without data."""
    row, column = divmod(pixel, scene.shape[1])
    drawn = drawn_bands(scene)
    values = scene.spectra(slice(row, row + 1), bands=drawn)[column]
    return _listed(values, drawn)


def class_spectra(scene: Scene, ids: np.ndarray) -> list[ClassSpectrum]:
    """Return mean and spread of each class's labelled pixels, of at most 200 evenly spread ones.

    - `ids` int (rows, columns): class of each labelled pixel, 0 elsewhere
    - returns: by class id; 80 % of the pixels are between ``low`` and ``high`` in each band
    """
    drawn = drawn_bands(scene)
    flat = ids.ravel()
    present = np.unique(flat)
    chosen: dict[int, np.ndarray] = {}
    for i in present[present > 0].tolist():
        pixels = np.flatnonzero(flat == i)
        chosen[i] = pixels[:: -(-len(pixels) // _MOST_PIXELS)]
    parts: dict[int, list[np.ndarray]] = {i: [] for i in chosen}
    columns = scene.shape[1]
    rows = sorted({int(row) for pixels in chosen.values() for row in pixels // columns})
    for row in rows:  # each row of the scene is read once for all its classes
        spectra = scene.spectra(slice(row, row + 1), bands=drawn)
        for i, pixels in chosen.items():
            parts[i].append(spectra[pixels[pixels // columns == row] % columns])
    return [_class_spectrum(i, np.concatenate(some), drawn) for i, some in parts.items()]


def _class_spectrum(class_id: int, spectra: np.ndarray, drawn: np.ndarray) -> ClassSpectrum:
    low, high = np.percentile(spectra, _SPREAD, axis=0)
    return {
        "class": class_id,
        "count": len(spectra),
        "mean": _listed(spectra.mean(axis=0, dtype=np.float64), drawn),
        "low": _listed(low, drawn),
        "high": _listed(high, drawn),
    }


def _listed(values: np.ndarray, drawn: np.ndarray) -> list[float | None]:
    out: list[float | None] = [None] * len(drawn)
    for band, value in zip(np.flatnonzero(drawn).tolist(), values.tolist(), strict=True):
        out[band] = round(value, 6) if np.isfinite(value) else None
    return out


# of a shapefile, of a GeoTIFF or PNG; never the file to read
_COMPANIONS = {".dbf", ".shx", ".prj", ".cpg", ".qpj", ".sbn", ".sbx", ".xml", ".csv"}


def read_sent(
    workspace: Workspace, files: list[SentFile], variable: str | None = None
) -> LabelImage:
    """Read the labels of files that were sent; errors as of `read_labels`."""
    with folder_of(files) as folder:
        first = folder / _main_file([file.name for file in files])
        labels = workspace.read_labels(first, variable=variable)
    return replace(labels, path=Path(first.name))


@contextmanager
def folder_of(files: list[SentFile]) -> Iterator[Path]:
    """Yield a folder with files that were sent; errors and warnings about them do not name it."""
    with TemporaryFolder("diffclass-sent") as temporary, kept_warnings() as said:
        folder = temporary.path
        for file in files:
            (folder / file.name).write_bytes(file.data)
        try:
            yield folder
        except (ParameterError, DataError) as error:
            raise type(error)(str(error).replace(f"{folder}/", "")) from error
        finally:
            said[:] = [text.replace(f"{folder}/", "") for text in said]


def read_at(workspace: Workspace, path: str, variable: str | None = None) -> LabelImage:
    """Read the labels of a file of this machine; a relative path begins at the scene's folder."""
    return workspace.read_labels(place_beside(workspace, path), variable=variable)


def place_beside(workspace: Workspace, path: str) -> Path:
    """Return the place of a file as `read_at` finds it."""
    return workspace.paths[0].parent / Path(path).expanduser()


def _main_file(names: Sequence[str]) -> str:
    """Return the file to read of several that belong together."""
    ordered = sorted(names)
    if len(ordered) == 1:
        return ordered[0]
    for ending in (".shp", ".sli", ".hdr"):
        for name in ordered:
            if name.lower().endswith(ending):
                return name
    main = [name for name in ordered if Path(name).suffix.lower() not in _COMPANIONS]
    if len(main) != 1:
        raise ParameterError(
            f"{len(names)} files ({', '.join(ordered)[:100]}), and which of them holds the labels "
            "is not clear; send one file, and what belongs to it"
        )
    return main[0]
