"""Real collections with classes: shared topics are general, class topics tell their class."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from laconic import Corpus, GroupRLSI, datasets

N_SHARED, N_PER_CLASS = 20, 8


def split(texts, labels, later):
    """A corpus to learn from, and the matrix and labels of what came later."""
    parts = [
        [text for text, is_later in zip(texts, later, strict=True) if is_later == part] for part in (0, 1)
    ]
    train = Corpus.from_texts(parts[0], labels=labels[~later], min_df=5, max_df=0.5)
    return train, train.vectorize(parts[1]), labels[later]


@pytest.fixture(scope="module")
def newsgroups(data_dir):
    """Every fourth message."""
    messages = datasets.load("20newsgroups")
    kept = np.arange(len(messages.texts)) % 4 == 0
    texts = [text for text, chosen in zip(messages.texts, kept, strict=True) if chosen]
    return split(texts, messages.labels[kept].astype(str), messages.splits[kept] == "test")


@pytest.fixture(scope="module")
def reuters(data_dir):
    """Articles of exactly one of the eight most frequent classes."""
    articles = datasets.load("reuters21578")
    single = [sets[0] if len(sets) == 1 else "" for sets in articles.label_sets]
    names, counts = np.unique([label for label in single if label], return_counts=True)
    kept = np.isin(single, names[np.argsort(-counts)[:8]]) & np.isin(articles.splits, ["train", "test"])
    texts = [text for text, chosen in zip(articles.texts, kept, strict=True) if chosen]
    return split(texts, np.array(single)[kept], articles.splits[kept] == "test")


def use_by_class(model, train):
    """For each class and topic, how many of the topic's ten first words a document has on average."""
    present = (train.counts > 0).astype(float)
    shares = np.array([present[train.labels == label].mean(axis=0) for label in model.classes_])
    column = {term: m for m, term in enumerate(train.vocabulary)}
    topics = model.topics(train.vocabulary, 10)
    return np.array([shares[:, [column[term] for term, _ in topic]].sum(axis=1) for topic in topics]).T


def bits(use):
    """The entropy over classes of each topic."""
    share = use / use.sum(axis=0)
    return -np.sum(share * np.log2(np.where(share > 0, share, 1)), axis=0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("topic_norm", ["l1", "l0"])
@pytest.mark.parametrize("collection", ["newsgroups", "reuters"])
def test_topics_and_classes(collection, topic_norm, request):
    train, X_test, y_test = request.getfixturevalue(collection)
    y = train.labels.astype(str)
    model = GroupRLSI(
        N_SHARED, N_PER_CLASS, topic_norm=topic_norm, nonnegative=True, max_iter=25, random_state=0
    ).fit(train.X, y)
    predicted = np.mean(model.predict(X_test) == y_test)
    machine = LinearSVC(random_state=0).fit(train.X, y).score(X_test, y_test)
    common = max(np.mean(y_test == label) for label in set(y_test))
    use, shared = use_by_class(model, train), model.topic_class_ == "shared"
    general, special = np.median(bits(use)[shared]), np.median(bits(use)[~shared])
    leading = np.mean(model.classes_[use.argmax(axis=0)][~shared] == model.topic_class_[~shared])
    print(f"\n{collection} {topic_norm} {train}: accuracy {predicted:.3f}, SVM {machine:.3f}, ", end="")
    print(f"words {np.percentile(model.topic_sizes_, [0, 50, 100])}, ", end="")
    print(f"bits {general:.2f} shared {special:.2f} class, led by the own class {leading:.2f}")
    for name, topic in zip(model.get_feature_names_out(), model.topics(train.vocabulary, 10), strict=True):
        print(f"{name:28} {' '.join(term for term, _ in topic)}")
    assert model.n_alive_ == len(model.topic_class_)
    assert predicted > 0.6 * machine
    assert predicted > 1.5 * common
    assert general > special + 0.1
    assert leading > 0.7
