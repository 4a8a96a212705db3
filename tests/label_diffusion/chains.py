"""Chains, on which what has arrived where is known, and labels by their places."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from diffclass import MarkovOperator


def chain(n=200, dtype=np.float64):
    return MarkovOperator.from_affinity(
        sp.csr_array((np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1)).astype(dtype))
    )


def marked(n, labels):
    y = np.full(n, -1)
    y[list(labels)] = list(labels.values())
    return y
