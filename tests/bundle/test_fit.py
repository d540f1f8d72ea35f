"""`laconic.fit`: from anything that holds documents to a bundle, in one line."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import laconic
from laconic import RLSI, Corpus, CorpusError
from laconic.bundle.tables import Table
from laconic.errors import InputError, ParameterError
from laconic.models.making import RECIPES, make_model

TEXTS = [
    "the sun and the moon",
    "moon and stars",
    "stars, sun, sun",
    "salt and pepper",
    "pepper, chilli",
    "chilli",
]
LABELS = ["sky"] * 3 + ["food"] * 3
YEARS = [2020, 2021, 2022, 2020, 2021, 2022]
TABLE = {"body": TEXTS, "kind": LABELS, "year": YEARS, "key": list("abcdef")}


def words(bundle):
    return [{term for term, _ in topic} for topic in bundle.topic_words()]


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "texts.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    return path


COLUMNS = {"text": "body", "labels": "kind", "dates": "year", "ids": "key"}


@pytest.mark.parametrize(
    "source",
    [
        "texts",
        "generator",
        "series",
        "polars series",
        "path",
        "string",
        "paths",
        "pandas",
        "polars",
        "arrow",
        "reader",
        "corpus",
    ],
)
def test_every_source_gives_the_same(csv, source):
    lists = {"labels": LABELS, "dates": YEARS, "ids": list("abcdef")}
    data, options = {
        "texts": (TEXTS, lists),
        "generator": ((text for text in TEXTS), lists),
        "series": (pd.Series(TEXTS), lists | {"labels": pd.Series(LABELS)}),
        "polars series": (pl.Series(TEXTS), lists),
        "path": (csv, COLUMNS),
        "string": (str(csv), COLUMNS),
        "paths": ([csv], COLUMNS),
        "pandas": (pd.DataFrame(TABLE), COLUMNS),
        "polars": (pl.DataFrame(TABLE), COLUMNS | {"labels": LABELS}),
        "arrow": (pa.table(TABLE), COLUMNS),
        "reader": (pa.table(TABLE).to_reader(), COLUMNS),
        "corpus": (Corpus.from_texts(TEXTS, keep_texts=True, **lists), {}),
    }[source]
    bundle = laconic.fit(data, 2, **options)
    expected = RLSI(2, topic_norm="l0", terms_per_topic=40, nonnegative=True, random_state=0)
    expected.fit(Corpus.from_texts(TEXTS).X)
    assert bundle.model.components_.toarray().tobytes() == expected.components_.toarray().tobytes()
    documents = bundle.documents
    assert documents.ids.tolist() == list("abcdef")
    assert documents.labels.tolist() == LABELS
    assert documents.dates.astype("datetime64[Y]").astype(str).tolist() == list(map(str, YEARS))
    assert list(documents.texts) == TEXTS


def test_topics_are_a_table():
    bundle = laconic.fit(TEXTS, 2, labels=LABELS)
    table = bundle.topics(n_terms=2)
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["topic", "words", "size", "share", "documents", "labels"]
    assert table.share.sum() == pytest.approx(1)
    assert table.documents.sum() == len(TEXTS)
    assert set(table.labels) == {"sky", "food"}
    assert all(len(words.split(", ")) == 2 for words in table.words)


def test_tables_without_pandas(monkeypatch):
    bundle = laconic.fit(TEXTS, 2)
    monkeypatch.delitem(sys.modules, "pandas")
    assert isinstance(bundle.topics(), pl.DataFrame)
    monkeypatch.delitem(sys.modules, "polars")
    monkeypatch.setattr("laconic.bundle.tables.find_spec", lambda name: None)
    table = bundle.topics()
    assert isinstance(table, Table)
    assert [row["topic"] for row in table] == [0, 1]
    assert str(table).startswith("topic  words")
    assert len(table[:1]) == 1


def test_documents_of_a_topic():
    bundle = laconic.fit(TEXTS, 2, labels=LABELS, dates=YEARS)
    for topic, found in enumerate(words(bundle)):
        table = bundle.documents_of(topic, 2)
        assert len(table) == 2
        assert table.weight.is_monotonic_decreasing
        assert all(found & set(text.replace(",", "").split()) for text in table.text)
        assert list(table.columns) == ["id", "weight", "label", "date", "text"]
    with pytest.raises(ValueError, match="topic must be a whole number from 0 to 1"):
        bundle.documents_of(2)


def test_texts_in_and_weights_out():
    bundle = laconic.fit(TEXTS, 2)
    np.testing.assert_array_equal(bundle.transform(TEXTS), bundle.documents.weights)
    assert list(bundle.vocabulary) == ["chilli", "moon", "pepper", "stars", "sun"]
    assert bundle.search("chilli", k=1).ids == ["5"]


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "multimodal-plsa"])
def test_every_model_by_name(name, tmp_path):
    size = {} if name.startswith("group") else {"n_topics": 2}
    bundle = laconic.fit(TEXTS, model=name, labels=LABELS, **size)
    assert bundle.documents is not None
    bundle.save(tmp_path)
    assert laconic.load(tmp_path).search("moon") == bundle.search("moon")
    assert len(bundle.topics()) == len(bundle.model.topic_sizes_)


def test_words_and_penalties():
    assert laconic.fit(TEXTS, 2, words=1).model.topic_sizes_.max() == 1
    assert laconic.fit(TEXTS, 2, words=None).model.topic_norm == "l1"
    assert laconic.fit(TEXTS, 2, alpha_topics=0.1).model.alpha_topics == 0.1
    assert laconic.fit(TEXTS, 2, nonnegative=False).model.nonnegative is False
    assert laconic.fit(TEXTS, 2, min_df=1).vocabulary.size > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "lda"}, "model='lda' is not known; there are rlsi, "),
        ({"words": 3, "model": "plsa"}, "model='plsa' has no word budget: leave words out"),
        ({"words": 3, "alpha_topics": 1}, "exclude each other"),
        (
            {"n_topics": 3, "model": "group-nmf", "labels": LABELS},
            "in place of n_topics give n_shared and n_per_class",
        ),
        ({"prior": None}, "model='rlsi' has no prior: it goes with nmf-kl or plsa"),
        ({"max_iterr": 3}, "max_iterr is not known; did you mean max_iter?"),
        ({"colour": 3}, "colour is no parameter of any model"),
        ({"n_components": 3, "n_topics": 4}, "n_topics and n_components say the same"),
        ({"min_df": -1}, "min_df"),
        ({"labels": "kind"}, "'kind' is the name of a column, and a list of texts has none"),
        ({"text": "body"}, "a list of texts has no columns: leave text out"),
        (
            {"model": "plsa", "weighting": "tfidf"},
            "PLSA is fitted to the counts themselves: leave weighting out",
        ),
        ({"labels": ["a"]}, "1 labels for 6 documents"),
        ({"dates": ["03/04/2026"] * 6}, "'03/04/2026' is not understood"),
        ({"model": "group-rlsi"}, "these have no labels: read them with label"),
        ({"model": "multimodal-plsa"}, "needs two or more modalities"),
        ({"graph": [[0, 1]]}, "RLSI has none"),
    ],
)
def test_clear_errors(options, message):
    with pytest.raises(InputError, match=message):
        laconic.fit(
            TEXTS, **{"n_topics": 2, **options} if "group" not in str(options.get("model")) else options
        )


def test_other_mistakes(csv):
    with pytest.raises(CorpusError, match=r"does not exist|no such"):
        laconic.fit("no-such-file.csv")
    with pytest.raises(CorpusError, match="texts are given as a list"):
        laconic.fit("one text\nof two lines")
    with pytest.raises(ParameterError, match="a corpus is counted and weighted already: leave min_df out"):
        laconic.fit(Corpus.from_texts(TEXTS), min_df=1)
    with pytest.raises(CorpusError, match="'kind' is the name of a column, and a corpus has none"):
        laconic.fit(Corpus.from_texts(TEXTS), labels="kind")
    with pytest.raises(ParameterError, match="is a model of one: choose model='multimodal-plsa'"):
        laconic.fit({"a": TEXTS, "b": TEXTS}, 2)
    with pytest.raises(ParameterError, match="needs two or more modalities"):
        laconic.fit({"a": TEXTS}, 2, model="multimodal-plsa")
    with pytest.raises(CorpusError, match="texts"):
        laconic.fit({"a": Corpus.from_texts(TEXTS), "b": TEXTS}, 2, model="multimodal-plsa")


def test_labels_that_can_be_gone_through_once():
    bundle = laconic.fit(
        {"a": TEXTS, "b": TEXTS},
        2,
        model="multimodal-plsa",
        labels=(label for label in LABELS),
        dates=iter(YEARS),
    )
    assert bundle.documents.corpus("b").labels.tolist() == LABELS


def test_modalities_of_columns(tmp_path):
    table = pd.DataFrame({"en": TEXTS, "de": [text.upper() + " auch" for text in TEXTS]})
    table.to_parquet(tmp_path / "pairs.parquet")
    options = {
        "model": "multimodal-plsa",
        "text": {"english": "en", "german": "de"},
        "min_df": 1,
        "n_topics": 2,
    }
    one, other = laconic.fit(table, **options), laconic.fit(tmp_path / "pairs.parquet", **options)
    assert one.modalities == other.modalities == ["english", "german"]
    assert one.model.components_.tobytes() == other.model.components_.tobytes()
    assert list(one.topics().columns)[:3] == ["topic", "words_english", "words_german"]


def test_make_model_knows_its_parameters():
    assert make_model("rlsi").get_params()["terms_per_topic"] == 40
    with pytest.raises(ParameterError) as caught:
        make_model("rlsi", strength=1.0)
    assert caught.value.parameter == "model"
