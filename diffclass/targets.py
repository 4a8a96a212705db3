"""Partly labelled targets: which points have a label, and which class it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from diffclass.exceptions import DataError, warn_user
from diffclass.names import marks

__all__ = ["MOST_CLASSES", "UNLABELLED", "decode_labels", "encode_labels"]

UNLABELLED = -1
# In one byte per point: 0 is no class, 255 is left for what has no data.
MOST_CLASSES = 254


def encode_labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Split labels into the sorted classes and each point's class number, -1 for unlabelled points.

    Labels are integers, texts, booleans or whole floats. Unlabelled are points with a mark of
    `diffclass.names`: -1, None, NaN, NaT, missing values of pandas, masked entries, empty texts,
    and what texts of these are, such as "-1", "nan" and "None".

    Raises `DataError` if y is not one-dimensional, mixes kinds that cannot be sorted, has two
    classes that differ by the blanks around them alone, or is of an unsigned type and holds its
    largest number, which -1 turns into there.

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
    if values.ndim == 2 and values.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_user(
            "A column-vector y was passed when a 1d array was expected; its column is used",
            DataConversionWarning,
        )
        values = values[:, 0]
    if values.ndim != 1:
        raise DataError(f"y has shape {values.shape}; labels are one value per point")
    labelled = ~marks(values)
    values = np.ma.getdata(values)
    if values.dtype.kind == "u":
        _refuse_wrapped(values[labelled])
    codes = np.full(len(values), UNLABELLED, dtype=np.int64)
    kinds = set(map(type, values[labelled])) if values.dtype == object else set()
    try:
        if kinds & {bool, np.bool_} and kinds - {bool, np.bool_}:
            raise TypeError("True sorts as 1")
        classes, codes[labelled] = np.unique(values[labelled], return_inverse=True)
    except TypeError:
        named = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise DataError(f"y mixes {named}; use one kind of label") from None
    if classes.dtype.kind in "USO":
        _refuse_blanks(classes)
        classes = _plain_numbers(classes)
    return classes, codes


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
        if kind.kind == "f":  # of 64 bits, whose largest numbers no float has
            kind = np.dtype(np.int64 if classes.max() <= np.iinfo(np.int64).max else object)
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
    largest = np.iinfo(values.dtype).max
    if (values == largest).any():
        raise DataError(
            f"y is {values.dtype} and holds {largest}, which -1 turns into there; "
            "use y.astype(int) before marking unlabelled points"
        )


def _refuse_blanks(classes: np.ndarray) -> None:
    """Refuse classes that differ by the blanks around them alone: they are mistyped."""
    first: dict[Any, Any] = {}
    for name in classes.tolist():
        stripped = name.strip() if isinstance(name, str | bytes) else name
        if first.setdefault(stripped, name) != name:
            raise DataError(
                f"classes {first[stripped]!r} and {name!r} differ by the blanks around them alone; "
                "write them alike"
            )


def _as_array(y: Any) -> np.ndarray:
    if isinstance(y, np.ndarray):  # masked ones stay so
        return y.astype(object) if y.dtype.kind == "T" else y
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
