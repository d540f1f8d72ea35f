"""Models and bundles in a notebook."""

from __future__ import annotations

import numpy as np
import pytest
from display_toys import read
from modality_toys import SIZES, planted_modalities
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from laconic import NMF, PLSA, RLSI, Bundle, GraphPLSA, GroupNMF, GroupRLSI, MultimodalPLSA, SparseLSA
from laconic.corpus import Vectorizer
from laconic.display.markup import MINUS
from laconic.display.topics import TopicRow, heaviest, topics_table
from laconic.models import MODELS

FAST = {"random_state": 0, "max_iter": 3, "tol": 1.0, "n_jobs": 1}
MODELS_SHOWN = [
    RLSI(3),
    RLSI(3, topic_norm="l2", nonnegative=True),
    NMF(3),
    NMF(3, loss="kl"),
    GroupRLSI(1, 2),
    GroupNMF(1, 2),
    PLSA(3),
    GraphPLSA(3),
    SparseLSA(3),
    MultimodalPLSA(3),
]


def fitted(model, X):
    model = clone(model).set_params(**FAST)
    if isinstance(model, MultimodalPLSA):
        return model.fit(planted_modalities())
    return model.fit(X, np.where(np.arange(X.shape[0]) % 3 == 0, "sea", "sky"))


def test_every_model_is_here():
    assert {type(model) for model in MODELS_SHOWN} == set(MODELS.values())


@pytest.mark.parametrize("model", MODELS_SHOWN, ids=repr)
def test_a_fitted_model_shows_its_topics(model, X):
    model = fitted(model, X)
    page = read(model)
    assert type(model).__name__ in page.text
    # the table has the words of `topics`, in its order
    for modality, column in ((None, -1),) if type(model) is not MultimodalPLSA else (("de", 3), ("en", 4)):
        topics = model.topics() if modality is None else model.topics(modality=modality)
        words = [[MINUS * (weight < 0) + term for term, weight in topic] for topic in topics]
        assert [row[column].split() for row in page.rows[1:]] == words
    assert [row[0] for row in page.rows[1:]] == [str(k) for k in range(len(topics))]
    bundle = model._repr_mimebundle_()
    assert bundle["text/html"] == model._repr_html_()
    assert bundle["text/plain"] == repr(model)


@pytest.mark.parametrize("model", MODELS_SHOWN, ids=repr)
def test_a_model_that_is_not_fitted_keeps_the_diagram_of_scikit_learn(model):
    shown = clone(model)._repr_html_()
    assert "sk-estimator" in shown
    assert "laconic-table" not in shown
    assert "not fitted" in read(Bundle(clone(model))).text


def test_the_setting_of_scikit_learn_is_heeded(X):
    model = fitted(RLSI(3), X)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}


def test_a_pipeline_is_a_diagram_as_ever(X):
    pipeline = make_pipeline(MaxAbsScaler(), RLSI(3, **FAST)).fit(X)
    assert "sk-estimator" in pipeline._repr_html_()


def test_only_parameters_that_differ_from_defaults_are_in_the_heading(X):
    model = fitted(RLSI(3, topic_norm="l0", terms_per_topic=10), X)
    text = read(model.set_params(init=np.zeros((3, 80)))).text
    first = text.split("parameters left at their defaults")[0]
    assert "RLSI(n_components=3, topic_norm='l0', terms_per_topic=10, init=<array of 3 × 80>" in first  # noqa: RUF001
    assert "alpha_docs=None" in text
    assert "alpha_docs" not in first


def test_topics_of_classes_have_a_column_for_them(X):
    model = fitted(GroupRLSI(1, 2), X)
    rows = read(model).rows
    assert rows[0][:3] == ["topic", "class", "size"]
    assert [row[1] for row in rows[1:]] == model.topic_class_.tolist()


