"""Files of fitted models: arrays and JSON in a zip file, from which nothing is ever executed.

`archive` reads and writes the file, `forms` states which values a model may hold and checks them,
`classifiers` states the parts of a `DiffusionClassifier`; `saving` puts the three together.
"""

from __future__ import annotations

from diffclass.model_files.classifiers import CLASSIFIER
from diffclass.model_files.forms import (
    Array,
    Choice,
    Codes,
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
from diffclass.model_files.saving import read_model, write_model

__all__ = [
    "CLASSIFIER",
    "Array",
    "Choice",
    "Codes",
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
