"""Readers, one format a file; `diffclass_hyperspectral.io.images` finds the one a file needs."""
