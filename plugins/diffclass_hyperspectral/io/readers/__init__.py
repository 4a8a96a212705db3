"""Readers, one file per format or family; `read_image` finds the one that a file needs."""

from diffclass_hyperspectral.io.readers import (
    band_tags,
    envi,
    erdas,
    matlab,
    pictures,
    stac,
    xarray_cubes,
)
from diffclass_hyperspectral.io.readers.contents import (
    FILLS,
    Color,
    Contents,
    color_of,
    color_text,
    flags_of,
    is_ignored,
    names_as_json,
)
from diffclass_hyperspectral.io.readers.envi import (
    fields_of_names,
    from_ascii,
    to_ascii,
)
from diffclass_hyperspectral.io.readers.images import images_among, read_image
from diffclass_hyperspectral.io.readers.pictures import NAMES_KEY
from diffclass_hyperspectral.io.readers.raster_classes import xml_text
from diffclass_hyperspectral.io.readers.spectral_libraries import (
    SpectralLibrary,
    is_library,
    library_files,
    read_library,
    resampled,
    write_library,
)
from diffclass_hyperspectral.io.readers.stac import items_of
from diffclass_hyperspectral.io.readers.xarray_cubes import is_xarray, name_of, picked, picture_axes
from diffclass_hyperspectral.io.readers.zarr_stores import is_store

DECLARED = (
    envi.ATTRIBUTES,
    band_tags.ATTRIBUTES,
    xarray_cubes.ATTRIBUTES,
    matlab.ATTRIBUTES,
    stac.ATTRIBUTES,
    erdas.ATTRIBUTES,
    pictures.PHOTOGRAPHS,
    pictures.LABELS,
    envi.LIBRARY,
)
