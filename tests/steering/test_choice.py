"""Which number of topics: what is measured, what is recommended, and what is shown of it."""

import json
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import laconic
from laconic import Corpus, CorpusError
from laconic.errors import ParameterError
from laconic.evaluate import coherence, diversity, topic_overlap
from laconic.models.making import make_model
from laconic.steering.choice import Choice, choose_among
from laconic.steering.completion import completion, halves_of_words
from laconic.steering.recommending import MEASURES, Measured, overall, recommend
from laconic.steering.refits import half_tasks


def planted_texts(n_topics=4, n_documents=160, seed=0):
    random = np.random.default_rng(seed)
    words = [[f"w{k}x{j}" for j in range(25)] for k in range(n_topics)]
    texts = []
    for _ in range(n_documents):
        shares = random.dirichlet(np.full(n_topics, 0.1))
        own = random.choice(n_topics, 40, p=shares)
        texts.append(" ".join(random.choice(words[k]) for k in own))
    return texts


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(planted_texts())


@pytest.fixture(scope="module")
def choice(corpus):
    return laconic.choose(corpus, [2, 4, 10], words=20, n_runs=3)


def test_the_planted_number_is_found(choice):
    assert choice.recommended == 4
    two, four, ten = choice.candidates
    assert four.stability.mean > max(two.stability.mean, ten.stability.mean)
    assert four.returning == 1
    assert four.redundancy.mean <= ten.redundancy.mean
    assert "4 topics have the best balance" in choice.reason
    assert not any("smallest" in text or "largest" in text for text in choice.warnings)
    # each topic has the words of one that was planted
    assert {words[0].split("x")[0] for words in (topic.words for topic in four.topics)} == {
        "w0",
        "w1",
        "w2",
        "w3",
    }


def test_measures_are_those_of_the_parts_by_hand(corpus, choice):
    model = make_model("rlsi", 4, words=20, random_state=0)
    tasks = half_tasks(model, 4, corpus.shape[0], 3, 0, 0)
    fitted = [clone(task.model).fit(corpus.X[task.documents]) for task in tasks]
    found = choice.candidates[1]
    listed = [one.topics(corpus.vocabulary, 25) for one in fitted]
    np.testing.assert_allclose(found.coherence.runs, [coherence(topics, corpus).mean for topics in listed])
    np.testing.assert_allclose(found.redundancy.runs, [1 - diversity(topics) for topics in listed])
    pairs = [topic_overlap(a.components_, b.components_).mean() for a, b in combinations(fitted, 2)]
    np.testing.assert_allclose(found.stability.mean, np.mean(pairs))
    assert len({tuple(task.documents) for task in tasks}) == 3
    assert len({task.model.random_state for task in tasks}) == 3


@pytest.mark.parametrize("kind", ["rlsi", "nmf", "plsa", "nmf-kl", "sparse-lsa"])
def test_completion_is_that_of_the_definition(corpus, kind):
    model = make_model(kind, 4, random_state=0, max_iter=20, tol=1e-3)
    half = np.arange(0, corpus.shape[0], 2)
    model.fit(model.rows(corpus.counts, corpus.vectorizer.weigh)[half])
    shown, hidden = halves_of_words(corpus, half + 1, np.random.RandomState(0))
    assert ((shown + hidden) != corpus.counts[half + 1]).nnz == 0
    assert 0.4 < shown.sum() / corpus.counts[half + 1].sum() < 0.6
    rows, others = (model.rows(part, corpus.vectorizer.weigh) for part in (shown, hidden))
    predicted = csr_array(model.transform(rows)).toarray() @ csr_array(model.components_).toarray()
    wanted = others.toarray()
    if model.wants == "counts":
        predicted /= predicted.sum(axis=1, keepdims=True)
        alone = corpus.counts.toarray().sum(axis=0) / corpus.counts.sum()
        mixed = 0.95 * predicted + 0.05 * alone
        expected = 1 - (wanted * np.log(mixed)).sum() / (wanted * np.log(alone)).sum()
    else:
        expected = (wanted * predicted).sum() ** 2 / (predicted**2).sum() / (wanted**2).sum()
    assert completion(model, corpus, shown, hidden) == pytest.approx(expected, rel=1e-4)
    assert expected > 0.1


