"""A random sample of a map's pixels, to be looked at in the field: what accuracies are measured by.

Points are drawn at random among all pixels with a class, or by class: half of them in equal parts
for each class, for user's accuracies of rare ones, the other half in proportion to the areas, for
the overall accuracy. `diffclass.evaluation` weights them by area.

Source: P. Olofsson et al., Good practices for estimating area and assessing accuracy of land
change, Remote Sensing of Environment 148, 2014, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diffclass.exceptions import DataError
from diffclass.jobs import Facts, RunReport
from diffclass.options import Whole, check_options
from diffclass_hyperspectral.io.georeference import georeference_of
from diffclass_hyperspectral.io.labels import LabelImage
from diffclass_hyperspectral.options import OPTIONS

_ROUNDING = 1e-9  # of shares of points


@dataclass(frozen=True)
class ValidationPixel(Facts):
    """A pixel whose class is to be found out; what the map says is left out, not to lead anyone.

    Attributes
    ----------
    id : int
        From 1, in random order.
    row, column : int
        From 0.
    x, y : float or None
        Of its centre, in the map's coordinate system; None where the map has none.
    """

    id: int
    row: int
    column: int
    x: float | None
    y: float | None


@dataclass(frozen=True, eq=False)
class DesignReport(RunReport):
    """How many points each class of the map has."""

    pixels_of_classes: dict[str, int]
    points_of_classes: dict[str, int]
    by_class: bool

    def lines(self) -> list[str]:
        """Return the classes as lines to read."""
        width = max(map(len, self.points_of_classes))
        return [f"{'class':<{width}}  {'pixels':>12}  {'points':>8}"] + [
            f"{name:<{width}}  {self.pixels_of_classes[name]:>12,}  {n:>8,}"
            for name, n in self.points_of_classes.items()
        ]


def validation_design(
    found: LabelImage, n_points: int, *, by_class: bool = True, random_state: int = 0
) -> tuple[tuple[ValidationPixel, ...], DesignReport]:
    """Draw pixels of a map at random.

    Parameters
    ----------
    found : LabelImage
        The map; pixels without a class are not drawn.
    n_points : int
    by_class : bool, default=True
        Whether each class has its share, or all pixels are one population.
    random_state : int, default=0

    Returns
    -------
    pixels : tuple of ValidationPixel
        In random order.
    report : DesignReport

    Raises
    ------
    DataError
        If the map has fewer pixels with a class, or no class.
    ParameterError
        If n_points is below 1, or by class below twice the number of classes.

    See Also
    --------
    evaluate_map : Measures the map, once the classes of the pixels are known.
    suggest_for_scene : Pixels to improve the map by, which would not measure it fairly.

    Examples
    --------
    >>> from diffclass.datasets import make_tissue_scene
    >>> from diffclass_hyperspectral import LabelImage, validation_design
    >>> found = LabelImage.from_array(make_tissue_scene(48, 48).truth)
    >>> pixels, report = validation_design(found, 30)
    >>> len(pixels), report.points_of_classes
    (30, {'class 1': 9, 'class 2': 11, 'class 3': 10})
    """
    check_options(OPTIONS, n_points=n_points, by_class=by_class, random_state=random_state)
    ids = found.ids.ravel()
    classes, counts = np.unique(ids[ids > 0], return_counts=True)
    if counts.sum() < n_points:
        raise DataError(
            f"{found.path}: {counts.sum()} pixels have a class, and {n_points} points are asked for"
        )
    rng = np.random.default_rng(random_state)
    if by_class:
        Whole(2 * len(classes)).check(n_points, "n_points")
        shares = allocation(counts, n_points)
        drawn = np.concatenate(
            [
                rng.choice(np.flatnonzero(ids == i), size=n, replace=False)
                for i, n in zip(classes, shares, strict=True)
            ]
        )
        drawn = rng.permutation(drawn)
    else:
        drawn = rng.choice(np.flatnonzero(ids > 0), size=n_points, replace=False)
    place = georeference_of(found.map_info)
    pixels = []
    for k, pixel in enumerate(drawn.tolist(), start=1):
        row, column = divmod(pixel, found.shape[1])
        x, y = (None, None) if place is None else place.affine @ (column + 0.5, row + 0.5)
        pixels.append(ValidationPixel(k, row, column, x, y))
    points = {int(i): int(np.count_nonzero(ids[drawn] == i)) for i in classes}
    names = {int(i): found.table[int(i)].name for i in classes}
    sizes = dict(zip(map(int, classes), map(int, counts), strict=True))
    report = DesignReport(
        pixels_of_classes={names[i]: sizes[i] for i in names},
        points_of_classes={names[i]: points[i] for i in names},
        by_class=by_class,
    )
    return tuple(pixels), report


def allocation(counts: np.ndarray, n_points: int) -> np.ndarray:
    """Return how many of n points each class has: half in equal parts, half by area, at most all.

    >>> allocation(np.array([900, 90, 10]), 60).tolist()
    [37, 13, 10]
    """
    wanted = n_points / 2 / len(counts) + n_points / 2 * counts / counts.sum()
    is_full = np.zeros(len(counts), dtype=bool)
    while True:
        share = counts.astype(float)
        left = n_points - counts[is_full].sum()
        share[~is_full] = wanted[~is_full] / wanted[~is_full].sum() * left
        more = ~is_full & (share > counts)
        if not more.any():
            break
        is_full |= more
    points = np.floor(share + _ROUNDING).astype(np.int64)
    rest = np.argsort(points - share, kind="stable")[: n_points - points.sum()]
    points[rest] += 1
    return points
