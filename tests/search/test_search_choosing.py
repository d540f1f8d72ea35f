"""Filters, documents like another, removal and update, and vectors of your own."""

import numpy as np
import pytest

import laconic
from laconic import SearchIndex
from laconic.errors import InputWarning, SearchError
from laconic.search.choosing import Condition

TEXTS = [
    "sun and moon", "moon and stars", "stars and the sun", "salt and pepper", "pepper and chilli",
    "chilli and salt", "moon salt", "sun pepper",
]  # fmt: skip
LABELS = ["sky", "sky", "sky", "food", "food", "food", "both", "both"]
DATES = [
    "2024-01-31", "2024-02-01", "2024-12-31", "2025-01-01", "2025-06-01", None, "2026-01-01", "2026-02-02",
]  # fmt: skip
IDS = list("abcdefgh")


@pytest.fixture
def index():
    options = {"labels": LABELS, "dates": DATES, "ids": IDS, "min_df": 1, "max_df": 1.0}
    return SearchIndex(laconic.fit(TEXTS, n_topics=2, **options))


def naive(index, query, blend, allowed):
    """Every document scored by itself, by what an explanation says."""
    found = {id: index.explain(query, id, blend=blend).score for id in allowed}
    return sorted((id for id in found if found[id] > 0), key=lambda id: (-found[id], id))


@pytest.mark.parametrize("blend", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("condition", "allowed"),
    [
        ({"labels": "food"}, "def"),
        ({"labels": ["food", "both"]}, "defgh"),
        ({"since": "2025-01-01"}, "degh"),
        ({"until": "2024"}, "abc"),
        ({"until": "2024-02"}, "ab"),
        ({"since": "2024-02-01", "until": "2025-01-01"}, "bcd"),
        ({"labels": "sky", "since": 2024, "until": "2024-01-31"}, "a"),
    ],
)
def test_filters_leave_the_scores_as_they_are(index, condition, allowed, blend):
    found = index.search("moon pepper", 5, blend=blend, **condition)
    assert found.ids == naive(index, "moon pepper", blend, allowed)[:5]
    everything = {hit.id: hit for hit in index.search("moon pepper", 8, blend=blend)}
    assert all(hit == everything[hit.id] for hit in found)


def test_what_cannot_be_filtered(index):
    with pytest.raises(SearchError, match=r"no document has the label 'sea'; there are 'both'"):
        index.search("moon", labels="sea")
    bare = SearchIndex(laconic.fit(TEXTS, n_topics=2, min_df=1))
    for condition in ({"labels": "sky"}, {"since": "2024"}):
        with pytest.raises(SearchError, match=r"these documents have no (labels|dates)"):
            bare.search("moon", **condition)
    assert Condition().empty


def test_documents_like_another(index):
    found = index.similar("a", 3)
    assert "a" not in found.ids
    assert set(found.ids) <= {"b", "c", "g", "h"}
    assert found.ids == [id for id in index.search(TEXTS[0], 8).ids if id != "a"][:3]
    with pytest.raises(SearchError, match="there is no document 'z'"):
        index.similar("z")


def test_removed_documents_are_not_found_and_others_keep_their_scores(index, tmp_path):
    before = {hit.id: hit.score for hit in index.search("moon", 8, blend=0.0)}
    index.remove(["b", "d"])
    assert index.n_documents == 6
    after = index.search("moon", 8, blend=0.0)
    assert set(after.ids) == set(before) - {"b"}
    for hit in after:
        # the unit is the best term score of those that are left
        assert hit.term_score > 0
    index.save(tmp_path / "m")
    assert SearchIndex.load(tmp_path / "m").search("moon", 8).ids == index.search("moon", 8).ids
    with pytest.raises(SearchError, match="at least one must stay"):
        index.remove(index.ids.tolist())


