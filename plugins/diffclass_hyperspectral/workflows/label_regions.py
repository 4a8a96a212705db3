"""Regions of labels: labelled pixels of a class that touch are one observation, not many.

The pixels of a stroke or of a marked field resemble one another more than the class: ten in a row
say about as much as one. `DiffusionClassifier.fit` takes them as ``groups``.
"""

from __future__ import annotations

import numpy as np


def label_regions(ids: np.ndarray) -> np.ndarray:
    """Return the region of each labelled pixel: pixels of a class that touch, also at corners.

    Parameters
    ----------
    ids : ndarray of int of shape (rows, columns)
        Class ids, 0 where unlabelled.

    Returns
    -------
    ndarray of int of shape (rows, columns)
        From 0; -1 where unlabelled.

    Examples
    --------
    >>> import numpy as np
    >>> from diffclass_hyperspectral.workflows.label_regions import label_regions
    >>> label_regions(np.array([[1, 0, 2, 0], [0, 1, 2, 1]]))
    array([[ 0, -1,  2, -1],
           [-1,  0,  2,  1]])
    """
    from scipy.ndimage import label

    regions = np.full(ids.shape, -1)
    n_regions = 0
    for value in np.unique(ids[ids > 0]):
        of_class, n_found = label(ids == value, structure=np.ones((3, 3)))
        inside = of_class > 0
        regions[inside] = of_class[inside] - 1 + n_regions
        n_regions += n_found
    return regions
