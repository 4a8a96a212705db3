"""Options that choose the features of a scene, for commands that diffuse labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from diffclass.command_line import WalkOptions, option
from diffclass_hyperspectral.options import OPTIONS

if TYPE_CHECKING:
    from diffclass.classifier import DiffusionClassifier
    from diffclass_hyperspectral.features.scene_features import SceneFeatures
    from diffclass_hyperspectral.io.labels import LabelImage
    from diffclass_hyperspectral.io.scenes import Scene

LABEL_FORMATS = (
    "Label image (0 is unlabelled) or shapes: .img, .tif, .png, .npy, .npz, .mat, .gis, .h5; "
    ".geojson, .shp, .gpkg, .fgb, .kml; or pixels, .csv with row, column and class."
)
SMALLER = (
    "ask for fewer --components or --neighbors, or cut the scene into tiles: fit on one with "
    "--save, classify the others with --model"
)


@dataclass(frozen=True)
class FeatureOptions:
    """What of spectra is compared, and how."""

    features: str = option(
        "Components of the spectra, alone or together with smoothed ones: means within fields.",
        usual=True,
        of=OPTIONS["features"],
        default="spectral",
    )
    metric: str = option(
        "How spectra are compared. euclidean: by noise-adjusted components; angle, correlation: by "
        "shape, regardless of brightness, in all good bands.",
        of=OPTIONS["metric"],
        default="euclidean",
    )

    def features_of(self, scene: Scene, components: int | None = None) -> SceneFeatures:
        """Return the features that were asked for, not yet fitted, if a scene can have them."""
        from diffclass_hyperspectral import SceneFeatures
        from diffclass_hyperspectral.features.scene_features import check_components

        check_components(components, scene)
        spatial = self.features == "spatial"
        return SceneFeatures(components, metric=self.metric, spatial=spatial)


@dataclass(frozen=True)
class DiffusionOptions(FeatureOptions, WalkOptions):
    """The features, the graph, the walk and its time."""

    components: int | None = option(
        "Number of components; by default 20 noise-adjusted ones, for angle and correlation "
        "as many as keep the distances.",
        hidden=True,
        of=OPTIONS["n_components"],
    )

    def classifier(
        self, random_state: int, labels: LabelImage, scene: Scene
    ) -> DiffusionClassifier:
        """Return the classifier that was asked for; sizes are those of the labels' classes."""
        from diffclass_hyperspectral.jobs.class_sizes import class_prior_of

        sizes = self.class_sizes
        prior = None if sizes is None else class_prior_of(sizes, labels, scene)
        return self.classifier_of(random_state, prior)
