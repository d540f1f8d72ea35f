"""Search: term matching, topic matching, and the blend of both."""

from laconic.errors import SearchError
from laconic.search.index import SearchIndex
from laconic.search.results import Explanation, Hit, Results, Snippet, TermMatch, TopicMatch
from laconic.search.terms import BM25, VSM
from laconic.search.topics import TopicMatcher
from laconic.search.tuning import Tuning

__all__ = [
    "BM25",
    "VSM",
    "Explanation",
    "Hit",
    "Results",
    "SearchError",
    "SearchIndex",
    "Snippet",
    "TermMatch",
    "TopicMatch",
    "TopicMatcher",
    "Tuning",
]
