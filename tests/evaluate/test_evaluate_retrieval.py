import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.evaluate import retrieval_scores

DOCUMENTS = [f"d{number}" for number in range(12)]


def ranking(results):
    """As trec_eval sorts: by score in single precision, then the last id first."""
    return sorted(results, key=lambda d: (np.float32(results[d]), d), reverse=True)


def naive_ap(grades, results):
    n_relevant = sum(grade > 0 for grade in grades.values())
    precisions, found = 0.0, 0
    for rank, document in enumerate(ranking(results), start=1):
        if grades.get(document, 0) > 0:
            found += 1
            precisions += found / rank
    return precisions / n_relevant if n_relevant else 0.0


def naive_ndcg(grades, results, k):
    def dcg(gains):
        return sum(max(gain, 0) / math.log2(rank + 1) for rank, gain in enumerate(gains[:k], start=1))

    best = dcg(sorted(grades.values(), reverse=True))
    return dcg([grades.get(document, 0) for document in ranking(results)]) / best if best > 0 else 0.0


def naive_hits(grades, results, k):
    return sum(grades.get(document, 0) > 0 for document in ranking(results)[:k])


qrels_drawn = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, 3), min_size=1),
    min_size=1,
)
# Few different scores, so that there are ties.
results_drawn = st.dictionaries(
    st.sampled_from(DOCUMENTS), st.sampled_from([-1.0, 0.0, 0.5, 0.5 + 1e-12, 2.0])
)


@given(qrels_drawn, st.fixed_dictionaries({"q1": results_drawn, "q2": results_drawn, "q3": results_drawn}))
def test_against_loops(qrels, run):
    run = {query: results for query, results in run.items() if query in qrels}
    scores = retrieval_scores(qrels, run, ["AP", "nDCG@3", "P@5", "R@2"])
    for query, grades in qrels.items():
        results = run[query]
        n_relevant = sum(grade > 0 for grade in grades.values())
        expected = {
            "AP": naive_ap(grades, results),
            "nDCG@3": naive_ndcg(grades, results, 3),
            "P@5": naive_hits(grades, results, 5) / 5,
            "R@2": naive_hits(grades, results, 2) / n_relevant if n_relevant else 0.0,
        }
        found = {measure: values[query] for measure, values in scores.per_query.items()}
        assert found == pytest.approx(expected)
    for measure, values in scores.per_query.items():
        assert list(values) == list(qrels)
        assert scores.mean[measure] == pytest.approx(np.mean(list(values.values())))


def test_worked_example():
    grades = {"a": 3, "b": 0, "c": 1}
    run = {"q": {"b": 3.0, "a": 2.0, "x": 1.5, "c": 1.0}}
    found = retrieval_scores({"q": grades}, run, ["nDCG@10", "AP", "nDCG@1", "RR"]).mean
    ideal = 3 + 1 / math.log2(3)
    assert found["nDCG@10"] == pytest.approx((3 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert found["AP"] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert found["nDCG@1"] == 0
    assert found["RR"] == 0.5


def test_queries_without_results_or_judgements():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}, "q4": {}}
    run = {"q1": {"a": 1.0}, "q2": {}, "q4": {"a": 1.0}, "q5": {"a": 1.0}}
    scores = retrieval_scores(qrels, run, ["AP"])
    assert scores.per_query == {"AP": {"q1": 1.0, "q2": 0.0, "q3": 0.0}}
    assert scores.mean == {"AP": pytest.approx(1 / 3)}
    assert (scores.n_queries, scores.n_missing, scores.n_unjudged) == (3, 2, 2)
    assert retrieval_scores(qrels, {}, ["AP"]).mean == {"AP": 0.0}


def test_gains_take_the_place_of_grades():
    scores = retrieval_scores({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}, ["nDCG(gains={1: 9})@1"])
    assert scores.mean == {"nDCG(gains={1: 9})@1": 1.0}


def test_queries_whose_grades_are_all_negative_count_0():
    """trec_eval itself crashes."""
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    scores = retrieval_scores({"q1": {"a": -1, "b": 1}, "q2": {"a": -5}}, run)
    assert scores.per_query["AP"] == {"q1": 0.5, "q2": 0.0}
    assert (scores.n_queries, scores.n_missing) == (2, 0)
    assert retrieval_scores({"q2": {"a": -1}}, run).mean == {"AP": 0.0, "nDCG@10": 0.0}


def test_names_and_numbers_of_other_kinds():
    qrels = {"q": {"a": np.int64(1), "b": True}}
    run = {"q": {"a": np.float32(0.5), "b": 1, "c": -math.inf, "d": math.inf}}
    assert retrieval_scores(qrels, run, ["MAP", "AP"]).mean == {
        "MAP": pytest.approx((1 / 2 + 2 / 3) / 2),
        "AP": pytest.approx((1 / 2 + 2 / 3) / 2),
    }


@pytest.mark.parametrize(
    ("qrels", "run", "measures", "message"),
    [
        ({"q": {"a": 1}}, {"q": {"a": math.nan}}, ["AP"], "'q' has scores that are NaN"),
        ({"q": {"a": 1}}, {"q": {"a": None}}, ["AP"], "'q' has scores that are not numbers"),
        (
            {"q": {"a": 0.5}},
            {"q": {"a": 1.0}},
            ["AP"],
            "'q' has the grade 0.5 for document 'a'; grades must be whole",
        ),
        *(
            (
                {"q": {"b": 1, "a": grade}},
                {"q": {"a": 1.0}},
                ["AP"],
                "'q' has the grade .* from -1000 to 1000",
            )
            for grade in [2**31 - 1, -1001, np.iinfo(np.int64).min, math.nan, math.inf, None, "1"]
        ),
        ({1: {"a": 1}}, {1: {"a": 1.0}}, ["AP"], "ids must be strings, such as '1', not 1"),
        ({"q": {1: 1}}, {"q": {"1": 1.0}}, ["AP"], "ids must be strings, such as '1', not 1"),
        ({"q": {"1": 1}}, {"q": {1: 1.0}}, ["AP"], "ids must be strings, such as '1', not 1"),
        ({"q": {}}, {"q": {"a": 1.0}}, ["AP"], "no query has judgements"),
        ({"q": {"a": 1}}, {"1": {"a": 1.0}}, ["AP"], "such as '1', and the judgements such as 'q': none"),
        *(
            ({"q": {"a": 1}}, {"q": {"a": 1.0}}, [measure], f"{measure!r} is not a measure of trec_eval")
            for measure in ["map", "P", "P@0", "P@x", "ERR@10", "NumRel", ""]
        ),
        *(
            ({"q": {"a": 1}}, {"q": {"a": 1.0}}, [measure], "is not a measure of trec_eval")
            for measure in [
                "AP(rel=0)",
                "AP(rel=1001)",
                "nDCG(gains={1: -1})@5",
                "nDCG(gains={1: 9999})@5",
                "nDCG(gains={1: 1.5})@5",
                "nDCG(gains={-1: 1})@5",
                7,
            ]
        ),
        ({"q": {"a": 1}}, {"q": {"a": 1.0}}, "AP", "must be a list of names"),
        ({"q": {"a": 1}}, {"q": {"a": 1.0}}, [], "must be a list of names"),
    ],
)
def test_bad_input(qrels, run, measures, message):
    with pytest.raises(ValueError, match=message):
        retrieval_scores(qrels, run, measures)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(ValueError, match=r'pip install "laconic\[evaluate\]"'):
        retrieval_scores({"q": {"a": 1}}, {"q": {"a": 1.0}})
