"""Where pictures lie: coordinates, coordinate systems, alignment, lookup tables of sensors."""

from diffclass_hyperspectral.io.georeference.alignment import (
    NoOverlapError,
    even_steps,
    placement,
    require_overlap,
    turn_onto,
    turned_box,
)
from diffclass_hyperspectral.io.georeference.georeference import (
    Georeference,
    MapInfo,
    Turn,
    UnevenCentres,
    box_text,
    check_on_earth,
    coordinate_system_string,
    crs_text,
    from_envi,
    georeference_of,
    is_geographic,
    map_info_of,
    parsed_crs,
    required_place,
    same_crs,
    transformed_bounds,
    transformed_points,
    whole_turns,
    with_projections,
    writable_crs,
)
from diffclass_hyperspectral.io.georeference.lookup_table import LookupTable
from diffclass_hyperspectral.io.georeference.votes import Votes
