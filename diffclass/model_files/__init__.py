"""Files of fitted models: arrays and JSON in a zip file, from which nothing is ever executed.

`forms` states which values a model may hold and checks them, `classifiers` states the parts of a
`DiffusionClassifier`, `archive` reads and writes the file.
"""

from __future__ import annotations

from diffclass.model_files.archive import read_model, write_model
from diffclass.model_files.classifiers import CLASSIFIER
from diffclass.model_files.forms import (
    Array,
    Choice,
    Flag,
    Form,
    Listed,
    Maybe,
    Number,
    OneOf,
    Record,
    Sparse,
    Text,
    Whole,
)

__all__ = [
    "CLASSIFIER",
    "Array",
    "Choice",
    "Flag",
    "Form",
    "Listed",
    "Maybe",
    "Number",
    "OneOf",
    "Record",
    "Sparse",
    "Text",
    "Whole",
    "read_model",
    "write_model",
]
