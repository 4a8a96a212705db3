"""What a page can ask, and how each answer is computed."""

from __future__ import annotations

from diffclass_relabel.queries.answers import class_spectra, drawn_bands, spectrum_at
from diffclass_relabel.queries.backdrops import Contrast, Pictures, presets_of
from diffclass_relabel.queries.exports import (
    Downloads,
    describe_session,
    export,
    file_name,
    formats_of,
)
from diffclass_relabel.queries.kinds import MOST_SUGGESTIONS, QUERIES
from diffclass_relabel.queries.models import predict
from diffclass_relabel.queries.numbers import Numbers

__all__ = [
    "MOST_SUGGESTIONS",
    "QUERIES",
    "Contrast",
    "Downloads",
    "Numbers",
    "Pictures",
    "class_spectra",
    "describe_session",
    "drawn_bands",
    "export",
    "file_name",
    "formats_of",
    "predict",
    "presets_of",
    "spectrum_at",
]
