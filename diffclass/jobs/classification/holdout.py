"""Which labels are fitted on, and which are held out to score the classes on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from diffclass.evaluation import draw_per_class
from diffclass.exceptions import DataError, ParameterError, warn_user
from diffclass.jobs.point_set import PointSet
from diffclass.options import SEED, OneOf, Whole, check_options

AT_RANDOM, IN_BLOCKS, BOTH = "random", "blocks", "both"
OPTIONS = {
    "kind": OneOf((AT_RANDOM, IN_BLOCKS, BOTH), or_none=True),
    "labels_per_class": Whole(1, or_none=True),
    "random_state": SEED,
}
_SHOWN = 5  # classes in a sentence


@dataclass(frozen=True)
class Holdout:
    """Which labels are held out of a fit, to score the classes on them.

    Parameters
    ----------
    kind : {"random", "blocks", "both"}, optional
        At random, in blocks of the picture, or in both ways in turn: classes are then those of
        blocks. By default at random if ``labels_per_class`` is given, else nothing is held out.
    labels_per_class : int, optional
        Labels of each class to fit on; half of them all by default.
    random_state : int, default=0
        Draws them.

    Raises
    ------
    ParameterError
        For an unknown kind and numbers out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass.jobs import Holdout
    >>> Holdout("both").kinds, Holdout(labels_per_class=5).kinds, Holdout().kinds
    (('blocks', 'random'), ('random',), ())
    >>> Holdout(labels_per_class=1).drawn(np.array([0, 0, 0, 1, 1, -1]))
    array([False, False,  True,  True, False, False])
    """

    kind: str | None = None
    labels_per_class: int | None = None
    random_state: int = 0

    def __post_init__(self) -> None:
        check_options(OPTIONS, **asdict(self))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The ways in which labels are held out, one after the other; the first is the map's."""
        if self.kind is None and self.labels_per_class is None:
            return ()
        return (IN_BLOCKS, AT_RANDOM) if self.kind == BOTH else (self.kind or AT_RANDOM,)

    def drawn(self, codes: np.ndarray, random: np.random.RandomState | None = None) -> np.ndarray:
        """Return which labels to fit on, bool (n,), of codes that are negative without a label.

        ``random`` has drawn something before; otherwise that of the seed is taken.
        """
        chosen = np.zeros(len(codes), dtype=bool)
        seed = self.random_state if random is None else random
        chosen[draw_per_class(codes, self.labels_per_class, random_state=seed)] = True
        return chosen

    def fitted_on(self, points: PointSet, codes: np.ndarray) -> np.ndarray:
        """Return which labels of points without places to fit on, bool (n,).

        `DataError`: none is left to be held out. `ParameterError`: they are to be in blocks.
        """
        if IN_BLOCKS in self.kinds:
            raise ParameterError(
                f"{points.path}: its {points.noun} lie on no grid, so that no blocks of them can "
                "be held out; hold labels out at random"
            )
        is_labelled = codes >= 0
        fit = self.drawn(codes) if self.kinds else is_labelled
        if self.kinds and not (is_labelled & ~fit).any():
            raise none_left(points.noun, AT_RANDOM)
        return fit

    def warn_of_few(self, noun: str, names: Sequence[str], counts: Sequence[int]) -> None:
        """Warn of classes that have fewer labels than twice as many as are to be drawn."""
        n = self.labels_per_class
        few = [
            f"{name} ({count})"
            for name, count in zip(names, counts, strict=True)
            if n is not None and 0 < count < 2 * n
        ]
        if few:
            more = f" and {len(few) - _SHOWN} more" if len(few) > _SHOWN else ""
            warn_user(
                f"fewer than twice {n} {noun} are labelled in {', '.join(few[:_SHOWN])}{more}: "
                "half of them are fitted on, the others held out",
                UserWarning,
            )


def check_two_classes(n_classes: int, path: Any, noun: str) -> None:
    """Raise `DataError` where labels are not of two classes at least."""
    if n_classes < 2:
        raise DataError(
            f"{path}: {'only one' if n_classes else 'no'} class is labelled among the {noun} with "
            f"data; label {noun} of at least two"
        )


def warn_of_lost_labels(n_lost: int, path: Any, noun: str) -> None:
    """Warn of labels of points without data."""
    if n_lost:
        warn_user(f"{path}: {n_lost} labelled {noun} have no data and are not used", UserWarning)


def none_left(noun: str, kind: str) -> DataError:
    """Return the error of a split that leaves nothing to score on."""
    return DataError(
        f"no label is left to be held out of the {noun} ({kind}); give more labels, or fit on fewer"
    )
