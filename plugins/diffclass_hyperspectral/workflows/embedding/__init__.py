"""Diffusion coordinates of a scene or a table, and what is known about them."""

from diffclass_hyperspectral.workflows.embedding.coordinates import (
    draw_embedding,
    embed_file,
    write_coordinates,
)
from diffclass_hyperspectral.workflows.embedding.report import report_embedding

__all__ = [
    "draw_embedding",
    "embed_file",
    "report_embedding",
    "write_coordinates",
]
