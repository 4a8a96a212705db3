"""Files of fitted models: arrays and JSON in a zip file, from which nothing is ever executed.

`classifiers` states the parts of a `DiffusionClassifier` in the forms of `diffclass.system.forms`,
`archive` reads and writes the file.
"""

from __future__ import annotations

from diffclass.model_files.archive import read_model, write_model
from diffclass.model_files.classifiers import CLASSIFIER

__all__ = ["CLASSIFIER", "read_model", "write_model"]
