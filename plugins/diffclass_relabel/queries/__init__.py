"""What a page can ask, and how each answer is computed."""

from __future__ import annotations

from diffclass_relabel.queries.backdrops import Pictures, preset_bands, preset_labels
from diffclass_relabel.queries.contrast import Contrast
from diffclass_relabel.queries.downloads import Downloads
from diffclass_relabel.queries.exports import FORMATS, describe_session, export, file_name
from diffclass_relabel.queries.numbers import Numbers
from diffclass_relabel.queries.questions import ANSWERS, MOST_SUGGESTIONS, QUESTIONS
from diffclass_relabel.queries.spectra import class_spectra, drawn_bands, spectrum_at

__all__ = [
    "ANSWERS",
    "FORMATS",
    "MOST_SUGGESTIONS",
    "QUESTIONS",
    "Contrast",
    "Downloads",
    "Numbers",
    "Pictures",
    "class_spectra",
    "describe_session",
    "drawn_bands",
    "export",
    "file_name",
    "preset_bands",
    "preset_labels",
    "spectrum_at",
]
