"""Collections with queries, as score matrices of queries × documents need them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from laconic import datasets
from laconic.experiments.parts import SEED
from laconic.reading.rankings import Run
from laconic.search.terms import BM25, VSM

if TYPE_CHECKING:
    from laconic.corpus import Corpus
    from laconic.corpus.options import Weighting

Floats = NDArray[np.float32]

TITLES = {
    "20newsgroups": "20 Newsgroups",
    "adi": "ADI",
    "cacm": "CACM",
    "cranfield": "Cranfield",
    "npl": "NPL",
    "reuters21578": "Reuters-21578",
    "scifact": "SciFact",
    "time": "TIME",
}
TERMS = ("BM25", "VSM")
N_FOLDS = 10
# trec_eval's custom: what comes later hardly counts.
DEPTH = 1000


@dataclass(frozen=True, eq=False)
class Collection:
    """Documents, and queries with at least one relevant document.

    Attributes
    ----------
    name : str
        Of the data set.
    corpus : Corpus
        The documents: counts for term matching and probabilistic models, weights for the others.
    queries : list of str
        The ids of the queries.
    counts, rows : csr_array of shape (n_queries, n_terms)
        Counts and weights of the queries' terms.
    qrels : dict of str to dict of str to int
        Judgements of these queries.
    relevant : list of ndarray of int
        The numbers of each query's relevant documents.
    terms : dict of str to ndarray of float32, shape (n_queries, n_documents)
        Scores of "BM25" and of "VSM" (cosines of tf-idf weights), in each query divided by the best one: as
        `laconic.search` scales them.
    folds : ndarray of int
        The part of the queries that each is held out with.
    """

    name: str
    corpus: Corpus
    queries: list[str]
    counts: Any
    rows: Any
    qrels: dict[str, dict[str, int]]
    relevant: list[NDArray[np.int64]]
    terms: dict[str, Floats]
    folds: NDArray[np.int64]

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.corpus.ids)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.corpus.vocabulary)

    def run(self, scores: Floats) -> Run:
        """The best documents of every query, as trec_eval takes them.

        Parameters
        ----------
        scores : ndarray of float32, shape (n_queries, n_documents)
            More is better.

        Returns
        -------
        dict of str to dict of str to float
            From the ids of queries to those of documents to scores.
        """
        depth = min(DEPTH, self.n_documents)
        best = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
        ids = np.asarray(self.corpus.ids)
        return {
            query: dict(zip(ids[places].tolist(), row[places].tolist(), strict=True))
            for query, row, places in zip(self.queries, scores, best, strict=True)
        }


def read_collection(
    name: str,
    *,
    weighting: Weighting = "log-entropy",
    sublinear: bool = True,
    min_df: int = 1,
    n_queries: int | None = None,
    split: str | None = None,
    terms: Sequence[str] = TERMS,
) -> Collection:
    """Read a collection; English stop words are left out, and endings taken off.

    Parameters
    ----------
    name : str
        Of a data set with queries.
    weighting : str
        The weights that models with squared loss see. (The vector space model has its own, sublinear tf-idf.)
    sublinear : bool
        Whether "tfidf" takes counts by their logarithm.
    min_df : int
        Terms of fewer documents are left out. All others are kept, as in the papers.
    n_queries : int, optional
        Only so many queries, the first.
    split : str, optional
        Only the queries of this split.
    terms : sequence of str
        Which of the term scores are needed.
    """
    data: Any = datasets.load(name)
    if split is not None:
        data = data.split(split)
    logarithmic = sublinear and weighting == "tfidf"
    corpus = data.corpus(min_df=min_df, stemmer="english", weighting=weighting, sublinear_tf=logarithmic)
    # A query without a relevant document says nothing about a ranking.
    queries = [query for query in data.queries if any(data.qrels.get(query, {}).values())][:n_queries]
    return collected(
        name,
        corpus,
        {query: data.queries[query] for query in queries},
        {query: data.qrels[query] for query in queries},
        terms=terms,
    )


def collected(
    name: str,
    corpus: Corpus,
    queries: Mapping[str, str],
    qrels: dict[str, dict[str, int]],
    *,
    terms: Sequence[str] = TERMS,
) -> Collection:
    """Documents that are counted, with queries and judgements: texts of queries and grades, by id."""
    texts = list(queries.values())
    numbers = {document: number for number, document in enumerate(corpus.ids)}
    counts = corpus.vectorizer.count(texts)
    matchers: dict[str, Callable[[Any], BM25 | VSM]] = {"BM25": BM25, "VSM": partial(VSM, sublinear_tf=True)}
    return Collection(
        name=name,
        corpus=corpus,
        queries=list(queries),
        counts=counts,
        rows=corpus.vectorize(texts),
        qrels=qrels,
        relevant=[
            np.array([numbers[document] for document, grade in qrels[query].items() if grade > 0])
            for query in queries
        ],
        terms={term: scaled(matchers[term](corpus.counts).scores(counts)) for term in terms},
        folds=np.random.default_rng(SEED).permutation(np.arange(len(queries)) % N_FOLDS),
    )


def scaled(scores: Floats) -> Floats:
    """Scores of terms, in each query divided by the best one.

    >>> import numpy as np
    >>> scaled(np.array([[2, 1], [0, 0]], np.float32))
    array([[1. , 0.5],
           [0. , 0. ]], dtype=float32)
    """
    best = scores.max(axis=1, keepdims=True, initial=0)
    return np.divide(scores, best, out=np.zeros_like(scores), where=best > 0)
