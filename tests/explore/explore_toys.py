"""Small bundles of every kind that is looked at."""

from functools import cache

import numpy as np
from scipy.sparse import csr_array

import laconic
from laconic import RLSI, Bundle
from laconic.corpus import Vectorizer

SUBJECTS = {
    "sky": "sun moon star comet orbit planet eclipse telescope",
    "sea": "wave tide harbour sail anchor fish reef current",
    "food": "salt pepper bread butter cheese onion garlic soup",
}
GERMAN = {
    "sky": "sonne mond stern komet umlauf planet finsternis fernrohr",
    "sea": "welle flut hafen segel anker fisch riff strom",
    "food": "salz pfeffer brot butter zwiebel knoblauch suppe rahm",
}
HOSTILE = '<script>alert("boo")</script><img src=x onerror=alert(1)>'


def documents(subjects=SUBJECTS, n=60, seed=0):
    """Texts, labels, ids and dates of documents, each about one subject and a little about another."""
    rng = np.random.default_rng(seed)
    names, texts, labels = list(subjects), [], []
    for number in range(n):
        label = names[number % len(names)]
        other = names[(number + 1) % len(names)]
        words = [*rng.choice(subjects[label].split(), 12), *rng.choice(subjects[other].split(), 3)]
        texts.append(" ".join(words))
        labels.append(label)
    texts[0] = f"{HOSTILE} {texts[0]}"
    ids = [f"doc/{number}" for number in range(n)]
    ids[1] = HOSTILE
    dates = [f"{2015 + number * 8 // n}-03-{1 + number % 28:02}" for number in range(n)]
    return {"texts": texts, "labels": labels, "ids": ids, "dates": dates}


def _fitted(**options):
    given = documents()
    texts = given.pop("texts")
    kept = {name: given[name] for name in ("labels", "ids", "dates")}
    return laconic.fit(texts, min_df=1, max_df=1.0, html=False, **{**kept, **options})


def flat():
    """Non-negative topics with documents, labels and dates."""
    return _fitted(n_topics=4, words=6)


def signed():
    """Topics with words that count against them."""
    return _fitted(n_topics=4, words=None, topic_norm="l2", nonnegative=False, init="documents")


def dense():
    """Topics that have all words."""
    return _fitted(n_topics=3, model="plsa")


def group():
    """Topics of classes."""
    return _fitted(model="group-rlsi", n_shared=2, n_per_class=2, words=6)


def multimodal():
    """Documents in two languages."""
    german, english = documents(GERMAN), documents()
    return laconic.fit(
        {"german": german["texts"], "english": english["texts"]},
        n_topics=3,
        model="multimodal-plsa",
        labels=english["labels"],
        ids=english["ids"],
        min_df=1,
        max_df=1.0,
    )


def graph():
    """Documents with links."""
    ids = documents()["ids"]
    return _fitted(n_topics=3, model="graph-plsa", graph=list(zip(ids[:-3], ids[3:], strict=True)))


def no_documents():
    """Topics alone."""
    return _fitted(n_topics=3, keep_documents=False)


def no_texts():
    """Documents without texts, labels and dates."""
    return _fitted(n_topics=3, keep_texts=False, labels=None, dates=None)


KINDS = {
    made.__name__: cache(made)
    for made in (flat, signed, dense, group, multimodal, graph, no_documents, no_texts)
}


def of_size(n_topics, n_terms=400, per_topic=8, seed=0):
    """A bundle of any number of topics, without a fit."""
    rng = np.random.default_rng(seed)
    topics = csr_array(
        (
            rng.random(n_topics * per_topic) + 0.1,
            np.concatenate([np.sort(rng.choice(n_terms, per_topic, replace=False)) for _ in range(n_topics)]),
            np.arange(n_topics + 1) * per_topic,
        ),
        shape=(n_topics, n_terms),
    )
    model = RLSI(n_topics)
    model.components_, model.n_features_in_, model.n_iter_ = topics, n_terms, 1
    model.alpha_topics_, model.alpha_docs_ = 0.1, 0.1
    model.objective_history_, model.data_hash_ = np.array([1.0]), ""
    vectorizer = Vectorizer.from_dict({"weighting": "count"}, [f"word{j:05}" for j in range(n_terms)])
    return Bundle(model, vectorizer)
