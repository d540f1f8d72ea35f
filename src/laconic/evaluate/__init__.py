"""How good topics are at what people use them for: one module for each use.

Examples
--------
>>> from laconic import evaluate
>>> evaluate.clustering_accuracy(["fish", "fish", "bird"], [1, 1, 0])
1.0
"""

from laconic.evaluate.clustering import clustering_accuracy, clustering_nmi, purity
from laconic.evaluate.crossmodal import mate_ranks, mean_average_precision

__all__ = ["clustering_accuracy", "clustering_nmi", "mate_ranks", "mean_average_precision", "purity"]
