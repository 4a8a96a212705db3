"""Writers of maps: ENVI, GeoTIFF, PNG and NumPy, each file whole or not at all."""

from diffclass_hyperspectral.io.maps.map_files import (
    check_outputs,
    mapped_file,
    orthorectification_line,
    place_of,
    write_class_map,
    write_raster,
)
from diffclass_hyperspectral.io.maps.png_maps import metres_of_a_pixel, new_figure

__all__ = [
    "check_outputs",
    "mapped_file",
    "metres_of_a_pixel",
    "new_figure",
    "orthorectification_line",
    "place_of",
    "write_class_map",
    "write_raster",
]
