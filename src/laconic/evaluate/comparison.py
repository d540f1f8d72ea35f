"""Is one ranking better than another, or is it chance? Paired over queries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from laconic.checks import check_number
from laconic.evaluate.retrieval import MEASURES, RetrievalScores, retrieval_scores
from laconic.reading.rankings import Qrels, Run

RESAMPLES = 10_000
CONFIDENCE = 0.95
# So many drawn queries are in memory at a time; more are no faster.
_DRAWN = 1 << 18

Interval = tuple[float, float]


@dataclass(frozen=True)
class Paired:
    """What `paired_test` found.

    Attributes
    ----------
    mean, baseline_mean : float
        Of the values, and of those they are compared with.
    difference : float
        ``mean - baseline_mean``.
    difference_interval : (float, float)
        Where the bootstrap puts it.
    ratio : float or None
        ``mean / baseline_mean``; None if the baseline's mean is not positive.
    ratio_interval : (float, float) or None
        Where the bootstrap puts it. The upper end is infinite if the baseline is zero in too many resamples.
    p_value : float
        Of the two-sided paired t-test that the difference is zero.
    n_pairs, n_better, n_worse : int
        How many pairs there are, and of those, how many are above and below the baseline.
    """

    mean: float
    baseline_mean: float
    difference: float
    difference_interval: Interval
    ratio: float | None
    ratio_interval: Interval | None
    p_value: float
    n_pairs: int
    n_better: int
    n_worse: int


def paired_test(
    values: ArrayLike,
    baseline: ArrayLike,
    *,
    n_resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    random_state: int = 0,
) -> Paired:
    """Compare the values of two systems for the same queries.

    Parameters
    ----------
    values, baseline : array-like of shape (n_queries,)
        Such as average precisions, of the same queries in the same order. To pool collections, concatenate.
    n_resamples : int, default=10000
        How often queries are drawn with replacement, for the intervals.
    confidence : float, default=0.95
        Of the intervals: they leave out the same share of resamples at both ends.
    random_state : int, default=0
        The same gives the same intervals.

    Returns
    -------
    Paired
        Means, their difference and ratio with intervals, and a p-value.

    Notes
    -----
    With equal values for all queries the p-value is 1; with a difference that is the same for all, 0; with
    one query, 1, because nothing is known about chance.

    Examples
    --------
    >>> found = paired_test([0.5, 0.4, 0.9, 0.6], [0.4, 0.4, 0.7, 0.5])
    >>> round(found.difference, 3), round(found.ratio, 3), round(found.p_value, 3)
    (0.1, 1.2, 0.092)
    >>> [round(end, 3) for end in found.difference_interval]
    [0.025, 0.175]
    """
    mine, theirs = _checked(values), _checked(baseline)
    if mine.shape != theirs.shape:
        raise ValueError(f"there are {mine.size} values and {theirs.size} of the baseline; give pairs")
    check_number("n_resamples", n_resamples, Integral, 1)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, not {confidence!r}")
    differences = mine - theirs
    drawn_mine, drawn_theirs = resampled_means([mine, theirs], n_resamples, random_state)
    base = float(theirs.mean())
    return Paired(
        mean=float(mine.mean()),
        baseline_mean=base,
        difference=float(differences.mean()),
        difference_interval=_interval(drawn_mine - drawn_theirs, confidence),
        ratio=float(mine.mean() / base) if base > 0 else None,
        ratio_interval=_interval(_ratios(drawn_mine, drawn_theirs), confidence) if base > 0 else None,
        p_value=_t_test(mine, theirs),
        n_pairs=mine.size,
        n_better=int(np.count_nonzero(differences > 0)),
        n_worse=int(np.count_nonzero(differences < 0)),
    )


def resampled_means(
    rows: Sequence[NDArray[np.float64]], n_resamples: int, random_state: int | np.random.Generator
) -> NDArray[np.float64]:
    """Means over queries drawn with replacement: the same queries for every row.

    Parameters
    ----------
    rows : sequence of arrays of shape (n_queries,)
        The values of several systems.
    n_resamples : int
        How often as many queries are drawn as there are.
    random_state : int or numpy.random.Generator
        The same gives the same means; a generator goes on where it stands.

    Returns
    -------
    array of shape (n_rows, n_resamples)

    Examples
    --------
    >>> resampled_means([np.array([0.0, 1.0]), np.array([1.0, 3.0])], 3, 0)
    array([[1. , 0.5, 0. ],
           [3. , 2. , 1. ]])
    """
    n_queries = len(rows[0])
    # scipy refuses to draw from one, and warns that one draw has no standard error.
    if n_queries == 1:
        return np.tile(np.stack(rows), n_resamples)
    found = stats.bootstrap(
        tuple(rows),
        lambda *drawn, axis: np.stack([row.mean(axis=axis) for row in drawn]),
        n_resamples=max(n_resamples, 2),
        batch=max(1, _DRAWN // n_queries),
        paired=True,
        vectorized=True,
        method="percentile",
        rng=np.random.default_rng(random_state),
    )
    return np.asarray(found.bootstrap_distribution[:, :n_resamples])


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number, by Holm's step-down method.

    Parameters
    ----------
    p_values : sequence of float
        Of several tests; from 0 to 1.

    Returns
    -------
    list of float
        In the same order: to be compared with the level that all tests together should keep.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    for p_value in p_values:
        check_number("a p-value", p_value, Real, 0, 1)
    # scipy corrects for the rate of false discoveries only, not for any at all.
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - done) * p_values[place]))
        corrected[place] = largest
    return corrected


@dataclass(frozen=True)
class Comparison:
    """Several runs compared with a baseline; the result of `compare`.

    Attributes
    ----------
    baseline : str
        The name of the run that the others are compared with.
    scores : dict of str to RetrievalScores
        From the names of runs, the baseline first, to their scores.
    tests : dict of str to dict of str to Paired
        From measures to the names of the other runs to the results of the test.
    corrected : dict of str to dict of str to float
        From measures to the names of the other runs to p-values, corrected by Holm's method for the number of
        other runs.
    level : float
        Differences with a corrected p-value below this are significant.
    confidence : float
        Of the bootstrap intervals.
    """

    baseline: str
    scores: dict[str, RetrievalScores]
    tests: dict[str, dict[str, Paired]]
    corrected: dict[str, dict[str, float]]
    level: float
    confidence: float

    @property
    def measures(self) -> list[str]:
        """The measures, in the order they were asked for."""
        return list(self.tests)

    def mark(self, measure: str, name: str) -> str:
        """``"+"`` or ``"-"`` if a run is significantly better or worse than the baseline, else nothing."""
        if name == self.baseline or self.corrected[measure][name] >= self.level:
            return ""
        return "+" if self.tests[measure][name].difference > 0 else "-"

    @property
    def legend(self) -> str:
        """What the marks mean."""
        means = f"Means over {self.scores[self.baseline].n_queries:,} queries."
        others = len(self.scores) - 1
        if not others:
            return means
        corrected = f", corrected for {others} comparisons by Holm's method" if others > 1 else ""
        return (
            f"{means} + and - mark what is significantly better or worse than {self.baseline} (two-sided "
            f"paired t-test, p < {self.level:g}{corrected}, within each measure)."
        )

    def cells(self) -> Iterator[list[str]]:
        """The rows of a table: the name of a run, and its mean and mark for each measure."""
        for name, scores in self.scores.items():
            marked = [f"{scores.mean[m]:.4f}{self.mark(m, name) or ' '}" for m in self.measures]
            yield [name, *marked]

    def markdown(self) -> str:
        """Give a Markdown table and its legend."""
        lines = [
            ["run", *self.measures],
            [":---", *["---:"] * len(self.measures)],
            *([cell.strip().replace("|", "\\|") for cell in row] for row in self.cells()),
        ]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"{table}\n\n{self.legend}\n"

    def notes(self) -> Iterator[str]:
        """Say what the marks mean, how the first measure differs, and which queries count in which way."""
        yield self.legend
        first = self.measures[0]
        for name, test in self.tests[first].items():
            ratio = ""
            if test.ratio is not None and test.ratio_interval is not None:
                ratio = f"; ratio {test.ratio:.3f} ({_span(test.ratio_interval, '.3f')})"
            span = _span(test.difference_interval, "+.4f")
            yield (
                f"{first} of {name}: {test.difference:+.4f} ({span}){ratio}; "
                f"better for {test.n_better} queries, worse for {test.n_worse}; p = {test.p_value:.2g}, "
                f"corrected {self.corrected[first][name]:.2g}."
            )
        if self.tests[first]:
            yield f"In brackets: bootstrap intervals that hold {self.confidence:.0%} of the resamples."
        for name, scores in self.scores.items():
            if scores.n_missing or scores.n_unjudged:
                yield (
                    f"{name}: judged queries without results (they count 0): {scores.n_missing}; queries "
                    f"without judgements (they are left out): {scores.n_unjudged}."
                )

    def to_dict(self) -> dict[str, Any]:
        """Give everything but the values of single queries, as JSON can hold it."""
        return {
            "baseline": self.baseline,
            "level": self.level,
            "confidence": self.confidence,
            "correction": "holm",
            "n_queries": self.scores[self.baseline].n_queries,
            "runs": {
                name: {
                    "mean": scores.mean,
                    "n_missing": scores.n_missing,
                    "n_unjudged": scores.n_unjudged,
                    **({} if name == self.baseline else {"against_baseline": self._tested(name)}),
                }
                for name, scores in self.scores.items()
            },
        }

    def _tested(self, name: str) -> dict[str, Any]:
        return {
            measure: {
                **{key: _finite(value) for key, value in asdict(found[name]).items()},
                "p_corrected": self.corrected[measure][name],
                "significant": bool(self.mark(measure, name)),
            }
            for measure, found in self.tests.items()
        }


def compare(
    qrels: Qrels,
    runs: Mapping[str, Run],
    *,
    baseline: str | None = None,
    measures: Sequence[str] = MEASURES,
    level: float = 0.05,
    n_resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    random_state: int = 0,
) -> Comparison:
    """Compare rankings with a baseline, query by query.

    Parameters
    ----------
    qrels : mapping of str to mapping of str to int
        The judgements, as in `retrieval_scores`.
    runs : mapping of str to run
        From names to rankings.
    baseline : str, optional
        The name of the run that the others are compared with; by default the first.
    measures : sequence of str, default=("AP", "nDCG@10")
        As in `retrieval_scores`.
    level : float, default=0.05
        Of significance.
    n_resamples, confidence, random_state
        As in `paired_test`. All runs use the same resamples.

    Returns
    -------
    Comparison
        Scores, tests, and a table.

    Notes
    -----
    All judged queries count, even those for which a run has no results (as 0). p-values are those of paired
    t-tests; Holm's method corrects them for the number of runs, separately for each measure: no correction
    is made for looking at several measures.

    Examples
    --------
    >>> qrels = {f"q{n}": {"a": 1, "b": 0} for n in range(9)}
    >>> worse = {f"q{n}": {"a": n % 2, "b": 0.5} for n in range(9)}
    >>> better = {f"q{n}": {"a": 1.0, "b": 0.5} for n in range(9)}
    >>> comparison = compare(qrels, {"terms": worse, "topics": better}, measures=["AP"])
    >>> print(comparison.markdown())
    | run | AP |
    | :--- | ---: |
    | terms | 0.7222 |
    | topics | 1.0000+ |
    <BLANKLINE>
    Means over 9 queries. + and - mark what is significantly better or worse than terms (two-sided paired \
t-test, p < 0.05, within each measure).
    <BLANKLINE>
    >>> round(comparison.tests["AP"]["topics"].ratio, 3)
    1.385
    """
    if not runs:
        raise ValueError("there are no runs to compare; give a mapping from names to runs")
    chosen = next(iter(runs)) if baseline is None else baseline
    if chosen not in runs:
        raise ValueError(f"there is no run {chosen!r} to compare with, only {', '.join(map(repr, runs))}")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    names = [chosen, *(name for name in runs if name != chosen)]
    scores = {name: retrieval_scores(qrels, runs[name], measures) for name in names}
    values = {name: {m: list(per.values()) for m, per in scores[name].per_query.items()} for name in names}
    tests = {
        measure: {
            name: paired_test(
                values[name][measure],
                values[chosen][measure],
                n_resamples=n_resamples,
                confidence=confidence,
                random_state=random_state,
            )
            for name in names[1:]
        }
        for measure in scores[chosen].mean
    }
    corrected = {
        measure: dict(zip(found, holm([test.p_value for test in found.values()]), strict=True))
        for measure, found in tests.items()
    }
    return Comparison(chosen, scores, tests, corrected, level, confidence)


def _checked(values: ArrayLike) -> NDArray[np.float64]:
    checked = np.asarray(values, dtype=np.float64)
    if checked.ndim != 1 or checked.size == 0 or not np.isfinite(checked).all():
        raise ValueError("values must be a list of finite numbers, one for each query, and at least one")
    return checked


def _interval(resampled: NDArray[np.float64], confidence: float) -> Interval:
    tail = (1 - confidence) / 2
    # Ends are resamples themselves: between infinite ratios, scipy's intervals interpolate to no number.
    low, high = np.quantile(resampled, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def _ratios(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ratios of means; where the baseline is zero, infinite, or 1 if both are."""
    ratios = np.where(mine > 0, np.inf, 1.0)
    np.divide(mine, theirs, out=ratios, where=theirs > 0)
    return ratios


def _t_test(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The two-sided p-value of Student's test that the mean difference is zero."""
    differences = mine - theirs
    # Where nothing varies, scipy warns, or has no number.
    if mine.size == 1 or not differences.any():
        return 1.0
    # What rounding leaves of equal differences is not chance.
    if float(differences.std(ddof=1)) <= 1e-12 * float(np.abs(differences).max()):
        return 0.0
    return float(stats.ttest_rel(mine, theirs).pvalue)


def _span(interval: Interval, digits: str) -> str:
    return f"{interval[0]:{digits}} to {interval[1]:{digits}}"


def _finite(value: Any) -> Any:
    """None in place of what JSON has no number for."""
    if isinstance(value, tuple):
        return [_finite(end) for end in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
