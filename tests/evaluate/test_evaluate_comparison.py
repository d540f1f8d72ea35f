import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr

from laconic.evaluate import compare, holm, paired_test
from laconic.evaluate.comparison import Paired, resampled_means


def drawn(n_queries=60, gain=0.05, seed=0):
    rng = np.random.default_rng(seed)
    baseline = rng.random(n_queries)
    return np.clip(baseline + rng.normal(gain, 0.1, n_queries), 0, 1), baseline


@pytest.mark.parametrize("seed", range(4))
def test_p_value_is_that_of_students_formula(seed):
    values, baseline = drawn(n_queries=5 + 20 * seed, seed=seed)
    differences = values - baseline
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(differences.size))
    p_value = 2 * stdtr(differences.size - 1, -abs(t))
    assert paired_test(values, baseline).p_value == pytest.approx(p_value)


@pytest.mark.parametrize("seed", range(3))
def test_intervals_against_queries_drawn_one_by_one(seed):
    values, baseline = drawn(seed=seed)
    found = paired_test(values, baseline, confidence=0.9)
    rng = np.random.default_rng(1)
    means = []
    for _ in range(10_000):
        queries = rng.integers(values.size, size=values.size)
        means.append((values[queries].mean(), baseline[queries].mean()))
    mine, theirs = np.transpose(means)
    for resampled, interval in (
        (mine - theirs, found.difference_interval),
        (mine / theirs, found.ratio_interval),
    ):
        low, high = np.quantile(resampled, [0.05, 0.95])
        assert interval == pytest.approx((low, high), abs=(high - low) / 20)


def test_the_seed_alone_decides(monkeypatch):
    values, baseline = drawn()
    once = paired_test(values, baseline, n_resamples=500)
    assert paired_test(values, baseline, n_resamples=500) == once
    assert paired_test(values, baseline, n_resamples=500, random_state=1) != once
    monkeypatch.setattr("laconic.evaluate.comparison._DRAWN", 1000)
    assert paired_test(values, baseline, n_resamples=500) == once


@pytest.mark.parametrize(("n_queries", "n_resamples"), [(1, 1), (1, 3), (2, 1), (7, 1)])
def test_few_queries_and_few_resamples(n_queries, n_resamples):
    values, baseline = drawn(n_queries)
    means = resampled_means([values, baseline], n_resamples, 0)
    assert means.shape == (2, n_resamples)
    assert (means >= [[values.min()], [baseline.min()]]).all()
    if n_queries == 1:
        assert means.tolist() == [[values[0]] * n_resamples, [baseline[0]] * n_resamples]


def test_counts_and_means():
    found = paired_test([0.5, 0.2, 0.4], [0.4, 0.3, 0.4])
    assert (found.n_pairs, found.n_better, found.n_worse) == (3, 1, 1)
    assert found.mean == pytest.approx(1.1 / 3)
    assert found.baseline_mean == pytest.approx(1.1 / 3)
    assert found.ratio == pytest.approx(1)


@pytest.mark.parametrize(
    ("values", "baseline", "p_value"),
    [([0.3, 0.5], [0.3, 0.5], 1.0), ([0.4, 0.6, 0.3], [0.3, 0.5, 0.2], 0.0), ([0.9], [0.1], 1.0)],
)
def test_where_there_is_no_variance(values, baseline, p_value):
    assert paired_test(values, baseline).p_value == p_value


def test_a_baseline_of_zero():
    nothing = paired_test([0.1, 0.2], [0, 0])
    assert nothing.ratio is None
    assert nothing.ratio_interval is None
    rarely = paired_test([0.1, 0.0, 0.2], [0.0, 0.0, 0.2])
    assert rarely.ratio == pytest.approx(1.5)
    assert rarely.ratio_interval == (1.0, math.inf)


