"""The diffusion map of scanpy, run by the Python that has it: see `experiments.cells.transfer`.

    PYTHON experiments/cells/peer.py CELLS.h5ad ANSWERS.npz

ANSWERS gets what `scanpy.tl.diffmap` finds on the file's own graph: "diffmap" (n, 15) and
"eigenvalues" (15,).
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import scanpy as sc


def main() -> None:
    warnings.simplefilter("ignore")
    cells = sc.read_h5ad(sys.argv[1])
    sc.tl.diffmap(cells, n_comps=15)
    values = cells.uns["diffmap_evals"]
    np.savez(sys.argv[2], diffmap=cells.obsm["X_diffmap"], eigenvalues=values)


if __name__ == "__main__":
    main()
