"""Several scenes as one, and their labels."""

from diffclass_hyperspectral.io.tiles.tile_labels import read_tile_labels, read_tile_segments
from diffclass_hyperspectral.io.tiles.tiled_scenes import TiledScene, open_tiles
