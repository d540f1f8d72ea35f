import gzip
import json
import pickle
from functools import partial

import numpy as np
import pytest

from laconic.datasets import DatasetError, load
from laconic.datasets.usenet import strip_message

MESSAGE = (
    "From: a@b\nNewsgroups: sci.fish\n\nC. writes:\n> Blue?\n ab> Or green?\nRed fish.\n\nYes.\n-- \nA. B.\n"
)
# without the time: it would be in the names of tests, which have to be the same in every process
packed = partial(gzip.compress, mtime=0)


def test_newsgroups(lines):
    rows = [
        {"id": "1", "label": label, "split": split, "text": MESSAGE}
        for label, split in (("sci.fish", "train"), ("rec.fish", "test"))
    ]
    lines("20newsgroups/docs.jsonl.xz", rows)
    news = load("20newsgroups")
    assert news.texts == ["Red fish.\n\nYes."] * 2
    assert list(news.ids) == ["sci.fish/1", "rec.fish/1"]
    assert list(news.labels) == ["sci.fish", "rec.fish"]
    assert news.corpus(min_df=1, max_df=1.0).shape == (2, 3)
    assert list(news.split("test").ids) == ["rec.fish/1"]
    with pytest.raises(DatasetError, match="no split 'dev', only train, test"):
        news.split("dev")
    assert load("20newsgroups", strip=()).texts == [MESSAGE] * 2
    assert load("20newsgroups", strip=["quotes"]).texts[0].endswith("Red fish.\n\nYes.\n-- \nA. B.\n")
    with pytest.raises(DatasetError, match="no part 'footers'; there are headers, quotes, signatures"):
        load("20newsgroups", strip=["footers"])


def test_strip_only_for_newsgroups(retrieval):
    with pytest.raises(DatasetError, match="only for 20newsgroups, not for adi"):
        load("adi", strip=())


def test_a_text_without_headers_keeps_its_first_paragraph():
    assert strip_message("One fish.\n\nTwo fish.") == "One fish.\n\nTwo fish."
    assert strip_message("Subject: nothing") == ""


def test_texts_with_titles(lines):
    lines("bbc_news/docs.jsonl", [{"id": "b/1", "label": "b", "title": "Ads up", "text": "Profits rise."}])
    news = load("bbc_news")
    assert (news.texts, news.titles, news.splits) == (["Ads up\nProfits rise."], ["Ads up"], None)
    assert repr(news) == "Texts('bbc_news', 1 documents, 1 labels)"
    with pytest.raises(DatasetError, match="has no splits"):
        news.split("train")


def test_tokens_stay_as_they_are(lines):
    rows = [
        {"id": str(n), "label": "0", "split": "val", "text": text}
        for n, text in enumerate(["a-b the", "the"])
    ]
    lines("octis_m10/docs.jsonl.gz", rows)
    data = load("octis_m10")
    assert list(data.corpus().vocabulary) == ["a-b", "the"]
    assert list(data.corpus(min_df=2).vocabulary) == ["the"]


def test_several_labels(lines):
    marks = [
        ("TRAIN", "YES", ["cocoa"]),
        ("TEST", "YES", ["oil", "gas"]),
        ("TRAIN", "NO", []),
        ("TEST", "YES", ["tin"]),
    ]
    rows = [
        {
            "id": str(n),
            "title": "",
            "text": "t",
            "lewis": lewis,
            "has_topics": has,
            "topics": topics,
            "places": ["x"],
        }
        for n, (lewis, has, topics) in enumerate(marks)
    ]
    lines("reuters21578/docs.jsonl.xz", rows)
    data = load("reuters21578")
    assert list(data.splits) == ["train", "test", "unused", "test"]
    assert data.labels is None
    assert data.label_sets[1] == ("oil", "gas")
    one = data.single_label()
    assert (list(one.ids), list(one.labels)) == (["0", "3"], ["cocoa", "tin"])
    assert one.extra["places"] == [["x"]] * 2
    assert one.single_label().split("test").labels == ["tin"]


def test_retrieval(retrieval):
    data = load("adi")
    assert data.texts == ["red fish\nswim in the sea", "blue bird", "green tree"]
    assert data.extra == {"author": ["A", "B", ""]}
    assert data.queries == {"q1": "what swims", "q2": "?"}
    assert data.qrels == {"q1": {"1": 2, "2": 0}}
    test = data.split("test")
    assert (test.queries, test.qrels, len(test)) == ({"q2": "?"}, {}, 3)
    assert list(data.corpus(min_df=1).ids) == ["1", "2", "3"]


