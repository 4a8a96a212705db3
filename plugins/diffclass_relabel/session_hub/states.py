"""What every client gets to know of the session: at the beginning, and after each operation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass_hyperspectral import Scene
from diffclass_hyperspectral.io.scenes import color_bands
from diffclass_relabel.protocol import (
    BandInfo,
    ClassState,
    Geography,
    SceneFacts,
    SceneInfo,
    SessionFacts,
    StrokeState,
    TableInfo,
    TilePlace,
)
from diffclass_relabel.queries import drawn_bands, file_name, formats_of, presets_of
from diffclass_relabel.session import SessionEditor
from diffclass_relabel.workspace import SceneWorkspace, TableWorkspace, Workspace, sizes_text

MOST_STROKES = 500  # that a page gets


def scene_facts(editor: SessionEditor) -> SceneFacts:
    """Return the parts "scene", "geo", "presets" and "exports" of the greeting."""
    workspace = editor.workspace
    over_scene = workspace if isinstance(workspace, SceneWorkspace) else None
    rows, columns = workspace.shape
    info: SceneInfo = {
        "name": workspace.name,
        "rows": rows,
        "columns": columns,
        "block": workspace.block,
        "coarse_answers": workspace.coarse_answers,
        "tiles": [] if over_scene is None else _tiles(over_scene),
        "bands": None if over_scene is None else _bands(over_scene.scene),
        "table": _table(workspace) if isinstance(workspace, TableWorkspace) else None,
    }
    presets = presets_of(workspace)
    return {
        "scene": info,
        "geo": None if over_scene is None else _geo(over_scene.scene),
        "presets": [{"name": name, "label": label} for name, label in presets.items()],
        "exports": [
            {
                "what": what,
                "suffix": suffix,
                "label": label,
                "name": file_name(editor, what, suffix),
            }
            for what, formats in formats_of(workspace).items()
            for suffix, label in formats.items()
        ],
    }


def _bands(scene: Scene) -> BandInfo:
    return {
        "n_bands": scene.n_bands,
        "wavelengths": None if scene.wavelengths is None else scene.wavelengths.tolist(),
        "unit": "nm",
        "good": drawn_bands(scene).astype(int).tolist(),
        "bands_true": list(color_bands(scene, "true")),
        "bands_false": list(color_bands(scene, "false")),
    }


def _table(workspace: TableWorkspace) -> TableInfo:
    contents = workspace.contents
    return {
        "n_rows": len(workspace.features),
        "images": contents.images is not None,
        "text": contents.text is not None,
    }


@dataclass(frozen=True)
class Snapshot:
    """The session at one moment."""

    number: int  # of this snapshot, increasing: they are taken in several threads
    state: SessionFacts
    included: dict[str, int]  # by client the number of its newest operation that is in the state


def session_state(editor: SessionEditor) -> SessionFacts:
    """Return what the session itself knows about its state; the caller holds its lock."""
    session, shown = editor.session, editor.map
    return {
        "version": editor.version,
        "classes": _classes(editor),
        "strokes": _strokes(editor),
        "n_strokes": len(session.strokes),
        "unclassified": 0 if shown is None else int(shown.counts[0]),
        "map_note": None if shown is None else shown.note,
        "label_mode": session.asked_label_mode,
        "counted": session.label_mode,
        "class_sizes": sizes_text(session, session.class_sizes) or "",
        "sizes_met": session.sizes_met,
        "tau": session.tau,
        "tau_mode": session.tau_mode,
        "refined": session.is_refined,
        "max_time": session.max_time,
        "n_aggregates": _n_aggregates(editor.workspace),
        "stale": editor.is_stale,
        "map_version": None if shown is None else shown.version,
        "warped": session.is_warped,
        "step": session.step,
        "has_reference": editor.reference is not None,
        "has_prediction": editor.prediction is not None,
        "can_undo": session.can_undo,
        "can_redo": session.can_redo,
        "n_changed": 0 if shown is None else shown.n_changed,
        "ms": 0.0 if shown is None else round(shown.milliseconds, 2),
        "saved": True,  # an operation that is not on disk never gets this far
        "session": editor.log.path.name,
    }


def _n_aggregates(workspace: Workspace) -> int | None:
    """Return how many there are; None for none, or as long as there is no graph."""
    graph = workspace.graph
    if not graph.done() or graph.exception() is not None or workspace.coarse is None:
        return None
    return len(workspace.coarse)


def _classes(editor: SessionEditor) -> list[ClassState]:
    labelled = editor.labels.counts
    mapped = np.zeros(256, dtype=int) if editor.map is None else editor.map.counts
    return [
        {
            "id": entry.id,
            "name": entry.name,
            "color": entry.color,
            "hidden": entry.hidden,
            "locked": entry.locked,
            "pixels": int(labelled[entry.id]),
            "mapped": int(mapped[entry.id]),
            "since": editor.birth(entry.id),
        }
        for entry in editor.session.classes
    ]


def _strokes(editor: SessionEditor) -> list[StrokeState]:
    """Describe the newest strokes: a page that heard of all would hear more with each."""
    pixels = editor.workspace.pixels
    return [
        {
            "number": stroke.number,
            "class": stroke.class_id,
            "count": len(stroke.points),
            "first": int(pixels[stroke.points[0]]),
        }
        for stroke in editor.session.strokes[-MOST_STROKES:]
    ]


def _tiles(workspace: SceneWorkspace) -> list[TilePlace]:
    tiles = workspace.tiles
    if len(tiles.tiles) == 1:
        return []
    return [
        {
            "name": name,
            "row": tile.row,
            "column": tile.column,
            "rows": tile.scene.shape[0],
            "columns": tile.scene.shape[1],
        }
        for tile, name in zip(tiles.tiles, tiles.names, strict=True)
    ]


def _geo(scene: Scene) -> Geography | None:
    place = scene.georeference
    if place is None:
        return None
    a, b, c, d, e, f = place.transform
    return {"transform": [c, a, b, f, d, e], "crs": place.crs}
