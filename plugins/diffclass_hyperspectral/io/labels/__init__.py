"""Labels of pixels: images of class ids, shapes, and the table of their classes."""

from diffclass_hyperspectral.io.labels.class_table import (
    LARGEST_BYTE,
    PALETTE,
    UNCLASSIFIED,
    ClassEntry,
    ClassTable,
    default_color,
    default_name,
    given_name,
    largest_id,
)
from diffclass_hyperspectral.io.labels.label_files import read_labels
from diffclass_hyperspectral.io.labels.label_images import (
    Grid,
    LabelImage,
    class_id_raster,
    label_regions,
)
from diffclass_hyperspectral.io.labels.vector_labels import (
    covered_pixels,
    is_vector,
    read_vector_labels,
)

__all__ = [
    "LARGEST_BYTE",
    "PALETTE",
    "UNCLASSIFIED",
    "ClassEntry",
    "ClassTable",
    "Grid",
    "LabelImage",
    "class_id_raster",
    "covered_pixels",
    "default_color",
    "default_name",
    "given_name",
    "is_vector",
    "label_regions",
    "largest_id",
    "read_labels",
    "read_vector_labels",
]
