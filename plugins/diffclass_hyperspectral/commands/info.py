"""``diffclass info``: what a scene's file says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diffclass.command_line import Console, command, common_options, options
from diffclass_hyperspectral.commands._scenes import ScenePart, only_one


@command(epilog="Example: diffclass info scene.tif")
@only_one("scene", "ask about each alone")
@options(ScenePart, "part")
@common_options
def info(scene: Path, *, part: ScenePart, console: Console) -> None:
    """Show what SCENE holds: size, bands, wavelengths, missing pixels, memory.

    Scenes are ENVI (.hdr with .img, .dat, ...), GeoTIFF (.tif), EMIT, PACE and AVIRIS-3 (.nc),
    PRISMA (.he5), NEON and Tanager (.h5), EnMAP and DESIS (.tif, .xml), Sentinel-2 (.SAFE), ERDAS
    (.lan, .img), VRT (.vrt), JPEG 2000 (.jp2), MATLAB (.mat), HDF5 (.h5), Zarr or NumPy (.npy,
    .npz) files, photographs (.jpg, .png), folders of files with a band each, or STAC items (.json);
    also at an address, as https://host/scene.tif, or in an archive, as
    /vsizip/scenes.zip/scene.tif.
    """
    from diffclass_hyperspectral import open_scene

    facts = open_scene(scene, **part.opening).describe()
    console.give(facts, "\n".join(_lines(facts)))


def _lines(facts: dict[str, Any]) -> list[str]:
    span = facts["wavelengths_nm"]
    return [
        f"{facts['path']}  ({facts['format']}, {facts['dtype']})",
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
    ]
