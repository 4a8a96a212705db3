"""The labels of a diffusion: which points have one, of which class, and how much it counts.

They are checked once, where they come in, and are the same for walks in memory and in blocks.

Where points are equal, a label holds for all of them (`Labels.at_nodes`). Labels of one class at
equal points are one observation there; labels of several classes stay, each with its part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import check_unmasked
from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.neighbors import Nodes
from diffclass.targets import UNLABELLED, encode_groups, encode_labels, labels_per_class

# Shares of all points above which 0 looks like "unlabelled", among three classes or more, or two:
# of two, one may be rare.
_MOST_OF_MANY, _MOST_OF_TWO = 0.5, 0.9


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of some of n points; made by `of`.

    Attributes
    ----------
    n_points : int
    classes : ndarray of shape (n_classes,)
        The values of the labels, sorted.
    points : ndarray of int of shape (m,)
        The labelled points, ascending; once for each class where equal points contradict.
    codes : ndarray of int of shape (m,)
        Index of each label's class.
    weight : ndarray of float64 of shape (m,)
        0 to 1.
    groups : ndarray of int of shape (m,)
        Labels of a class with the same number are one observation.
    hints : ndarray of bool of shape (m,), optional
        Which of them come from scores and are never held out; see
        `diffclass.label_diffusion.score_prior`. None: no label is a hint.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.label_diffusion import Labels
    >>> labels = Labels.of(["soy", -1, "corn", "corn"], groups=["a", "a", "b", "b"])
    >>> labels.classes, labels.points, labels.codes, labels.per_class
    (array(['corn', 'soy'], dtype=object), array([0, 2, 3]), array([1, 0, 0]), 1.0)
    """

    n_points: int
    classes: np.ndarray
    points: np.ndarray
    codes: np.ndarray
    weight: np.ndarray
    groups: np.ndarray
    hints: np.ndarray | None = None

    @classmethod
    def of(cls, y: Any, weight: ArrayLike | None = None, groups: ArrayLike | None = None) -> Labels:
        """Check labels.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels of any sortable kind; unlabelled are the marks of `diffclass.names`, such as -1,
            None, NaN, missing values of pandas, masked entries and empty texts.
        weight : array-like of shape (n,), optional
            0 to 1; 1 by default.
        groups : array-like of shape (n,), optional
            Any sortable values; labels of one class with the same value are one observation, a
            missing value is its own group. By default each label is one observation.

        Raises
        ------
        DataError
            If there is no label, they cannot be sorted or are measurements, or groups has another
            length.
        ParameterError
            If a weight is out of range, weights have another length, or are 0 for a whole class.

        Warns
        -----
        UserWarning
            If every point has a label, and 0 looks like a mark of those without one, or if words
            such as "nan" are taken for marks.
        """
        classes, codes = encode_labels(y)
        points = np.flatnonzero(codes >= 0)
        of_labels = codes[points]
        if not len(points):
            raise DataError("y holds no label; mark at least one point")
        if classes.dtype.kind == "f":
            _refuse_continuous(classes)
        if len(points) == len(codes):
            _warn_of_zeros(classes, np.bincount(of_labels))
        weights = np.ones(len(points)) if weight is None else _checked(weight, codes.shape)[points]
        if not ((weights >= 0) & (weights <= 1)).all():
            raise ParameterError("label_weight has to be between 0 and 1 at every label")
        if (np.bincount(of_labels, weights) == 0).any():
            raise ParameterError("label_weight is 0 for every label of some class; drop that class")
        group = encode_groups(groups, codes)[points]
        return cls(len(codes), classes, points, of_labels, weights, group)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def per_class(self) -> float:
        """Median number of observations per class."""
        return labels_per_class(self.codes, self.groups)

    @property
    def counted(self) -> np.ndarray:
        """Whether each label has a weight above 0; bool of shape (m,)."""
        return self.weight > 0

    @property
    def given(self) -> np.ndarray:
        """Whether each label was given, and is no hint; bool of shape (m,)."""
        return np.ones(len(self.codes), dtype=bool) if self.hints is None else ~self.hints

    @property
    def codes_of_points(self) -> np.ndarray:
        """Index of each point's class, -1 where unlabelled; int of shape (n,).

        Where a point has several, that of the largest weight.
        """
        codes = np.full(self.n_points, UNLABELLED)
        codes[self.points] = self.codes
        return codes

    def check_number(self, n_points: int, *, of: str = "the operator") -> None:
        """Raise `DataError` unless these are labels of so many points; ``of`` says of what."""
        if self.n_points != n_points:
            raise DataError(f"y has {self.n_points} entries; {of} has {n_points} points")

    def only(self, which: np.ndarray | slice) -> Labels:
        """Return some of the labels, as an index of an array of shape (m,)."""
        parts = ["points", "codes", "weight", "groups"]
        parts += [] if self.hints is None else ["hints"]
        return replace(self, **{part: getattr(self, part)[which] for part in parts})

    def moved(self, places: np.ndarray) -> Labels:
        """Return the labels of points in another order; places (n,) are their new numbers."""
        moved = replace(self, points=places[self.points])
        return moved.only(np.argsort(moved.points, kind="stable"))

    @property
    def strongest(self) -> Labels:
        """The labels without those beside a stronger one at the same point, which come before."""
        last = np.append(self.points[1:] != self.points[:-1], True)
        return self if last.all() else self.only(last)

    def at_nodes(self, nodes: Nodes | None) -> Labels:
        """Return the labels of the nodes of these points.

        The weight of a node is the largest of its labels; of several classes each has a part of it,
        in proportion to their sums of weights. A label of several groups is of the first. Labels
        that are of the nodes already stay as they are.
        """
        if nodes is None or self.n_points == len(nodes):
            return self
        n_classes, given = self.n_classes, self.given
        pairs, first, which = np.unique(
            nodes.of_points[self.points] * n_classes + self.codes,
            return_index=True, return_inverse=True,
        )  # fmt: skip
        points, codes = np.divmod(pairs, n_classes)
        sums = np.bincount(which, self.weight)
        total, largest = np.bincount(points, sums), np.zeros(len(nodes))
        np.maximum.at(largest, nodes.of_points[self.points], self.weight)
        whole = total[points]
        weight = np.where(whole > 0, largest[points] * sums / np.where(whole > 0, whole, 1), 0)
        hints = None if self.hints is None else np.bincount(which, given) == 0
        order = np.lexsort([-codes, weight, points])  # the last at a point is the strongest
        return Labels(
            len(nodes), self.classes, points, codes, weight, self.groups[first], hints
        ).only(order)


