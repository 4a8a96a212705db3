"""Operations for the tests."""

from __future__ import annotations

import numpy as np

from diffclass_relabel.workspace.pixels import runs_of


def truth_stroke(tissue, class_id, count=12, *, start=0):
    """Return a stroke over pixels that are of a class, right from a row of the scene on."""
    pixels = np.flatnonzero(tissue.truth.ravel() == class_id)
    pixels = pixels[pixels >= start * tissue.truth.shape[1]][:count]
    return {"op": "stroke", "class": class_id, "pixels": runs_of(pixels)}


def three_classes(tissue):
    """Return operations that lead from nothing to a map of three classes."""
    added = [{"op": "add_class", "name": name} for name in ("nuclei", "cytoplasm", "stroma")]
    painted = [truth_stroke(tissue, class_id, start=4) for class_id in (1, 2, 3)]
    return [*added, *painted]
