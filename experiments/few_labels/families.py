"""Synthetic families: simple sets of points with known classes, n = 200 to 20,000.

A family is a function from a random generator to points of shape (n, p) and codes of their classes,
of shape (n,), from 0. The generator is seeded by the family's name and the number of the draw, so
points are new in every draw; only the two sets `unbalanced-blobs` and `touching-blobs` are always
the same. Families come in pairs of kin: the first of each belongs to the problems on which defaults
are chosen, the second to those that are only reported (`experiments.problems`). FAMILIES says for
each how labels are drawn (`experiments.few_labels.draws`) and how many per class.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import ndimage
from sklearn.datasets import (
    make_blobs,
    make_circles,
    make_classification,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
    make_swiss_roll,
)

Random = np.random.Generator
Sample = tuple[np.ndarray, np.ndarray]
SHARES = (0.5, 0.22, 0.15, 0.08, 0.04, 0.01)  # of clusters
SIX_SIZES = (800, 400, 200, 100, 50, 20)
ALONG = 100.0  # the length of a strip of width 1


@dataclass(frozen=True)
class Family:
    """How points are made, how many draws there are, and the labels per class by way of drawing."""

    make: Callable[[Random], Sample]
    ways: Mapping[str, Sequence[int]] = field(default_factory=lambda: {"equal": (1, 5, 10)})
    n_draws: int = 10
    shape: tuple[int, int] | None = None

    def points(self, draw: int) -> Sample:
        """Return the points and codes of a draw."""
        name = self.make.__name__.encode()
        return self.make(np.random.default_rng([zlib.crc32(name), draw]))


def gaussians(random: Random, sizes: Sequence[int], centers: object, spreads: object) -> Sample:
    """Return one round Gaussian cluster per class."""
    centers = np.asarray(centers, dtype=float)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    spreads = np.broadcast_to(spreads, len(sizes))[codes, None]
    return centers[codes] + spreads * random.normal(size=(len(codes), centers.shape[1])), codes


def unbalanced_blobs(random: Random) -> Sample:
    """Three clusters of 600, 100 and 50 points, the small ones denser; always the same points."""
    return make_blobs(
        [600, 100, 50], centers=[[0, 0], [4, 0], [2, 4]], cluster_std=[1, 0.6, 0.4], random_state=0
    )


def unbalanced_space(random: Random) -> Sample:
    """Five clusters of 700 to 30 points in space, as dense as they are large."""
    corners = [[0, 0, 0], [4.5, 0, 0], [0, 4.5, 0], [0, 0, 4.5], [4, 4, 0]]
    return gaussians(random, (700, 300, 120, 60, 30), corners, (1.2, 1.0, 0.8, 0.6, 0.5))


def touching_blobs(random: Random) -> Sample:
    """Two clusters of 1,000 and 50 points that touch; always the same points."""
    return make_blobs([1000, 50], centers=[[0, 0], [5, 0]], cluster_std=1, random_state=0)


def touching_three(random: Random) -> Sample:
    """A cluster of 900 points touched by two of 60, in five dimensions."""
    centers = np.zeros((3, 5))
    centers[1, 0], centers[2, 1] = 5, -5
    return gaussians(random, (900, 60, 60), centers, 1)


def _shared_out(random: Random, n: int) -> Sample:
    sizes = np.rint(n * np.array(SHARES)).astype(int)
    angles = 2 * np.pi * np.arange(len(sizes)) / len(sizes)
    return gaussians(random, sizes, 5 * np.transpose([np.cos(angles), np.sin(angles)]), 1)


def shares_1000(random: Random) -> Sample:
    """Six equal Gaussians in a ring that share 1,000 points, 50 % to 1 %."""
    return _shared_out(random, 1000)


def shares_20000(random: Random) -> Sample:
    """Six equal Gaussians in a ring that share 20,000 points, 50 % to 1 %."""
    return _shared_out(random, 20_000)


def overlapping(random: Random) -> Sample:
    """Four Gaussians of 500 points, three standard deviations apart in the plane."""
    return gaussians(random, [500] * 4, 3 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), 1)


def overlapping_skew(random: Random) -> Sample:
    """Three Gaussians of 800 points in ten dimensions, each stretched in directions of its own."""
    X, codes = gaussians(random, [800] * 3, random.normal(size=(3, 10)), 1)
    turns = [np.linalg.qr(random.normal(size=(10, 10)))[0] for _ in range(3)]
    scales = np.linspace(0.3, 1.2, 10)
    center = np.array([X[codes == c].mean(axis=0) for c in range(3)])
    stretched = [(X[codes == c] - center[c]) * scales @ turns[c] + center[c] for c in range(3)]
    return np.concatenate(stretched), codes


def multimodal(random: Random) -> Sample:
    """Three classes, each of four clusters of 120 points that lie mixed in the plane."""
    places = 4 * np.stack(np.meshgrid(np.arange(4), np.arange(3)), axis=-1).reshape(-1, 2)
    X, modes = gaussians(random, [120] * 12, random.permutation(places), 0.7)
    return X, modes % 3


def checkerboard(random: Random) -> Sample:
    """Two classes on the squares of a board of three by three, 1,600 points."""
    X = random.uniform(0, 3, size=(1600, 2))
    squares = np.floor(X).astype(int)
    inside = X - squares - 0.5
    return squares + 0.85 * inside, squares.sum(axis=1) % 2  # narrow gaps between squares


def _picture(
    random: Random, shape: tuple[int, int], sizes: Sequence[float], drift: float
) -> Sample:
    """Return fields of smooth borders whose spectra drift over the picture, one row per pixel."""
    waves = [ndimage.gaussian_filter(random.normal(size=shape), 8) for _ in sizes]
    offsets = np.array(sizes)[:, None, None] * np.std(waves)
    codes = np.argmax(np.array(waves) + offsets, axis=0).ravel()
    spectra = 0.6 * random.normal(size=(len(sizes), 8))
    places = np.indices(shape).reshape(2, -1).T / shape[0]
    slopes = drift * random.normal(size=(len(sizes), 2, 8))
    X = spectra[codes] + np.einsum("nk,nkp->np", places, slopes[codes])
    return X + 0.4 * random.normal(size=X.shape), codes


def strokes_fields(random: Random) -> Sample:
    """A picture of 60 x 80 pixels, four fields whose spectra drift from side to side."""
    return _picture(random, (60, 80), (0.0, 0.0, 0.0, 0.0), 1.0)


def strokes_unequal(random: Random) -> Sample:
    """A picture of 100 x 100 pixels, five drifting fields, the first far larger than the last."""
    return _picture(random, (100, 100), (0.8, 0.4, 0.2, 0.0, -0.2), 1.5)


def strips(random: Random) -> Sample:
    """Two parallel strips of 1,500 points, a hundred times as long as wide."""
    codes = np.repeat([0, 1], 1500)
    X = random.uniform(size=(3000, 2)) * [ALONG, 1]
    return X + [0, 1.6] * codes[:, None], codes


def strips_three(random: Random) -> Sample:
    """Three strips of 4,000, 1,000 and 300 points, a hundred times as long as wide, in space."""
    codes = np.repeat([0, 1, 2], [4000, 1000, 300])
    X = random.uniform(size=(len(codes), 3)) * [ALONG, 1, 0.2]
    return X + [0, 2.2, 0] * codes[:, None], codes


def six_sizes(random: Random) -> Sample:
    """Six Gaussians of 800 to 20 points in ten dimensions."""
    return gaussians(random, SIX_SIZES, 5 * np.eye(6, 10) / np.sqrt(2), 1)


def eight_sizes(random: Random) -> Sample:
    """Eight Gaussians of 1,200 to 25 points in twenty dimensions, at random places."""
    sizes = np.rint(np.geomspace(1200, 25, 8)).astype(int)
    return gaussians(random, sizes, 0.8 * random.normal(size=(8, 20)), 1)


def one_sided(random: Random) -> Sample:
    """Four touching Gaussians of 1,500 points; one has 500 labels, the others 5."""
    return gaussians(random, [1500] * 4, 5 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]]), 1)


def one_sided_rings(random: Random) -> Sample:
    """Three rings of 1,200 points around one another; one has 500 labels, the others 5."""
    return _rings(random, [1200] * 3, [1, 2, 3], 0.15)


def _rings(random: Random, sizes: Sequence[int], radii: Sequence[float], width: float) -> Sample:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    angles = random.uniform(0, 2 * np.pi, size=len(codes))
    r = np.array(radii)[codes] + width * random.normal(size=len(codes))
    return np.transpose([r * np.cos(angles), r * np.sin(angles)]), codes


def moons(random: Random) -> Sample:
    """Two interlocking half moons, 400 points."""
    return make_moons(400, noise=0.12, random_state=_seed(random))


def circles(random: Random) -> Sample:
    """A circle within a circle, 600 points."""
    return make_circles(600, noise=0.07, factor=0.5, random_state=_seed(random))


def _seed(random: Random) -> int:
    return int(random.integers(2**31))


def unequal_density(random: Random) -> Sample:
    """Three clusters of 300 points, each three times as wide as the one before."""
    return gaussians(random, [300] * 3, [[0, 0], [3, 0], [12, 0]], (0.4, 1, 3))


def dense_in_wide(random: Random) -> Sample:
    """Two narrow clusters of 200 points within the halo of a wide one of 1,000."""
    return gaussians(random, (1000, 200, 200), [[0, 0], [2, 1], [-2, -2]], (2.5, 0.2, 0.3))


def swiss_roll(random: Random) -> Sample:
    """A rolled sheet of 2,000 points in space, cut along its length into five classes."""
    X, along = make_swiss_roll(2000, noise=0.4, random_state=_seed(random))
    return X, np.digitize(along, np.quantile(along, [0.2, 0.4, 0.6, 0.8]))


def spirals(random: Random) -> Sample:
    """Three arms of one turn and a half, 500 points each, sparser outwards."""
    codes = np.repeat([0, 1, 2], 500)
    turn = random.uniform(0.5, 3, size=len(codes)) * np.pi
    angles = turn + 2 * np.pi * codes / 3
    X = (turn * np.array([np.cos(angles), np.sin(angles)])).T
    return X + 0.35 * random.normal(size=X.shape), codes


def moons_in_20(random: Random) -> Sample:
    """Two half moons of 500 points and eighteen dimensions of noise."""
    X, codes = make_moons(1000, noise=0.1, random_state=_seed(random))
    return np.hstack([X, 0.15 * random.normal(size=(len(X), 18))]), codes


def nested_rings(random: Random) -> Sample:
    """Four rings around one another, of 200 to 1,100 points, as dense each as the next."""
    return _rings(random, (200, 500, 800, 1100), (1, 2.5, 4, 5.5), 0.25)


def three_blobs(random: Random) -> Sample:
    """Three clusters of 200 points in all."""
    return gaussians(random, (67, 67, 66), [[0, 0], [4, 0], [2, 3.5]], 1)


def twenty_blobs(random: Random) -> Sample:
    """Twenty clusters of 250 points in ten dimensions, at random places."""
    return gaussians(random, [250] * 20, 1.5 * random.normal(size=(20, 10)), 1)


def _table(random: Random, n_values: int, n_columns: int) -> Sample:
    """Return 2,000 rows of small whole numbers, halved by a linear rule with noise."""
    X = random.integers(0, n_values, size=(2000, n_columns)).astype(float)
    score = X @ random.normal(size=n_columns) + 0.3 * random.normal(size=len(X))
    return X, (score > np.median(score)).astype(int)


def three_values(random: Random) -> Sample:
    """Rows of four columns with the values 0, 1 and 2; a linear rule with noise halves them."""
    return _table(random, 3, 4)


def two_values(random: Random) -> Sample:
    """Rows of six columns with the values 0 and 1; a linear rule with noise halves them."""
    return _table(random, 2, 6)


def halved_cube(random: Random) -> Sample:
    """A cube of six dimensions, which a plane halves: 1,500 points, no gap."""
    X = random.uniform(-1, 1, size=(1500, 6))
    return X, (X @ random.normal(size=6) > 0).astype(int)


def mixed_columns(random: Random) -> Sample:
    """Three classes by four numbers that overlap and three columns of yes and no; 1,500 rows."""
    codes = random.integers(0, 3, 1500)
    centers = np.array([[0, 0, 1, 0], [1.5, 0, 0, 1], [0, 1.5, 1, 1]])
    numbers = centers[codes] + random.normal(size=(len(codes), 4))
    shares = np.array([[0.2, 0.7, 0.5], [0.6, 0.3, 0.5], [0.8, 0.6, 0.5]])
    X = np.hstack([numbers, random.random((len(codes), 3)) < shares[codes]])
    return (X - X.mean(axis=0)) / X.std(axis=0), codes


def _heavy_tails(random: Random, freedom: int, n_classes: int, n_columns: int) -> Sample:
    codes = random.integers(0, n_classes, 1500)
    centers = 2.2 * random.normal(size=(n_classes, n_columns))
    return centers[codes] + random.standard_t(freedom, size=(len(codes), n_columns)), codes


def heavy_tails(random: Random) -> Sample:
    """Three classes of Student's t, three degrees of freedom, in five dimensions: 1,500 points."""
    return _heavy_tails(random, 3, 3, 5)


