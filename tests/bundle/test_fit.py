"""`laconic.fit`: from anything that holds documents to a bundle, in one line."""

import copy
import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

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
    expected = RLSI(2, topic_norm="l0", terms_per_topic=40, nonnegative="both", init="svd", random_state=0)
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
    assert set(table.labels) == {"sky 100%", "food 100%"}
    assert all(len(words.split(", ")) == 2 for words in table.words)


def test_tables_without_pandas(monkeypatch):
    bundle = laconic.fit(TEXTS, 2)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(bundle.topics(), pl.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
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
    np.testing.assert_array_equal(bundle.transform(TEXTS).toarray(), bundle.documents.weights.toarray())
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
        ({"model": "lda"}, "model='lda' is not a known model; there are rlsi, "),
        ({"words": 3, "model": "plsa"}, "model='plsa' has no word budget: leave words out"),
        ({"words": 3, "alpha_topics": 1}, "exclude each other"),
        (
            {"n_topics": 3, "model": "group-nmf", "labels": LABELS},
            "instead of n_topics give n_shared and n_per_class",
        ),
        ({"prior": None}, "model='rlsi' does not take prior; use it with nmf-kl or plsa"),
        ({"max_iterr": 3}, "max_iterr is not known; did you mean max_iter?"),
        ({"colour": 3}, "colour is not a parameter of any model"),
        ({"n_components": 3, "n_topics": 4}, "n_topics and n_components mean the same"),
        ({"min_df": -1}, "min_df"),
        ({"labels": "kind"}, "'kind' is the name of a column, but a list of texts has no columns"),
        ({"text": "body"}, "a list of texts has no columns: leave text out"),
        (
            {"model": "plsa", "weighting": "tfidf"},
            "PLSA is fitted to the counts themselves: leave weighting out",
        ),
        ({"labels": ["a"]}, "1 labels for 6 documents"),
        ({"dates": ["03/04/2026"] * 6}, "'03/04/2026' is not understood"),
        ({"model": "group-rlsi"}, "these have no labels: read them with label"),
        ({"model": "multimodal-plsa"}, "needs two or more modalities"),
        ({"graph": [[0, 1]]}, "which RLSI is not"),
        ({"words": 0}, "words must be a whole number of at least 1"),
        ({"words": False}, "words must be a whole number"),
        ({"n_topics": 0}, "n_topics must be a whole number of at least 1"),
        ({"label": LABELS}, "label is not known; did you mean labels?"),
        ({"k": 3}, "k is not known; did you mean n_topics?"),
        ({"n_topic": 3}, "n_topic is not known; did you mean n_topics?"),
        ({"encoding": "utf-8"}, "encoding is for reading files, and a list of texts is not one"),
        ({"text": 3}, "text must be the name of a column"),
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
    with pytest.raises(CorpusError, match="to pass a text, write"):
        laconic.fit("one text\nof two lines")
    with pytest.raises(ParameterError, match="a corpus is counted and weighted already: leave min_df out"):
        laconic.fit(Corpus.from_texts(TEXTS), min_df=1)
    with pytest.raises(CorpusError, match="'kind' is the name of a column, but a corpus has no columns"):
        laconic.fit(Corpus.from_texts(TEXTS), labels="kind")
    with pytest.raises(ParameterError, match="takes only one: choose model='multimodal-plsa'"):
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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "texts must be a list or another iterable of strings, not NoneType"),
        (5, "not int"),
        (csr_array(np.eye(3)), "this is a matrix: pass Corpus.from_counts"),
        (pl.LazyFrame(TABLE), "a lazy query: pass table.collect()"),
    ],
)
def test_what_holds_no_documents(data, message):
    with pytest.raises(CorpusError, match=message):
        laconic.fit(data, 2)


def test_files_as_strings(csv, tmp_path):
    one, other = laconic.fit([str(csv)], 2, **COLUMNS), laconic.fit(tmp_path.glob("*.csv"), 2, **COLUMNS)
    assert one.model.components_.toarray().tobytes() == other.model.components_.toarray().tobytes()
    assert one.documents.ids.tolist() == list("abcdef")


def test_columns_of_arrow():
    bundle = laconic.fit(pa.array(TEXTS), 2, labels=pa.array(LABELS), dates=pa.chunked_array([YEARS]))
    assert bundle.documents.labels.tolist() == LABELS


def test_rows_that_are_left_out_are_told(csv):
    csv.write_text(csv.read_text() + "one more,sky,soon,g\n")
    with pytest.warns(
        UserWarning, match="1 of 7 rows could not be used and were skipped; the first: .*'soon'"
    ):
        bundle = laconic.fit(csv, 2, on_error="skip", **COLUMNS)
    assert len(bundle.documents) == 6


def test_links_by_ids_and_from_a_file(tmp_path):
    pairs = [["a", "b"], ["a", "f"]]
    (tmp_path / "links.csv").write_text("a,b\na,f\n")
    options = {"model": "graph-plsa", "n_topics": 2, "ids": list("abcdef")}
    by_rows, by_ids, by_file = (
        laconic.fit(TEXTS, graph=graph, **options)
        for graph in ([[0, 1], [0, 5]], pairs, tmp_path / "links.csv")
    )
    assert by_rows.model.components_.tobytes() == by_ids.model.components_.tobytes()
    assert by_rows.model.components_.tobytes() == by_file.model.components_.tobytes()
    with pytest.raises(CorpusError, match="no document has the id 'z', which graph names"):
        laconic.fit(TEXTS, graph=[["a", "z"]], **options)


def test_options_of_each_modality():
    german = [
        "Sonne und Mond",
        "Mond und Sterne",
        "Sterne, Sonne",
        "Salz, Pfeffer",
        "Pfeffer, Chili",
        "Chili und",
    ]
    bundle = laconic.fit(
        {"en": TEXTS, "de": german}, 2, model="multimodal-plsa", stop_words={"de": ["und"]}, min_df={"en": 1}
    )
    assert "und" not in bundle.vectorizers["de"].vocabulary
    assert bundle.vectorizers["en"].to_dict()["min_df"] == 1
    assert bundle.search("mond", modality="de").ids[0] in {"0", "1"}
    with pytest.raises(ValueError, match="say which of 'en', 'de' to search, with modality"):
        bundle.search("mond")


def test_bundles_that_are_copied(tmp_path):
    bundle = laconic.fit(TEXTS, 2, labels=LABELS)
    bundle.save(tmp_path)
    for one in (bundle, laconic.load(tmp_path)):
        for made in (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
            other = made(one)
            assert other.search("moon") == bundle.search("moon")
            assert list(other.documents.texts) == TEXTS


def test_small_mistakes_with_bundles():
    corpus = Corpus.from_texts(TEXTS)
    model = RLSI(2, random_state=0).fit(corpus.X)
    bundle = laconic.Bundle(model, documents=laconic.Documents.of(model, corpus))
    assert bundle.vectorizer is corpus.vectorizer
    assert "6 documents" in repr(bundle)
    with pytest.raises(ValueError, match=r"such as Documents.of\(model, corpus\), not Corpus"):
        laconic.Bundle(model, documents=corpus)
    assert bundle.transform([]).shape == (0, 2)
    with pytest.raises(ValueError, match="n_terms must be a whole number of at least 1"):
        bundle.topics(0)
    with pytest.raises(CorpusError, match="this is a table, not a list of texts"):
        bundle.transform(pd.DataFrame(TABLE))
