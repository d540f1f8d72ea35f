from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from laconic import Corpus
from laconic.evaluate import retrieval_scores
from laconic.experiments import rlsi
from laconic.experiments.keeping import Keeper
from laconic.experiments.parts import plain
from laconic.experiments.retrieval.collections import TERMS, Collection, read_collection, scaled
from laconic.experiments.retrieval.contenders import lives, lsi_entries, matched_entry
from laconic.experiments.retrieval.contests import contest, pooled
from laconic.experiments.retrieval.grids import (
    BLENDS,
    Entry,
    average_precisions,
    best,
    blended,
    cross_validated,
)
from laconic.experiments.rlsi import alike, folds, ranking_page, starts, variants
from laconic.experiments.rlsi.lambdarank import _kept
from laconic.experiments.rlsi.ranking import BUDGET, LSI, METHODS, TRIED, word_budget
from laconic.experiments.rlsi.topics import COMPACTNESS
from laconic.models import RLSI
from laconic.search.terms import BM25, VSM


def toy(n_documents=60, n_queries=20, seed=0):
    """A collection whose queries are halves of documents, with these and a few others relevant."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(f"word{number}" for number in rng.integers(0, 40, 12)) for _ in range(n_documents)]
    corpus = Corpus.from_texts(texts, ids=[f"d{n}" for n in range(n_documents)], min_df=1, max_df=1.0)
    chosen = rng.choice(n_documents, n_queries, replace=False)
    asked = [" ".join(texts[number].split()[:6]) for number in chosen]
    relevant = [np.unique([number, *rng.integers(0, n_documents, 3)]) for number in chosen]
    terms = rng.random((n_queries, n_documents)).astype(np.float32)
    queries = [f"q{n}" for n in range(n_queries)]
    return Collection(
        name="toy",
        corpus=corpus,
        queries=queries,
        counts=corpus.vectorizer.count(asked),
        rows=corpus.vectorize(asked),
        qrels={
            query: {f"d{number}": 1 for number in numbers}
            for query, numbers in zip(queries, relevant, strict=True)
        },
        relevant=relevant,
        terms={"BM25": scaled(terms)},
        folds=np.arange(n_queries) % 5,
    )


def entry_of(precisions, scores=None):
    return Entry({}, scores, {"BM25": np.asarray(precisions, float)})


def test_average_precision_is_that_of_trec_eval():
    collection = toy()
    topics = np.random.default_rng(1).random((20, 60)).astype(np.float32)
    ours = average_precisions(collection.terms["BM25"], topics, collection.relevant)
    assert ours.shape == (len(BLENDS), 20)
    for place in (0, 7, 20):
        scores = blended(collection.terms["BM25"], topics, float(BLENDS[place]))
        found = retrieval_scores(collection.qrels, collection.run(scores), ["AP"])
        assert ours[place] == pytest.approx(list(found.per_query["AP"].values()))


def test_equal_scores_have_their_mean_rank():
    terms = np.array([[1, 1, 1, 0]], np.float32)
    assert average_precisions(terms, terms, [np.array([1])], np.array([0.0])) == pytest.approx(1 / 2)
    # Two relevant of equal score cannot both be found at one place.
    assert average_precisions(terms, terms, [np.array([0, 1, 2])], np.array([0.0])) == pytest.approx(
        (1 / 2 + 2 / 2 + 3 / 3) / 3
    )


def test_run_keeps_the_best():
    collection = toy()
    scores = np.random.default_rng(2).random((20, 60)).astype(np.float32)
    run = collection.run(scores)
    assert len(run["q3"]) == 60
    best_id = max(run["q3"], key=run["q3"].get)
    assert best_id == f"d{scores[3].argmax()}"


def test_queries_do_not_choose_for_themselves():
    """A query is held out from its own choice: what it would like best has no part in its score."""
    n_queries = 20
    collection = toy(n_queries=n_queries)
    good, bad = np.full((21, n_queries), 0.2), np.full((21, n_queries), 0.1)
    bad[:, collection.folds == 2] = 0.15
    bad[3, 7] = 0.9
    scores = [np.full((n_queries, 60), value, np.float32) for value in (1, 2)]
    entries = [entry_of(good, scores[0]), entry_of(bad, scores[1])]
    assert best(entries, "BM25").entry is entries[0]
    _, choices = cross_validated(collection, entries, "BM25")
    assert all(choice.entry is entries[0] for choice in choices)
    bad[3] = 0.3
    bad[3, collection.folds == 1] = 0
    held_out, choices = cross_validated(collection, entries, "BM25")
    assert [choice.place for choice in choices] == [3] * 5
    expected = blended(collection.terms["BM25"], scores[1], float(BLENDS[3]))
    assert held_out == pytest.approx(expected)


def test_of_equals_the_first():
    entries = [entry_of(np.full((21, 4), 0.5)) for _ in range(2)]
    choice = best(entries, "BM25")
    assert choice.entry is entries[0]
    assert choice.blend == 0


def test_topics_of_one_decomposition():
    """LSI with fewer topics is that of its own decomposition."""
    collection = toy()
    few, many = lsi_entries(collection, [5, 12])
    (alone,) = lsi_entries(collection, [5])
    assert few.scores == pytest.approx(alone.scores, abs=1e-5)
    assert (few.density, many.settings) == (1.0, {"K": 12})
    _, _, Vt = np.linalg.svd(collection.corpus.X.toarray(), full_matrices=False)
    documents, queries = (rows @ Vt[:5].T for rows in (collection.corpus.X, collection.rows))
    norms = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(documents, axis=1)
    assert few.scores == pytest.approx(queries @ documents.T / norms, abs=1e-4)


def test_contest_of_a_model_with_itself_is_a_draw():
    collection = toy()
    model = RLSI(5, random_state=0).fit(collection.corpus.X)
    entry = matched_entry(collection, model, {"K": 5})
    found = contest(collection, {"a": [entry], "b": [entry]}, "BM25", {"a": "b"})
    assert found["held_out"]["a"] == found["held_out"]["b"]
    assert found["grid"]["a"]["AP"] >= found["grid"]["BM25"]["AP"]
    assert found["pairs"]["a"] == {"ratio": 1.0, "interval": (1.0, 1.0), "p_value": 1.0}
    assert found["chosen"]["a"]["density"] == entry.density
    both = pooled({"one": found, "other": found}, "a", "b")
    assert both["ratio"] == pytest.approx(1)
    assert both["interval"] == pytest.approx([1, 1])


def test_pooled_is_over_collections_not_over_queries():
    contests = {
        "long": {"average_precisions": {"a": [0.5] * 90, "b": [0.5] * 90}},
        "short": {"average_precisions": {"a": [0.2] * 10, "b": [0.1] * 10}},
    }
    found = pooled(contests, "a", "b")
    assert found["ratio"] == pytest.approx(0.7 / 0.6)
    assert found["all_queries"]["ratio"] == pytest.approx(0.47 / 0.46)


def test_word_budget_is_a_share_of_the_terms():
    model = word_budget(3, 100, 0.05)
    assert (model.terms_per_topic, model.topic_norm, model.nonnegative) == (5, "l0", True)
    X = np.random.default_rng(0).random((30, 100)).astype(np.float32)
    assert (np.diff(model.set_params(random_state=0).fit(X).components_.indptr) <= 5).all()


def test_documents_without_some_terms_have_length_one():
    X = csr_array(np.array([[3, 4, 0], [0, 5, 0]], np.float32))
    kept = _kept(X, np.array([True, False, True]))
    assert kept.toarray().tolist() == [[1, 0, 0], [0, 0, 0]]


def test_the_numbers_of_the_paper():
    assert COMPACTNESS["RLSI l1/l2"] == 0.0075
    assert COMPACTNESS["PLSA"] == 0.9534


def scores(value):
    return dict.fromkeys(("AP", "nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10"), value)


def ranking_results(ratio, interval):
    """All methods alike, but for the ratio of the word budget to LSI."""
    marks = {method: scores("+" if method in (LSI, BUDGET) else "") for method in METHODS}
    each = {
        "grid": {name: scores(0.3) for name in (*TERMS, *METHODS)},
        "held_out": {name: scores(0.3) for name in (*TERMS, *METHODS)},
        "significant": marks | {terms: scores("") for terms in TERMS},
        "pairs": {method: {"ratio": ratio, "interval": interval, "p_value": 0.5} for method in METHODS},
        "chosen": {
            method: {"settings": {"K": 50}, "density": 0.05, "held_out_density": 0.049} for method in METHODS
        },
    }
    every = {"ratio": ratio, "interval": interval}
    return plain(
        {
            "collections": {
                "time": {"n_documents": 9, "n_terms": 8, "n_queries": 7} | dict.fromkeys(TERMS, each)
            },
            "methods": METHODS,
            "tuned": ["time"],
            "sizes": [25, 50],
            "few_sizes": {"LDA": [50]},
            "alphas": [0.1],
            "alpha_docs": 1.0,
            "share": 0.05,
            "pooled": {m: {**every, "all_queries": every} for m in METHODS if m != LSI},
            "pooled_elsewhere": every,
        }
    )


@pytest.mark.parametrize(
    ("ratio", "interval", "verdict"),
    [
        (1.0, (0.995, 1.01), "it is as good."),
        (1.0, (0.97, 1.01), "it is as good, as far as this number of queries can tell."),
        (0.98, (0.97, 0.99), "it is not as good."),
    ],
)
def test_verdict_on_sparse_topics_follows_from_the_numbers(ratio, interval, verdict):
    section = ranking_page.render(ranking_results(ratio, interval))
    assert verdict in section.findings[0]
    assert "at most 4.9 % of the terms" in section.findings[0]
    assert (
        "better than BM25 on TIME of the collections. RLSI with a word budget is on TIME"
        in section.findings[1]
    )
    assert "2 of 6 improve significantly on BM25" in section.text
    assert "| BM25 + LSI | 0.300+ |" in section.text


def test_reading_a_collection(data_dir):
    collection = read_collection("adi")
    assert collection.n_documents == 82
    assert len(collection.queries) == len(collection.relevant) == 35
    assert sum(map(len, collection.relevant)) == 170
    assert collection.terms["BM25"].max(axis=1) == pytest.approx(np.ones(35))
    assert np.bincount(collection.folds).max() == 4
    few = read_collection("adi", min_df=2, n_queries=5)
    assert (len(few.queries), few.n_terms < collection.n_terms) == (5, True)


def test_queries_of_a_split(data_dir):
    assert read_collection("scifact", split="test", n_queries=1).queries == ["1"]


def test_starts_report_their_range():
    """The best start does not stand for all."""
    ratios = {"0": 1.01, "1": 0.97}
    pooled_ratios = {start: {"ratio": ratio, "interval": [0.9, 1.1]} for start, ratio in ratios.items()}
    section = starts.render(
        plain(
            {
                "held_out": {"adi": {"BM25": 0.4, LSI: 0.42, "0": 0.43, "1": 0.41}},
                "starts": (0, 1),
                "unseen": ["adi"],
                "pooled": pooled_ratios,
                "pooled_unseen": pooled_ratios,
            }
        )
    )
    assert "over 2 random starts, RLSI with a word budget reaches 0.970 to 1.010 times" in section.findings[0]
    assert "| start 1 | 0.970 (0.900 to 1.100) | 0.970 (0.900 to 1.100) |" in section.text


def test_page_says_how_unequal_the_search_was():
    text = " ".join(ranking_page.render(ranking_results(1.0, (0.99, 1.01))).text.split())
    assert "The search before the grids was not equally long" in text
    assert f"{TRIED['time']} on TIME" in text


def toy_collection():
    """Twenty documents about two things, and queries of one word each."""
    rng = np.random.default_rng(0)
    words = (["sun", "moon", "star", "sky"], ["salt", "sea", "wave", "ship"])
    texts = [" ".join(rng.choice(words[n % 2], 6)) for n in range(20)]
    corpus = Corpus.from_texts(texts, ids=[str(n) for n in range(20)], min_df=1, weighting="log-entropy")
    asked = [word for both in words for word in both]
    queries = [f"q{n}" for n in range(8)]
    counts = corpus.vectorizer.count(asked)
    relevant = [np.flatnonzero(np.arange(20) % 2 == n // 4) for n in range(8)]
    return Collection(
        name="adi",
        corpus=corpus,
        queries=queries,
        counts=counts,
        rows=corpus.vectorize(asked),
        qrels={q: {str(d): 1 for d in places} for q, places in zip(queries, relevant, strict=True)},
        relevant=relevant,
        terms={name: M(corpus.counts).scores(counts) for name, M in (("BM25", BM25), ("VSM", VSM))},
        folds=np.arange(8) % 10,
    )


def test_term_features_are_those_of_the_definitions():
    collection = toy_collection()
    found = folds.term_features(collection)
    counts = collection.corpus.counts.toarray()
    asked = collection.counts.toarray()
    background = counts.sum(axis=0) / counts.sum()
    for query, document in ((0, 3), (5, 8), (7, 1)):
        terms = np.flatnonzero(asked[query])
        tf, length = counts[document, terms], counts[document].sum()
        assert found["share of the query's terms"][query, document] == pytest.approx((tf > 0).mean())
        smoothed = (tf + folds.DIRICHLET * background[terms]) / (length + folds.DIRICHLET)
        likelihood = np.log(smoothed / background[terms]).sum()
        assert found["query likelihood (Dirichlet)"][query, document] == pytest.approx(likelihood, abs=1e-5)
        mixed = 0.5 * tf / length + 0.5 * background[terms]
        assert found["query likelihood (Jelinek-Mercer)"][query, document] == pytest.approx(
            np.log(mixed / (0.5 * background[terms])).sum(), abs=1e-5
        )


def test_folds_rank_the_whole_pool(monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.setitem(folds._PARAMETERS, "min_data_in_leaf", 1)
    monkeypatch.setattr(folds, "POOL", 15)
    collection = toy_collection()
    pool = folds.pooled(collection)
    assert pool.shape == (8, 15)
    # A feature that is the answer is learnt.
    answer = np.zeros((8, 20), np.float32)
    for row, places in zip(answer, collection.relevant, strict=True):
        row[places] = 1
    run = folds.ranked(collection, {"answer": answer, "BM25": collection.terms["BM25"]}, pool)
    for query, places, documents in zip(collection.queries, collection.relevant, pool, strict=True):
        assert set(run[query]) == {str(document) for document in documents}
        best = max(run[query], key=lambda document: run[query][document])
        assert int(best) in places


def folds_results(differences):
    each = {
        "n_queries": len(differences),
        "features": ["BM25"],
        "scores": {run: {"AP": 0.5} for run in ("BM25", folds.PLAIN, folds.TOPICS)},
        "difference": float(np.mean(differences)),
        "p_value": 0.001,
        "detectable": 0.1,
        "differences": differences,
    }
    return {
        "collections": {"adi": each},
        "features": ["BM25"],
        "topics": 2,
        "pool": 5,
        "folds": 5,
        "trees": 200,
    }


def test_lambdarank_over_folds_is_judged():
    results = folds_results([0.1, 0.2, 0.1, 0.2] * 5)
    section = folds.render(results)
    assert "improve LambdaRank significantly on ADI of the collections" in " ".join(section.text.split())
    claim = next(claim for claim in rlsi.CLAIMS if claim.parts == ("lambdarank-folds",))
    assert claim.judge(results).state == "confirmed"
    assert claim.judge(folds_results([-0.1, 0.1] * 10)).state == "not confirmed"


def test_lambdarank_has_to_be_better_on_every_collection():
    """Where the p-values, corrected for their number, are not small enough, nothing can be told."""
    claim = next(claim for claim in rlsi.CLAIMS if claim.parts == ("lambdarank-folds",))
    results = folds_results([0.1, 0.2] * 10)
    (found,) = results["collections"].values()
    results["collections"] = {
        "adi": found,
        "time": found | {"p_value": 0.03},
        "npl": found | {"p_value": 0.04},
    }
    assert folds.better(results) == ["ADI"]
    assert claim.judge(results).state == "in part"


def test_same_grids_from_start_to_page(monkeypatch, tmp_path):
    monkeypatch.setattr(alike, "read_collection", lambda name, **options: toy())
    results = plain(alike.run(True, Keeper(tmp_path / "pieces.json", lambda message: None)))
    settings = results["collections"]["adi"]["chosen"][alike.PAPER]["settings"]
    assert set(settings) == {"K", "alpha", "nonnegative"}
    section = alike.render(results)
    assert "| BM25 + LSI |" in section.text
    claim = next(claim for claim in rlsi.CLAIMS if claim.parts == ("grids",))
    assert claim.judge(results).reason


def test_variants_count_only_models_whose_topics_live(monkeypatch, tmp_path):
    monkeypatch.setattr(variants, "read_collection", lambda name, **options: toy())
    monkeypatch.setattr(variants, "N_TOPICS", 4)
    # The second penalty on topics leaves none of them, or next to nothing.
    monkeypatch.setattr(variants, "SHARES", (1e-5, 1.01))
    monkeypatch.setattr(variants, "NAMES", ("adi",))
    results = plain(variants.run(False, Keeper(tmp_path / "pieces.json", lambda message: None)))
    found = results["collections"]["adi"]
    assert found["counted"] == {"l1/l2": 1, "l2/l1": 1, "l1/l1": 1, "l2/l2": 2}
    assert found["chosen"]["l1/l2, cosine"]["settings"] == {"share": 1e-5}
    text = " ".join(variants.render(results).text.split())
    assert "2 shares from 1e-05 to 1," in text
    assert "| 1 of 2 |" in text


def test_a_penalty_on_documents_makes_up_for_one_on_topics():
    """Why the grid of variants has one penalty only: what it is a share of follows the other."""
    X = toy().corpus.X
    common = {"random_state": 0, "tol": 1e-10, "max_iter": 2000}
    densities = []
    for alpha_docs in (0.1, 0.4):
        largest = RLSI(3, alpha_docs=alpha_docs, random_state=0, tol=1e-2).fit(X).alpha_max_
        model = RLSI(3, alpha_topics=largest / 20, alpha_docs=alpha_docs, **common).fit(X)
        densities.append((model.objective_history_[-1], model.density_))
    assert densities[0] == pytest.approx(densities[1], rel=1e-3)


def norms_results(intervals, every=None):
    pairs = (f"{one} : {other}" for one, other in variants.PAIRS)
    return {
        "collections": {"adi": {}},
        "pairs": {
            pair: {"ratio": 1.0, "interval": ends, "all_queries": {"ratio": 1.0, "interval": every or ends}}
            for pair, ends in zip(pairs, intervals, strict=True)
        },
    }


@pytest.mark.parametrize(
    ("intervals", "state"),
    [
        ([(1.01, 1.1)] * 5, "confirmed"),
        ([(1.01, 1.1)] + [(0.9, 1.1)] * 4, "in part"),
        ([(0.9, 1.1)] * 5, "undecided"),
        ([(0.9, 0.99)] + [(0.9, 1.1)] * 4, "not confirmed"),
    ],
)
def test_norms_are_judged_by_pairs(intervals, state):
    claim = next(claim for claim in rlsi.CLAIMS if claim.parts == ("variants",))
    assert claim.judge(norms_results(intervals)).state == state


@pytest.mark.parametrize("ends", [(1.01, 1.1), (0.9, 0.99)])
def test_norms_that_only_one_mean_tells_apart_are_undecided(ends):
    claim = next(claim for claim in rlsi.CLAIMS if claim.parts == ("variants",))
    assert claim.judge(norms_results([ends] * 5, every=(0.98, 1.02))).state == "undecided"


@pytest.mark.parametrize(
    ("words", "alive"), [([9, 9, 9, 0], False), ([9, 9, 9, 9], True), ([1, 1, 2, 1], False)]
)
def test_models_without_words_do_not_count(words, alive):
    components = np.zeros((4, 12))
    for row, n in zip(components, words, strict=True):
        row[:n] = 1
    model = RLSI(4)
    model.components_ = components
    assert lives(model) is alive


def grids_results(interval, all_queries):
    means = {method: {"AP": value} for method, value in ((alike.PAPER, 0.4), ("PLSA", 0.3), ("LDA", 0.3))}
    pair = {"ratio": 1.0, "interval": all_queries}
    return {
        "collections": {"adi": {"held_out": means, "pairs": {alike.PAPER: pair}}},
        "pooled": {alike.PAPER: {"ratio": 1.0, "interval": interval, "all_queries": pair}},
        "alphas": [0.01, 1],
    }


@pytest.mark.parametrize(
    ("interval", "all_queries", "state", "side"),
    [
        ((1.01, 1.1), (1.01, 1.1), "confirmed", "above 1 on ADI and below 1 on none"),
        ((0.99, 1.1), (0.9, 0.99), "in part", "above 1 on none and below 1 on ADI"),
    ],
)
def test_a_mean_above_lsi_is_not_enough(interval, all_queries, state, side):
    """It may be that of one small collection: the interval decides, and all queries together do."""
    claim = next(claim for claim in rlsi.CLAIMS if claim.parts == ("grids",))
    verdict = claim.judge(grids_results(interval, all_queries))
    assert verdict.state == state
    assert side in verdict.reason
