"""Rasters that are read a block of rows at a time: computed, stored in files, or of points."""

from diffclass_hyperspectral.io.rasters.block_arrays import BlockArray
from diffclass_hyperspectral.io.rasters.point_pictures import PointPicture, spread_out
from diffclass_hyperspectral.io.rasters.rasters import (
    ComputedRaster,
    Raster,
    as_raster,
    blocks_of,
    cast,
    row_blocks,
    rows_of_a_block,
)

__all__ = [
    "BlockArray",
    "ComputedRaster",
    "PointPicture",
    "Raster",
    "as_raster",
    "blocks_of",
    "cast",
    "row_blocks",
    "rows_of_a_block",
    "spread_out",
]
