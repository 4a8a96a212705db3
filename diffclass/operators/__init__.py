"""Diffusion operators: from affinities to the walk, and what is built on it.

`markov` holds the walk A = D^-1 K_alpha, `warped` one walk per class, `laplacians` views of A;
`chebyshev` evaluates polynomials of A. `processor` says what computes steps, the processor itself
or, in `cuda`, a device.
"""

from __future__ import annotations

from diffclass.operators.cuda import Cuda, processor_of
from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import Warp, WarpedOperator, warped_operator

__all__ = [
    "Cuda",
    "MarkovOperator",
    "Warp",
    "WarpedOperator",
    "processor_of",
    "warped_operator",
]
