"""Documents to counts to weights: tokens, vocabulary, weighting; corpora on disk.

Examples
--------
>>> from laconic.corpus import Corpus
>>> Corpus.from_texts(["red fish", "blue fish", "red bird", "one"])
Corpus(4 documents x 2 terms, 4 non-zeros, 1 empty document)
"""

from typing import TYPE_CHECKING

from laconic.errors import CorpusError
from laconic.lazily import lazily

if TYPE_CHECKING:
    from laconic.corpus.corpus import Corpus
    from laconic.corpus.modalities import read_corpora
    from laconic.corpus.vectorizer import Vectorizer
    from laconic.reading import Reading

__all__ = ["Corpus", "CorpusError", "Reading", "Vectorizer", "read_corpora"]

__getattr__ = lazily(
    __name__,
    {
        "Corpus": "laconic.corpus.corpus",
        "Reading": "laconic.reading.ledger",
        "Vectorizer": "laconic.corpus.vectorizer",
        "read_corpora": "laconic.corpus.modalities",
    },
)
