"""Which number of topics? What speaks for each, measured by fits to halves of the documents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from laconic.bundle.chosen import Chosen, Tried
from laconic.bundle.fitting import CALLED_HERE, check_counted
from laconic.bundle.given import Names, corpora_of, sorted_options
from laconic.bundle.tables import as_table
from laconic.checks import check_number
from laconic.corpus import Corpus
from laconic.errors import CorpusError, InputError, Parameter, ParameterError
from laconic.evaluate.coherence import N_DIVERSE, coherence, diversity
from laconic.evaluate.stability import COMES_BACK, topic_overlap
from laconic.models.base import TopicModel
from laconic.models.making import WORDS, make_model, parameters_of
from laconic.steering.completion import completion, halves_of_words
from laconic.steering.recommending import MEASURES, Measured, Recommendation, overall, recommend
from laconic.steering.refits import Task, Tell, check_refittable, half_tasks, run_side_by_side

NUMBERS = (10, 20, 50, 100)
N_RUNS = 5
FEWEST_DOCUMENTS = 10
# So many documents of the half that a fit has not seen say how well it foretells.
_HELD_OUT = 2000
_WORDS_SHOWN = 8


@dataclass(frozen=True)
class ChosenTopic:
    """A topic of the fit to all documents.

    Parameters
    ----------
    words : tuple of str
        Its heaviest words.
    returns : float
        The share of fits to halves in which it comes back.
    """

    words: tuple[str, ...]
    returns: float


@dataclass(frozen=True)
class Candidate:
    """What was measured for one number of topics.

    Parameters
    ----------
    n_topics : int
    held_out : Measured
        How much of the other half of a document's words the topics predict, for documents not in the fit.
    coherence : Measured
        NPMI of the topics' first ten words.
    redundancy : Measured
        The share of words among the first 25 of all topics that also occur in another topic.
    stability : Measured
        The share of a topic's first twenty words that come back in a fit to another half with another seed.
    overall : Measured
        The mean of the four, each from 0 (the worst number of topics) to 1 (the best).
    topics : tuple of ChosenTopic
        Those of the fit to all documents.
    """

    n_topics: int
    held_out: Measured
    coherence: Measured
    redundancy: Measured
    stability: Measured
    overall: Measured
    topics: tuple[ChosenTopic, ...]

    @property
    def returning(self) -> float:
        """The share of topics that come back in most of the fits to halves."""
        return float(np.mean([topic.returns > 0.5 for topic in self.topics]))


@dataclass(frozen=True)
class Choice:
    """A comparison of several numbers of topics, and a recommendation.

    Parameters
    ----------
    candidates : tuple of Candidate
        By their number of topics.
    recommended : int
        The recommended number of topics.
    reason : str
        Why, in a sentence.
    warnings : tuple of str
        What to be careful about: other numbers that do as well, a recommendation at the end of the range.
    model : str
        The name of the model's class.
    n_documents, n_runs : int
        How many documents there are, and how many halves of them each model was fitted to.

    Examples
    --------
    >>> import laconic
    >>> texts = ["sun and moon", "moon and sun", "salt and pepper", "pepper and salt"] * 5
    >>> laconic.choose(texts, n_topics=[2, 3], n_runs=3).recommended
    2
    """

    candidates: tuple[Candidate, ...]
    recommended: int
    reason: str
    warnings: tuple[str, ...]
    model: str
    n_documents: int
    n_runs: int

    def table(self) -> Any:
        """One row for each number of topics: a data frame, if pandas or polars is installed."""
        columns: dict[str, list[Any]] = {"topics": [one.n_topics for one in self.candidates]}
        for name in (*MEASURES, "overall"):
            columns[name] = [getattr(one, name).mean for one in self.candidates]
        columns["returning"] = [one.returning for one in self.candidates]
        return as_table(columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as values that JSON can hold; `from_dict` reads it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Self:
        """What `to_dict` gave."""
        candidates = tuple(_candidate(one) for one in described["candidates"])
        return cls(**{**described, "candidates": candidates, "warnings": tuple(described["warnings"])})

    def record(self) -> Chosen:
        """The means alone, as a bundle keeps them: ``bundle.chosen = choice.record()``."""
        tried = tuple(
            Tried(
                one.n_topics,
                **{name: getattr(one, name).mean for name in (*MEASURES, "overall")},
                returning=one.returning,
            )
            for one in self.candidates
        )
        return Chosen(self.recommended, self.reason, self.warnings, self.n_documents, self.n_runs, tried)

    def to_svg(self) -> str:
        """A picture: a panel for each measure, over the numbers of topics."""
        from laconic.steering.pictures import choice_svg

        return choice_svg(self)

    def __repr__(self) -> str:
        lines = [f"topics {'  '.join(f'{name:>10}' for name in (*MEASURES, 'overall'))}"]
        for one in self.candidates:
            cells = (f"{getattr(one, name).mean:10.3f}" for name in (*MEASURES, "overall"))
            lines.append(f"{one.n_topics:6} {'  '.join(cells)}")
        return "\n".join([*lines, self.reason, *(f"but: {text}" for text in self.warnings)])

    def _repr_html_(self) -> str:
        from laconic.steering.pictures import choice_html

        return choice_html(self)


def choose(
    data: Any,
    n_topics: Iterable[int] = NUMBERS,
    words: int | None = WORDS,
    model: str = "rlsi",
    *,
    text: str = "text",
    n_runs: int = N_RUNS,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Tell | None = None,
    **options: Any,
) -> Choice:
    """Compare several numbers of topics and recommend one.

    For each number, the model is fitted to `n_runs` random halves of the documents, each with its own seed,
    and once to all of them. Four things are measured: how much of unseen documents the topics predict,
    coherence, redundancy, and stability (whether the same topics come back).

    Parameters
    ----------
    data : list of str, path, table or Corpus
        As in `laconic.fit`.
    n_topics : iterable of int, default=(10, 20, 50, 100)
        The numbers to try: two or more.
    words, model, text, **options
        As in `laconic.fit`.
    n_runs : int, default=5
        How many halves: two or more.
    random_state : int, default=0
        Seed of halves and fits: the same seed gives the same numbers.
    n_jobs : int, optional
        How many fits run at a time; by default one per core.
    progress : callable, optional
        Called with the fraction of the work that is done, from 0 to 1.

    Returns
    -------
    Choice
        ``.recommended``, ``.reason``, ``.warnings``, ``.table()``, ``.to_svg()``, ``.to_dict()``.

    Raises
    ------
    CorpusError, ParameterError
        If documents or parameters cannot be used; the message says what to do.
    """
    try:
        given = sorted_options(model, options)
        parameters = dict(given.parameters)
        if words is None and "terms_per_topic" in parameters_of(model):
            parameters.setdefault("topic_norm", "l1")
        numbers = checked_numbers(n_topics)
        made = make_model(
            model, numbers[0], None if words == WORDS else words, random_state=random_state, **parameters
        )
        check_refittable(made)
        check_counted(made, given.terms)
        corpora = corpora_of(data, text, Names(None, None, None), given, keep_texts=False)
        if "" not in corpora:
            raise ParameterError("the documents have several modalities: give those of one")
        return choose_among(
            made,
            numbers,
            corpora[""],
            n_runs=n_runs,
            random_state=random_state,
            n_jobs=n_jobs,
            tell=progress,
        )
    except InputError as error:
        raise error.renamed(CALLED_HERE) from error


def checked_numbers(numbers: Iterable[int]) -> list[int]:
    """Numbers of topics to choose from: each once, the smallest first.

    >>> checked_numbers([20, 10, 20])
    [10, 20]
    """
    listed = [numbers] if isinstance(numbers, int) else list(numbers)
    for number in listed:
        check_number("n_topics", number, Integral, 1)
    distinct = sorted(set(map(int, listed)))
    if len(distinct) < 2:
        raise ParameterError(
            Parameter("n_topics"), f" must be two numbers or more to choose from, not {listed}"
        )
    return distinct


class _Run(NamedTuple):
    """What is kept of a fit to a half."""

    components: Any
    held_out: float
    coherence: float
    redundancy: float


def choose_among(
    model: TopicModel,
    numbers: Sequence[int],
    corpus: Corpus,
    *,
    n_runs: int = N_RUNS,
    random_state: int = 0,
    n_jobs: int | None = None,
    tell: Tell | None = None,
) -> Choice:
    """What `choose` does, for a model that is not fitted yet and documents that are counted.

    Parameters
    ----------
    model : TopicModel
        Its number of topics does not matter.
    numbers : sequence of int
        Numbers of topics, as in `checked_numbers`.
    corpus : Corpus
    n_runs, random_state, n_jobs
        As in `choose`.
    tell : callable, optional
        Told the part of the work that is done.
    """
    check_number("n_runs", n_runs, Integral, 2)
    check_number("random_state", random_state, Integral, 0, 2**32 - 1 - 2**16)
    n_documents = corpus.shape[0]
    if n_documents < FEWEST_DOCUMENTS:
        raise CorpusError(
            f"{n_documents} documents are too few to split in half: give {FEWEST_DOCUMENTS} or more"
        )
    tasks: list[Task] = []
    for number in numbers:
        sized = clone(model).set_params(n_components=number)
        # the same halves for all numbers: what differs between them is not the documents
        tasks += half_tasks(sized, number, n_documents, n_runs, random_state, random_state)
        tasks.append(Task(sized.set_params(random_state=random_state, n_jobs=1, verbose=0), None, number))

    def conclude(task: Task, fitted: TopicModel) -> Any:
        if task.documents is None:
            return fitted.components_, fitted.topics(corpus.vocabulary, _WORDS_SHOWN)
        return _measured(fitted, corpus, task.documents, random_state)

    found = run_side_by_side(tasks, corpus, conclude, n_jobs=n_jobs, tell=tell)
    of_each = [found[place : place + n_runs + 1] for place in range(0, len(found), n_runs + 1)]
    measured = [_by_measure(results[:-1]) for results in of_each]
    together = overall(measured)
    recommendation: Recommendation = recommend(list(numbers), measured, together)
    candidates = tuple(
        Candidate(number, **values, overall=whole, topics=_topics(results[-1], results[:-1]))
        for number, values, whole, results in zip(numbers, measured, together, of_each, strict=True)
    )
    return Choice(candidates, *recommendation, type(model).__name__, n_documents, n_runs)


def _measured(model: TopicModel, corpus: Corpus, documents: Any, seed: int) -> _Run:
    others = np.setdiff1d(np.arange(corpus.shape[0]), documents)
    # of a run, the same documents and words for all numbers of topics
    random = np.random.RandomState(seed)
    others = np.sort(random.permutation(others)[:_HELD_OUT])
    listed = model.topics(corpus.vocabulary, N_DIVERSE)
    return _Run(
        model.components_,
        completion(model, corpus, *halves_of_words(corpus, others, random)),
        coherence(listed, corpus).mean,
        1 - diversity(listed),
    )


def _by_measure(runs: Sequence[_Run]) -> dict[str, Measured]:
    overlaps = np.full((len(runs), len(runs)), np.nan)
    for a, b in combinations(range(len(runs)), 2):
        shared = topic_overlap(runs[a].components, runs[b].components).mean()
        overlaps[a, b] = overlaps[b, a] = shared
    values = {
        "held_out": [run.held_out for run in runs],
        "coherence": [run.coherence for run in runs],
        "redundancy": [run.redundancy for run in runs],
        "stability": np.nanmean(overlaps, axis=1).tolist(),
    }
    return {name: Measured.of(runs) for name, runs in values.items()}


def _topics(whole: tuple[Any, Any], runs: Sequence[_Run]) -> tuple[ChosenTopic, ...]:
    components, listed = whole
    back = np.mean([topic_overlap(components, run.components) >= COMES_BACK for run in runs], axis=0)
    words = (tuple(word for word, _ in topic) for topic in listed)
    return tuple(ChosenTopic(*one) for one in zip(words, back.tolist(), strict=True))


def _candidate(described: Mapping[str, Any]) -> Candidate:
    named = {
        name: Measured(one["mean"], one["error"], tuple(one["runs"]))
        for name, one in described.items()
        if isinstance(one, Mapping)
    }
    topics = tuple(ChosenTopic(tuple(one["words"]), one["returns"]) for one in described["topics"])
    return Candidate(described["n_topics"], **named, topics=topics)
