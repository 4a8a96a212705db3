"""Classes of rows against the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diffclass.evaluation import ReliabilityCurve, classification_scores, reliability_curve
from diffclass.exceptions import DataError
from diffclass.jobs import IF_KNOWN, EvaluationReport
from diffclass.names import same_names
from diffclass.targets import encode_labels

_MOST = 30  # classes in lines


@dataclass(frozen=True, eq=False, kw_only=True)
class RowEvaluation(EvaluationReport):
    """How far classes of rows agree with the truth."""

    calibration: ReliabilityCurve | None = field(default=None, metadata=IF_KNOWN)

    def lines(self) -> list[str]:
        """Return scores and classes as lines to read."""
        spans = self.scores.intervals()
        low, high = spans["overall_accuracy"]
        lines = [
            f"overall accuracy {self.scores.overall_accuracy:.2%} [{100 * low:.1f}, "
            f"{100 * high:.1f}], average accuracy {self.scores.average_accuracy:.2%}, kappa "
            f"{self.scores.kappa:.3f} over {int(self.scores.confusion.sum()):,} rows"
            + (f", of which {self.unclassified:,} have no class" if self.unclassified else "")
        ]
        if self.calibration is not None:
            error = self.calibration.expected_calibration_error
            lines.append(f"expected calibration error of the probabilities {error:.3f}")
        found = {name: one for name, one in self.scores.per_class.items() if one.n_true}
        width = max([5, *(len(str(name)) for name in found)])
        lines.append(
            f"{'class':{width}}  {'recall':>7}  {'precision':>9}  {'true':>7}  {'found':>7}"
        )
        lines += [
            f"{name!s:{width}}  {_share(one.recall):>7}  {_share(one.precision):>9}  "
            f"{one.n_true:>7,}  {one.n_predicted:>7,}"
            for name, one in list(found.items())[:_MOST]
        ]
        if len(found) > _MOST:
            lines.append(f"and {len(found) - _MOST} more classes; --report FILE has them all")
        return lines


def _share(value: float) -> str:
    return "-" if value != value else f"{value:.1%}"


def evaluate_rows(
    found: np.ndarray,
    truth: np.ndarray,
    *,
    fitted: np.ndarray | None = None,
    probability: np.ndarray | None = None,
) -> RowEvaluation:
    """Compare classes with the truth, where that is known.

    Parameters
    ----------
    found, truth : ndarray of object of shape (n_rows,)
        None for no class. Classes of both that are one by `diffclass.names.same_names` are equal.
    fitted : ndarray of object of shape (n_rows,), optional
        Labels, None for none, whose rows are left out.
    probability : ndarray of shape (n_rows,), optional
        Of the classes that were found.

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
    names = [str(name) for name in truth[known]]
    others = ["" if name is None else str(is_own.get(name, name)) for name in found[known]]
    scores = classification_scores(np.array(names), np.array(others))
    curve = None
    if probability is not None:
        values = probability[known].astype(float)
        counted = np.isfinite(values) & _has_class(found[known])
        right = np.array(names) == np.array(others)
        curve = reliability_curve(right[counted], values[counted]) if counted.any() else None
    return RowEvaluation(
        scores=scores, unclassified=sum(value == "" for value in others), calibration=curve
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
