"""Classes of rows against the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass.evaluation import classification_scores
from diffclass.exceptions import DataError
from diffclass.jobs import EvaluationReport, measure_certainty
from diffclass.names import same_names
from diffclass.targets import encode_labels
from diffclass_tables.rows import Rows


def evaluate_rows(
    found: np.ndarray,
    truth: np.ndarray,
    *,
    fitted: np.ndarray | None = None,
    margin: np.ndarray | None = None,
    probability: np.ndarray | None = None,
) -> EvaluationReport:
    """Compare classes with the truth, where that is known.

    Parameters
    ----------
    found, truth : ndarray of object of shape (n_rows,)
        None for no class. Classes of both that are one by `diffclass.names.same_names` are equal.
    fitted : ndarray of object of shape (n_rows,), optional
        Labels, None for none, whose rows are left out.
    margin, probability : ndarray of shape (n_rows,), optional
        Of the classes that were found; NaN for none.

    Raises
    ------
    DataError
        Where no row is left to compare, or both have no class in common.

    See Also
    --------
    diffclass.evaluation.classification_scores : The scores alone, of arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_tables import evaluate_rows
    >>> found = np.array(["cat", "dog", None, "dog"], dtype=object)
    >>> truth = np.array(["cat", "cat", "dog", None], dtype=object)
    >>> evaluation = evaluate_rows(found, truth)
    >>> round(evaluation.scores.overall_accuracy, 3), evaluation.unclassified
    (0.333, 1)
    """
    known = _has_class(truth)
    if fitted is not None:
        known &= ~_has_class(fitted)
    if not known.any():
        raise DataError("no row of known class is left to compare; check the ids of the truth")
    is_own = _common_names(found, truth)
    names = np.array([str(name) if k else "" for name, k in zip(truth, known, strict=True)])
    others = np.array(["" if name is None else str(is_own.get(name, name)) for name in found])
    given = []
    for values in (margin, probability):
        single = None if values is None else np.asarray(values, dtype=float)
        given.append(single if single is not None and np.isfinite(single[known]).any() else None)
    return EvaluationReport(
        scores=classification_scores(names[known], others[known]),
        unclassified=int(np.count_nonzero(others[known] == "")),
        certainty=measure_certainty(
            names == others, known, others != "", given[0], probability=given[1]
        ),
        noun=Rows.noun,
    )


def _common_names(found: np.ndarray, truth: np.ndarray) -> dict[Any, Any]:
    """Return the truth's name of each class that was found, or refuse classes of other names."""
    own, others = encode_labels(truth)[0].tolist(), encode_labels(found)[0].tolist()
    is_own = same_names(others, own, sides=("the classes found", "the truth"))
    if others and not is_own:
        shown = [", ".join(map(str, one[:3])) for one in (others, own)]
        raise DataError(
            f"no class is called as in the truth ({shown[0]}; there {shown[1]}); use the same "
            "names, which are compared letter for letter"
        )
    return is_own


def _has_class(values: np.ndarray) -> np.ndarray:
    return np.array([value is not None for value in values.tolist()])
