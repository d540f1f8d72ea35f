"""Seeds: topics that are wanted, by a few words of each."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

import laconic
from laconic import Corpus
from laconic.errors import CorpusError, ParameterError
from laconic.steering.contexts import OWN_LENGTH, context_target
from laconic.steering.seeds import Seed, Seeds, look_up

SUBJECTS = {
    "tennis": "tennis wimbledon racket serve match henman",
    "cinema": "film actor oscar director screen festival",
    "war": "iraq war baghdad troops army iraqi",
    "money": "bank economy market shares profit growth",
}


@pytest.fixture(scope="module")
def texts():
    random = np.random.default_rng(0)
    words = [subject.split() for subject in SUBJECTS.values()]
    return [
        " ".join(random.choice(words[n % 4], 8)) + " " + " ".join(random.choice(words[n % 3], 1))
        for n in range(120)
    ]


def fit(texts, **options):
    return laconic.fit(texts, min_df=1, max_df=1.0, **options)


@pytest.mark.parametrize("model", ["rlsi", "nmf", "plsa", "nmf-kl", "graph-plsa"])
def test_seeded_topics_come_first_in_their_order_with_their_names(texts, model):
    seeds = {"the war": ["Baghdad"], "tennis": ["Wimbledon", "racket"]}
    bundle = fit(texts, n_topics=4, model=model, seeds=seeds)
    assert bundle.names == ["the war", "tennis", None, None]
    for k, subject in enumerate(["war", "tennis"]):
        top = {word for word, _ in bundle.topic_words(n_terms=4)[k]}
        assert top <= set(SUBJECTS[subject].split())
    other = fit(texts, n_topics=4, model=model, seeds=dict(reversed(seeds.items())), random_state=7)
    assert other.names == ["tennis", "the war", None, None]
    assert {word for word, _ in other.topic_words(n_terms=4)[0]} <= set(SUBJECTS["tennis"].split())


def test_words_to_avoid_and_strength(texts):
    seeds = {
        "war": {"words": ["iraq"], "avoid": ["troops"], "strength": 2.0},
        "cinema": {"words": ["film"]},
    }
    bundle = fit(texts, n_topics=4, seeds={"topics": seeds, "avoid": ["bank"], "strength": 0.2})
    words = [dict(topic) for topic in bundle.topic_words(n_terms=None)]
    assert "troops" not in words[0]
    assert any("troops" in topic for topic in words)
    assert not any("bank" in topic for topic in words)
    anchors = bundle.model.anchors
    assert anchors.strength == {0: 2.0, 1: 0.2}
    stronger = fit(texts, n_topics=4, seeds=seeds, seed_strength=5.0)
    assert stronger.model.anchors.strength == {0: 2.0, 1: 5.0}


def test_seeds_are_counted_as_documents_are(texts):
    with pytest.warns(UserWarning, match="not in the vocabulary are ignored: 'Tribeca'"):
        bundle = fit(texts, n_topics=4, seeds={"films": ["FESTIVALS", "Tribeca"]}, stemmer="english")
    (column,) = look_up(["FESTIVALS"], bundle.vectorizer, [])
    assert bundle.vocabulary[column] == "festiv"
    assert bundle.model.anchors.targets[0][0, column] > 0


def test_of_a_phrase_the_longest_terms_count():
    texts = ["davis cup final", "davis cup again", "a cup of tea", "mister davis"] * 3
    bundle = fit(texts, n_topics=2, seeds={"cup": ["Davis cup"]}, ngram_range=(1, 2), stop_words=None)
    (column,) = look_up(["Davis cup"], bundle.vectorizer, [])
    assert bundle.vocabulary[column] == "davis cup"
    apart = fit(texts, n_topics=2, seeds={"cup": ["Davis cup"]})
    assert [apart.vocabulary[m] for m in look_up(["Davis cup"], apart.vectorizer, [])] == ["cup", "davis"]


def test_a_seed_without_any_word_is_an_error(texts):
    with pytest.raises(CorpusError, match="seeds: no word of 'golf' is in the vocabulary"):
        fit(texts, n_topics=4, seeds={"golf": ["golf", "birdie"]})


def test_seeds_of_classes_name_their_owner(texts):
    labels = ["sea" if n % 2 else "land" for n in range(120)]
    seeds = {"war": ["iraq"], "tennis": {"words": ["tennis"], "class": "land"}}
    options = {"model": "group-nmf", "n_shared": 2, "n_per_class": 2, "labels": labels}
    bundle = fit(texts, seeds=seeds, seed_strength=1.0, **options)
    assert bundle.names == ["war", None, "tennis", None, None, None]
    assert bundle.topic_words(n_terms=1)[2][0][0] in SUBJECTS["tennis"].split()
    with pytest.raises(ParameterError, match="seeds are 3 topics of shared, but there are 2"):
        fit(texts, seeds={"a": ["war"], "b": ["film"], "c": ["bank"]}, **options)
    with pytest.raises(ParameterError, match="'tennis' is of a class, and NMF has none"):
        fit(texts, seeds=seeds, model="nmf")


def test_seeds_of_modalities(texts):
    both = {"en": texts, "xx": [" ".join(f"x{word}" for word in text.split()) for text in texts]}
    seeds = {"war": {"words": {"en": ["iraq"]}}, "tennis": {"words": {"xx": ["xtennis"], "en": ["racket"]}}}
    bundle = fit(both, n_topics=4, model="multimodal-plsa", seeds=seeds, seed_strength=1.0)
    assert bundle.names[:2] == ["war", "tennis"]
    heaviest = bundle.vectorizers["xx"].vocabulary[bundle.model.modality_topics("xx")[1].argmax()]
    assert heaviest.removeprefix("x") in SUBJECTS["tennis"].split()


def test_a_seed_is_held_at_the_words_beside_its_own_in_documents_of_its_owner():
    X = csr_array(np.array([[3.0, 2, 0, 0], [2, 1, 0, 0], [1, 0, 0, 3], [0, 0, 2, 1], [0, 0, 1, 1]]))
    target = context_target(X, [0], scale=2.0).toarray().ravel()
    # word 1 stands beside word 0; words 2 and 3 are more frequent elsewhere
    assert (target > 0).tolist() == [True, True, False, False]
    assert np.linalg.norm(target) == pytest.approx(2)
    assert target[0] / target[1] == pytest.approx(OWN_LENGTH)
    of_some = context_target(X, [0], members=[False, False, True, True, True]).toarray().ravel()
    assert (of_some > 0).tolist() == [True, False, False, True]
    assert context_target(X, [2], members=[True, True, True, False, False]) is None


def test_seeds_are_saved_with_names_and_anchors(texts, tmp_path):
    bundle = fit(texts, n_topics=4, seeds={"war": ["iraq"]})
    bundle.save(tmp_path / "model")
    loaded = laconic.load(tmp_path / "model")
    assert loaded.names == ["war", None, None, None]
    assert loaded.model.anchors == bundle.model.anchors
    assert loaded.model.components_.data.tobytes() == bundle.model.components_.data.tobytes()


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ([["war"]], "seeds must be a mapping of names to lists of words"),
        ({}, "seeds must be a mapping"),
        ({3: ["war"]}, "have a topic called 3: names are texts"),
        ({"war": [3]}, "'war' has the word 3, which is not text"),
        ({"war": 3}, "the words of 'war' must be a list, not 3"),
        ({"war": {"word": ["war"]}}, "'war' has 'word'; a topic has words, avoid, strength, class"),
        ({"war": {"avoid": ["war"]}}, "'war' has no words"),
        ({"war": {"words": ["war"], "strength": "much"}}, "the strength of 'war' must be a number"),
        ({"topics": {"war": ["war"]}, "strength": -1}, "the strength of all topics must be a number"),
        ({"war": {"words": ["war"], "avoid": ["WAR"]}}, "'war' has 'war' both among its words"),
        ({str(n): ["war"] for n in "abcde"}, "seeds are 5 topics, but there are 4: raise n_topics"),
    ],
)
def test_what_is_wrong_with_seeds_is_named(texts, seeds, message):
    with pytest.raises(ParameterError, match=message):
        fit(texts, n_topics=4, seeds=seeds)


def test_models_without_anchors_say_why(texts):
    with pytest.raises(ParameterError, match="SparseLSA takes no seeds: its topics are rotated together"):
        fit(texts, n_topics=4, model="sparse-lsa", seeds={"war": ["war"]})
    with pytest.raises(ParameterError, match="seeds and anchors say the same"):
        fit(texts, n_topics=4, seeds={"war": ["war"]}, anchors=laconic.steering.Anchors())


def test_a_file_says_the_same_as_a_mapping(tmp_path):
    (tmp_path / "seeds.yaml").write_text(
        "strength: 0.1\navoid: [said]\ntopics:\n  tennis: [tennis, wimbledon]\n  war:\n"
        "    words: [iraq]\n    avoid: [film]\n    strength: 1\n"
    )
    expected = Seeds(
        (Seed("tennis", ("tennis", "wimbledon")), Seed("war", ("iraq",), ("film",), 1.0)), ("said",), 0.1
    )
    assert Seeds.of(tmp_path / "seeds.yaml") == expected
    whole = {
        "strength": 0.1,
        "avoid": ["said"],
        "topics": {
            "tennis": ["tennis", "wimbledon"],
            "war": {"words": "iraq", "avoid": ["film"], "strength": 1},
        },
    }
    (tmp_path / "seeds.json").write_text(json.dumps(whole))
    assert Seeds.of(str(tmp_path / "seeds.json")) == Seeds.of(whole) == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yaml", "war: [", "is not YAML"),
        ("b.json", "{", "is not JSON"),
        ("c.yaml", "- war", "seeds of .*c.yaml must be a mapping"),
        ("d.yaml", "no: [war]", "have a topic called False: names are texts, in quotes"),
        ("e.yaml", "!!python/object/apply:os.system ['true']", "is not YAML"),
        ("f.yaml", b"\xff\xfe", "cannot read the seeds of .*f.yaml"),
    ],
)
def test_files_that_are_none(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ParameterError, match=message):
        Seeds.of(path)
    with pytest.raises(ParameterError, match="cannot read the seeds"):
        Seeds.of(tmp_path / "nowhere.yaml")


def test_the_command_line_reads_a_file(texts, tmp_path, laconic):
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    (tmp_path / "seeds.yaml").write_text("war: [Baghdad, nowhere]\ntennis: [wimbledon]\n")
    options = ["-k", 4, "--min-df", 1, "--max-df", 1.0, "--seeds", tmp_path / "seeds.yaml"]
    found = laconic("fit", tmp_path / "texts.txt", *options, "-o", tmp_path / "model")
    assert "ignored: 'nowhere'" in found.stderr
    assert "2 topics seeded" in found.stderr
    listed = laconic("topics", tmp_path / "model").stdout.splitlines()
    assert any("war" in line and "baghdad" in line for line in listed)
    import laconic as library

    corpus = Corpus.read(tmp_path / "texts.txt", min_df=1, max_df=1.0)
    with pytest.warns(UserWarning, match="nowhere"):
        same = library.fit(corpus, 4, seeds=tmp_path / "seeds.yaml")
    loaded = library.load(tmp_path / "model")
    assert loaded.names == same.names == ["war", "tennis", None, None]
    assert loaded.model.components_.data.tobytes() == same.model.components_.data.tobytes()


def test_the_command_line_says_what_is_wrong(texts, tmp_path, laconic):
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    (tmp_path / "seeds.yaml").write_text("golf: [birdie]\n")
    place = [tmp_path / "texts.txt", "-k", 4, "-o", tmp_path / "model"]
    found = laconic("fit", *place, "--seeds", tmp_path / "seeds.yaml", "--min-df", 1, "--max-df", 1.0, code=1)
    assert "no word of 'golf'" in found.stderr
    assert not (tmp_path / "model").exists()
    assert "needs --seeds" in laconic("fit", *place, "--seed-strength", 1, code=2).stderr
    assert "cannot read" in laconic("fit", *place, "--seeds", tmp_path / "no.yaml", code=2).stderr
