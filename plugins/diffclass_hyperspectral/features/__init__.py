"""Features of a scene's pixels: components, spectra of length 1, spatial scales.

What is imported here costs nothing, so that commands can list what there is; `SceneFeatures` is in
`features.scene_features`.
"""

METRICS = ("euclidean", "angle", "correlation")  # what the features' distance may measure

__all__ = ["METRICS"]
