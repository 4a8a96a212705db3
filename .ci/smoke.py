"""Use an installed diffclass in an empty folder: every command, the page, xarray, the notebook.

Run by ``fresh_environments.py`` with the Python of the environment that the wheel was installed in,
and by the publish workflow. Needs the extra ``all``; nothing of the source tree is imported.
"""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import numpy as np

SIDE = 48
# each command with what it leaves; those further down read what those above have left
COMMANDS = """
doctor
info scene.img
classify scene.img --labels labels.tif -o map.tif --margin margin.tif --report report.json
classify scene.img --labels shapes.gpkg -o of_shapes.img --probability p.tif --save model
classify scene.img --model model -o of_model.tif
classify scene.img --labels labels.tif -o of_workers.tif --memory 2GB --workers 2
classify top.tif bottom.tif --labels labels.tif -o of_tiles.tif --features spatial
rerun report.json --into again
evaluate map.tif truth.tif --fitted labels.tif --margin margin.tif --picture scores.png
suggest scene.img --labels labels.tif -o next.geojson -n 4
cluster scene.img -o clusters.tif -k 3 --picture clusters.png
anomaly scene.img -o anomalies.tif
embed scene.img -o coordinates.npy --picture coordinates.png
bench --rows 32 --columns 32 --classes 2 --repeats 1
demo -o demo
"""
# each call that is wrong with its exit code; what it says has no traceback
REFUSED = {
    "classify none.img --labels labels.tif -o none.tif": 3,
    "classify scene.img --labels labels.tif": 2,
    "classify": 2,
    "nonsense": 2,
}
LEAST_ACCURACY = 0.8


def main() -> None:
    """Run everything; ends with an error at the first thing that fails."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_files(place)
        program = Path(sys.executable).with_name("diffclass")
        for line in COMMANDS.strip().splitlines():
            run([program, *line.split(), "--quiet"], place)
        check_refusals(program, place)
        check_accuracy(place)
        check_page(program, place)
        check_xarray(place)
        check_widget(place)
    print("all commands, the page, xarray and the notebook's widget: done")


def make_files(place: Path) -> None:
    """Leave a scene, its halves, labels as an image and as shapes, and the truth."""
    import pyogrio.raw
    import shapely

    from diffclass.datasets import make_tissue_scene
    from diffclass_hyperspectral import write_class_map, write_raster
    from diffclass_hyperspectral.io.georeference import Georeference, map_info_of

    tissue = make_tissue_scene(SIDE, SIDE)
    half = SIDE // 2
    x, y = 500_000.0, 5_400_000.0

    def at(row: int) -> dict[str, object]:
        corner = (30.0, 0.0, x, 0.0, -30.0, y - 30 * row)
        return {"map_info": map_info_of(Georeference(corner, "EPSG:32633"))}

    write_raster(place / "scene.img", tissue.cube, **at(0))
    write_raster(place / "top.tif", tissue.cube[:half], **at(0))
    write_raster(place / "bottom.tif", tissue.cube[half:], **at(half))
    write_class_map(place / "labels.tif", tissue.labels, **at(0))
    write_class_map(place / "truth.tif", tissue.truth, **at(0))
    rows, columns = np.nonzero(tissue.labels)
    points = shapely.points(x + 30 * (columns + 0.5), y - 30 * (rows + 0.5))
    pyogrio.raw.write(
        place / "shapes.gpkg", np.array([shapely.to_wkb(one) for one in points], dtype=object),
        [tissue.labels[rows, columns].astype(np.int32)], ["class"], geometry_type="Point",
        crs="EPSG:32633",
    )  # fmt: skip


def check_refusals(program: Path, place: Path) -> None:
    """End with an error where a wrong call is not refused in plain words."""
    for line, code in REFUSED.items():
        words = [program, *line.split()]
        done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
        if done.returncode != code or "Traceback" in done.stderr:
            sys.exit(f"diffclass {line}: exit code {done.returncode}, {done.stderr}")


def check_accuracy(place: Path) -> None:
    """End with an error where a map is not that of the scene."""
    from diffclass_hyperspectral import read_labels

    truth = read_labels(place / "truth.tif").ids
    for name in ("map.tif", "of_shapes.img", "of_model.tif", "of_workers.tif", "of_tiles.tif",
                 "again/map.tif"):  # fmt: skip
        accuracy = float((read_labels(place / name).ids == truth).mean())
        if accuracy < LEAST_ACCURACY:
            sys.exit(f"{name}: accuracy {accuracy:.2f}")


def check_page(program: Path, place: Path) -> None:
    """Start the page's server, fetch the page, and be greeted over its WebSocket."""
    words = [program, "relabel", "scene.img", "--labels", "labels.tif", "--json", "--no-browser"]
    server = subprocess.Popen([*map(str, words)], cwd=place, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        with urllib.request.urlopen(url, timeout=60) as answer:
            if b"static/app.js" not in answer.read():
                sys.exit("relabel: the address has no page")
        asyncio.run(asyncio.wait_for(hear_hello(url), 300))
    finally:
        server.send_signal(signal.SIGINT)
        if server.wait(60) != 130:
            sys.exit(f"relabel: exit code {server.returncode} after Ctrl-C")


async def hear_hello(url: str) -> None:
    """Return once the server has the scene ready."""
    from websockets.asyncio.client import connect

    base, _, query = url.partition("?")
    address = f"{base.replace('http', 'ws', 1).rstrip('/')}/ws?{query}"
    async with connect(address, origin=base.rstrip("/"), max_size=None) as socket:
        async for message in socket:
            if isinstance(message, str) and json.loads(message)["kind"] == "hello":
                return


def check_xarray(place: Path) -> None:
    """Classify a cube of xarray and write its map."""
    import rioxarray

    import diffclass_hyperspectral.xarray  # noqa: F401 (registers the accessor)

    with rioxarray.open_rasterio(place / "top.tif", chunks={"y": 8}) as cube:
        maps = cube.diffclass.classify(str(place / "shapes.gpkg"))
    maps.class_map.rio.to_raster(place / "of_xarray.tif")
    maps.to_netcdf(place / "of_xarray.nc")


def check_widget(place: Path) -> None:
    """Open the notebook's page without a notebook, and take its labels."""
    from diffclass_relabel import RelabelWidget

    widget = RelabelWidget(
        place / "scene.img", session=place / "notebook.jsonl", labels=place / "labels.tif"
    )
    if not widget.labels.any():
        sys.exit("RelabelWidget: no labels")
    widget.close()


def run(words: list[object], place: Path) -> None:
    """Run a command in a folder; end with an error where it does."""
    done = subprocess.run([*map(str, words)], cwd=place, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}: diffclass {' '.join(map(str, words[1:]))}")


if __name__ == "__main__":
    main()
