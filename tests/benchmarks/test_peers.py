"""laconic beside its peers: what is measured, kept and shown is right, on toys and without heavy packages."""

from __future__ import annotations

import json
import pickle
from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.peers import contenders as taking_part
from benchmarks.peers import page as pages
from benchmarks.peers.contenders import Contender, Fitted, Task, heaviest
from benchmarks.peers.encoders import StoredEncoder
from benchmarks.peers.measures import (
    Mean,
    Seconds,
    accuracy_from,
    gensim_npmi,
    held_out_npmi,
    mean_of,
    purity_from,
    stability,
    topic_diversity,
)
from benchmarks.peers.protocols import LABELS, OCTIS, Fitter, by_labels, by_octis, frequent
from benchmarks.peers.store import KEPT, Store, source_state
from scipy.stats import t

from laconic.datasets import Texts

MANY = [f"word{place}" for place in range(60)]
SKY, FOOD = ["sun", "moon", "star", "comet"], ["salt", "pepper", "bread", "butter"]


def toy(n=60):
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice((SKY, FOOD)[place % 2], 6)) for place in range(n)]
    return Texts(
        name="toy",
        texts=texts,
        ids=np.array([str(place) for place in range(n)], dtype=object),
        labels=np.array([("sky", "food")[place % 2] for place in range(n)], dtype=object),
        options={"token_pattern": r"\S+", "lowercase": False, "stop_words": None, "min_df": 1, "max_df": 1.0},
    )


def contender(name):
    return next(each for each in taking_part.contenders() if each.name == name)


class TestMeasures:
    def test_diversity_is_the_share_of_distinct_words(self):
        assert topic_diversity([["a", "b"], ["b", "c"]], 2) == 0.75
        assert topic_diversity([["a", "b"], ["b", "c"]], 1) == 1.0
        assert topic_diversity([]) == 0.0

    def test_stability_does_not_depend_on_order_and_counts_topics_without_a_mate(self):
        assert stability([SKY, FOOD], [FOOD, SKY[::-1]]) == 1.0
        assert stability([SKY, FOOD], [SKY]) == stability([SKY], [SKY, FOOD]) == 0.5
        assert stability([SKY], [FOOD]) == 0.0
        assert stability([], [SKY]) == 0.0

    def test_gensim_is_asked_once_for_all_runs_and_answers_as_if_asked_for_each(self):
        pytest.importorskip("gensim")
        from gensim.corpora import Dictionary
        from gensim.models import CoherenceModel

        tokens = [text.split() for text in toy().texts]
        runs = [[SKY, FOOD], [["sun", "salt", "moon"]], [[]]]
        apart = [
            CoherenceModel(
                topics=topics,
                texts=tokens,
                dictionary=Dictionary(tokens),
                coherence="c_npmi",
                topn=10,
                processes=1,
            ).get_coherence()
            for topics in runs[:2]
        ]
        together = gensim_npmi(runs, tokens)
        assert together[:2] == pytest.approx(apart)
        assert np.isnan(together[2])

    def test_words_that_held_out_texts_do_not_have_go_with_none(self):
        assert held_out_npmi([["sun", "elsewhere"]], ["sun moon", "moon star"]) == -1.0
        assert held_out_npmi([["sun", "moon"]], ["sun moon", "bread salt"]) == pytest.approx(1.0)

    def test_weights_that_tell_labels_apart(self):
        labels = ["sky", "food"] * 30
        weights = np.eye(2)[[0, 1] * 30] * 1e-6
        assert purity_from(weights, labels) == 1.0
        assert accuracy_from(weights, labels, 0) == 1.0

    def test_interval_is_widened_by_seeds_only(self):
        runs = [{"n_topics": k, "x": k + seed} for k in (10, 20) for seed in (0, 1, 2)]
        found = mean_of(runs, "x")
        assert found.value == 16.0
        assert found.margin == pytest.approx(t.ppf(0.975, 4) * sqrt(2 * (1 / 3) / 4))
        assert mean_of([{"n_topics": k, "x": k} for k in (10, 20) for _ in range(3)], "x") == Mean(15.0, 0.0)
        assert mean_of([{"n_topics": 10, "x": 1}], "x") == Mean(1.0)


