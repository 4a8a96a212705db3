"""Splitters for partly labelled data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from diffclass._validation import RandomState, check_positive, check_seed
from diffclass.exceptions import DataError, ParameterError
from diffclass.targets import UNLABELLED, encode_labels


class PartlyLabelledKFold:
    """Stratified folds of the labelled points; unlabelled points are in every training set.

    Pass it to scikit-learn as ``cv=``: unlabelled points take part in the diffusion and are never
    scored, whatever the ``scoring``. Other splitters take -1 for a class: they keep a part of the
    unlabelled points out of each graph, and only `DiffusionClassifier.score`, the default scoring,
    leaves them out of the score.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2; a class with fewer labels is missing from some test sets.
    shuffle : bool, default=True
        Whether the labelled points are shuffled first.
    random_state : int, RandomState or None, default=0
        Seeds the shuffle. With few labels, folds differ much: the same ones every time let two
        searches be compared, and a search repeated. None draws others each time.

    See Also
    --------
    draw_per_class : One split, with as few labels as are wanted.

    Examples
    --------
    >>> from diffclass.evaluation import PartlyLabelledKFold
    >>> y = [0, 1, 0, 1, -1, -1]
    >>> for train, test in PartlyLabelledKFold(2, shuffle=False).split(y, y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 4 5] [2 3]
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: RandomState = 0):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the training and test indices of each fold; X and groups are ignored.

        All unlabelled points are in the training set; the test set holds labelled points only.

        Parameters
        ----------
        X : array-like of n rows
        y : array-like of shape (n,)
            Labels, marked as in `DiffusionClassifier.fit` where there is none.
        groups : object

        Raises
        ------
        ParameterError
            If there are fewer than 2 folds.
        DataError
            If there are fewer labelled points than folds.
        """
        if check_positive(self.n_splits, "n_splits", integer=True) < 2:
            raise ParameterError(f"n_splits = {self.n_splits}; at least 2 are needed")
        _, codes = encode_labels(y)
        labelled = np.flatnonzero(codes >= 0)
        if len(labelled) < self.n_splits:
            raise DataError(f"{len(labelled)} labelled points cannot fill {self.n_splits} folds")
        if self.shuffle:
            labelled = check_seed(self.random_state).permutation(labelled)
        fold = np.full(len(codes), -1)
        by_class = labelled[np.argsort(codes[labelled], kind="stable")]
        fold[by_class] = np.arange(len(by_class)) % self.n_splits
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def draw_per_class(
    codes: ArrayLike, n_per_class: int | None, *, random_state: RandomState = None
) -> np.ndarray:
    """Draw some labelled points of each class.

    Parameters
    ----------
    codes : array-like of int of shape (n,)
        Class of each point, negative or masked where unlabelled.
    n_per_class : int or None
        Points drawn per class; half of the points (at least one) of a class that has fewer than
        twice as many, so that some are left to be held out. None: half of each class.
    random_state : int, RandomState or None, default=None
        Seeds the draw.

    See Also
    --------
    PartlyLabelledKFold : All labels, each held out once.

    Examples
    --------
    Two labels of each class; all other labels are held out:

    >>> import numpy as np
    >>> from diffclass.evaluation import draw_per_class
    >>> truth = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, -1, -1])
    >>> drawn = draw_per_class(truth, 2, random_state=0)
    >>> truth[drawn]
    array([0, 0, 1, 1])
    >>> y = np.full(len(truth), -1); y[drawn] = truth[drawn]
    """
    if n_per_class is not None:
        check_positive(n_per_class, "n_per_class", integer=True)
    random = check_seed(random_state)
    codes = np.ma.filled(np.ma.asarray(codes), UNLABELLED)
    drawn = []
    for code in np.unique(codes[codes >= 0]):
        members = np.flatnonzero(codes == code)
        half = max(1, len(members) // 2)
        size = half if n_per_class is None else min(n_per_class, half)
        drawn.append(random.choice(members, size, replace=False))
    return np.sort(np.concatenate(drawn)) if drawn else np.empty(0, dtype=np.intp)