def _refuse_continuous(classes: np.ndarray) -> None:
    if not np.isfinite(classes).all():
        raise DataError("Input y contains infinity; labels are classes, not measurements")
    if (classes != np.rint(classes)).any():
        raise DataError("Unknown label type: continuous; labels are classes, not measurements")


def _warn_of_zeros(classes: np.ndarray, counts: np.ndarray) -> None:
    """Warn where all points have a label, but most of them 0, as maps mark those without."""
    mark = next((k for k, value in enumerate(classes) if _is_zero(value)), -1)
    if mark < 0 or len(classes) < 2:
        return
    share = counts[mark] / counts.sum()
    if share > (_MOST_OF_MANY if len(classes) > 2 else _MOST_OF_TWO):
        zero = repr(classes[mark].item())
        warn_user(
            f"{zero} is a class like any other, and {share:.0%} of y are of it; if it means "
            f"unlabelled, use -1 there, as by np.where(y == {zero}, -1, y)"
        )


def _is_zero(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_) and value == 0


def warn_of_lost_classes(labels: Labels, codes: np.ndarray) -> None:
    """Warn of classes that have labels, or hints, and no point of the map of some codes (n,)."""
    found = np.bincount(codes[codes >= 0], minlength=labels.n_classes)
    labelled = np.bincount(labels.codes[labels.counted], minlength=labels.n_classes)
    lost = labels.classes[(labelled > 0) & (found == 0)].tolist()
    if lost:
        shown = ", ".join(map(repr, lost[:5])) + f" and {len(lost) - 5} more" * (len(lost) > 5)
        warn_user(
            f"no point of the map is of the class {shown}, which has labels; those of others "
            "outweigh them, around them or at equal points: give more of them",
            UserWarning,
        )


def _checked(weight: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    check_unmasked(weight, name="label_weight")
    weight = np.asarray(weight, dtype=np.float64)
    if weight.shape != shape:
        raise ParameterError(f"label_weight has shape {weight.shape}; y has {shape}")
    return weight
