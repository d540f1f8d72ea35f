"""How good topics are at what people use them for: one module for each use.

Examples
--------
>>> from laconic import evaluate
>>> evaluate.clustering_accuracy(["fish", "fish", "bird"], [1, 1, 0])
1.0
"""

from laconic.bundle.documents import strongest_labels
from laconic.evaluate.classification import Classification, classification_accuracy
from laconic.evaluate.clustering import clustering_accuracy, clustering_nmi, kmeans_scores, purity
from laconic.evaluate.coherence import Coherence, coherence, diversity
from laconic.evaluate.comparison import Comparison, Paired, compare, holm, paired_test
from laconic.evaluate.crossmodal import mate_ranks, mean_average_precision
from laconic.evaluate.labels import LabelScores, label_scores
from laconic.evaluate.matching import check_judged, rankings_of
from laconic.evaluate.named import read_qrels, read_queries
from laconic.evaluate.retrieval import RetrievalScores, retrieval_scores
from laconic.evaluate.stability import Stability, stability, topic_overlap
from laconic.evaluate.summary import TopicSummary, summarise_topics
from laconic.reading.rankings import read_run, write_run

__all__ = [
    "Classification",
    "Coherence",
    "Comparison",
    "LabelScores",
    "Paired",
    "RetrievalScores",
    "Stability",
    "TopicSummary",
    "check_judged",
    "classification_accuracy",
    "clustering_accuracy",
    "clustering_nmi",
    "coherence",
    "compare",
    "diversity",
    "holm",
    "kmeans_scores",
    "label_scores",
    "mate_ranks",
    "mean_average_precision",
    "paired_test",
    "purity",
    "rankings_of",
    "read_qrels",
    "read_queries",
    "read_run",
    "retrieval_scores",
    "stability",
    "strongest_labels",
    "summarise_topics",
    "topic_overlap",
    "write_run",
]
