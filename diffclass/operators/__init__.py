"""Diffusion operators: from affinities to the walk, and what is built on it.

`markov` holds the walk A = D^-1 K_alpha, `warped` one walk per class, `laplacians` views of A;
`chebyshev` evaluates polynomials of A.
"""

from __future__ import annotations

from diffclass.operators.markov import MarkovOperator
from diffclass.operators.warped import WarpedOperator, warped_operator

__all__ = ["MarkovOperator", "WarpedOperator", "warped_operator"]
