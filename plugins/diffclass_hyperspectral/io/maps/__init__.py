"""Writers of maps: ENVI, GeoTIFF, PNG and NumPy, each file whole or not at all."""

from diffclass_hyperspectral.io.maps.map_files import (
    check_outputs,
    orthorectification_line,
    output_files,
    place_of,
    require_outputs,
    write_class_map,
    write_raster,
)
from diffclass_hyperspectral.io.maps.npy_files import mapped_file
from diffclass_hyperspectral.io.maps.png_maps import new_figure
from diffclass_hyperspectral.io.maps.scale_bar import bar_length, metres_of_a_pixel

__all__ = [
    "bar_length",
    "check_outputs",
    "mapped_file",
    "metres_of_a_pixel",
    "new_figure",
    "orthorectification_line",
    "output_files",
    "place_of",
    "require_outputs",
    "write_class_map",
    "write_raster",
]
