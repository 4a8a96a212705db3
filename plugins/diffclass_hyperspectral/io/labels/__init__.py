"""Labels of pixels: images of class ids, shapes, and the table of their classes."""

from diffclass_hyperspectral.io.labels.class_table import (
    LARGEST_BYTE,
    UNCLASSIFIED,
    ClassEntry,
    ClassTable,
    default_name,
    given_name,
    largest_id,
)
from diffclass_hyperspectral.io.labels.label_files import (
    labels_of_file,
    read_labels,
    warn_of_odd_classes,
)
from diffclass_hyperspectral.io.labels.label_images import (
    LabelImage,
    class_id_raster,
    label_regions,
)
from diffclass_hyperspectral.io.labels.pixel_lists import is_pixel_list
from diffclass_hyperspectral.io.labels.placing import Cells, Grid, cells_of, ids_on, is_placed
from diffclass_hyperspectral.io.labels.vector_labels import (
    is_vector,
    numbered_shapes,
    turned_shapes,
)
