"""The formats of tables: which reader a file needs, by its ending."""

from __future__ import annotations

from diffclass.system.text_dialects import ENDINGS as TEXT_ENDINGS

OF_COLUMNS = (*TEXT_ENDINGS, ".parquet", ".feather")
NUMPY_ENDINGS = (".npy", ".npz")
COMMON_ENDINGS = (".txt", ".data")  # scenes have them too, as ENVI's, beside a header
# Modules of the chapter io, and their functions from a path and the options of `open_table`.
READERS = {
    ".npy": "numpy_tables:read_array",
    ".npz": "numpy_tables:read_archive",
    ".h5ad": "anndata_tables:read",
    **dict.fromkeys(OF_COLUMNS, "arrow_tables:read"),
}
