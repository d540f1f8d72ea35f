"""Filters, documents like another, removal and update, and vectors of your own."""

import numpy as np
import pytest

import laconic
from laconic import SearchIndex
from laconic.errors import SearchError
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
    with pytest.raises(SearchError, match="at least one has to stay"):
        index.remove(index.ids.tolist())


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
    with pytest.raises(SearchError, match="give vector, or the index an encoder"):
        blended.search("moon")
    with pytest.raises(SearchError, match="vector must be 2 finite numbers"):
        blended.search("moon", vector=[1, 2, 3])
    with pytest.raises(SearchError, match="this index has no vectors"):
        index.search("moon", vector=[1, 2])
    with pytest.raises(SearchError, match="cannot be changed"):
        blended.remove("a")
