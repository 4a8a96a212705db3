"""The tiles of Potsdam in QGIS: classified by its toolbox, and the map in its window.

    python -m experiments.potsdam.qgis_map

Needs QGIS (Debian: ``qgis python3-qgis qgis-providers xvfb``) and the tiles (see `tiles`). In a
profile of its own with the plugin of this tree, ``qgis_process`` classifies the 18 tiles twice: by
spectral angle from a folder of label images, five labels of each class and the others held out in
blocks; and from squares in a GeoPackage in degrees that lie well inside the same 30 pixels, the
tiles being in UTM. Both maps have to be the same, pixel for pixel. QGIS's window is then shown on a
virtual screen with the map, the margins over it and the squares.

Leaves qgis.log (what ``qgis_process`` said, without folders and times) and qgis.png (the window).
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from diffclass.jobs import Holdout
from diffclass_hyperspectral import LabelImage, Scene, read_labels
from diffclass_hyperspectral.io.georeference import georeference_of
from diffclass_hyperspectral.jobs.evaluation import hold_out
from experiments.potsdam.qgis_profile import DESKTOP, PROCESS, Profile
from experiments.potsdam.tiles import FOLDER, LABELS_PER_CLASS, SHOWN, opened

LOG = Path(__file__).with_name("qgis.log")
PICTURE = Path(__file__).with_name("qgis.png")
WINDOW = Path(__file__).with_name("qgis_window.py")
_SCREEN = "-screen 0 1280x800x24"
_INSET = 5.0  # metres between a square and the border of its pixel


def compute(place: Path) -> str:
    """Classify in QGIS into a folder, show the map, and return the log."""
    profile = Profile(place / "profile")
    scene, labels = opened()
    write_squares(scene, labels, place / "labels.gpkg")
    tiles = sorted(map(str, (FOLDER / "images").glob("*.tif")))
    same = {"SCENE": tiles[0], "FURTHER": tiles[1:], "METRIC": "angle"}
    runs = (
        {"LABEL_FOLDER": FOLDER / "labels", "LABELS_PER_CLASS": LABELS_PER_CLASS,
         "HOLDOUT": "blocks", "OUTPUT": place / "of_images.tif"},
        {"LABELS": place / "labels.gpkg", "FIELD": "class", "OUTPUT": place / "map.tif",
         "MARGIN": place / "margin.tif"},
    )  # fmt: skip
    said = []
    for parameters in runs:
        done = profile.run("classify", **same, **parameters)
        if done.returncode:
            raise RuntimeError(done.stdout + done.stderr)
        said.append(done.stdout)
    check_same(place / "of_images.tif", place / "map.tif")
    show(profile, place, tiles, scene)
    return without_chance("\n".join(said), place)


def write_squares(scene: Scene, labels: LabelImage, path: Path) -> None:
    """Write the labels of the first draw as squares in degrees."""
    import pyogrio.raw
    import shapely
    from rasterio.warp import transform_geom

    split = hold_out(labels.ids, Holdout("blocks", LABELS_PER_CLASS))
    place = georeference_of(scene.map_info)
    a, _, left, _, e, top = place.transform
    squares = []
    rows, columns = np.nonzero(split.fit)
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        x, y = left + a * column, top + e * row
        square = shapely.box(x + _INSET, y + e + _INSET, x + a - _INSET, y - _INSET)
        degrees = transform_geom(place.crs, "EPSG:4326", shapely.geometry.mapping(square))
        squares.append(shapely.to_wkb(shapely.geometry.shape(degrees)))
    pyogrio.raw.write(
        path, np.array(squares, dtype=object), [labels.ids[rows, columns].astype(np.int32)],
        ["class"], geometry_type="Polygon", crs="EPSG:4326",
    )  # fmt: skip


def check_same(one: Path, other: Path) -> None:
    """Raise `AssertionError` unless two maps give every pixel the same class."""
    np.testing.assert_array_equal(read_labels(one).ids, read_labels(other).ids)


def show(profile: Profile, place: Path, tiles: list[str], scene: Scene) -> None:
    """Keep QGIS's window with the map as a picture."""
    centres = np.asarray(scene.wavelengths)
    shown = {
        "scene": tiles,
        "bands": [int(np.abs(centres - nm).argmin()) + 1 for nm in SHOWN],
        "layers": [
            [str(place / "map.tif"), "Class map"],
            [str(place / "margin.tif"), "Margins"],
            [str(place / "labels.gpkg"), "Labels"],
        ],
        "expanded": "Class map",
        "picture": str(place / "window.png"),
    }
    environment = profile.environment | {"QGIS_SHOWN": json.dumps(shown), "QT_QPA_PLATFORM": "xcb"}
    window = [str(DESKTOP), "--nologo", "--noversioncheck", "--code", str(WINDOW)]
    command = ["xvfb-run", "--auto-servernum", "--server-args", _SCREEN, *window]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=600)
    with Image.open(place / "window.png") as picture:
        picture.convert("RGB").quantize(256, kmeans=1).save(PICTURE, optimize=True)


def without_chance(log: str, place: Path) -> str:
    """Return what was said without the folders of this run, and without its times."""
    for folder in (place, FOLDER):
        log = log.replace(f"{folder}/", "")
    log = re.sub(r"\S*/processing_\w+/\w+/", "", log)
    log = re.sub(r" +\(\d+\.\d s\)", "", log)
    lines = [line.rstrip() for line in log.strip().splitlines() if " s left" not in line]
    return "".join(f"{line}\n" for line in lines)


def main() -> None:
    """Run it all and leave log and picture."""
    if PROCESS is None or DESKTOP is None:
        raise SystemExit("needs QGIS (Debian: qgis python3-qgis qgis-providers xvfb)")
    with tempfile.TemporaryDirectory() as folder:
        LOG.write_text(compute(Path(folder)), encoding="utf-8")
    print(LOG.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
