"""Pixels to label next, and the files that name them."""

from diffclass_hyperspectral.workflows.suggestions.files import (
    check_ending,
    check_places,
    write_suggestions,
)
from diffclass_hyperspectral.workflows.suggestions.suggested_pixels import (
    SuggestedPixel,
    suggest_first,
    suggest_for_scene,
)

__all__ = [
    "SuggestedPixel",
    "check_ending",
    "check_places",
    "suggest_first",
    "suggest_for_scene",
    "write_suggestions",
]