def test_dates_of_new_documents_count(index):
    index.update({"new": "moon", "a": "moon sun", "dateless": "moon"}, dates={"new": "2026-05-01", "a": 2027})
    assert set(index.search("moon", 8, since="2026-03").ids) == {"new", "a"}
    with pytest.raises(ValueError, match="date"):
        index.update({"b": "moon"}, dates={"b": "some day"})
    with pytest.raises(ValueError, match="mapping of ids to dates"):
        index.add({"c2": "moon"}, dates=["2026"])
    assert "b" in index.ids


def test_an_index_without_labels_and_dates_gets_some_with_its_first():
    index = laconic.fit(["moon sun", "salt pepper"] * 3, n_topics=2).index
    index.add({"plain": "moon"})
    assert index.documents.labels is index.documents.dates is None
    index.add({"new": "moon"}, {"new": "sky"}, dates={"new": "2026-05-01"})
    assert list(index.documents.labels) == ["unknown"] * 7 + ["sky"]
    assert index.search("moon", since="2026").ids == ["new"]


def test_updated_documents_are_found_by_their_new_words(index):
    index.update({"a": "pepper pepper salt", "new": "moon moon"}, {"a": "food", "new": "sky"})
    assert index.n_documents == 9
    assert "a" in index.search("pepper", 9).ids
    assert "a" not in index.search("sun", 9, blend=0.0).ids
    assert "new" in index.search("moon", 9, labels="sky").ids


def test_vectors_are_a_third_part_of_the_score_and_explained(index, tmp_path):
    vectors = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    np.save(tmp_path / "v.npy", vectors)
    asked = np.arange(5, dtype=float)
    bundle = index.bundle
    for given in (vectors, tmp_path / "v.npy", np.load(tmp_path / "v.npy", mmap_mode="r")):
        for part in (0.0, 0.4, 1.0):
            blended = SearchIndex(bundle, vectors=given, vector_blend=part)
            found = blended.search("moon", 8, vector=asked)
            cosines = vectors @ asked / np.linalg.norm(vectors, axis=1) / np.linalg.norm(asked)
            for hit in found:
                row = IDS.index(hit.id)
                both = bundle.index.explain("moon", hit.id).score
                assert hit.vector_score == pytest.approx(cosines[row], abs=1e-6)
                assert hit.score == pytest.approx(part * cosines[row] + (1 - part) * both, abs=1e-6)
                reason = blended.explain("moon", hit.id, vector=asked)
                assert reason.score == pytest.approx(hit.score, abs=1e-6)
                assert f"{part:g} x vectors" in str(reason)
            assert found.scores == sorted(found.scores, reverse=True)
    encoded = SearchIndex(bundle, vectors=vectors, encoder=lambda query: asked)
    assert encoded.search("moon", labels="sky").ids
    assert isinstance(SearchIndex(bundle, vectors=tmp_path / "v.npy").vectors.vectors, np.memmap)


def test_vectors_that_cannot_be_used(index):
    bundle = index.bundle
    with pytest.raises(SearchError, match=r"vectors must be one row of numbers for each of 8 documents"):
        SearchIndex(bundle, vectors=np.ones((3, 5)))
    with pytest.raises(SearchError, match="not finite"):
        SearchIndex(bundle, vectors=np.full((8, 2), np.nan))
    blended = SearchIndex(bundle, vectors=np.ones((8, 2)))
    with pytest.warns(InputWarning, match="only words and topics count: give vector, or"):
        assert blended.search("moon").ids == index.search("moon").ids
    with pytest.raises(SearchError, match="vector must be 2 finite numbers"):
        blended.search("moon", vector=[1, 2, 3])
    with pytest.raises(SearchError, match="this index has no vectors"):
        index.search("moon", vector=[1, 2])
    with pytest.raises(SearchError, match="new documents need them, too"):
        blended.update({"a": "moon", "new": "sun"})
    with pytest.raises(SearchError, match="one row of numbers for each of 1 documents"):
        blended.add({"new": "moon"}, vectors=np.ones((2, 2)))
    with pytest.raises(SearchError, match="must have 2 numbers for each document, not 3"):
        blended.add({"new": "moon"}, vectors=np.ones((1, 3)))
    with pytest.raises(SearchError, match="new documents need none"):
        index.add({"new": "moon"}, vectors=np.ones((1, 3)))
    assert blended.n_documents == 8
    with pytest.raises(SearchError, match="there are 3 vectors for 1 queries"):
        blended.run({"q": "moon"}, vectors=np.ones((3, 2)))


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "does not exist"), (b"", "is no .npy file"), (b"x" * 200, "is no .npy file")],
)
def test_files_that_hold_no_vectors_are_named(index, tmp_path, content, message):
    path = tmp_path / "v.npy"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SearchError, match=f"v.npy: {message}"):
        index.use_vectors(path)
    np.save(path, np.array([object()]), allow_pickle=True)
    with pytest.raises(SearchError, match=r"is no \.npy file of numbers"):
        index.use_vectors(path)


