"""Partly labelled targets: which points have a label, and which class it is."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from diffclass.exceptions import DataError, warn_user

__all__ = ["MOST_CLASSES", "UNLABELLED", "decode_labels", "encode_labels"]

UNLABELLED = -1
# In one byte per point: 0 is no class, 255 is left for what has no data.
MOST_CLASSES = 254


def encode_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Split labels into the sorted classes and each point's class number, -1 for unlabelled points.

    Labels are integers, strings, booleans or whole floats. -1 (also among strings, where NumPy
    turns it into "-1"), None, NaN and missing values of pandas mean unlabelled.

    Raises `DataError` if y is not one-dimensional, mixes kinds that cannot be sorted, or is of an
    unsigned type and holds its largest number, which -1 turns into there.

    See Also
    --------
    decode_labels : Back from numbers to labels.

    Examples
    --------
    >>> from diffclass.targets import encode_labels
    >>> encode_labels(["soy", -1, "corn", None])
    (array(['corn', 'soy'], dtype=object), array([ 1, -1,  0, -1]))
    """
    values = _as_array(y)
    missing = _missing(y)
    if values.ndim == 2 and values.shape[1] == 1:
        warn_user(
            "A column-vector y was passed when a 1d array was expected; its column is used",
            DataConversionWarning,
        )
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(f"y has shape {values.shape}; labels are one value per point")
    _refuse_wrapped(values)
    labelled = ~missing & ~_is_minus_one(values)
    codes = np.full(len(values), UNLABELLED, dtype=np.int64)
    try:
        classes, codes[labelled] = np.unique(values[labelled], return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values[labelled]})
        raise DataError(f"y mixes {' and '.join(kinds)}; use one kind of label") from None
    return _plain_numbers(classes), codes


def decode_labels(classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return each point's class, -1 where its code is negative, in a type that holds both.

    See Also
    --------
    encode_labels : From labels to numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.targets import decode_labels
    >>> decode_labels(np.array(["corn", "soy"]), np.array([1, -1]))
    array(['soy', -1], dtype=object)
    """
    found, none = classes[codes], codes < 0
    if not none.any():
        return found
    kind = found.dtype
    if kind.kind not in "if":
        kind = np.result_type(kind, np.int8) if kind.kind == "u" else np.dtype(object)
    found = found.astype(kind)
    found[none] = UNLABELLED
    return found


def encode_groups(groups: Any, codes: np.ndarray) -> np.ndarray:
    """Return which labels are one observation, as the pixels of a stroke or of a field are.

    Numbers from 0, -1 at unlabelled points; (n,). Labels of one class with the same value, of any
    sortable kind, are one group. A label with a missing value (-1, None, NaN) is one of its own, as
    all are by default. Raises `DataError` if groups has another length, or kinds that cannot be
    sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.targets import encode_groups
    >>> encode_groups(["a", "a", "b", "b", None], np.array([0, 0, 0, 1, 1]))
    array([0, 0, 1, 2, 3])
    """
    labelled = np.flatnonzero(codes >= 0)
    numbers = np.full(len(codes), UNLABELLED, dtype=np.int64)
    if groups is None:
        numbers[labelled] = np.arange(len(labelled))
        return numbers
    given = _as_array(groups)
    if len(given) != len(codes):
        raise DataError(f"groups has {len(given)} entries; y has {len(codes)} points")
    values, group = encode_labels(given[labelled])
    own = group < 0
    group[own] = len(values) + np.arange(own.sum())
    pairs = codes[labelled] * (len(group) + len(values)) + group
    numbers[labelled] = np.unique(pairs, return_inverse=True)[1]
    return numbers


def labels_per_class(codes: np.ndarray, groups: np.ndarray | None = None) -> float:
    """Return the median number of labels per class, or of the groups of `encode_groups`."""
    if groups is None:
        return float(np.median(np.bincount(codes[codes >= 0])))
    first = np.unique(groups[codes >= 0], return_index=True)[1]
    return float(np.median(np.bincount(codes[codes >= 0][first])))


def _refuse_wrapped(values: np.ndarray) -> None:
    """Refuse unsigned labels in which -1, unlabelled, has silently become a class."""
    if values.dtype.kind != "u" or not len(values):
        return
    largest = np.iinfo(values.dtype).max
    if values.max() == largest:
        raise DataError(
            f"y is {values.dtype} and holds {largest}, which -1 turns into there; "
            "use y.astype(int) before marking unlabelled points"
        )


def _as_array(y: Any) -> np.ndarray:
    if isinstance(y, np.ndarray):
        return y
    if hasattr(y, "to_numpy"):
        # pandas' own types would turn integers with missing values into floats
        own_kind = hasattr(y, "isna") and not isinstance(getattr(y, "dtype", None), np.dtype)
        return y.to_numpy(dtype=object) if own_kind else np.asarray(y.to_numpy())
    values = np.asarray(y)
    # a list of strings and -1 keeps its types only as objects
    return np.asarray(y, dtype=object) if values.dtype.kind in "USO" else values


def _plain_numbers(classes: np.ndarray) -> np.ndarray:
    """Turn objects that are numbers (or None) into numbers: scikit-learn scores no others."""
    if classes.dtype == object and len(classes):
        plain = np.array(classes.tolist())
        return plain if plain.dtype.kind in "biuf" else classes
    return classes


def _missing(y: Any) -> np.ndarray:
    if hasattr(y, "to_numpy") and hasattr(y, "isna"):  # pandas
        return np.asarray(y.isna()).ravel()
    values = _as_array(y)
    if values.dtype.kind == "f":
        return np.isnan(values).ravel()
    if values.dtype.kind == "O":
        # only NaN differs from itself; pandas' own NA has no truth value
        return np.array([v is None or _differs_from_itself(v) for v in values.ravel()], dtype=bool)
    return np.zeros(values.size, dtype=bool)


def _differs_from_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except TypeError:
        return True


def _is_minus_one(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind in "UT":
        return values == "-1"
    if values.dtype.kind == "S":
        return values == b"-1"
    if values.dtype.kind == "O":
        return np.array(
            [isinstance(v, Real | str | bytes) and v in (-1, "-1", b"-1") for v in values],
            dtype=bool,
        )
    if values.dtype.kind == "b":
        return np.zeros(len(values), dtype=bool)
    return values == UNLABELLED
