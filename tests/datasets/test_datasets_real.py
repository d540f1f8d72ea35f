"""Over the real data sets: what is loaded has the sizes that their descriptions state."""

import json
import lzma
import re

import numpy as np
import pytest

from laconic.datasets import available, load, registry
from laconic.datasets.folders import provenance


@pytest.fixture
def loaded(data_dir):
    def get(name, **options):
        if not (data_dir / name).is_dir():
            pytest.skip(f"needs the data set {name}")
        return load(name, **options)

    return get


def stated(folder, pattern):
    """The numbers that a PROVENANCE.md states."""
    return [int(number) for number in re.search(pattern, provenance(folder)).groups()]


def test_all_that_is_listed_is_there(data_dir):
    manifest = data_dir / "MANIFEST.tsv"
    if not manifest.is_file():
        pytest.skip("needs MANIFEST.tsv")
    rows = [line.split("\t") for line in manifest.read_text(encoding="utf-8").splitlines()[1:]]
    infos = {info.name: info for info in available()}
    # What came later is not in the list of sizes.
    assert {row[0] for row in rows} <= set(registry.KNOWN)
    assert all(infos[name].present for name in registry.KNOWN)
    for name, size, *_ in rows:
        assert infos[name].present, name
        files = [path for path in infos[name].folder.iterdir() if path.name != "PROVENANCE.md"]
        assert sum(path.stat().st_size for path in files) == int(size)


@pytest.mark.parametrize("name", [n for n, known in registry.KNOWN.items() if known.kind == "retrieval"])
def test_retrieval(loaded, data_dir, name):
    data = loaded(name)
    numbers = r"(\d+) documents, (\d+) queries \((\d+) with a relevant document\), (\d+) relevant pairs"
    grades = [[grade for grade in row.values() if grade > 0] for row in data.qrels.values()]
    assert stated(data_dir / name, numbers) == [
        len(data),
        len(data.queries),
        sum(bool(row) for row in grades),
        sum(map(len, grades)),
    ]
    assert len(data.corpus().ids) == len(data)


def test_scifact_splits(loaded):
    data = loaded("scifact")
    assert [len(data.split(side).queries) for side in ("train", "test")] == [809, 300]
    assert [sum(map(len, data.split(side).qrels.values())) for side in ("train", "test")] == [919, 339]


@pytest.mark.parametrize("name", ["bbc_news", "octis_bbc_news", "octis_m10", "ohsumed23"])
def test_texts(loaded, data_dir, name):
    data = loaded(name)
    assert stated(data_dir / name, r"(\d+) documents,.* (\d+) labels") == [len(data), len(set(data.labels))]
    for side in set(() if data.splits is None else data.splits):
        assert stated(data_dir / name, rf"'{side}': (\d+)") == [len(data.split(side))]


@pytest.mark.parametrize("name", ["octis_bbc_news", "octis_m10"])
def test_closed_vocabulary(loaded, data_dir, name):
    words = (data_dir / name / "vocabulary.txt").read_text(encoding="utf-8").split()
    assert sorted(loaded(name).corpus().vocabulary) == sorted(words)


@pytest.mark.slow
def test_newsgroups(loaded, data_dir):
    news = loaded("20newsgroups")
    assert len(news) == 18_846
    assert (len(news.split("train")), len(news.split("test"))) == (11_314, 7_532)
    assert stated(data_dir / "20newsgroups", r"'alt.atheism': (\d+)") == [sum(news.labels == "alt.atheism")]
    assert len(set(news.ids)) == len(news)
    raw = loaded("20newsgroups", strip=()).texts
    with lzma.open(data_dir / "20newsgroups" / "docs.jsonl.xz", "rt", encoding="utf-8") as file:
        assert raw == [json.loads(line)["text"] for line in file]
    # Every message has headers; what is left comes after the first empty line.
    bodies = [message.partition("\n\n")[2] for message in raw]
    for text, body in zip(news.texts, bodies, strict=True):
        assert set(text.split("\n")) <= {"", *body.split("\n")}
    chosen = news.where(np.isin(news.labels, ["alt.atheism", "talk.religion.misc"]))
    corpus = chosen.corpus(min_df=5)
    assert (corpus.shape[0], set(corpus.labels)) == (799 + 628, {"alt.atheism", "talk.religion.misc"})


