"""``diffclass info``: what a scene's file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diffclass.command_line import Console, command, common_options, options
from diffclass_hyperspectral.commands._scenes import ScenePart, only_one, opened_scenes

_FEW = 4  # scenes that are named


@command(epilog="Example: diffclass info scene.tif")
@only_one("scene", "ask about each alone")
@options(ScenePart, "part")
@common_options
def info(scene: Path, *, part: ScenePart, console: Console) -> None:
    """Show what SCENE holds: size, bands, wavelengths, missing pixels, memory.

    Scenes are ENVI (.hdr with .img, .dat, ...), GeoTIFF (.tif), EMIT, PACE and AVIRIS-3 (.nc),
    PRISMA (.he5), NEON and Tanager (.h5), EnMAP and DESIS (.tif, .xml), Sentinel-2 (.SAFE), ERDAS
    (.lan, .img), VRT (.vrt), JPEG 2000 (.jp2), MATLAB (.mat), HDF5 (.h5), Zarr or NumPy (.npy,
    .npz) files, photographs (.jpg, .png), folders of files with a band each, or STAC items and
    collections (.json), whose scenes are one; also at an address, as https://host/scene.tif, or in
    an archive, as /vsizip/scenes.zip/scene.tif.
    """
    tiles = opened_scenes([scene], one_grid_or=None, **part.opening)
    facts = tiles.scene.describe()
    if len(tiles.tiles) > 1:
        names = [str(tile.scene.path) for tile in tiles.tiles]
        facts |= {"path": str(scene), "scenes": names, "one_grid": tiles.is_mosaic}
    console.give(facts, "\n".join(_lines(facts)))


def _short(crs: str, *, most: int = 80) -> str:
    """Return a coordinate system to read, of well-known text the beginning."""
    return crs if len(crs) <= most else f"{crs[:most]}..."


def _lines(facts: dict[str, Any]) -> list[str]:
    span = facts["wavelengths_nm"]
    scenes = facts.get("scenes", [])
    named = ", ".join(scenes[:_FEW]) + (", ..." if len(scenes) > _FEW else "")
    grid = "on one map grid" if facts.get("one_grid") else "on no common map grid"
    return [
        f"{facts['path']}  ({facts['format']}, {facts['dtype']})",
        *([f"scenes       {len(scenes)} {grid}: {named}"] if scenes else []),
        f"size         {facts['rows']} rows x {facts['columns']} columns x {facts['bands']} bands",
        f"wavelengths  {f'{span[0]:.1f} to {span[1]:.1f} nm' if span else 'not given'}",
        f"usable bands {facts['usable_bands']}"
        f"  (bad {len(facts['bad_bands'])}, constant {len(facts['constant_bands'])},"
        f" empty {len(facts['empty_bands'])})",
        f"pixels       {facts['valid_share']:.1%} with data"
        f"  (ignore value {facts['ignore_value']})",
        f"scale factor {facts['scale_factor']:g}",
        f"memory       {facts['memory_bytes'] / 2**20:.1f} MiB as stored",
        f"map info     {', '.join(facts['map_info']) if facts['map_info'] else 'not given'}",
        f"coordinates  {_short(facts['crs']) if facts['crs'] else 'not given'}",
    ]
