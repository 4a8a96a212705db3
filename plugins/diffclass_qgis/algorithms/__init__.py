"""The table of the toolbox's algorithms: all that tells one from another is here, a file each."""

from __future__ import annotations

from diffclass_qgis.algorithms.anomaly import ANOMALY
from diffclass_qgis.algorithms.classify import CLASSIFY
from diffclass_qgis.algorithms.cluster import CLUSTER
from diffclass_qgis.algorithms.evaluate import EVALUATE
from diffclass_qgis.algorithms.relabel import RELABEL
from diffclass_qgis.algorithms.suggest import SUGGEST

ALGORITHMS = (CLASSIFY, EVALUATE, SUGGEST, CLUSTER, ANOMALY, RELABEL)
