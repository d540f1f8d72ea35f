"""Edits of topics that have owners, links or modalities: numbers stay, and what is refused says why."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import laconic
from laconic import Bundle, BundleError, load
from laconic.errors import ParameterError

WORDS = [[f"w{k}x{j}" for j in range(12)] for k in range(4)]
COMMON = ["common", "usual", "often", "plain"]


def texts(prefix=""):
    """Documents of four kinds; those of kinds 0 and 2 are of class a, the others of class b."""
    random = np.random.default_rng(0)
    drawn = [[*random.choice(WORDS[n % 4], 25), *random.choice(COMMON, 10)] for n in range(80)]
    return [" ".join(prefix + word for word in words) for words in drawn]


LABELS = ["ab"[n % 2] for n in range(80)]


def rows(bundle):
    return csr_array(bundle.model.components_).toarray()


def kinds(bundle, topic, n_terms=6):
    """Whose words a topic has."""
    return {word.split("x")[0] for word, _ in bundle.topic_words(n_terms)[topic] if word not in COMMON}


@pytest.fixture(scope="module", params=["group-rlsi", "group-nmf"])
def group(request):
    return laconic.fit(
        texts(), model=request.param, labels=LABELS, n_shared=0, n_per_class=2, max_df=1.0, max_iter=30
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_topics_of_classes_are_split_seeded_and_dropped_and_numbers_stay(group, tmp_path):
    before = rows(group)
    assert list(group.model.topic_owners) == ["a", "a", "b", "b"]
    merged = group.edit().merge(0, 1).rename(0, "ours").apply()
    assert merged.notes.retired == {1: "merged into 0"}
    assert kinds(merged, 0, 20) == {"w0", "w2"}
    np.testing.assert_array_equal(rows(merged)[[2, 3]], before[[2, 3]])
    parted = merged.edit().split(0).apply()
    # the new part is of class a, and yet the last of all
    assert parted.model.topic_owners == ["a", "a", "b", "b", "a"]
    assert {frozenset(kinds(parted, k)) for k in (0, 4)} == {frozenset({"w0"}), frozenset({"w2"})}
    np.testing.assert_array_equal(rows(parted)[[2, 3]], before[[2, 3]])
    weights = csr_array(parted.documents.weights).toarray()
    a, b = (np.array(LABELS) == label for label in "ab")
    assert not weights[a][:, [2, 3]].any()
    assert not weights[b][:, [0, 1, 4]].any()
    assert weights[a][:, 4].any()
    parted.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.model.topic_owners == parted.model.topic_owners
    X = loaded.documents.corpus().X
    np.testing.assert_array_equal(loaded.model.predict(X), np.array(LABELS))
    found, again = (each.model.transform(X, LABELS).toarray() for each in (parted, loaded))
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(found, weights, rtol=1e-4, atol=1e-6)
    assert len(loaded.search("w2x1 w2x2")) > 0
    assert loaded.model.get_feature_names_out().tolist() == ["a0", "a1", "b0", "b1", "a2"]
    seeded = loaded.edit().seed(["w3x1"], name="three", owner="b").seed(["common"]).drop(3).apply()
    assert seeded.model.topic_owners == ["a", "a", "b", "b", "a", "b", "shared"]
    assert (seeded.topic_number("three"), kinds(seeded, 5)) == (5, {"w3"})
    with pytest.raises(ParameterError, match="fit it anew"):
        seeded.model.partial_fit(X, LABELS)
    # into a shared topic, those of any class may be merged
    assert seeded.edit().merge(6, 0, 2).apply().notes.retired.keys() == {0, 1, 2, 3}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_owners_do_not_allow_is_refused_and_forbidden_words_stay_out(group):
    for step, why in (
        (lambda e: e.merge(0, 2), r"class of topic 0.*named first"),
        (lambda e: e.reduce(1), "between 2 and 4"),
        (lambda e: e.drop(2, 3), "documents of class 'b' would have no topics"),
        (lambda e: e.seed(["w3x1"], owner="c"), "there is no class 'c': there are a, b"),
        (lambda e: e.seed(["w3x1"], 1, owner="a"), "has its owner already"),
    ):
        with pytest.raises(ParameterError, match=why):
            step(group.edit())
    fewer = group.edit().reduce(2).apply()
    assert [group.model.topic_owners[k] for k in fewer.notes.living] == ["a", "b"]
    assert len(fewer.measure_returns(2)) == 4
    word = group.topic_words(1)[3][0][0]
    without = group.edit().forbid([word]).freeze(1).apply()
    assert all(word not in dict(topic) for topic in without.topic_words(None))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_linked_and_multimodal_topics(tmp_path):
    linked = laconic.fit(texts(), model="graph-plsa", n_topics=4, max_df=1.0, max_iter=20)
    both = laconic.fit(
        {"left": texts(), "right": texts("r")}, model="multimodal-plsa", n_topics=4, max_df=1.0, max_iter=20
    )
    for bundle, parts, why in ((linked, 1, "linked across"), (both, 2, "several modalities")):
        before = rows(bundle)
        edited = bundle.edit().merge(0, 1).forbid("common").drop(3).freeze(2).rename(2, "kept").apply()
        found = rows(edited)
        assert edited.notes.living == [0, 2]
        np.testing.assert_allclose(found[[0, 2]].sum(axis=1), parts, rtol=1e-5)
        assert all("common" not in dict(topic) for topic in edited.topic_words(None))
        assert not found[[1, 3]].any()
        assert ((before[0] > 0) | (before[1] > 0))[found[0] > 0].all()
        assert csr_array(edited.documents.weights).shape == (80, 4)
        weights = csr_array(edited.documents.weights).toarray()
        assert not weights[:, [1, 3]].any()
        np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
        edited.save(tmp_path / why)
        np.testing.assert_array_equal(rows(load(tmp_path / why)), found)
        with pytest.raises(ParameterError, match=f"{why}.*cannot be followed through time"):
            bundle.drift()


def two_languages():
    return laconic.fit(
        {"left": texts(), "right": texts("r")}, model="multimodal-plsa", n_topics=4, max_df=1.0, max_iter=60
    )


def chained(step=4, **options):
    """A model of documents that are linked to one of the same kind, or with another step of another."""
    chain = [(n, n + step) for n in range(80 - step)]
    options = {"model": "graph-plsa", "n_topics": 4, "max_df": 1.0, "max_iter": 60, **options}
    return laconic.fit(texts(), graph=chain, **options)


def largest(bundle):
    return np.asarray(csr_array(bundle.documents.weights).toarray().argmax(axis=1))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("made", [two_languages, chained])
def test_linked_and_multimodal_topics_are_split_and_seeded(made, tmp_path):
    bundle = made()
    before = rows(bundle)
    merged = bundle.edit().merge(1, 3).apply()
    np.testing.assert_array_equal(rows(merged)[[0, 2]], before[[0, 2]])
    parted = merged.edit().split(1).apply()
    # the topics that were merged, and their documents, are found again
    np.testing.assert_array_equal(rows(parted)[[0, 2]], before[[0, 2]])
    cosines = rows(parted)[[1, 4]] @ before[[1, 3]].T
    one, other = (1, 3) if cosines.trace() > np.fliplr(cosines).trace() else (3, 1)
    places = {0: 0, 2: 2, one: 1, other: 4}
    np.testing.assert_array_equal(largest(parted), [places[k] for k in largest(bundle)])
    word = merged.topic_words(1)[2][0][0]
    seeded = merged.edit().forbid([word]).seed(["w3x1", "w3x2"], name="three").apply()
    assert seeded.names[4] == "three"
    assert word not in dict(seeded.topic_words(None)[4])
    assert {w.split("x")[0].lstrip("r") for w, _ in seeded.topic_words(6)[4]} == {"w3"}
    for modality in bundle.modalities:
        # in every language, though it was seeded in one
        assert seeded.model.components_of(modality)[4].sum() == pytest.approx(1, rel=1e-5)
    for edited in (parted, seeded):
        edited.save(tmp_path / "model")
        loaded = load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.documents.weights, edited.documents.weights)
        # and once more from the disk
        assert loaded.edit().drop(2).apply().notes.retired[2] == "dropped"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_links_are_kept_and_count():
    linked = chained(step=1, strength=1.0)
    assert linked.model.graph_.nnz == 2 * 79
    edited = linked.edit().merge(0, 1).apply()
    both = edited.documents.weights, edited.model.transform(linked.documents.counts)
    with_links, without = (np.square(np.diff(weights, axis=0)).sum() for weights in both)
    assert with_links < 0.5 * without


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_without_their_links_topics_are_changed_as_they_are(tmp_path):
    linked = chained()
    del linked.model.graph_
    linked.save(tmp_path / "old")
    old = load(tmp_path / "old")
    edited = old.edit().merge(0, 1).drop(3).apply()
    assert not np.asarray(edited.documents.weights)[:, [1, 3]].any()
    np.testing.assert_array_equal(edited.model.weights_, edited.documents.weights)
    for step in (lambda e: e.split(0), lambda e: e.seed(["common"])):
        with pytest.raises(ParameterError, match=r"depend on links.*earlier versions.*not found anew"):
            step(old.edit())
    others = Bundle(chained().model, documents=linked.documents.chosen(np.arange(40)))
    with pytest.raises(ParameterError, match=r"only of the documents of the fit.*not found anew"):
        others.edit().split(0)
    assert others.edit().merge(0, 1).apply().documents.weights.shape == (40, 4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("wrong", ["shape", "sign", "form"])
def test_saved_links_are_checked(tmp_path, wrong):
    linked = chained()
    graph = linked.model.graph_
    linked.model.graph_ = {"shape": graph[:9, :9], "sign": -graph, "form": graph.toarray()}[wrong]
    linked.save(tmp_path / "model")
    with pytest.raises(BundleError, match="links"):
        load(tmp_path / "model")