def test_vectors_are_saved_with_the_index_and_mapped(index, tmp_path):
    rng = np.random.default_rng(0)
    vectors, asked = rng.normal(size=(8, 5)), rng.normal(size=(2, 5))
    queries = {"q": "moon", "r": "salt"}
    made = SearchIndex(index.bundle, vectors=vectors, vector_blend=0.3, blend=0.6)
    before = made.run(queries, vectors=asked)
    made.save(tmp_path / "model")
    bundle = laconic.load(tmp_path / "model")
    assert "vectors" in repr(bundle.documents)
    loaded = bundle.index
    assert loaded.vector_blend == 0.3
    assert loaded.run(queries, vectors=asked) == before
    assert not loaded.documents.vectors.flags.writeable
    # the same by an encoder, one query after the other, and explained
    loaded.encoder = dict(zip(queries.values(), asked, strict=True)).__getitem__
    assert loaded.run(queries) == before
    for number, (name, query) in enumerate(queries.items()):
        found = loaded.search(query, vector=asked[number])
        assert dict(zip(found.ids, found.scores, strict=True)) == before[name]
        assert loaded.explain(query, found.ids[0]).score == pytest.approx(found.scores[0], abs=1e-6)
    # vectors follow their documents
    loaded.remove("b")
    loaded.add({"new": "moon"}, {"new": "sky"}, vectors=asked[:1])
    loaded.update({"a": "salt"}, {"a": "food"}, vectors=asked[1:])
    kept = [IDS.index(id) for id in loaded.ids[:-2]]
    np.testing.assert_array_equal(loaded.documents.vectors[:-2], vectors[kept].astype(np.float32))
    np.testing.assert_array_equal(loaded.documents.vectors[-2:], asked.astype(np.float32))
    bundle.save(tmp_path / "model")
    again = laconic.load(tmp_path / "model").index
    np.testing.assert_array_equal(again.documents.vectors, loaded.documents.vectors)
    # and can be left out again
    again.use_vectors(None).save(tmp_path / "model")
    assert laconic.load(tmp_path / "model").index.vectors is None


def test_documents_like_another_are_found_by_vectors_too(index):
    vectors = np.eye(8)
    vectors[IDS.index("c")] = vectors[IDS.index("f")] = vectors[0]
    made = SearchIndex(index.bundle, vectors=vectors, vector_blend=1.0)
    assert made.similar(IDS[0]).ids[:2] == [id for id in IDS if id in ("c", "f") and id != IDS[0]]


def test_all_blends_are_tuned_together(index):
    vectors = np.random.default_rng(0).normal(size=(8, 5))
    queries = {"q": "moon", "r": "pepper"}
    qrels = {"q": {IDS[5]: 1}, "r": {IDS[2]: 1}}
    # vectors that know better than words
    asked = vectors[[5, 2]]
    made = SearchIndex(index.bundle, vectors=vectors)
    found = made.tune(queries, qrels, vectors=asked)
    assert found.score == 1
    assert found.vector_blend == made.vector_blend == made.settings()["vector_blend"] > 0
    assert found.vector_blends[1.0] == 1 > found.vector_blends[0.0]
    assert found.blends[found.blend] == 1
    # without vectors there is nothing to choose
    assert index.tune(queries, qrels).vector_blend is None
