"""Speeches and their translations."""

import numpy as np
import pytest

from laconic import MultimodalPLSA, datasets
from laconic.evaluate import mate_ranks


@pytest.mark.slow
@pytest.mark.usefixtures("data_dir")
def test_translations_are_found():
    speeches = datasets.load("europarl_de_en")
    corpora = {
        language: speeches.corpus(language, stop_words=name, min_df=5, max_df=0.3)
        for language, name in {"de": "german", "en": "english"}.items()
    }
    train = {language: corpus.counts[:1000] for language, corpus in corpora.items()}
    new = {language: corpus.counts[5000:5200] for language, corpus in corpora.items()}
    model = MultimodalPLSA(30, random_state=0, tol=1e-4).fit(train)
    ranks = mate_ranks(model.similarity(new["de"], new["en"], "de", "en"))
    # chance is 1 in 200
    assert (ranks == 1).mean() > 0.2
    vocabulary = corpora["en"].vocabulary
    keywords = model.translate(new["de"], "de", "en", n_terms=10, vocabulary=vocabulary)
    true = new["en"].toarray() > 0
    place = {term: j for j, term in enumerate(vocabulary)}
    hits = [true[n, place[term]] for n, terms in enumerate(keywords) for term, _ in terms]
    # the most frequent terms of all are the guess to beat
    frequent = np.argsort(-train["en"].sum(axis=0), kind="stable")[:10]
    assert np.mean(hits) > 1.1 * true[:, frequent].mean()
