"""Files of fitted models: arrays and JSON in a zip file, from which nothing is ever executed.

`archive` is the file, `forms` says which values may stand in it and checks them, `classifiers`
which parts of a `DiffusionClassifier`; `saving` does all of it.
"""

from diffclass.model_files import forms
from diffclass.model_files.classifiers import CLASSIFIER
from diffclass.model_files.saving import read_model, write_model

__all__ = ["CLASSIFIER", "forms", "read_model", "write_model"]
