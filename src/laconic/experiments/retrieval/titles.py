"""Articles with classes as collections with queries: titles of later articles ask for earlier ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic import datasets
from laconic.corpus import Corpus
from laconic.datasets.usenet import strip_message
from laconic.experiments.parts import SEED
from laconic.experiments.retrieval.collections import Collection, collected

# Queries with fewer or more relevant documents are left out: by chance alone, or by hardly more than the
# class.
LEAST, MOST = 2, 100
# Classes of fewer documents are left out.
SMALLEST = 50
# Terms of fewer documents are left out: messages have many misspelt words.
MIN_DF = 2

# The families of Reuters' topic codes, by its own description of them; all others are commodities.
FAMILIES = {
    "corporate": "acq earn",
    "currency": "austdlr austral bfr can cruzado dfl dkr dlr dmk drachma escudo ffr hk lit mexpeso nkr nzdlr "
    "peseta rand ringgit rupiah saudriyal sfr singdlr skr stg yen",
    "economy": "bop cpi cpu gnp housing income instal-debt inventories ipi jobs lei money-supply reserves "
    "retail trade wpi",
    "energy": "crude fuel gas heat jet naphtha nat-gas pet-chem propane",
    "subject": "interest money-fx ship",
}
_FAMILY_OF = {topic: family for family, topics in FAMILIES.items() for topic in topics.split()}
_SUBJECT = re.compile(r"^Subject:[ \t]*(.*(?:\n[ \t]+.*)*)", re.MULTILINE | re.IGNORECASE)
_REPLY = re.compile(r"^(?:re|fwd?)\s*(?:\[\d+\]|\^\d+)?\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Article:
    """An article of a data set with classes.

    Attributes
    ----------
    id, title, text, label : str
        `label` is its class.
    marks : frozenset
        Articles that share a mark are relevant for each other.
    later : bool
        Whether it only asks, and is not among the documents.
    """

    id: str
    title: str
    text: str
    label: str
    marks: frozenset[Hashable]
    later: bool


def subject(message: str) -> str:
    r"""The subject line of a message, without what replies put before it.

    >>> subject("From: a@b\nSubject: RE: Re: Blue  fish\n\nRe: nothing")
    'Blue fish'
    """
    found = _SUBJECT.search(message.partition("\n\n")[0])
    line = " ".join(found[1].split()) if found else ""
    while (shorter := _REPLY.sub("", line)) != line:
        line = shorter
    return line


def newsgroups() -> list[Article]:
    """20 Newsgroups: the class is the group, and messages of a thread are relevant for each other."""
    data: Any = datasets.load("20newsgroups", strip=())
    articles = []
    for number, message in enumerate(data.texts):
        title, group = subject(message), str(data.labels[number])
        # Documents do not hold the subject, nor what they quote: both would make the task trivial.
        body = strip_message(message)
        marks = frozenset([(group, title.lower())] if title else [])
        articles.append(
            Article(str(data.ids[number]), title, body, group, marks, data.splits[number] == "test")
        )
    return [article for article in articles if article.text.strip()]


def reuters() -> list[Article]:
    """Reuters-21578: the class is the family of an article's codes; those that share a code are relevant."""
    data: Any = datasets.load("reuters21578")
    articles = []
    for number, codes in enumerate(data.label_sets):
        families = {_FAMILY_OF.get(code, "commodity") for code in codes}
        if len(families) == 1 and data.splits[number] in ("train", "test"):
            title, later = data.titles[number].strip(), data.splits[number] == "test"
            text, identifier = data.texts[number], str(data.ids[number])
            articles.append(Article(identifier, title, text, families.pop(), frozenset(codes), later))
    return articles


READERS = {"20newsgroups": newsgroups, "reuters21578": reuters}


def read_titles(name: str, *, most_documents: int | None = None) -> tuple[Collection, NDArray[np.int64]]:
    """Read a data set as a collection, with the classes of its documents as numbers from 0.

    Parameters
    ----------
    name : str
        One of `READERS`.
    most_documents : int, optional
        Only so many documents, drawn at random.
    """
    return collection_of(name, READERS[name](), most_documents)


def collection_of(
    name: str, articles: Sequence[Article], most_documents: int | None = None
) -> tuple[Collection, NDArray[np.int64]]:
    """Earlier articles as documents, and titles of later ones as queries."""
    documents = [article for article in articles if not article.later]
    sizes = Counter(article.label for article in documents)
    documents = [article for article in documents if sizes[article.label] >= SMALLEST]
    if most_documents is not None:
        chosen = np.random.default_rng(SEED).permutation(len(documents))[:most_documents]
        documents = [documents[number] for number in sorted(chosen)]
    queries, qrels = _queries([article for article in articles if article.later], documents)
    corpus = Corpus.from_texts(
        [article.text for article in documents],
        ids=[article.id for article in documents],
        min_df=MIN_DF,
        stemmer="english",
        weighting="log-entropy",
    )
    classes = np.unique([article.label for article in documents], return_inverse=True)[1]
    return collected(name, corpus, queries, qrels, terms=("BM25",)), np.asarray(classes, np.int64)


def _queries(
    later: Sequence[Article], documents: Sequence[Article]
) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """Titles of later articles, each once, and which documents share a mark with them."""
    marked: dict[Hashable, list[str]] = {}
    for article in documents:
        for mark in article.marks:
            marked.setdefault(mark, []).append(article.id)
    queries: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    seen: set[tuple[str, frozenset[Hashable]]] = set()
    for article in later:
        relevant = dict.fromkeys((place for mark in article.marks for place in marked.get(mark, [])), 1)
        asked = (article.title.lower(), article.marks)
        if article.title and asked not in seen and LEAST <= len(relevant) <= MOST:
            queries[article.id], qrels[article.id] = article.title, relevant
        seen.add(asked)
    return queries, qrels