@pytest.mark.parametrize(
    ("values", "baseline", "options", "message"),
    [
        ([0.1], [0.1, 0.2], {}, "give pairs"),
        ([], [], {}, "at least one"),
        ([math.nan], [0.1], {}, "finite"),
        ([0.1], [0.1], {"confidence": 1.0}, "between 0 and 1"),
        ([0.1], [0.1], {"n_resamples": 0}, "n_resamples"),
    ],
)
def test_bad_values(values, baseline, options, message):
    with pytest.raises(ValueError, match=message):
        paired_test(values, baseline, **options)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_by_its_definition(p_values):
    """An hypothesis is rejected if it and all with smaller p-values pass their own levels."""
    corrected = holm(p_values)
    ordered = sorted(p_values)
    for p, adjusted in zip(p_values, corrected, strict=True):
        steps = [min(1, (len(ordered) - i) * q) for i, q in enumerate(ordered) if q <= p]
        assert adjusted == pytest.approx(max(steps))
        assert p <= adjusted <= 1


@pytest.mark.parametrize("wrong", [math.nan, -0.1, 1.1, None])
def test_holm_takes_p_values_only(wrong):
    with pytest.raises(ValueError, match="a p-value must be a number from 0 to 1"):
        holm([0.01, wrong, 0.02])


def runs():
    rng = np.random.default_rng(0)
    qrels = {f"q{n}": {"a": 1} for n in range(40)}

    def run(hits):
        return {query: {"a": 1.0 if rng.random() < hits else 0.2, "b": 0.5, "c": 0.4} for query in qrels}

    return qrels, {"terms": run(0.5), "topics|more": run(0.02), "same": run(0.5), "blend": run(1.0)}


def test_compare():
    qrels, rankings = runs()
    found = compare(qrels, rankings, measures=["AP", "P@1"], n_resamples=500)
    assert found.baseline == "terms"
    assert list(found.scores) == ["terms", "topics|more", "same", "blend"]
    assert [found.mark("AP", name) for name in found.scores] == ["", "-", "", "+"]
    for measure in ("AP", "P@1"):
        tests = found.tests[measure]
        assert list(found.corrected[measure].values()) == holm([t.p_value for t in tests.values()])
        for name, test in tests.items():
            assert isinstance(test, Paired)
            assert test.mean == pytest.approx(found.scores[name].mean[measure])
            assert test.baseline_mean == pytest.approx(found.scores["terms"].mean[measure])


def test_another_baseline():
    qrels, rankings = runs()
    found = compare(qrels, rankings, baseline="blend", n_resamples=50)
    assert next(iter(found.scores)) == "blend"
    assert [found.mark("AP", name) for name in found.scores] == ["", "-", "-", "-"]


def test_markdown_marks_and_names_the_correction():
    qrels, rankings = runs()
    table, legend = compare(qrels, rankings, measures=["P@1"], n_resamples=50).markdown().split("\n\n")
    rows = table.splitlines()
    assert rows[0] == "| run | P@1 |"
    assert rows[-1] == "| blend | 1.0000+ |"
    assert rows[3].startswith(r"| topics\|more | 0.")
    assert rows[3].endswith("- |")
    assert "paired t-test" in legend
    assert "3 comparisons by Holm's method" in legend
    assert "40 queries" in legend


def test_json():
    qrels, rankings = runs()
    found = compare(qrels, {"terms": {}, "blend": rankings["blend"]}, n_resamples=50)
    described = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert described["runs"]["terms"]["n_missing"] == 40
    assert "against_baseline" not in described["runs"]["terms"]
    against = described["runs"]["blend"]["against_baseline"]["AP"]
    assert against["difference"] == 1.0
    assert against["ratio"] is None
    assert against["significant"]
    assert described["correction"] == "holm"


def test_bad_comparisons():
    qrels, rankings = runs()
    with pytest.raises(ValueError, match="no runs to compare"):
        compare(qrels, {})
    with pytest.raises(ValueError, match="no run 'other' to compare with, only 'terms', "):
        compare(qrels, rankings, baseline="other")
    with pytest.raises(ValueError, match="level"):
        compare(qrels, rankings, level=5)