def test_the_same_for_any_number_of_threads_and_a_progress_that_grows(corpus, choice):
    told = []
    again = laconic.choose(corpus, [10, 4, 2, 4], words=20, n_runs=3, n_jobs=1, progress=told.append)
    assert again == choice
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)
    assert len(told) == 3 * 4


def test_dict_and_json_come_back(choice):
    assert Choice.from_dict(json.loads(json.dumps(choice.to_dict()))) == choice


def test_what_is_shown(choice):
    table = choice.table()
    assert list(table["topics"]) == [2, 4, 10]
    assert list(table.columns) == ["topics", *MEASURES, "overall", "returning"]
    picture = ElementTree.fromstring(choice.to_svg())
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}circle"))) == 3 * 4
    assert choice.to_svg() in choice._repr_html_()
    assert choice.reason in repr(choice)


def measured(stability, held_out=None, runs=4, noise=0.0):
    random = np.random.default_rng(0)

    def one(value):
        return Measured.of(value + noise * random.standard_normal(runs))

    flat = one(0.5)
    return [
        {"held_out": one(h), "coherence": flat, "redundancy": flat, "stability": one(s)}
        for s, h in zip(stability, held_out or [0.5] * len(stability), strict=True)
    ]


def test_what_differs_by_chance_only_decides_little():
    values = measured([0.5, 0.51, 0.5], noise=0.2)
    found = recommend([5, 10, 20], values, overall(values))
    assert any("not clearly the best" in text for text in found.warnings)


def test_a_clear_best_has_no_warning_and_an_end_has_one():
    values = measured([0.2, 0.9, 0.3], noise=0.001)
    found = recommend([5, 10, 20], values, overall(values))
    assert found.recommended == 10
    assert not found.warnings
    values = measured([0.2, 0.3, 0.9], noise=0.001)
    found = recommend([5, 10, 20], values, overall(values))
    assert found.recommended == 20
    assert found.warnings == ("20 is the largest number that was tried: try more topics, too",)


def test_topics_that_hardly_come_back_are_told():
    values = measured([0.1, 0.2, 0.1], noise=0.001)
    assert "hardly come back" in recommend([5, 10, 20], values, overall(values)).warnings[-1]


def test_redundancy_counts_the_other_way():
    flat = Measured.of([0.5] * 3)
    values = [
        {"held_out": flat, "coherence": flat, "redundancy": Measured.of([r] * 3), "stability": flat}
        for r in (0.1, 0.9)
    ]
    assert [one.mean for one in overall(values)] == [0.25, 0.0]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"n_topics": [5]}, "n_topics must be two numbers or more"),
        ({"n_topics": 5}, "n_topics must be two numbers or more"),
        ({"n_topics": [0, 5]}, "n_topics must be a whole number"),
        ({"n_topics": [2, 3], "n_runs": 1}, "n_runs"),
        ({"n_topics": [2, 3], "random_state": -1}, "random_state"),
        ({"n_topics": [2, 3], "model": "graph-plsa", "words": 40}, "links"),
        ({"n_topics": [2, 3], "model": "nobody"}, "not a known model"),
        ({"n_topics": [2, 3], "typo": 1}, "not a parameter"),
    ],
)
def test_what_makes_no_sense_is_refused(corpus, options, why):
    with pytest.raises(ParameterError, match=why):
        laconic.choose(corpus, **options)


def test_too_few_documents_are_refused():
    with pytest.raises(CorpusError, match="too few to split in half"):
        laconic.choose(["red fish", "blue fish", "red bird"] * 3, [2, 3], max_df=1.0)


def test_more_topics_than_documents_in_a_half():
    corpus = Corpus.from_texts(planted_texts(n_documents=12))
    found = choose_among(make_model("rlsi", 2, random_state=0), [2, 9], corpus, n_runs=2)
    assert all(np.isfinite(one.overall.mean) for one in found.candidates)
