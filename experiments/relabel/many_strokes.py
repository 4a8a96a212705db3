"""What the 5,000th stroke of a session costs beside the 50th, in processor time.

    python -m experiments.relabel.many_strokes [48x48 512x217] [--strokes 5000]

Strokes of 8 pixels are painted at random places of a made scene, each of the class that is true at
its first pixel, through the editor of the page: applied, written to the session's file, told as the
page's state. Around the 50th stroke and in the end each of 50 strokes is followed by its map. Times
are of the processor, all threads together, so that neither the disk nor other work counts; medians,
in milliseconds. "replay" is the whole session opened again from its file, in seconds. The rows go
to standard output and to many_strokes.csv, which each run overwrites.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from diffclass.datasets import make_tissue_scene
from diffclass_hyperspectral import Scene, open_tiles
from diffclass_relabel.session.editor import SessionEditor
from diffclass_relabel.session.session_files import session_header
from diffclass_relabel.session_file.session_log import SessionLog
from diffclass_relabel.session_hub.states import session_state
from diffclass_relabel.workspace import SceneSettings, SceneWorkspace

OUTPUT = Path(__file__).with_name("many_strokes.csv")
WINDOW = 50
LENGTH = 8  # pixels of a stroke


def workspace_of(rows: int, columns: int) -> tuple[SceneWorkspace, np.ndarray]:
    """Return a made scene of that size, ready for labels, and the class of each pixel."""
    tissue = make_tissue_scene(rows, columns, n_bands=32)
    scene = Scene.from_array(tissue.cube, path=f"{rows}x{columns}", format="made")
    settings = SceneSettings(label_mode="summed", tau=12)
    return SceneWorkspace.from_scene(open_tiles([scene]), settings), tissue.truth.ravel()


def strokes_on(truth: np.ndarray, count: int) -> Iterator[dict[str, Any]]:
    """Yield strokes at random places."""
    rng = np.random.default_rng(0)
    for start in rng.integers(len(truth) - LENGTH, size=count):
        class_id = max(int(truth[start]), 1)
        yield {"op": "stroke", "class": class_id, "pixels": [int(start), LENGTH]}


def paint(editor: SessionEditor, stroke: dict[str, Any], *, is_mapped: bool) -> list[float]:
    """Return the milliseconds of a stroke and of its map."""
    begun = time.process_time()
    editor.apply(stroke)
    session_state(editor)
    applied = time.process_time()
    if is_mapped:
        editor.update()
    return [1000 * (applied - begun), 1000 * (time.process_time() - applied)]


def run(rows: int, columns: int, count: int) -> dict[str, Any]:
    """Return the row of one size."""
    workspace, truth = workspace_of(rows, columns)
    windows = {range(25, 25 + WINDOW): "50th", range(count - WINDOW, count): "last"}
    row: dict[str, Any] = {"size": f"{rows} x {columns}", "strokes": count}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "s.jsonl")
        log = SessionLog(path)
        log.begin(session_header(workspace))
        editor = SessionEditor(workspace, log)
        for _ in range(int(truth.max())):
            editor.apply({"op": "add_class"})
        times = []
        for k, stroke in enumerate(strokes_on(truth, count)):
            # the map before a window brings in all that was painted since the last one
            is_mapped = any(k in window or k + 1 in window for window in windows)
            times.append(paint(editor, stroke, is_mapped=is_mapped))
        for window, name in windows.items():
            stroke, shown = np.median(np.array(times)[list(window)], axis=0)
            row |= {
                f"stroke {name}": round(float(stroke), 2),
                f"map {name}": round(float(shown), 2),
            }
        editor.close()
        begun = time.process_time()
        again = SessionEditor(workspace, SessionLog(path))
        row["replay"] = round(time.process_time() - begun, 2)
        assert np.array_equal(again.labels.ids, editor.labels.ids)
        again.close()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", default=["48x48", "512x217"])
    parser.add_argument("--strokes", type=int, default=5000)
    arguments = parser.parse_args()
    with OUTPUT.open("w", newline="", encoding="utf-8") as file:
        writer = None
        for size in arguments.sizes:
            rows, columns = map(int, size.split("x"))
            row = run(rows, columns, arguments.strokes)
            writer = writer or csv.DictWriter(file, row, lineterminator="\n")
            if file.tell() == 0:
                writer.writeheader()
            writer.writerow(row)
            file.flush()
            print(row, flush=True)


if __name__ == "__main__":
    main()