class TestEncoder:
    def encoder(self, path):
        made = StoredEncoder(path)
        calls = []

        def encode(texts, show_progress_bar):
            calls.append(texts)
            return np.array([[len(text), 1.0] for text in texts])

        made._model = SimpleNamespace(encode=encode)
        return made, calls

    def test_texts_are_encoded_once_and_charged_each_time(self, tmp_path):
        encoder, calls = self.encoder(tmp_path / "vectors.npz")
        first = encoder.encode(["sun", "moon", "sun"])
        np.testing.assert_array_equal(first, [[3, 1], [4, 1], [3, 1]])
        charged = encoder.charged
        assert charged.wall > 0
        again, more = self.encoder(tmp_path / "vectors.npz")
        np.testing.assert_array_equal(again.encode(["sun", "moon", "sun"]), first)
        assert again.charged == charged
        assert again.peak > 0
        assert (calls, more) == ([["sun", "moon"]], [])

    def test_saved_models_do_not_hold_vectors(self, tmp_path):
        encoder, _ = self.encoder(tmp_path / "vectors.npz")
        encoder.encode([f"text {n}" for n in range(1000)])
        assert len(pickle.dumps(encoder)) < 1000


class TestContenders:
    def test_keys_are_names_of_files_and_differ(self):
        keys = [each.key for each in taking_part.contenders()]
        assert len(set(keys)) == len(keys)
        assert all(set(key) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for key in keys)

    def test_what_is_not_installed_is_named(self):
        assert Contender("none", "none", lambda task: None, ("numpy", "no_such_thing")).missing() == [
            "no_such_thing"
        ]

    def test_words_without_weight_are_not_shown(self):
        assert heaviest([[0.1, 0.0, 0.5], [-1.0, 2.0, 0.0]], ["a", "b", "c"]) == [["c", "a"], ["b"]]

    @pytest.mark.parametrize(
        "name",
        [
            "laconic.fit",
            "laconic RLSI (tfidf)",
            "laconic NMF",
            "laconic PLSA",
            "scikit-learn NMF",
            "gensim LSI",
        ],
    )
    def test_finds_planted_topics(self, name, tmp_path):
        if contender(name).missing():
            pytest.skip(f"{name} is not installed")
        texts = toy()
        fitted = contender(name).fit(Task(texts.texts, 2, 0, texts.options))
        assert {frozenset(topic[:4]) for topic in fitted.topics} == {frozenset(SKY), frozenset(FOOD)}
        assert purity_from(fitted.weights(), texts.labels) == 1.0
        fitted.save(tmp_path)
        assert any(tmp_path.iterdir())

    @pytest.mark.parametrize("name", ["BERTopic", "turftopic KeyNMF", "turftopic S3", "turftopic FASTopic"])
    @pytest.mark.filterwarnings("default")
    def test_with_sentence_vectors_a_seed_gives_the_same_topics_again(self, name, tmp_path):
        if contender(name).missing():
            pytest.skip(f"{name} is not installed")
        encoder = StoredEncoder(tmp_path / "vectors.npz")
        encoder._model = SimpleNamespace(encode=vectors_of)
        draw = np.random.default_rng(0)
        texts = [" ".join(draw.choice(MANY[place % 2 :: 2], 12)) for place in range(100)]
        first, again, other = (
            contender(name).fit(Task(texts, 2, seed, toy().options, encoder)) for seed in (1, 1, 2)
        )
        assert first.topics == again.topics
        assert np.isfinite(first.weights()).all()
        np.testing.assert_array_equal(first.weights(), again.weights())
        if name == "turftopic FASTopic":
            assert not np.array_equal(first.weights(), other.weights())


