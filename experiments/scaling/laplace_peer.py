"""GraphLearning's kNN graph and Laplace learning, run in its own environment.

    python laplace_peer.py POINTS.npy LABELS.npy RESULT.npy REPEATS

Prints the seconds of each repeat as JSON and saves the classes found. Imports nothing of diffclass.
"""

from __future__ import annotations

import json
import sys
import time

import graphlearning as gl
import numpy as np


def main() -> None:
    points, y = np.load(sys.argv[1]), np.load(sys.argv[2])
    labelled = np.flatnonzero(y >= 0)
    classes, codes = np.unique(y[labelled], return_inverse=True)
    seconds = []
    for _ in range(int(sys.argv[4])):
        start = time.perf_counter()
        W = gl.weightmatrix.knn(points, 12)
        built = time.perf_counter()
        found = gl.ssl.laplace(W).fit_predict(labelled, codes)
        seconds.append({"graph": built - start, "laplace": time.perf_counter() - built})
    np.save(sys.argv[3], classes[found])
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
