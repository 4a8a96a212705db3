"""``diffclass demo``: classify an embedded scene, with nothing to fetch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diffclass.command_line.console import Console, common_options
from diffclass.command_line.option_groups import command, option, options, seed_option

if TYPE_CHECKING:
    import numpy as np

    from diffclass.classifier import DiffusionClassifier
    from diffclass.datasets import TissueScene


@dataclass(frozen=True)
class _Given:
    output: Path = option(
        "Folder for the pictures; made if missing, pictures of an earlier run are replaced.",
        short="-o",
        default=Path("demo_output"),
    )
    random_state: int = seed_option()


@command(epilog="Example: diffclass demo")
@options(_Given, "given")
@common_options
def demo(given: _Given, console: Console) -> None:
    """Classify an embedded tissue scene from a few strokes and leave pictures.

    After Figure 5 of Coifman et al. 2005: three tissues whose shading and composition drift from
    top to bottom, labelled near the top only. The diffusion is compared with two classifiers that
    ignore the geometry: 1-nearest neighbour and one Gaussian per class. None sees where a pixel
    lies.
    """
    from diffclass.datasets import make_tissue_scene
    from diffclass.system.progress import stage

    with console.timing():
        with stage("scene"):
            scene = make_tissue_scene(random_state=given.random_state)
        diffusion, maps = _class_maps(scene, given.random_state)
        accuracy = {name: _accuracy(scene, found) for name, found in maps.items()}
        with stage("pictures"):
            files = _draw(given.output, scene, diffusion, maps, accuracy)
    result = {
        "accuracy": accuracy,
        "tau": int(diffusion.tau_),
        "files": [str(file) for file in files],
        "seconds": console.seconds | {"total": console.total_seconds},
    }
    console.give(result, "\n".join(_lines(result)))


def _class_maps(
    scene: TissueScene, random_state: int
) -> tuple[DiffusionClassifier, dict[str, np.ndarray]]:
    import numpy as np
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    from sklearn.neighbors import KNeighborsClassifier

    from diffclass.classifier import DiffusionClassifier
    from diffclass.neighbors import PartialWhitening
    from diffclass.system.progress import stage

    with stage("features"):
        spectra = scene.cube.reshape(-1, scene.cube.shape[2])
        points = PartialWhitening(random_state=random_state).fit_transform(spectra)
    labels = scene.labels.ravel().astype(int)  # an unsigned -1 would be 255
    y = np.where(labels > 0, labels, -1)
    diffusion = DiffusionClassifier(random_state=random_state).fit(points, y)
    maps = {"diffusion": diffusion.transduction_.reshape(scene.labels.shape)}
    peers = {
        "nearest_neighbor": KNeighborsClassifier(1),
        "gaussian": QuadraticDiscriminantAnalysis(reg_param=0.1),
    }
    for name, peer in peers.items():
        with stage(name):
            found = peer.fit(points[y > 0], y[y > 0]).predict(points)
            maps[name] = found.reshape(scene.labels.shape)
    return diffusion, maps


def _accuracy(scene: TissueScene, found: np.ndarray) -> float:
    unlabelled = scene.labels == 0
    return float((found == scene.truth)[unlabelled].mean())


def _draw(
    output: Path,
    scene: TissueScene,
    diffusion: DiffusionClassifier,
    maps: dict[str, np.ndarray],
    accuracy: dict[str, float],
) -> list[Path]:
    from diffclass.plots import MarginCurveDisplay, plot_side_by_side

    titles = {"nearest_neighbor": "1-nearest neighbour", "diffusion": "diffusion"}
    ids = (1, 2, 3)
    overview = plot_side_by_side(
        scene.cube,
        scene.labels,
        maps={title: maps[name] for name, title in titles.items()},
        margin=diffusion.margin_.reshape(scene.labels.shape),
        accuracies={title: accuracy[name] for name, title in titles.items()},
        class_names=dict(zip(ids, scene.class_names, strict=True)),
        class_colors=dict(zip(ids, scene.class_colors, strict=True)),
    )
    curve = MarginCurveDisplay.from_estimator(diffusion).figure_
    output.mkdir(parents=True, exist_ok=True)
    return [
        _saved(overview, output / "overview.png"),
        _saved(curve, output / "margin_curve.png"),
    ]


def _saved(figure: Any, path: Path) -> Path:
    from diffclass.system.output import replacing

    with replacing(path, overwrite=True) as temporary:
        figure.savefig(temporary, dpi=110)
    return path


def _lines(result: dict[str, Any]) -> list[str]:
    accuracy = result["accuracy"]
    return [
        f"diffusion            {accuracy['diffusion']:.1%} of the unlabelled pixels right "
        f"(tau = {result['tau']} steps)",
        f"1-nearest neighbour  {accuracy['nearest_neighbor']:.1%}",
        f"Gaussian             {accuracy['gaussian']:.1%}",
        f"pictures: {', '.join(result['files'])}",
        f"{result['seconds']['total']:.1f} s",
    ]