def vectors_of(texts, show_progress_bar):
    """Vectors that lie close to each other where texts share words."""
    words = {word: np.random.default_rng(place).normal(size=8) for place, word in enumerate(MANY)}
    rows = np.array([np.sum([words[word] for word in text.split()], axis=0) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class TestProtocols:
    def fitter(self):
        return Fitter(contender("scikit-learn NMF"), toy().options, None)

    def test_by_labels(self):
        runs = by_labels(toy(), self.fitter(), (2,))
        assert [run["seed"] for run in runs] == [0, 1, 2]
        for run in runs:
            assert (run["purity"], run["accuracy"]) == (1.0, 1.0)
            assert min(run["stability"], run["diversity"]) > 0.7
            assert min(run["peak"], run["bytes"], run["cpu"]) > 0
            assert json.loads(json.dumps(run)) == run

    def test_by_octis(self):
        pytest.importorskip("gensim")
        runs = by_octis(toy(), self.fitter(), (2, 3))
        assert [(run["n_topics"], run["seed"]) for run in runs] == [
            (k, seed) for k in (2, 3) for seed in (0, 1, 2)
        ]
        assert all(-1 <= run["npmi"] <= 1 and 0 < run["diversity"] <= 1 for run in runs)

    def test_encoding_is_charged_and_not_counted_twice(self):
        class Encoder(SimpleNamespace):
            pass

        encoder = Encoder(charged=Seconds(), spent=Seconds(), peak=0)

        def fit(task):
            encoder.charged += Seconds(100.0, 50.0)
            return Fitted([], lambda: np.zeros((0, 0)), lambda folder: None)

        _, took = Fitter(Contender("toy", "toy", fit), None, encoder)(["a"], 1, 0)
        assert took.wall == pytest.approx(100, abs=10)
        assert took.cpu == pytest.approx(50, abs=10)

    def test_rare_labels_are_left_out(self):
        texts = toy(43)
        assert set(frequent(texts, 22).labels) == {"sky"}


def test_the_readme_has_the_numbers_of_the_page():
    kept = json.loads(KEPT.read_text())
    readme = " ".join((KEPT.parents[1] / "README.md").read_text().split())

    def numbers(name):
        means = kept[f"octis/octis_bbc_news/{contender(name).key}"]["means"]
        return [f"{means[what][0]:.3f}".removeprefix("0") for what in ("npmi", "diversity")]

    npmi, diversity = numbers("laconic.fit")
    assert f"a coherence (NPMI) of {npmi} and a diversity of {diversity} in" in readme
    assert "scikit-learn's NMF reaches {} and {},".format(*numbers("scikit-learn NMF")) in readme
    assert "BERTopic {} and {} ".format(*numbers("BERTopic")) in readme
    distinct = numbers("laconic.fit (distinct)")
    assert "it is {} and {}: no peer has more of either".format(*distinct) in readme
    peers = [each.name for each in taking_part.contenders() if each.family != "laconic"]
    rows = {name: kept.get(f"octis/octis_bbc_news/{contender(name).key}", {}) for name in peers}
    others = [numbers(name) for name, row in rows.items() if "means" in row]
    assert len(others) >= 10
    for ours, *theirs in zip(distinct, *others, strict=True):
        assert float(ours) >= max(map(float, theirs))


class TestPage:
    def store(self, folder):
        store = Store(folder)
        scores = {"laconic.fit": (0.2, 0.8), "scikit-learn NMF": (0.1, 0.9), "gensim LDA": (0.0, 0.5)}
        for protocol, collection in pages.PICTURED:
            for name, (npmi, diversity) in scores.items():
                runs = [
                    {
                        "n_topics": k,
                        "seed": seed,
                        "npmi": npmi,
                        "diversity": diversity,
                        "found": k,
                        "wall": 2.0,
                        "cpu": 1.0,
                        "peak": 2**20,
                        "bytes": 2**20,
                        **dict.fromkeys(("stability", "purity", "accuracy"), npmi),
                    }
                    for k in protocol.sizes
                    for seed in (0, 1, 2)
                ]
                key = contender(name).key
                store.write(
                    protocol.name,
                    collection,
                    key,
                    {"versions": {"toy": "1.0"}, "source": source_state(), "day": "2020-01-01", "runs": runs},
                )
        store.write(
            "octis", "octis_bbc_news", contender("BERTopic").key, {"missing": "not installed: bertopic"}
        )
        return store

    def test_wins_and_losses_are_told(self, tmp_path):
        pytest.importorskip("matplotlib")
        pages.write_page(self.store(tmp_path / "results"), tmp_path / "page.md")
        page = (tmp_path / "page.md").read_text()
        assert "| laconic.fit | **0.200 ± 0.000** | 0.800 ± 0.000 | 100% | **1.00** | 1.0 |" in page
        assert (
            "Peers ahead of `laconic.fit` in NPMI: none; in diversity: scikit-learn NMF; behind it in all of "
            "these: gensim LDA." in page
        )
        assert page.index("| laconic.fit") < page.index("| scikit-learn NMF") < page.index("| gensim LDA")
        assert "| CTM | 0.094 | 0.819 | +0.106, -0.019 |" in page
        assert "- OCTIS' BBC News, OCTIS' protocol: BERTopic (not installed: bertopic)." in page
        assert "- OCTIS' M10, OCTIS' protocol: nothing, because" in page
        assert "Ahead of every published row in both numbers at once: none." in page
        assert "Versions: toy 1.0." in page
        assert (
            "| OCTIS' BBC News | NPMI | scikit-learn NMF 0.100 | 0.200 | 1 of 3 | 1.0 | laconic.fit 0.200 |"
            in page
        )
        assert "| BBC News | diversity | scikit-learn NMF 0.900 | 0.800 | 2 of 3 | 1.0 | scikit" in page
        assert "Peers ahead of it in every measure of a table: none." in page
        assert "ahead of all peers in NPMI in 2 of 2 tables, in diversity in 0 of 2 tables" in page
        assert "did not run on both" not in page
        assert ">gensim LDA</text>" in (tmp_path / "images" / "peers.svg").read_text()

    def test_who_is_not_pictured_for_want_of_a_result_is_named(self):
        pictured = {"one": [{"what": "a"}, {"what": "b"}, {"what": "turftopic S3"}], "other": [{"what": "a"}]}
        assert pages.half_measured(pictured, {"a"}) == " b did not run on both collections."
        assert pages.half_measured(pictured, {"a", "b"}) == ""

    def test_rows_of_older_source_are_named(self, tmp_path):
        store, names = self.store(tmp_path), taking_part.contenders()
        assert pages.outdated(store, names) == []
        key = contender("laconic.fit").key
        store.write("labels", "bbc_news", key, store.read("labels", "bbc_news", key) | {"source": "older"})
        assert pages.outdated(store, names) == ["BBC News"]

    def test_rows_without_a_date_are_named(self, tmp_path):
        store, names = self.store(tmp_path / "results"), taking_part.contenders()
        store = Store(store.folder, tmp_path / "kept.json")
        assert pages.undated(store, names) == []
        means = {"npmi": [0.1, 0.0]}
        place = f"labels/bbc_news/{contender('gensim LSI').key}"
        store.keep({place: {"day": "2020-01-01", "means": means}})
        assert pages.undated(store, names) == []
        store.keep({place: {"means": means}})
        assert pages.undated(store, names) == ["BBC News: gensim LSI."]

    def test_means_outlast_their_runs_until_there_are_new_ones(self, tmp_path):
        whole, kept = self.store(tmp_path / "results"), tmp_path / "kept.json"
        pages.write_page(Store(whole.folder, kept), tmp_path / "page.md")
        left = Store(tmp_path / "none", kept)
        pages.write_page(left, tmp_path / "again.md")
        told = [(tmp_path / name).read_text().split("## Not run")[0] for name in ("page.md", "again.md")]
        assert told[0] == told[1]
        assert "| laconic.fit | **0.200 ± 0.000**" in told[1]
        key = contender("laconic.fit").key
        left.write("labels", "bbc_news", key, {"failed": "no memory"})
        assert pages.means_of(left.read("labels", "bbc_news", key))["npmi"][0] == pytest.approx(0.2)
        new = whole.read("labels", "bbc_news", key) | {"source": "newer"}
        left.write("labels", "bbc_news", key, new)
        assert left.read("labels", "bbc_news", key) == new

    def test_there_is_a_page_before_there_are_results(self, tmp_path):
        pages.write_page(Store(tmp_path / "none"), tmp_path / "page.md")
        assert "OCTIS' BBC News, OCTIS' protocol: nothing" in (tmp_path / "page.md").read_text()

    def test_collections_that_are_not_there_are_told_from_those_not_run(self, tmp_path, monkeypatch):
        monkeypatch.setattr(pages, "is_at_hand", lambda collection: collection == "octis_m10")
        lines = pages.absences(self.store(tmp_path), taking_part.contenders())
        assert "OCTIS' M10, OCTIS' protocol: nothing, because nobody has run it yet." in lines
        assert "AG News: nothing, because its data are not at hand here." in lines

    def test_failures_are_kept_until_there_is_a_result_or_another_failure(self, tmp_path):
        store = Store(tmp_path / "results", tmp_path / "kept.json")
        place = ("labels", "bbc_news", contender("BERTopic").key)
        store.write(*place, {"failed": "took too long"})
        store.keep(pages.all_means(store, taking_part.contenders()))
        elsewhere = Store(tmp_path / "none", store.kept)
        assert elsewhere.read(*place) == {"failed": "took too long"}
        elsewhere.write(*place, {"missing": "not installed: bertopic"})
        assert elsewhere.read(*place) == {"failed": "took too long"}
        elsewhere.write(*place, {"failed": "no memory"})
        assert elsewhere.read(*place) == {"failed": "no memory"}
        lines = pages.absences(elsewhere, taking_part.contenders())
        assert "BBC News: BERTopic (no memory)." in lines

    def test_every_collection_has_a_title(self):
        assert {*OCTIS.collections, *LABELS.collections} == set(pages.TITLES)
