"""Writers of maps: ENVI, GeoTIFF, PNG, NumPy and polygons, each file whole or not at all."""

from diffclass_hyperspectral.io.maps.map_files import (
    check_ids,
    check_outputs,
    check_places,
    holds_polygons,
    mapped_file,
    orthorectification_line,
    place_of,
    write_class_map,
    write_raster,
)
from diffclass_hyperspectral.io.maps.png_maps import metres_of_a_pixel
from diffclass_hyperspectral.io.maps.polygon_writer import neighboring, segments_of
