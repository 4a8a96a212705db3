"""Label diffusion: from labels to posteriors, margins and a map. The one way out.

`diffusion` diffuses labels and reads the result off, `walks` are the ways in which labels count,
`stopping_time` chooses the time.
"""

from __future__ import annotations

from diffclass.label_diffusion.diffusion import LabelDiffusion, diffuse_labels

__all__ = ["LabelDiffusion", "diffuse_labels"]
