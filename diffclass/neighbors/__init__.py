"""Neighbour searches, and graphs of distances between neighbours.

A `NeighborSearch` follows scikit-learn's ``KNeighborsTransformer``: ``fit_transform`` gives a CSR
matrix of the distances between the points, ``transform`` of those from new points to them.
`neighbors_graph` makes the result of a search symmetric: a CSR matrix of squared distances, in
which explicit zeros (the diagonal, duplicates) are edges. `PartialWhitening` gives the coordinates
that are searched, where points have many features.
"""

from diffclass.neighbors.graph import (
    default_search,
    kept_edges,
    neighbors_graph,
    on_device,
)
from diffclass.neighbors.nn_descent import NNDescentSearch
from diffclass.neighbors.nodes import Nodes
from diffclass.neighbors.number_range import far_centers
from diffclass.neighbors.partial_whitening import PartialWhitening
from diffclass.neighbors.radius_search import RadiusSearch
from diffclass.neighbors.search import CudaSearch, ExactSearch, NeighborSearch, Search

__all__ = [
    "CudaSearch",
    "ExactSearch",
    "NNDescentSearch",
    "NeighborSearch",
    "Nodes",
    "PartialWhitening",
    "RadiusSearch",
    "Search",
    "default_search",
    "far_centers",
    "kept_edges",
    "neighbors_graph",
    "on_device",
]