def heavier_tails(random: Random) -> Sample:
    """Five classes of Student's t, two degrees of freedom, in ten dimensions: 1,500 points."""
    return _heavy_tails(random, 2, 5, 10)


def ball(random: Random) -> Sample:
    """A cloud in three dimensions, whose inner half is a class: 1,000 points, no gap."""
    return make_gaussian_quantiles(
        n_samples=1000, n_features=3, n_classes=2, random_state=_seed(random)
    )


def ball_in_ten(random: Random) -> Sample:
    """A cloud in ten dimensions, whose inner half is a class: 2,000 points, no gap."""
    X, sign = make_hastie_10_2(2000, random_state=_seed(random))
    return X, (sign > 0).astype(int)


def few_columns(random: Random) -> Sample:
    """Two classes by 20 columns, of which two count: 1,000 rows."""
    return make_classification(1000, 20, random_state=_seed(random))


def many_columns(random: Random) -> Sample:
    """Four classes of two clusters by 30 columns, of which ten count: 2,000 rows."""
    return make_classification(2000, 30, n_informative=10, n_classes=4, random_state=_seed(random))


def mixed_table(random: Random) -> Sample:
    """Two classes by three numbers that overlap and three columns of four kinds; 1,000 rows."""
    codes = random.integers(0, 2, 1000)
    numbers = random.normal(size=(1000, 3)) + codes[:, None] * [1.2, 1.0, 0.0]
    columns = [numbers]
    for _ in range(3):
        shares = random.dirichlet([1.5] * 4, 2)
        kinds = (random.random((1000, 1)) > np.cumsum(shares, axis=1)[codes, :3]).sum(axis=1)
        columns.append(np.eye(4)[kinds])
    X = np.hstack(columns)
    return (X - X.mean(axis=0)) / X.std(axis=0), codes


