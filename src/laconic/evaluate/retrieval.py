"""Rankings against judgements, with trec_eval's numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from laconic.reading.rankings import LARGEST_GRADE, Qrels, Run

MEASURES = ("AP", "nDCG@10")


@dataclass(frozen=True)
class RetrievalScores:
    """What `retrieval_scores` found.

    Attributes
    ----------
    mean : dict of str to float
        From measures, as they were asked for, to means over all judged queries.
    per_query : dict of str to dict of str to float
        From measures to the ids of judged queries to values.
    n_queries : int
        How many queries have judgements; the means are over these.
    n_missing : int
        How many of them have no results in the run; they count as 0.
    n_unjudged : int
        How many queries of the run have no judgements; they are left out.
    """

    mean: dict[str, float]
    per_query: dict[str, dict[str, float]]
    n_queries: int
    n_missing: int
    n_unjudged: int


def retrieval_scores(qrels: Qrels, run: Run, measures: Sequence[str] = MEASURES) -> RetrievalScores:
    """Measure a ranking with trec_eval, by way of the package ir-measures.

    Parameters
    ----------
    qrels : mapping of str to mapping of str to int
        The judgements: from the ids of queries to those of documents to grades, from -1000 to 1000. Documents
        with a grade of 1 or more are relevant; those without a judgement are not.
    run : mapping of str to mapping of str to float
        The ranking: from the ids of queries to those of documents to scores. More is better.
    measures : sequence of str, default=("AP", "nDCG@10")
        Names of ir-measures, of those that trec_eval has: "AP" (whose mean is MAP), "nDCG@10", "P@5",
        "R@100", "RR", "Rprec" and so on. "AP(rel=2)" counts a document from grade 2 on as relevant.

    Returns
    -------
    RetrievalScores
        Means, and values for each query.

    Raises
    ------
    ValueError
        If ir-measures is not installed; for a measure that trec_eval does not have, ids that are not strings,
        grades that are not whole numbers of that range, scores that are not numbers, judgements of no query,
        or a run that has no query in common with them.

    Notes
    -----
    - A query with judgements but without results counts 0. One without judgements is left out. One whose
      judgements are all 0 or less counts 0, whatever the run says.
    - The gain of nDCG is linear, the grade itself (not 2^grade - 1), and divided by log2(rank + 1). A cut-off
      such as 10 applies to the ideal ranking, too.
    - P@10 divides by 10 even if there are fewer results; AP and R@k divide by all relevant documents, whether
      found or not.
    - Scores are compared in single precision; of equal ones, the document whose id is the last in the order
      of its characters comes first. The order of the mapping means nothing.

    Examples
    --------
    The relevant documents of q1 have ranks 1 and 3: precisions 1 and 2/3. For q2 nothing was found.

    >>> qrels = {"q1": {"a": 1, "b": 2, "c": 0}, "q2": {"a": 1}}
    >>> run = {"q1": {"a": 0.9, "c": 0.8, "b": 0.7}, "q3": {"a": 1.0}}
    >>> scores = retrieval_scores(qrels, run, ["AP", "P@1"])
    >>> scores.per_query["AP"]
    {'q1': 0.8333333333333333, 'q2': 0.0}
    >>> scores.mean["P@1"], scores.n_missing, scores.n_unjudged
    (0.5, 1, 1)
    """
    parsed = parse_measures(measures)
    judged = {query: grades for query, grades in qrels.items() if grades}
    if not judged:
        raise ValueError("no query has judgements; give qrels such as {'q1': {'d7': 1}}")
    answered = {query: results for query, results in run.items() if results}
    common = {query: results for query, results in answered.items() if query in judged}
    if answered and not common:
        raise ValueError(
            f"the run has queries such as {next(iter(answered))!r}, and the judgements such as "
            f"{next(iter(judged))!r}: none in common; give judgements of the run's queries"
        )
    found = _evaluated(_plain_grades(judged), _plain_scores(common), [measure for _, measure in parsed])
    per_query = {
        name: {query: found[measure].get(query, 0.0) for query in judged} for name, measure in parsed
    }
    return RetrievalScores(
        mean={name: math.fsum(values.values()) / len(judged) for name, values in per_query.items()},
        per_query=per_query,
        n_queries=len(judged),
        n_missing=len(judged) - len(common),
        n_unjudged=len(answered) - len(common),
    )


def parse_measures(names: Sequence[str]) -> list[tuple[str, Any]]:
    """Give the measures of ir-measures beside their names; all are measures that trec_eval has."""
    if isinstance(names, str) or not names:
        raise ValueError(f"measures must be a list of names, such as ['AP', 'nDCG@10'], not {names!r}")
    ir_measures = _ir_measures()
    parsed = []
    for name in names:
        try:
            measure = ir_measures.parse_measure(name)
            known = ir_measures.pytrec_eval.supports(measure) and _has_sound_parameters(measure.params)
            # Numbers of queries and documents are sums, of which a mean over queries says nothing.
            known = known and not measure.NAME.startswith("Num")
        except (NameError, TypeError, ValueError, AssertionError):
            known = False
        if not known:
            raise ValueError(
                f"{name!r} is not a measure of trec_eval; there are AP, nDCG@10, P@5, R@100, RR, Rprec, "
                "Success@1 and more of ir-measures, with cut-offs of at least 1, "
                f"rel from 1 to {LARGEST_GRADE} and whole gains from 0 to {LARGEST_GRADE}"
            )
        parsed.append((name, measure))
    return parsed


def _has_sound_parameters(parameters: Mapping[str, Any]) -> bool:
    """Whether trec_eval can work with the parameters of a measure."""
    return (
        parameters.get("cutoff", 1) >= 1
        and 1 <= parameters.get("rel", 1) <= LARGEST_GRADE
        # Gains take the place of grades, of which negative ones are never relevant.
        and all(
            grade >= 0 and isinstance(gain, int) and 0 <= gain <= LARGEST_GRADE
            for grade, gain in parameters.get("gains", {}).items()
        )
    )


def _ir_measures() -> Any:
    try:
        import ir_measures
    except ModuleNotFoundError as error:
        raise ValueError(
            'measures of retrieval need the package ir-measures: pip install "laconic[evaluate]"'
        ) from error
    return ir_measures


def _plain_grades(qrels: Qrels) -> dict[str, dict[str, int]]:
    """The judgements as trec_eval takes them: dictionaries of int, and nothing like it."""
    plain = {}
    for query, grades in qrels.items():
        _check_ids(query, grades)
        for document, grade in grades.items():
            if not _is_grade(grade):
                raise ValueError(
                    f"query {query!r} has the grade {grade!r} for document {document!r}; grades must be "
                    f"whole numbers from {-LARGEST_GRADE} to {LARGEST_GRADE}"
                )
        # trec_eval crashes where all grades are negative; such a query counts 0 anyway.
        if any(grade >= 0 for grade in grades.values()):
            plain[query] = {document: int(grade) for document, grade in grades.items()}
    return plain


def _is_grade(grade: Any) -> bool:
    try:
        whole = int(grade)
        return bool(whole == grade) and abs(whole) <= LARGEST_GRADE
    except (TypeError, ValueError, OverflowError):
        return False


def _check_ids(query: Any, documents: Mapping[Any, Any]) -> None:
    wrong = [name for name in (query, *documents) if not isinstance(name, str)]
    if wrong:
        raise ValueError(f"query {query!r}: ids must be strings, such as {str(wrong[0])!r}, not {wrong[0]!r}")


def _plain_scores(run: Run) -> dict[str, dict[str, float]]:
    """The run as dictionaries of float; trec_eval would sort what is not a number anywhere."""
    plain = {}
    for query, results in run.items():
        _check_ids(query, results)
        try:
            scores = {document: float(score) for document, score in results.items()}
        except (TypeError, ValueError) as error:
            raise ValueError(f"query {query!r} has scores that are not numbers ({error})") from error
        # One sum tells of all; infinite scores may cancel out, and are looked at one by one.
        if math.isnan(sum(scores.values())) and any(map(math.isnan, scores.values())):
            raise ValueError(f"query {query!r} has scores that are NaN; give every document a number")
        plain[query] = scores
    return plain


def _evaluated(
    qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]], measures: Sequence[Any]
) -> dict[Any, dict[str, float]]:
    """From measures to the ids of queries to values; queries without results have none or 0."""
    found: dict[Any, dict[str, float]] = {measure: {} for measure in measures}
    for metric in _ir_measures().pytrec_eval.evaluator(list(found), qrels).iter_calc(run):
        found[metric.measure][metric.query_id] = float(metric.value)
    return found
