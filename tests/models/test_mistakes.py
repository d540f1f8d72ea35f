"""The commonest mistakes, each answered in words: what is no matrix, and what makes no sense."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import laconic
from laconic import NMF, PLSA, RLSI, Corpus, CorpusError, SearchIndex
from laconic.errors import InputWarning
from laconic.evaluate import coherence

TEXTS = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus.from_texts(TEXTS)


@pytest.fixture(scope="module")
def bundle():
    return laconic.fit(TEXTS, n_topics=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (TEXTS, r"X are texts, and RLSI takes a matrix .* laconic\.fit\(texts\) counts and fits in one step"),
        (np.array(TEXTS), "X are texts"),
        (pd.Series(TEXTS), "X are texts"),
        (iter(TEXTS), "X are texts"),
        (TEXTS[0], "X is one text"),
        (
            pd.DataFrame({"n": range(4), "body": TEXTS}),
            r"column of texts, 'body', .*laconic\.fit\(data_frame, text='body'\)",
        ),
    ],
)
def test_texts_in_place_of_a_matrix(given, message):
    with pytest.raises(TypeError, match=message):
        RLSI(2).fit(given)


def test_texts_and_bundles_given_to_transform(corpus, bundle):
    model = RLSI(2, random_state=0).fit(corpus.X)
    with pytest.raises(TypeError, match=r"X are texts.*corpus\.vectorize\(texts\)"):
        model.transform(TEXTS)
    with pytest.raises(TypeError, match=r"This is a bundle; pass a matrix, or call bundle\.transform"):
        model.transform(bundle)
    with pytest.raises(TypeError, match="This is a corpus; pass its matrix"):
        model.transform(corpus)


def test_topics_take_their_words_from_whatever_has_them(corpus, bundle):
    model = RLSI(2, random_state=0).fit(corpus.X)
    expected = model.topics(corpus.vocabulary)
    sklearn = CountVectorizer(vocabulary=corpus.vocabulary.tolist())
    columns = {term: column for column, term in enumerate(corpus.vocabulary)}
    for known in (corpus, corpus.vectorizer, sklearn, columns):
        assert model.topics(known) == expected
    with pytest.raises(
        TypeError, match="must be a list with the name of every column, or a corpus or vectoriser"
    ):
        model.topics(7)


def test_search_index_says_what_it_takes(corpus, bundle):
    found = SearchIndex(corpus, bundle).search("pepper").ids
    assert found == ["2", "3"]
    for wrong in (bundle.model, TEXTS):
        with pytest.raises(
            TypeError, match=r"takes a bundle with documents, or a corpus and a model, not (RLSI|list)"
        ):
            SearchIndex(wrong, corpus)


def test_an_alpha_that_leaves_no_topics_is_told(corpus):
    with pytest.warns(InputWarning, match=r"no topic has a word: lower alpha_topics, which was 100 \(from "):
        model = RLSI(2, alpha_topics=100, random_state=0).fit(corpus.X)
    assert model.n_alive_ == 0


@pytest.mark.parametrize("model", [PLSA(2, random_state=0), NMF(2, loss="kl", random_state=0)])
def test_weights_given_to_a_model_of_counts_are_told(model, corpus):
    with pytest.warns(InputWarning, match=r"X looks like tf-idf weights .* is a model of counts"):
        model.fit(TfidfVectorizer().fit_transform(TEXTS))
    model.fit(corpus.counts)
    model.fit(corpus.counts * 0.5)


def test_coherence_of_column_numbers_is_refused(corpus):
    model = RLSI(2, random_state=0).fit(corpus.X)
    with pytest.raises(CorpusError, match=r"such as '0', .*model\.topics\(corpus\.vocabulary\)"):
        coherence(model.topics(), corpus)
    years = Corpus.from_texts(["1984 1985", "1984 1985"], token_pattern=r"\d+", max_df=1.0)
    assert coherence([["1984", "1985"]], years).mean == 1


def test_documents_that_share_no_word_with_the_model_are_told(bundle):
    with pytest.warns(InputWarning, match="of 2 documents none has a word that the model knows"):
        assert not bundle.transform(["xyz", "abc"]).nnz
    with pytest.warns(InputWarning, match="the document does not have a word that the model knows"):
        bundle.transform(["xyz"])
    bundle.transform(["xyz", "pepper"])


def test_score_says_what_to_use_in_its_place():
    assert "laconic.choose" in RLSI.score.__doc__
    assert "Do not choose the number of topics" in " ".join(RLSI.score.__doc__.split())
