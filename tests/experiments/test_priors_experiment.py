import numpy as np
import pytest
from scipy.sparse import csr_array

from laconic.datasets import Texts
from laconic.experiments.keeping import Keeper
from laconic.experiments.parts import CONFIRMED, IN_PART, plain
from laconic.experiments.priors import claims, classes, readings


@pytest.fixture
def counts():
    """Two kinds of documents, with words of their own."""
    rng = np.random.default_rng(0)
    means = np.where(np.arange(12) < 6, [[4], [0.3]], [[0.3], [4]])
    return csr_array(rng.poisson(np.repeat(means, 20, axis=0)).astype(np.float32))


def test_halves_are_all_words(counts):
    first, second = readings.halves(counts, 0)
    assert ((first + second).toarray() == counts.toarray()).all()
    assert 0.4 < first.sum() / counts.sum() < 0.6
    assert (first.data > 0).all()
    assert (second.data > 0).all()


def test_perplexity_is_that_of_the_words(counts, monkeypatch):
    """Two topics of six words each: a word is one of about six, of twelve without topics."""
    monkeypatch.setattr(readings, "N_TOPICS", 2)
    found = readings.perplexity(counts, None, 0, 4, 50)
    assert 6 < found < 9
    monkeypatch.setattr(readings, "N_TOPICS", 1)
    assert 11 < readings.perplexity(counts, None, 0, 4, 50) < 12.5


def results():
    """Read over documents, only a scaled eps makes anything sparse."""
    names = list(readings.priors(1000))
    effective = dict(zip(names, (4.0, 2.0, 3.99, 3.0, 2.5), strict=True))
    scores = {
        name: {
            "used": 0.3,
            "effective": value,
            "documents": 100.0,
            "purity": 0.8,
            "purity_sd": 0.0,
            "explained": 0.2,
        }
        for name, value in effective.items()
    }
    return plain(
        {
            "n_documents": 1000,
            "n_topics": 2,
            "starts": 1,
            "folds": 2,
            "scores": scores,
            "words": {
                names[0]: [["sun", "moon"], ["salt", "sea"]],
                names[1]: [["sun", "star"], ["salt", "sea"]],
            },
            "perplexities": {
                readings.ML: [900.0, 910.0],
                **{f"{eps:g}": [880.0 + eps, 920.0 + eps] for eps in readings.GRID},
            },
        }
    )


def test_section_and_claims():
    section = readings.render(results())
    text = " ".join(section.text.split())
    assert "| 1 | sun **moon** | sun **star** |" in section.text
    assert "documents of a topic, eps 0.02: documents have as many topics (4.00 → 3.99)" in text
    assert "documents of a topic, eps 0.001: documents have fewer topics (4.00 → 3.00)" in text
    assert "eps = 0.0005 is best on BBC news (perplexity 900). The paper's eps of 0.02 has 900" in text
    assert "against 905 without a prior, and is the better of the two in 1 of 2 folds" in text
    assert "its eps of 0.02, documents have as many topics as before (4.00 → 3.99)" in section.findings[0]
    assert "scaled to the number of documents, fewer topics (4.00 → 3.00)" in section.findings[0]
    assert set(section.figures) == {"penalties", "density"}
    judged = {claim.text: claim.judge(results()) for claim in claims.CLAIMS if claim.parts == ("readings",)}
    assert judged["The same, by the letter of the text"].state == IN_PART
    assert judged["Topics shift subtly"].state == CONFIRMED
    assert "1 of 4 leading words are new, in 1 of 2 topics" in judged["Topics shift subtly"].reason


def test_readings_from_start_to_page(counts, monkeypatch, tmp_path):
    class Toy:
        labels = np.repeat(["a", "b"], 20)

        def __len__(self):
            return 40

        def where(self, rows):
            return self

        def corpus(self, **options):
            return type("Words", (), {"counts": counts, "vocabulary": [f"w{n}" for n in range(12)]})

    monkeypatch.setattr(readings.datasets, "load", lambda name: Toy())
    monkeypatch.setattr(readings, "N_TOPICS", 2)
    monkeypatch.setattr(readings, "GRID", (readings.EPS,))
    found = plain(readings.run(True, Keeper(tmp_path / "pieces.json", lambda message: None)))
    assert set(found["scores"]) == set(readings.priors(40))
    readings.render(found)


def test_classes_go_on_where_they_were_interrupted(monkeypatch, tmp_path):
    """Starts are kept: what a second run says and finds is what was kept."""
    rng = np.random.default_rng(0)
    words = {"a": ["sun", "moon", "star", "sky"], "b": ["salt", "sea", "fish", "ship"]}
    labels = np.array(["a", "b"] * 20, dtype=object)
    texts = [" ".join(rng.choice(words[label], 12)) for label in labels]
    ids = np.array([str(n) for n in range(40)], dtype=object)
    toy = Texts(name="bbc_news", texts=texts, ids=ids, labels=labels)
    monkeypatch.setattr(classes.datasets, "load", lambda name: toy)
    said = []
    desk = Keeper(tmp_path / "pieces.json", said.append)
    found = plain(classes.run("bbc_news", True, desk))
    assert len(said) == 2
    assert plain(classes.run("bbc_news", True, desk)) == found
    assert said[2:] == ["bbc_news: counting words"]
    assert found["scores"][classes.BPD]["effective"] < found["scores"][classes.ML_PLSA]["effective"] + 1e-6
    text = " ".join(classes.render(found).text.split())
    assert '"fewer" means fewer by more than 5%' in text


@pytest.mark.parametrize(("topics", "said"), [(4.0, "about as many"), (3.7, "a different number of")])
def test_the_exponential_prior_is_judged_by_the_topics(topics, said):
    key = classes.EXPONENTIAL
    scores = {key: {"effective": topics}, classes.ML_NMF: {"effective": 4.0}}
    results = {"exponential": key, "scores": scores, "without": {key: classes.ML_NMF}}
    still = classes._exponential(results | {"exponential_differs": 0.001, "largest_topic_weight": 1.0})
    assert f"documents have {said} topics (4.00 → {topics:.2f})" in still
    assert "This is confirmed: the l1 penalty moves no topic." in still
    assert ("found by coordinate descent" in still) == (topics < 4)
    moved = classes._exponential(results | {"exponential_differs": 0.1, "largest_topic_weight": 1.0})
    assert "This is not confirmed here." in moved