def test_counts(counts):
    data = load("nips12")
    assert data.counts.toarray().tolist() == [[2, 1, 0], [1, 0, 0], [3, 0, 1]]
    assert (data.titles[1], data.authors[1]) == ("T1", ("A", "B"))
    assert list(data.corpus().vocabulary) == ["network", "learning", "model"]
    assert list(data.corpus(max_df=0.5).vocabulary) == ["learning", "model"]
    assert list(data.corpus(min_df=2, weighting="count").vocabulary) == ["network"]
    with pytest.raises(ValueError, match="max_df must be"):
        data.corpus(max_df=2.5)


def test_images(arrays):
    pixels = np.arange(8, dtype=np.uint16).reshape(2, 4)
    arrays("coil20/coil20_32x32.npz", X=pixels, y=np.array([1, 2], np.uint8), scale=np.array(10.0))
    data = load("coil20")
    assert data.X[0].tolist() == [0, 0.1, 0.2, 0.3]
    assert data.images[0].tolist() == [[0, 0.2], [0.1, 0.3]]
    assert data.labels.tolist() == [1, 2]
    arrays("pie_pose27/pie_pose27_32x32.npz", X=np.full((1, 4), 255, np.uint8), y=np.array([1]))
    assert load("pie_pose27").X.tolist() == [[1, 1, 1, 1]]


def test_graph(arrays, graph):
    arrays("cora/cora.npz", **graph)
    data = load("cora")
    assert data.features.toarray().tolist() == [[1, 0.5], [0, 2], [0, 0]]
    assert data.adjacency.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert data.undirected().toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert (list(data.labels), data.vocabulary) == (["Theory", "Practice", "Practice"], None)
    arrays("cora_ml/cora_ml.npz", attr_names=np.array(["red", "fish"]), **graph)
    assert list(load("cora_ml").vocabulary) == ["red", "fish"]


def test_coauthors(data, lines):
    papers = [
        {"id": "1", "title": "Red fish", "conf": "X", "authors": ["a", "b", "c"], "terms": ["red", "fish"]},
        {
            "id": "2",
            "title": "Fish, fish",
            "conf": "X",
            "authors": ["b", "a", "a"],
            "terms": ["fish", "fish"],
        },
    ]
    lines("dblp4/papers.jsonl.gz", papers)
    with gzip.open(data / "dblp4" / "authors.tsv.gz", "wt") as file:
        file.write("author_id\tname\tlabel\na\tA. A\t0\nc\tC. C\t\nb\tB. B\t3\n")
    dblp = load("dblp4")
    assert (list(dblp.ids), list(dblp.labels)) == (["a", "b"], ["database", "information retrieval"])
    assert dblp.features.toarray().tolist() == [[3, 1], [3, 1]]
    assert dblp.adjacency.toarray().tolist() == [[0, 2], [2, 0]]
    assert dblp.texts == ["Red fish\nFish, fish"] * 2


def test_parallel(lines):
    row = {"id": "1", "date": "19990720", "title_de": "Wahl", "title_en": "Ballot", "group": None}
    lines("europarl_de_en/pairs.jsonl.xz", [{**row, "de": "Die Wahl, the", "en": "The ballot"}])
    data = load("europarl_de_en")
    assert data.titles == {"de": ["Wahl"], "en": ["Ballot"]}
    assert data.extra == {"date": ["19990720"], "group": [None]}
    assert list(data.corpus("en", min_df=1, max_df=1.0).vocabulary) == ["ballot"]
    assert list(data.corpus("de", min_df=1, max_df=1.0).vocabulary) == ["die", "the", "wahl"]
    with pytest.raises(DatasetError, match="no language 'fr', only de, en"):
        data.corpus("fr")


@pytest.fixture
def pairs(data, arrays):
    sides = {"tr": 2, "te": 1}
    widths = {"I": 3, "T": 2, "T_tfidf": 4}
    values = {f"{k}_{side}": np.eye(n, width) for k, width in widths.items() for side, n in sides.items()}
    labels = {"y_tr": np.array([1, 2], np.uint8), "y_te": np.array([2], np.uint8)}
    arrays("wikipedia_xmodal/wikipedia_xmodal.npz", categories=np.array(["art", "sport"]), **values, **labels)
    path = data / "wikipedia_xmodal" / "pairs.tsv"
    path.write_text(
        "split\ttext_id\timage_id\tcategory\ntrain\tt1\ti1\t1\ntrain\tt2\ti2\t2\ntest\tt3\ti3\t2\n"
    )
    return path


