"""The problems on which methods are compared: points or a graph, and the truth where it is known.

Real scenes, pictures and graphs, from the folder DIFFCLASS_DATA (by default ../shared/data beside
the project), and the synthetic families of `experiments.few_labels.families`, whose points are
drawn anew in every draw. They are split in two halves, fixed before any default was chosen on those
that were added last. Defaults of the library are chosen on CHOOSING alone: digits, tissue, Jasper
Ridge, MNIST, iris, and of each pair of families the first. REPORTING is only reported: Salinas-A,
Indian Pines, Potsdam, Cora, both networks' embeddings of aerial photographs, wine, breast cancer,
and of each pair of families the second.
"""

from __future__ import annotations

import gzip
import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.preprocessing import scale

from diffclass import MarkovOperator, markov_operator
from diffclass.classifier import DiffusionClassifier
from diffclass.datasets import make_tissue_scene
from diffclass.kernels import Kernel, SharedNeighbors
from diffclass_hyperspectral import Scene, SceneFeatures, open_scene, read_labels
from experiments.few_labels.families import FAMILIES

DATA = Path(
    os.environ.get("DIFFCLASS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)
N_MNIST_COMPONENTS = 50
TILES = ("images", "labels")  # the folders of Potsdam


@dataclass(frozen=True, eq=False)
class Problem:
    """n points and the class of each, 0 where it is not known.

    Attributes
    ----------
    name : str
    points : ndarray of shape (n, p) or None
        None where only a graph is given.
    truth : ndarray of int of shape (n,)
    affinity : sparse array of shape (n, n), optional
        The graph, where it is given and not made from points.
    shape : tuple of int, optional
        Rows and columns of the picture whose pixels the points are.
    pixels : ndarray of int of shape (n,), optional
        Where in the picture, row by row, the points lie; by default they fill it.
    """

    name: str
    points: np.ndarray | None
    truth: np.ndarray
    affinity: sp.csr_array | None = None
    shape: tuple[int, int] | None = None
    pixels: np.ndarray | None = None


def problem_of(name: str, draw: int = 0) -> Problem:
    """Return a problem of PROBLEMS; the points of a family are those of the draw."""
    return _made(name, draw if name in FAMILIES else 0)


@lru_cache(maxsize=1)
def _made(name: str, draw: int) -> Problem:
    return _family(name, draw) if name in FAMILIES else PROBLEMS[name]()


def default_operator(problem: Problem, kernel: Kernel | None = None) -> MarkovOperator:
    """Return the operator that DiffusionClassifier builds, by default with its own kernel."""
    if problem.affinity is not None:
        return MarkovOperator.from_affinity(problem.affinity)
    n_neighbors = DiffusionClassifier().n_neighbors
    kernel = SharedNeighbors() if kernel is None else kernel
    return markov_operator(problem.points, n_neighbors=n_neighbors, kernel=kernel, random_state=0)


def digits() -> Problem:
    from sklearn.datasets import load_digits

    points, truth = load_digits(return_X_y=True)
    return Problem("digits", points, truth + 1)


def small_table(name: str) -> Problem:
    """One of scikit-learn's tables, standardised: iris, wine or breast cancer."""
    import sklearn.datasets

    load = getattr(sklearn.datasets, f"load_{name}")
    points, truth = load(return_X_y=True)
    return Problem(TITLES.get(name, name), scale(points), truth + 1)


def tissue() -> Problem:
    scene = make_tissue_scene(random_state=0)
    points = SceneFeatures().fit_transform(scene.cube)
    return Problem("tissue", points, scene.truth.ravel() + 0, shape=scene.truth.shape)


def jasper_ridge(*, spatial: bool = False) -> Problem:
    from scipy.io import loadmat

    scene = open_scene(DATA / "jasper_ridge" / "jasperRidge2_R198.mat", variable="Y")
    abundances = loadmat(DATA / "jasper_ridge" / "end4.mat")["A"]
    truth = abundances.argmax(axis=0).reshape(scene.shape[1], scene.shape[0]).T + 1
    points = SceneFeatures(spatial=spatial).fit_transform(scene)
    name = "Jasper Ridge, spatial" if spatial else "Jasper Ridge"
    return Problem(name, points, truth.ravel(), shape=truth.shape)


def salinas_a(*, spatial: bool) -> Problem:
    return _scene(
        "Salinas-A", "salinas_a/SalinasA_corrected.mat", "salinas_a/SalinasA_gt.mat", spatial
    )


def indian_pines(*, spatial: bool) -> Problem:
    return _scene(
        "8-bit Indian Pines",
        "indian_pines/IP_200_M.mat",
        "indian_pines/Indian_pines_gt.mat",
        spatial,
    )


def _scene(name: str, cube: str, labels: str, spatial: bool) -> Problem:
    points = SceneFeatures(spatial=spatial).fit_transform(open_scene(DATA / cube))
    truth = read_labels(DATA / labels).ids
    return Problem(f"{name}, {_kind(spatial)}", points, truth.ravel(), shape=truth.shape)


def _kind(spatial: bool) -> str:
    return "spatial" if spatial else "spectral"


def potsdam(*, spatial: bool) -> Problem:
    """Tiles of an EnMAP scene laid out as they lie; the gaps between them are left out."""
    images, labels = (sorted((DATA / "enmap_potsdam" / kind).glob("*.tif")) for kind in TILES)
    tiles = [open_scene(path) for path in images]
    nodata = tiles[0].ignore_value
    cube = _laid_out(images, [np.asarray(tile.data[:]) for tile in tiles], nodata)
    truth = _laid_out(labels, [read_labels(path).ids for path in labels], 0)
    scene = Scene.from_array(cube, band_mask=tiles[0].band_mask, ignore_value=nodata)
    points = SceneFeatures(spatial=spatial).fit_transform(scene)
    pixels = np.flatnonzero(np.isfinite(points).all(axis=1))
    return Problem(
        f"Potsdam, {_kind(spatial)}",
        points[pixels],
        truth.ravel()[pixels],
        shape=truth.shape,
        pixels=pixels,
    )


def _laid_out(paths: list[Path], tiles: list[np.ndarray], empty: float | None) -> np.ndarray:
    """Return the tiles as one array; their names end in the column and row where they begin."""
    places = np.array([path.stem.split("_")[:-3:-1] for path in paths]).astype(int)
    places -= places.min(axis=0)
    rows, columns = places.max(axis=0) + tiles[0].shape[:2]
    whole = np.full((rows, columns, *tiles[0].shape[2:]), empty, dtype=tiles[0].dtype)
    for (row, column), tile in zip(places, tiles, strict=True):
        whole[row : row + tile.shape[0], column : column + tile.shape[1]] = tile
    return whole


def mnist() -> Problem:
    """The 10,000 test images, their leading principal components."""
    from sklearn.decomposition import PCA

    folder = DATA / "mnist_test"
    images = _idx(folder / "t10k-images-idx3-ubyte.gz", 16).reshape(-1, 28 * 28) / 255
    truth = _idx(folder / "t10k-labels-idx1-ubyte.gz", 8).astype(int) + 1
    components = PCA(N_MNIST_COMPONENTS, svd_solver="covariance_eigh").fit_transform(images)
    return Problem("MNIST", components, truth)


def _idx(path: Path, header: int) -> np.ndarray:
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


def cora() -> Problem:
    """Papers that cite one another, a graph without points: the 2,485 of its largest component.

    The other 223 papers lie in 77 small components, most of which no label reaches.
    """
    links = _planetoid("graph")
    n = len(links)
    heads = np.repeat(np.arange(n), [len(links[paper]) for paper in range(n)])
    tails = np.concatenate([links[paper] for paper in range(n)])
    affinity = sp.csr_array((np.ones(len(heads)), (heads, tails)), shape=(n, n))
    affinity.sum_duplicates()
    affinity.data[:] = 1  # a few links stand twice
    tested = np.loadtxt(DATA / "cora" / "ind.cora.test.index", dtype=int)
    topics = np.empty((n, 7))
    topics[: n - len(tested)] = _planetoid("ally")
    topics[tested] = _planetoid("ty")
    component = connected_components(affinity)[1]
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    truth = topics.argmax(axis=1)[kept] + 1
    return Problem("Cora", None, truth, affinity=affinity[kept][:, kept])


def embeddings(network: str) -> Problem:
    """Aerial photographs of 19 classes as unit vectors of a vision-language network."""
    file = np.load(DATA / "embeddings" / f"{network}.npz")
    return Problem(TITLES[network], file["images"].astype(np.float32), file["classes"] + 1)


_ALLOWED = {
    "collections": {"defaultdict"},
    "__builtin__": {"list"},
    "builtins": {"list"},
    "numpy": {"ndarray", "dtype"},
    "numpy.core.multiarray": {"_reconstruct"},
    "_codecs": {"encode"},
}


class _ArraysOnly(pickle.Unpickler):
    """Reads lists, dictionaries and arrays of numbers, and refuses all else."""

    def find_class(self, module: str, name: str) -> Any:
        if name not in _ALLOWED.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name} is not allowed here")
        module = module.replace("numpy.core", "numpy._core")  # where it is today
        return super().find_class(module, name)


def _planetoid(part: str) -> Any:
    with (DATA / "cora" / f"ind.cora.{part}").open("rb") as file:
        return _ArraysOnly(file, encoding="latin1").load()


def _family(name: str, draw: int = 0) -> Problem:
    family = FAMILIES[name]
    points, codes = family.points(draw)
    return Problem(name, points, codes + 1, shape=family.shape)


Makers = dict[str, Callable[[], Problem]]
REAL_CHOOSING: Makers = {
    "digits": digits,
    "tissue": tissue,
    "jasper": jasper_ridge,
    "mnist": mnist,
    "iris": partial(small_table, "iris"),
}
REAL_REPORTING: Makers = {
    "salinas-spectral": partial(salinas_a, spatial=False),
    "salinas-spatial": partial(salinas_a, spatial=True),
    "pines-spectral": partial(indian_pines, spatial=False),
    "pines-spatial": partial(indian_pines, spatial=True),
    "potsdam-spectral": partial(potsdam, spatial=False),
    "potsdam-spatial": partial(potsdam, spatial=True),
    "cora": cora,
    "georsclip_vit_l_14": partial(embeddings, "georsclip_vit_l_14"),
    "clip_rn50": partial(embeddings, "clip_rn50"),
    "wine": partial(small_table, "wine"),
    "breast_cancer": partial(small_table, "breast_cancer"),
}
REAL = REAL_CHOOSING | REAL_REPORTING
TITLES = {  # the name of a problem where it is not that by which it is asked for
    "jasper": "Jasper Ridge",
    "mnist": "MNIST",
    "salinas-spectral": "Salinas-A, spectral",
    "salinas-spatial": "Salinas-A, spatial",
    "pines-spectral": "8-bit Indian Pines, spectral",
    "pines-spatial": "8-bit Indian Pines, spatial",
    "potsdam-spectral": "Potsdam, spectral",
    "potsdam-spatial": "Potsdam, spatial",
    "cora": "Cora",
    "georsclip_vit_l_14": "GeoRSCLIP embeddings",
    "clip_rn50": "CLIP embeddings",
    "breast_cancer": "breast cancer",
}
CHOOSING: Makers = REAL_CHOOSING | {name: partial(_family, name) for name in list(FAMILIES)[::2]}
REPORTING: Makers = REAL_REPORTING | {name: partial(_family, name) for name in list(FAMILIES)[1::2]}
PROBLEMS = CHOOSING | REPORTING
HALVES = {
    half: {TITLES.get(name, name) for name in makers}
    for half, makers in (("choosing", CHOOSING), ("reporting", REPORTING))
}
