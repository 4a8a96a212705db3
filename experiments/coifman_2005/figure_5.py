"""Coifman et al. 2005, figure 5: tissue from spectra by 1-nearest neighbour and by diffusion.

The paper's slice is not public. The scene here is `diffclass.datasets.make_tissue_scene`: each
tissue is a curve in spectral space along which its spectrum drifts from the top, where the strokes
are, to the bottom. According to the paper this defeats classifiers that ignore the geometry. The
scene shows that the effect exists and how large it is there, not how large it was on the paper's
slice. Ten seeded scenes, each with its own strokes; accuracy is the share of right pixels without a
stroke.

    1-NN            the class of the nearest stroke
    Gaussian        one Gaussian per class, covariances shrunk by 0.1 (quadratic discriminant)
    linear          Gaussians with one covariance, that of Ledoit and Wolf (linear discriminant)
    paper           the paper's rule: chi_i in L1, at the time of the largest margin
    largest margin  the same, with chi_i scaled by the walk's measure, at a time at which the labels
                    cover the graph
    kept share      that scale, at the last covered time that keeps 0.8 of the largest margin: how
                    free labels are stopped here
    default         DiffusionClassifier with its defaults, labels that absorb the walk
    discriminant    a second round on the same graph, with the kernel slowed by `LocalDiscriminant`
                    of the scores of the map of the kept share

Free labels are looked at up to 256 steps. Of the three things in which the kept share differs from
the paper's rule, each is also changed alone: the scale makes no difference here, since each tissue
is labelled alike; the condition of coverage gains some points; the kept share gains nearly all,
whether the labels have to cover the graph or not. The margin is largest after a few steps, when
most points have met one class only, by a chance edge or the right one; which of them leads through
the tissue shows later, while the margin falls slowly.

All methods use the same partially whitened spectra, none the position of a pixel. Below, as a
picture only, is the Raman map of cartilage of the R package hyperSpec, which the package ``rdata``
reads. Its classes are a clustering of the same spectra, so its accuracy means nothing. Without the
file or ``rdata`` the picture shows only the scene.

    python -m experiments.coifman_2005.figure_5
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from diffclass import DiffusionClassifier, StoppingRule, diffuse_labels, markov_operator
from diffclass.datasets import make_tissue_scene
from diffclass.kernels import LocalDiscriminant, SharedNeighbors
from diffclass.label_diffusion import LabelDiffusion, map_scores
from diffclass.neighbors import PartialWhitening
from diffclass.plots import ClassMapDisplay, CompositeDisplay
from experiments.figure import column_figure, main
from experiments.measures import mapped_classes
from experiments.problems import DATA

PEERS = ("1-NN", "Gaussian", "linear")
FREE = {"max_time": 256, "by": "margin"}
LARGEST = {**FREE, "kept_share": 1}
# of free labels, how they are scaled and stopped, from the paper's rule to the kept share
RULES = {
    "paper": ("free-l1", StoppingRule(**LARGEST, covered=False)),
    "paper, scaled by pi": ("free", StoppingRule(**LARGEST, covered=False)),
    "paper, covered": ("free-l1", StoppingRule(**LARGEST)),
    "paper, kept share": ("free-l1", StoppingRule(**FREE, covered=False)),
    "largest margin": ("free", StoppingRule(**LARGEST)),
    "kept share in L1": ("free-l1", StoppingRule(**FREE)),
    "kept share, uncovered": ("free", StoppingRule(**FREE, covered=False)),
    "kept share": ("free", StoppingRule(**FREE)),
}
METHODS = (*PEERS, *RULES, "default", "discriminant")
DRAWN = ("1-NN", "paper", "largest margin", "kept share")
CARTILAGE = DATA / "chondro" / "chondro.rda"
STROKE = 12  # pixels of a stroke on the cartilage


@dataclass(frozen=True)
class Slice:
    """A picture of shape (rows, columns, bands) with strokes and classes, 0 = no stroke."""

    cube: np.ndarray
    labels: np.ndarray
    truth: np.ndarray
    names: tuple[str, ...]
    colors: tuple[str, ...]


def compute(quick: bool) -> dict[str, Any]:
    size, n_draws = (64, 3) if quick else (128, 10)
    slices = [_tissue(size, seed) for seed in range(n_draws)]
    maps = [_class_maps(picture) for picture in slices]
    accuracies = [
        [_accuracy(picture, found[name]) for name in METHODS]
        for picture, (found, _) in zip(slices, maps, strict=True)
    ]
    times = [[taus[name] for name in (*RULES, "default")] for _, taus in maps]
    shown = [("tissue", slices[0], maps[0][0])]
    cartilage = _cartilage_if_any()
    if cartilage is not None:
        shown.append(("cartilage", cartilage, _class_maps(cartilage)[0]))
    return {"accuracy": np.array(accuracies), "tau": np.array(times), "shown": shown}


def _tissue(size: int, seed: int) -> Slice:
    scene = make_tissue_scene(size, size, random_state=seed)
    return Slice(scene.cube, scene.labels, scene.truth, scene.class_names, scene.class_colors)


def _class_maps(picture: Slice) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """Return the map of each method, and the time of each that diffuses."""
    spectra = picture.cube.reshape(-1, picture.cube.shape[2])
    points = PartialWhitening(random_state=0).fit_transform(spectra)
    labels = picture.labels.ravel().astype(int)
    y = np.where(labels > 0, labels, -1)
    peers = {
        "1-NN": KNeighborsClassifier(1),
        "Gaussian": QuadraticDiscriminantAnalysis(reg_param=0.1),
        "linear": LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    }
    found = {
        name: peer.fit(points[y > 0], y[y > 0]).predict(points) for name, peer in peers.items()
    }
    default = DiffusionClassifier(random_state=0).fit(points, y)
    rounds = {"default": default.diffusion_} | {
        name: diffuse_labels(default.operator_, y, label_mode=mode, tau=rule)
        for name, (mode, rule) in RULES.items()
    }
    taus = {name: diffused.tau for name, diffused in rounds.items()}
    rounds["discriminant"] = _second_round(points, y, default, rounds["kept share"])
    found |= {name: mapped_classes(diffused) for name, diffused in rounds.items()}
    return {name: classes.reshape(picture.labels.shape) for name, classes in found.items()}, taus


def _second_round(
    points: np.ndarray, y: np.ndarray, default: DiffusionClassifier, first: LabelDiffusion
) -> LabelDiffusion:
    kernel = SharedNeighbors(LocalDiscriminant())
    scores = map_scores(default.operator_, first.codes, len(first.classes))
    operator = markov_operator(
        points, kernel=kernel, search=default.graph_.search, y=y, scores=scores
    )
    mode, rule = RULES["kept share"]
    return diffuse_labels(operator, y, label_mode=mode, tau=rule)


def _accuracy(picture: Slice, found: np.ndarray) -> float:
    return float((found == picture.truth)[picture.labels == 0].mean())


def _cartilage_if_any() -> Slice | None:
    try:
        return read_cartilage()
    except (ImportError, FileNotFoundError) as missing:
        print(f"without the cartilage: {missing}", file=sys.stderr)
        return None


def read_cartilage() -> Slice:
    """Return the Raman map, 25 x 35 pixels, a stroke in each of its three clusters."""
    if not CARTILAGE.is_file():
        raise FileNotFoundError(f"no {CARTILAGE}; set DIFFCLASS_DATA to the folder of the scenes")
    try:
        import rdata
    except ImportError:
        raise ImportError("reading chondro.rda needs rdata: pip install rdata") from None
    kinds = rdata.conversion.DEFAULT_CLASS_MAP | {
        "hyperSpec": lambda value, attributes: attributes,
        "data.frame": lambda value, attributes: value,  # one of its columns is a matrix
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rdata warns of R's own classes
        parsed = rdata.parser.parse_file(CARTILAGE)
        table = rdata.conversion.convert(parsed, constructor_dict=kinds)["chondro"]["data"]
    shape = tuple(len(np.unique(table[axis])) for axis in ("y", "x"))
    order = np.lexsort((table["x"], -np.asarray(table["y"])))  # y points up
    clusters = (np.asarray(table["clusters"].codes) + 1)[order].reshape(shape)
    cube = _without_baseline(np.asarray(table["spc"])[order]).reshape(*shape, -1)
    names = tuple(table["clusters"].categories)
    return Slice(cube, _strokes(clusters), clusters, names, ("#CC79A7", "#009E73", "#0072B2"))


def _without_baseline(spectra: np.ndarray) -> np.ndarray:
    """Subtract the line under each spectrum and scale it to mean 1."""
    band = np.linspace(-1, 1, spectra.shape[1])
    below = spectra
    for _ in range(20):
        lines = np.polynomial.polynomial.polyval(
            band, np.polynomial.polynomial.polyfit(band, below.T, 1)
        )
        below = np.minimum(below, lines)
    above = spectra - lines
    return above / above.mean(axis=1, keepdims=True)


def _strokes(clusters: np.ndarray) -> np.ndarray:
    """Return a stroke in each cluster: a random pixel of it and those nearest to that one."""
    rng = np.random.default_rng(0)
    labels = np.zeros_like(clusters)
    for cluster in np.unique(clusters[clusters > 0]):  # a few pixels are in none
        places = np.argwhere(clusters == cluster)
        away = np.square(places - places[rng.integers(len(places))]).sum(axis=1)
        near = places[np.argsort(away, kind="stable")[:STROKE]]
        labels[tuple(near.T)] = cluster
    return labels


def numbers(results: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    accuracy = dict(zip(METHODS, results["accuracy"].T, strict=True))
    for name, values in accuracy.items():
        found[f"{name}: accuracy, mean"] = values.mean()
        found[f"{name}: accuracy, standard deviation"] = values.std(ddof=1)
    for name, times in zip((*RULES, "default"), results["tau"].T, strict=True):
        found[f"{name}: tau, median"] = np.median(times)
    for name in PEERS:
        found[f"kept share less {name}, least"] = (accuracy["kept share"] - accuracy[name]).min()
    gain = accuracy["discriminant"] - accuracy["kept share"]
    found["discriminant less kept share, mean"] = gain.mean()
    found["discriminant less kept share, 95 % half interval"] = (
        1.96 * gain.std(ddof=1) / np.sqrt(len(gain))
    )
    return found


def plot(results: dict[str, Any]) -> Figure:
    rows = results["shown"]
    heights = [2.1, 1.6][: len(rows)]  # inches
    figure = column_figure(sum(heights))
    blocks = figure.subfigures(len(rows), 1, squeeze=False, height_ratios=heights)[:, 0]
    for block, (name, picture, maps) in zip(blocks, rows, strict=True):
        _draw_scene(block, name, picture, maps, results["accuracy"][0])
    return figure


def _draw_scene(
    block: Any, name: str, picture: Slice, maps: dict[str, np.ndarray], accuracy: np.ndarray
) -> None:
    """Draw strokes, truth and legend, and below them the maps."""
    ids = range(1, len(picture.names) + 1)
    look = {"class_ids": ids, "class_names": picture.names, "class_colors": picture.colors}
    (strokes, known, names, spare), below = block.subplots(2, len(DRAWN))
    spare.axis("off")
    CompositeDisplay(picture.cube, picture.labels, **look).plot(
        ax=strokes, legend=False, title=f"{name}, strokes"
    )
    for halo in strokes.collections:
        halo.set_linewidth(0.4)  # in so small a picture the usual one hides the strokes
    title = "truth" if name == "tissue" else "its clusters"
    ClassMapDisplay(picture.truth, **look).plot(ax=known, legend=False, title=title)
    for axes, method in zip(below, DRAWN, strict=True):
        title = method
        if name == "tissue":
            title += f"\n{100 * accuracy[METHODS.index(method)]:.1f} %"
        display = ClassMapDisplay(maps[method], **look).plot(ax=axes, legend=False, title=title)
    for axes in (strokes, known, *below):
        axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
    names.axis("off")
    names.legend(handles=display.legend_patches(counts=False), loc="center")


if __name__ == "__main__":
    main(compute, numbers, plot)
