"""Stems are counted, and people read their commonest form."""

from collections import Counter

import laconic
from laconic.bundle.listing import read_listing
from laconic.corpus import Vectorizer
from laconic.corpus.languages import stemmer

TEXTS = [
    "cities and fishing", "the city of fishes", "cities fishing fishing", "fishing in cities",
    "ponies running", "a pony runs", "ponies run", "ponies running",
]  # fmt: skip


def naive(texts):
    """The commonest form of each stem, by the number of texts that have it."""
    forms = Counter(word for text in texts for word in {*text.split()})
    stem = stemmer("english")
    found = {}
    for form in sorted(forms):
        name = stem([form])[0].decode()
        if name not in found or forms[form] > forms[found[name]]:
            found[name] = form
    return found


def test_the_commonest_form_of_a_stem_is_shown():
    vectorizer = Vectorizer(stemmer="english", min_df=1, max_df=1.0, ngram_range=(1, 2))
    vectorizer.fit_count(TEXTS)
    expected = naive(TEXTS)
    for stem, form in zip(vectorizer.vocabulary, vectorizer.shown, strict=True):
        assert form == " ".join(expected[word] for word in stem.split())
    plain = Vectorizer(min_df=1)
    plain.fit_count(TEXTS)
    assert plain.forms is None
    assert plain.shown is plain.vocabulary


def test_topics_are_read_in_forms_and_measured_in_stems(tmp_path):
    bundle = laconic.fit(TEXTS, n_topics=2, stemmer="english", min_df=1)
    shown = {word for topic in bundle.shown_words() for word, _ in topic}
    assert {"cities", "fishing", "ponies", "running"} <= shown
    assert {word for topic in bundle.topic_words() for word, _ in topic} <= set(bundle.vocabulary)
    assert "cities" in " ".join(bundle.topics()["words"])
    bundle.topics(coherence=True)
    bundle.save(tmp_path / "m")
    loaded = laconic.load(tmp_path / "m")
    assert loaded.shown_words() == bundle.shown_words()
    assert read_listing(tmp_path / "m").words(10)[""] == bundle.shown_words()
    assert loaded.search("city").ids == bundle.search("cities").ids
