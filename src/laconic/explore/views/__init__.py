"""Views of a bundle: functions that return plain data, of which pages, JSON and figures are made.

They work for any number of topics, for models with and without documents, classes, dates and modalities, and
never change the bundle. What they need is found once for a bundle and kept beside it.
"""

from laconic.explore.views.differences import difference
from laconic.explore.views.documents import describe, document, search
from laconic.explore.views.groups import label, labels, time
from laconic.explore.views.lines import UnknownError
from laconic.explore.views.topics import compare, nearest_pairs, overview, similarity, topic, topic_map, tree
from laconic.explore.views.words import word

__all__ = [
    "UnknownError",
    "compare",
    "describe",
    "difference",
    "document",
    "label",
    "labels",
    "nearest_pairs",
    "overview",
    "search",
    "similarity",
    "time",
    "topic",
    "topic_map",
    "tree",
    "word",
]
