"""German and English: topics in pairs, mates of speeches, and keywords in the other language."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic import datasets
from laconic.corpus import Corpus
from laconic.evaluate import mate_ranks
from laconic.experiments.gplsa.modalities import Trial, fit_modalities, try_all
from laconic.experiments.parts import Desk, Results, Section
from laconic.experiments.writing import count, decimal, edges, list_of, percent, quoted, table

LANGUAGES = {"de": "german", "en": "english"}
STRENGTHS = (0.1, 1.0, 10.0, 100.0, 1000.0, 1e4, 1e5, 1e6, 1e7)
# The model whose topics are shown, as in the paper.
SHOWN = "skl"
N_KEYWORDS = 10
N_SHOWN_TOPICS = 8
N_SHOWN_SPEECHES = 3

_TEXT = """
There are {n_train:,} pairs of speeches to learn from and {n_test:,} held out (in the paper, 1,000 and 100).
Stop words are removed and words stemmed. Terms in fewer than {min_df} speeches or in more than {max_df:.0%}
of them are left out, which leaves {terms}. Fits have {topics} topics, {iterations} iterations and one
start. The paper shows topics and keywords, and has no numbers; all numbers here are ours.

### Mates

For each held-out German speech, all {n_test:,} English ones are ranked by the correlation of their topics.
How often does its translation come first? The strength is the best of {grid} (by mean reciprocal rank) when
{n_validation:,} training pairs are held out: {strengths}. {edges} "Random" is chance.

{mates}

### Topics in pairs

The {n_shown} topics of {shown} that are the strongest in the most training speeches ("speeches": in how
many), with their strongest terms. A topic has the same number on both sides; only the pairing of the
speeches connects the words.

{paired}

### Keywords in the other language

For each German speech, we take its topics and list the {n_keywords} strongest terms on the English side.
Over all held-out speeches, {hits} % of these terms occur in the true translation. Of the {n_keywords} most
frequent terms of the English training speeches, {baseline} % do. Below are the first {n_speeches} held-out
speeches; terms in bold occur in the translation.

{speeches}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Fit all divergences, look for mates, and translate keywords."""
    n_train, n_test, size = (600, 200, (20, 5)) if quick else (5000, 1000, (100, 50))
    strengths = (1.0,) if quick else STRENGTHS
    desk("europarl: counting words")
    texts = datasets.load("europarl_de_en").texts
    corpora = {
        language: Corpus.from_texts(
            texts[language][:n_train], stop_words=name, stemmer=name, weighting="count", min_df=5, max_df=0.3
        )
        for language, name in LANGUAGES.items()
    }
    train = {language: corpus.counts for language, corpus in corpora.items()}
    new = {language: texts[language][n_train : n_train + n_test] for language in LANGUAGES}
    trial = Trial(strengths, _validated, _held_out(train), "mrr", _measured, (corpora, new), size)
    found = try_all(trial, desk)
    chosen, ours = found["strengths"], found["ours"]
    return {
        "n_train": n_train,
        "n_test": n_test,
        "n_validation": _n_validation(n_train),
        "min_df": 5,
        "max_df": 0.3,
        "topics": size[0],
        "iterations": size[1],
        "n_terms": {language: corpus.shape[1] for language, corpus in corpora.items()},
        "strengths": list(strengths),
        "tuning": found["tuning"],
        "mates": {name: {"strength": chosen.get(name), **run["mates"]} for name, run in ours.items()},
        "random": {
            "mrr": float((1 / np.arange(1, n_test + 1)).mean()),
            "first": 1 / n_test,
            "ten": 10 / n_test,
        },
        "shown": SHOWN,
        "paired": ours[SHOWN]["paired"],
        "keywords": ours[SHOWN]["keywords"],
    }


def _n_validation(n_train: int) -> int:
    return n_train // 10


def _held_out(train: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Some training pairs to learn from, and others to look up.

    Strengths differ by factors of ten: a part of the data tells them apart as well as the whole.
    """
    n_rest = _n_validation(train["de"].shape[0])
    part = {language: X[n_rest : 4 * n_rest] for language, X in train.items()}
    return part, {language: X[:n_rest] for language, X in train.items()}


def _validated(
    part: dict[str, Any],
    rest: dict[str, Any],
    divergence: str,
    strength: float,
    n_topics: int,
    iterations: int,
) -> Results:
    return _mates(fit_modalities(part, divergence, strength, n_topics, iterations), rest)


def _measured(
    corpora: dict[str, Corpus],
    texts: dict[str, Any],
    divergence: str,
    strength: float,
    n_topics: int,
    iterations: int,
) -> Results:
    train = {language: corpus.counts for language, corpus in corpora.items()}
    new = {language: corpus.vectorize(texts[language]) for language, corpus in corpora.items()}
    model = fit_modalities(train, divergence, strength, n_topics, iterations)
    found: Results = {"mates": _mates(model, new)}
    if divergence == SHOWN:
        found |= {"paired": _paired(model, corpora), "keywords": _keywords(model, corpora, new, texts)}
    return found


def _mates(model: Any, X: dict[str, Any]) -> Results:
    ranks = mate_ranks(model.similarity(X["de"], X["en"], "de", "en"))
    return {
        "mrr": float((1 / ranks).mean()),
        "first": float((ranks == 1).mean()),
        "ten": float((ranks <= 10).mean()),
    }


