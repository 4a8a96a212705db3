"""Distance graphs: who is near whom.

A *search* finds neighbours and follows scikit-learn's ``KNeighborsTransformer``: ``fit_transform``
gives the CSR matrix of distances between the points, ``transform`` that from new points to them.
`neighbors_graph` makes the search's answer symmetric: CSR of squared distances, in which explicit
zeros (the diagonal, duplicates) are edges.
"""

from diffclass.neighbors._default import default_search
from diffclass.neighbors._graph import kept_edges, neighbors_graph
from diffclass.neighbors._search import Search
from diffclass.neighbors.descent import DescentSearch
from diffclass.neighbors.exact import ExactSearch
from diffclass.neighbors.inverted_file import InvertedFileSearch
from diffclass.neighbors.radius import RadiusSearch

__all__ = [
    "DescentSearch",
    "ExactSearch",
    "InvertedFileSearch",
    "RadiusSearch",
    "Search",
    "default_search",
    "kept_edges",
    "neighbors_graph",
]