def small_counts(random: Random) -> Sample:
    """Three classes by twelve columns of numbers from 0 to 3; 1,500 rows."""
    codes = random.integers(0, 3, 1500)
    return random.binomial(3, random.beta(2, 2, size=(3, 12))[codes]).astype(float), codes


_UNBALANCED = {"equal": (1, 2, 5, 10), "proportional": (10,)}
_DRAWN = {"equal": (1, 5), "strokes": (10,)}
_ONE_SIDED = {"one-sided": (5,)}
_TABLE = {"equal": (1, 5, 10, 20)}
FAMILIES: dict[str, Family] = {
    "unbalanced-blobs": Family(unbalanced_blobs, _UNBALANCED, n_draws=20),
    "unbalanced-space": Family(unbalanced_space, _UNBALANCED),
    "touching-blobs": Family(touching_blobs, n_draws=20),
    "touching-three": Family(touching_three),
    "shares-1000": Family(shares_1000, {"equal": (1, 3, 5)}),
    "shares-20000": Family(shares_20000, {"equal": (1, 3, 5)}),
    "overlapping": Family(overlapping),
    "overlapping-skew": Family(overlapping_skew),
    "multimodal": Family(multimodal),
    "checkerboard": Family(checkerboard),
    "strokes-fields": Family(strokes_fields, _DRAWN, shape=(60, 80)),
    "strokes-unequal": Family(strokes_unequal, _DRAWN, shape=(100, 100)),
    "strips": Family(strips),
    "strips-three": Family(strips_three),
    "six-sizes": Family(six_sizes, _UNBALANCED),
    "eight-sizes": Family(eight_sizes, _UNBALANCED),
    "one-sided": Family(one_sided, _ONE_SIDED),
    "one-sided-rings": Family(one_sided_rings, _ONE_SIDED),
    "moons": Family(moons),
    "circles": Family(circles),
    "unequal-density": Family(unequal_density),
    "dense-in-wide": Family(dense_in_wide),
    "swiss-roll": Family(swiss_roll),
    "spirals": Family(spirals),
    "moons-in-20": Family(moons_in_20),
    "nested-rings": Family(nested_rings),
    "twenty-blobs": Family(twenty_blobs),
    "three-blobs": Family(three_blobs),
    "three-values": Family(three_values),
    "two-values": Family(two_values),
    "halved-cube": Family(halved_cube),
    "mixed-columns": Family(mixed_columns),
    "heavy-tails": Family(heavy_tails),
    "heavier-tails": Family(heavier_tails),
    "ball": Family(ball, _TABLE),
    "ball-in-ten": Family(ball_in_ten, _TABLE),
    "few-columns": Family(few_columns, _TABLE),
    "many-columns": Family(many_columns, _TABLE),
    "mixed-table": Family(mixed_table, _TABLE),
    "small-counts": Family(small_counts, _TABLE),
}