def _paired(model: Any, corpora: dict[str, Corpus]) -> list[Results]:
    """The topics that are the strongest of most training speeches, in both languages."""
    main = sum(model.modality_weights_[language] for language in LANGUAGES).argmax(axis=1)
    speeches = np.bincount(main, minlength=model.n_components)
    strongest = np.argsort(-speeches, kind="stable")
    return [
        {
            "topic": int(topic),
            "speeches": int(speeches[topic]),
            **{
                language: _strongest(model.modality_topics(language)[topic], corpus.vocabulary)
                for language, corpus in corpora.items()
            },
        }
        for topic in strongest[:N_SHOWN_TOPICS]
    ]


def _strongest(weights: Any, vocabulary: NDArray[np.object_]) -> list[str]:
    dense = np.asarray(weights.toarray() if hasattr(weights, "toarray") else weights).ravel()
    return [str(vocabulary[term]) for term in np.argsort(-dense, kind="stable")[:N_KEYWORDS]]


def _keywords(
    model: Any, corpora: dict[str, Corpus], new: dict[str, Any], originals: dict[str, list[str]]
) -> Results:
    english = corpora["en"]
    translated = model.translate(
        new["de"], source="de", target="en", n_terms=N_KEYWORDS, vocabulary=english.vocabulary
    )
    columns = {term: column for column, term in enumerate(english.vocabulary)}
    there = np.asarray(new["en"].toarray() > 0)
    frequent = np.argsort(-np.asarray(english.counts.sum(axis=0)).ravel(), kind="stable")[:N_KEYWORDS]
    hits = [[bool(there[row, columns[term]]) for term, _ in terms] for row, terms in enumerate(translated)]
    return {
        "n_keywords": N_KEYWORDS,
        "hits": float(np.mean([np.mean(found) for found in hits if found])),
        "baseline": float(there[:, frequent].mean()),
        "speeches": [
            {
                "german": originals["de"][row],
                "english": originals["en"][row],
                "terms": [[term, hit] for (term, _), hit in zip(translated[row], hits[row], strict=True)],
            }
            for row in range(N_SHOWN_SPEECHES)
        ],
    }


def render(results: Results) -> Section:
    """The section of the page."""
    keywords = results["keywords"]
    terms = [f"{count(n, 'term')} in {LANGUAGES[code].title()}" for code, n in results["n_terms"].items()]
    chosen = [f"{run['strength']:g} for {name}" for name, run in results["mates"].items() if run["strength"]]
    text = _TEXT.format(
        **{key: results[key] for key in ("n_train", "n_test", "n_validation", "min_df", "max_df")},
        **{key: results[key] for key in ("topics", "iterations", "shown")},
        terms=list_of(terms),
        grid=list_of([f"{strength:g}" for strength in results["strengths"]]),
        strengths=list_of(chosen),
        edges=_edges(results),
        mates=_mates_table(results),
        n_shown=len(results["paired"]),
        paired=_paired_table(results),
        n_keywords=keywords["n_keywords"],
        hits=percent(keywords["hits"]),
        baseline=percent(keywords["baseline"]),
        n_speeches=len(keywords["speeches"]),
        speeches="\n\n".join(_speech(n, speech) for n, speech in enumerate(keywords["speeches"], start=1)),
    )
    return Section("Two languages: Europarl", text, _findings(results))


def _edges(results: Results) -> str:
    chosen = {name: run["strength"] for name, run in results["mates"].items() if run["strength"]}
    choices: list[float] = results["strengths"]
    return edges(chosen, dict.fromkeys(chosen, choices))


def _mates_table(results: Results) -> str:
    runs = [*results["mates"].items(), ("random", results["random"])]
    rows = [[name, decimal(run["mrr"]), percent(run["first"]), percent(run["ten"])] for name, run in runs]
    return table(["model", "mean reciprocal rank", "first (%)", "among the first ten (%)"], rows, "lrrr")


def _paired_table(results: Results) -> str:
    rows = [
        [str(pair["topic"]), str(pair["speeches"]), ", ".join(pair["de"]), ", ".join(pair["en"])]
        for pair in results["paired"]
    ]
    return table(["topic", "speeches", "German", "English"], rows, "rrll")


def _speech(number: int, speech: Results) -> str:
    terms = [f"**{term}**" if hit else term for term, hit in speech["terms"]]
    found = sum(hit for _, hit in speech["terms"])
    return (
        f"**Speech {number}** begins:\n\n{quoted(speech['german'], 400)}\n\nKeywords: {', '.join(terms)} "
        f"({found} of {len(terms)}). The translation begins:\n\n{quoted(speech['english'], 300)}"
    )


def _findings(results: Results) -> list[str]:
    mates, keywords = results["mates"], results["keywords"]
    best = max(mates, key=lambda name: mates[name]["mrr"])
    return [
        f"**Europarl**: of {results['n_test']:,} held-out speeches, {best} finds the translation of "
        f"{percent(mates[best]['first'])} % in first place (mean reciprocal rank "
        f"{decimal(mates[best]['mrr'])}; chance {decimal(results['random']['mrr'])}).",
        f"**Europarl**: of the English keywords that {results['shown']} gives a German speech, "
        f"{percent(keywords['hits'])} % occur in its translation; of the most frequent terms, "
        f"{percent(keywords['baseline'])} %.",
    ]