def test_multimodal(pairs):
    data = load("wikipedia_xmodal")
    assert {name: X.shape for name, X in data.modalities.items()} == {
        "image": (3, 3),
        "text": (3, 4),
        "topics": (3, 2),
    }
    assert list(data.labels) == ["art", "sport", "sport"]
    test = data.split("test")
    assert (list(test.ids), test.modalities["text"].toarray().tolist()) == (["t3/i3"], [[1, 0, 0, 0]])
    pairs.write_text(pairs.read_text().replace("train\tt2", "test\tt2"))
    with pytest.raises(DatasetError, match=r"pairs\.tsv is damaged: its splits"):
        load("wikipedia_xmodal")


def test_groups(data, arrays):
    genes = np.array(["g1", "g2", "g3"])
    arrays(
        "p53_pathways/expression.npz",
        X=np.ones((2, 3), np.float32),
        y=np.array([0, 1], np.uint8),
        genes=genes,
    )
    with gzip.open(data / "p53_pathways" / "groups.json.gz", "wt") as file:
        json.dump({"p": ["g3", "g1", "unmeasured"], "q": ["g2", "g1"]}, file)
    p53 = load("p53_pathways")
    assert {name: columns.tolist() for name, columns in p53.groups.items()} == {"p": [0, 2], "q": [0, 1]}
    assert list(p53.labels) == ["normal", "mutated"]


@pytest.mark.parametrize(
    ("file", "contents", "why"),
    [
        ("docs.jsonl.gz", b"no gzip", "docs.jsonl.gz is damaged: .*gzip"),
        ("docs.jsonl.gz", packed(b'{"id": "1"')[:-9], "docs.jsonl.gz is damaged"),
        ("docs.jsonl.gz", packed(b'{"id": "1"\n'), "line 1 is not JSON"),
        ("docs.jsonl.gz", packed(b"[]\n"), "line 1 is not a JSON object"),
        ("docs.jsonl.gz", packed(b""), "it is empty"),
        ("docs.jsonl.gz", packed(b'{"id": "1", "text": "\xff"}'), "not UTF-8"),
        ("docs.jsonl.gz", packed(b'{"id": "1", "text": null}'), "'text' of record 1 is None, not str"),
        ("queries.jsonl", b'{"id": "q1", "text": "a"}\n{"id": "q1", "text": "b"}', "'q1' occurs 2 times"),
        ("qrels.tsv", b"q1\t1\n", "row 1 has 2 columns, not 3"),
        ("qrels.tsv", b"q1\t9\t1\n", "row 1 is about query q1, document 9"),
        ("qrels.tsv", b"q1\t1\tgood\n", "qrels.tsv is damaged: invalid literal"),
    ],
)
def test_damaged_lines(retrieval, file, contents, why):
    (retrieval / file).write_bytes(contents)
    with pytest.raises(DatasetError, match=why):
        load("adi")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"attr_indices": np.array([0, 7, 1])}, "cora.npz is damaged"),
        ({"attr_indices": np.array([0, -1, 1])}, "cora.npz is damaged"),
        ({"attr_indptr": np.array([0, 2, 9, 3])}, "cora.npz is damaged"),
        ({"adj_shape": np.array([4, 3])}, "cora.npz is damaged"),
        ({"labels": np.array([0, 1])}, "2 labels for 3"),
        ({"labels": np.array([0, 1, -1])}, "labels other than those of the 2 classes"),
        ({"node_names": np.array(["p", "p", "r"])}, "'p' occurs 2 times"),
        ({"node_names": np.array(["p", None, "r"])}, "cora.npz is damaged: .*allow_pickle=False"),
        ({"class_names": None}, "no array named class_names"),
    ],
)
def test_damaged_arrays(arrays, graph, change, why):
    arrays("cora/cora.npz", **{name: value for name, value in (graph | change).items() if value is not None})
    with pytest.raises(DatasetError, match=why):
        load("cora")


def test_nothing_is_unpickled(data):
    (data / "cora").mkdir()
    (data / "cora" / "cora.npz").write_bytes(pickle.dumps({"labels": [1]}))
    with pytest.raises(DatasetError, match=r"cora\.npz is damaged: it is not an \.npz file"):
        load("cora")


def test_half_a_file(data, arrays, graph):
    arrays("cora/cora.npz", **graph)
    path = data / "cora" / "cora.npz"
    whole = path.read_bytes()
    for size in (10, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(DatasetError, match=r"cora\.npz is damaged"):
            load("cora")
    path.write_bytes(whole[:60] + bytes(20) + whole[80:])
    with pytest.raises(DatasetError, match=r"cora\.npz is damaged"):
        load("cora")


def test_a_vocabulary_of_another_length(counts):
    (counts / "vocab.txt").write_text("network\n")
    with pytest.raises(DatasetError, match=r"vocab\.txt is damaged: there are 1 names of columns for 3"):
        load("nips12")
