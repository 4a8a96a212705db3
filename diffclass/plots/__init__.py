"""Pictures of scenes, class maps, curves and embeddings, as display objects like scikit-learn's.

A display holds its data and draws them with ``plot(ax=None, legend=True, title=None)``, which
returns the display with ``ax_`` and ``figure_`` set. Nothing here calls ``show``. A new figure
belongs to no window and to no global state, so it works without a screen and needs no closing::

    ClassMapDisplay(class_map).plot().figure_.savefig("map.png", dpi=150)

matplotlib is imported inside the functions, because the core runs without it.
"""

from __future__ import annotations

from diffclass.plots.accuracy import (
    ConfusionDisplay,
    DetectionDisplay,
    ReliabilityDisplay,
    ThresholdDisplay,
    plot_evaluation,
)
from diffclass.plots.coordinates import EmbeddingDisplay
from diffclass.plots.curves import BandwidthDisplay, EigenvaluesDisplay, MarginCurveDisplay
from diffclass.plots.display import (
    BLUE,
    DEFAULT_PALETTE,
    SKY_BLUE,
    VERMILION,
    Display,
    class_palette,
    default_color,
    label_map_axes,
    new_figure,
)
from diffclass.plots.mean_spectra import MOST_SPREADS, MeanSpectraDisplay
from diffclass.plots.pictures import (
    ClassMapDisplay,
    CompositeDisplay,
    MarginMapDisplay,
    plot_side_by_side,
    stretch_contrast,
)

__all__ = [
    "BLUE",
    "DEFAULT_PALETTE",
    "MOST_SPREADS",
    "SKY_BLUE",
    "VERMILION",
    "BandwidthDisplay",
    "ClassMapDisplay",
    "CompositeDisplay",
    "ConfusionDisplay",
    "DetectionDisplay",
    "Display",
    "EigenvaluesDisplay",
    "EmbeddingDisplay",
    "MarginCurveDisplay",
    "MarginMapDisplay",
    "MeanSpectraDisplay",
    "ReliabilityDisplay",
    "ThresholdDisplay",
    "class_palette",
    "default_color",
    "label_map_axes",
    "new_figure",
    "plot_evaluation",
    "plot_side_by_side",
    "stretch_contrast",
]
