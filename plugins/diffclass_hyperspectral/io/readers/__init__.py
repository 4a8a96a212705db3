"""Readers, one format per file; `diffclass_hyperspectral.io.images` finds the one a file needs."""
