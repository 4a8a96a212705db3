"""Where pictures lie: coordinates, coordinate systems, alignment, lookup tables of sensors."""

from diffclass_hyperspectral.io.georeference.alignment import (
    NoOverlapError,
    even_steps,
    placement,
    require_overlap,
    turn_onto,
)
from diffclass_hyperspectral.io.georeference.coordinate_systems import (
    coordinate_system_string,
    crs_text,
    parsed_crs,
    same_crs,
    transformed_bounds,
)
from diffclass_hyperspectral.io.georeference.georeference import Georeference, Turn, UnevenCentres
from diffclass_hyperspectral.io.georeference.lookup_table import LookupTable
from diffclass_hyperspectral.io.georeference.map_info import (
    MapInfo,
    from_envi,
    georeference_of,
    map_info_of,
    required_place,
    uneven_of,
)

__all__ = [
    "Georeference",
    "LookupTable",
    "MapInfo",
    "NoOverlapError",
    "Turn",
    "UnevenCentres",
    "coordinate_system_string",
    "crs_text",
    "even_steps",
    "from_envi",
    "georeference_of",
    "map_info_of",
    "parsed_crs",
    "placement",
    "require_overlap",
    "required_place",
    "same_crs",
    "transformed_bounds",
    "turn_onto",
    "uneven_of",
]