def test_reuters(loaded):
    data = loaded("reuters21578")
    assert len(data) == 21_578
    train, test = data.split("train"), data.split("test")
    assert (len(train), len(test)) == (9_603, 3_299)
    assert [sum(map(bool, side.label_sets)) for side in (train, test)] == [7_775, 3_019]
    sets = [{label for labels in side.label_sets for label in labels} for side in (train, test)]
    assert len(sets[0] & sets[1]) == 90
    one = data.single_label()
    assert (len(one), len(set(one.labels))) == (9_494, 66)


def test_nips(loaded):
    data = loaded("nips12")
    assert data.counts.shape == (1_740, 13_649)
    assert (data.counts.nnz, data.counts.sum(dtype=np.float64)) == (933_295, 2_301_375)
    assert sum(map(len, data.authors)) == 3_990
    corpus = data.corpus(min_df=5, max_df=0.5)
    frequency = np.diff(corpus.counts.tocsc().indptr)
    assert (frequency.min() >= 5, frequency.max() <= 870) == (True, True)


@pytest.mark.parametrize(
    ("name", "shape", "classes"), [("coil20", (1_440, 1_024), 20), ("pie_pose27", (2_856, 1_024), 68)]
)
def test_images(loaded, name, shape, classes):
    data = loaded(name)
    assert (data.X.shape, data.images.shape) == (shape, (shape[0], 32, 32))
    assert (data.X.min() >= 0, data.X.max() <= 1) == (True, True)
    assert np.bincount(data.labels)[1:].tolist() == [shape[0] // classes] * classes


@pytest.mark.parametrize(
    ("name", "shape", "links", "pairs", "classes"),
    [
        ("cora", (2_708, 1_433), 5_429, 5_278, 7),
        ("cora_ml", (2_995, 2_879), 8_416, 8_158, 7),
        ("dblp4", (4_057, None), 2 * 3_528, 3_528, 4),
    ],
)
def test_graphs(loaded, name, shape, links, pairs, classes):
    data = loaded(name)
    assert data.features.shape == (shape[0], shape[1] or len(data.vocabulary))
    assert data.adjacency.nnz == links
    undirected = data.undirected()
    assert undirected.nnz == 2 * pairs
    assert (undirected - undirected.T).nnz == 0
    assert len(set(data.labels)) == classes


def test_areas(loaded):
    data = loaded("dblp4")
    areas = ["database", "data mining", "machine learning", "information retrieval"]
    assert [sum(data.labels == area) for area in areas] == [1_197, 745, 1_109, 1_006]
    assert all(data.texts)


def test_europarl(loaded):
    data = loaded("europarl_de_en")
    assert len(data) == len(data.texts["de"]) == len(data.texts["en"]) == 6_000
    assert all(map(str.strip, data.texts["de"] + data.texts["en"]))


def test_wikipedia(loaded):
    data = loaded("wikipedia_xmodal")
    assert [X.shape for X in data.modalities.values()] == [(2_866, 128), (2_866, 1_000), (2_866, 10)]
    assert (len(data.split("train").ids), len(data.split("test").ids)) == (2_173, 693)
    np.testing.assert_allclose(data.modalities["image"].sum(axis=1), 1, rtol=1e-4)
    assert len(set(data.labels)) == 10


def test_p53(loaded):
    data = loaded("p53_pathways")
    assert (data.X.shape, len(data.groups)) == ((50, 4_301), 308)
    assert sum(data.labels == "mutated") == 33
    covered = np.unique(np.concatenate(list(data.groups.values())))
    assert covered.tolist() == list(range(4_301))