def test_modalities_have_a_column_each():
    model = fitted(MultimodalPLSA(3), None)
    names = {one: [f"{one}{j}" for j in range(size)] for one, size in SIZES.items()}
    rows = read(model).rows
    assert rows[0] == ["topic", "size", "share", "de", "en"]
    vectorizers = {
        one: Vectorizer.from_dict({"weighting": "count"}, np.array(terms, object))
        for one, terms in names.items()
    }
    page = read(Bundle(model, vectorizers=vectorizers))
    for k, row in enumerate(page.rows[1:]):
        for column, one in ((3, "de"), (4, "en")):
            assert row[column].split() == [term for term, _ in model.topics(names, 10, modality=one)[k]]
    partly = read(Bundle(model, vectorizers={"de": vectorizers["de"]}))
    assert partly.rows[1][3].startswith("de")
    assert partly.rows[1][4].split()[0].isdigit()


def test_shares_are_those_of_the_weights(X):
    model = fitted(GraphPLSA(3), X)
    shares = [row[2] for row in read(model).rows[1:]]
    assert shares == [f"{share:.1%}" for share in model.weights_.mean(axis=0)]


def test_at_most_twenty_topics_and_ten_words_are_shown_and_it_says_how_to_see_more(X):
    model = fitted(PLSA(25), X)
    page = read(model)
    assert len(page.rows) == 21
    assert len(page.rows[1][-1].split()) == 10
    assert "first 20 topics" in page.text
    assert "model.topics(n_terms=40)" in page.text
    assert "25 topics" in page.text
    few = fitted(RLSI(2, topic_norm="l0", terms_per_topic=5), X)
    assert "n_terms" not in read(few).text


def test_words_that_count_against_a_topic_have_a_minus():
    page = read(topics_table([TopicRow(0, 2, [[("sun", 0.5), ("rain", -0.25)]])]))
    assert page.rows[1][-1] == f"sun\u2002{MINUS}rain"
    assert page.titles == ["0.5", f"{MINUS}0.25"]


def test_names_are_those_that_are_known(X):
    model = fitted(RLSI(3), X)
    assert "model.topics(vocabulary)" in read(model).text
    named = fitted(RLSI(3), X)
    named.feature_names_in_ = np.array([f"<{j}>" for j in range(80)], object)
    assert "<" in read(named).rows[1][-1]
    assert "without a name" not in read(named).text
    vectorizer = Vectorizer.from_dict({"weighting": "count"}, np.array([f"t{j}" for j in range(80)], object))
    bundle = Bundle(model, vectorizer)
    assert read(bundle).rows[1][-1].split()[0] == bundle.topic_words(1)[0][0][0]
    assert "reads texts: 80 terms" in read(bundle).text
    assert "has no vectoriser" in read(Bundle(model)).text


@pytest.mark.filterwarnings("ignore:no topic has a word")
def test_odd_models_are_shown_all_the_same(X):
    for model in (fitted(RLSI(3, alpha_topics=1e6, alpha_docs=1e6), X), fitted(RLSI(1), csr_array((4, 3)))):
        page = read(model)
        assert "alive" in page.text
        assert page.rows[1][-1] == "no words"
    # parameters that were changed since the fit, and odd ones
    assert "class" not in read(fitted(GroupRLSI(1, 2), X).set_params(n_shared=7)).rows[0]
    assert "class" not in read(fitted(GroupRLSI(1, 2), X).set_params(n_shared=None)).rows[0]
    assert len(read(fitted(MultimodalPLSA(3), None).set_params(n_components=9)).rows) == 4
    model = fitted(RLSI(3), X).set_params(init=["<script>\ud800"] * 1000, random_state="'\">")
    assert "<script>\\ud800" in read(model).text
    bare = RLSI(2)
    bare.components_, bare.n_features_in_ = np.array([[1.0, 0.0], [0.0, np.nan]]), 2
    assert len(read(bare).rows) == 3


def test_the_heaviest_words_are_those_of_topics():
    random = np.random.default_rng(0)
    for n_terms in (1, 5, 10, 11, 200):
        row = random.integers(-3, 4, (1, n_terms)).astype(float)
        model = RLSI(1)
        for model.components_ in (row, csr_array(row)):
            model.n_features_in_ = n_terms
            assert heaviest(model.components_[[0]], None) == model.topics()[0]
