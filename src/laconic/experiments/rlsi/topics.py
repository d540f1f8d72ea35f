"""Tables 6 to 8 of the paper: what the topics look like, and how many words they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD

from laconic.evaluate.coherence import coherence
from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Results, Say, Section
from laconic.experiments.retrieval.contenders import density_of, lda
from laconic.experiments.retrieval.news import DATASET, news
from laconic.experiments.rlsi.variants import NORMS
from laconic.experiments.writing import decimal, table
from laconic.models import PLSA, RLSI

N_TOPICS = 20  # as in the paper
N_SHOWN, N_WORDS = 10, 5  # as in the paper
COMPACT = 0.05

# Tables 6 and 8: the average topic compactness, AP, 20 topics.
COMPACTNESS = {
    "RLSI l1/l2": 0.0075,
    "RLSI l2/l1": 1.0,
    "RLSI l1/l1": 0.0197,
    "RLSI l2/l2": 1.0,
    "LDA": 1.0,
    "PLSA": 0.9534,
    "LSI": 1.0,
}

_TEXT = """ The paper shows topics of AP, a newswire of 1988. Here we use {n_documents:,} articles of BBC
news with {n_terms:,} terms (not stemmed, so that words are readable); {n_topics} topics. The paper's
penalties are for weights on another scale; here documents have unit length, and the penalties are the
defaults of `RLSI` for each pair of norms. *Density* is the paper's average topic compactness: the share of
a topic's weights that are not zero. *Alive* counts topics that have words. Readability is a matter of
taste; as a number for it, we give the NPMI coherence of the first ten words (from -1 to 1, more is better).

{numbers}

The first {n_shown} topics that have words, by their {n_words} heaviest terms:

{shown}

{conclusions}
"""


def run(quick: bool, say: Say) -> Results:
    """Fit all models with the same number of topics."""
    data, corpus = news(quick, say)
    models: Results = {}
    for name in COMPACTNESS:
        say(f"{DATASET}: {name}")
        components = _components(name, corpus, quick)
        listed = _heaviest(components, corpus.vocabulary, 10)
        alive = [topic for topic in listed if topic]
        found = coherence(alive, corpus) if alive else None
        models[name] = {
            "density": density_of(components),
            "alive": len(alive),
            "npmi": found.mean if found else None,
            "topics": [topic[:N_WORDS] for topic in alive[:N_SHOWN]],
        }
    return {
        "n_documents": len(data),
        "n_terms": len(corpus.vocabulary),
        "n_topics": N_TOPICS,
        "models": models,
        "paper": COMPACTNESS,
    }


def _components(name: str, corpus: Any, quick: bool) -> Any:
    iterations = 5 if quick else 200
    if name == "LSI":
        return TruncatedSVD(N_TOPICS, algorithm="arpack", random_state=SEED).fit(corpus.X).components_
    if name.startswith("RLSI"):
        topic_norm: Any
        doc_norm: Any
        topic_norm, doc_norm = NORMS[name.removeprefix("RLSI ")]
        model: Any = RLSI(
            N_TOPICS,
            topic_norm=topic_norm,
            doc_norm=doc_norm,
            init="documents",
            max_iter=iterations,
            random_state=SEED,
        )
    else:
        model = (
            lda(N_TOPICS, 2 if quick else 50)
            if name == "LDA"
            else PLSA(N_TOPICS, solver="em", max_iter=iterations, random_state=SEED)
        )
    with iterations_given():
        return model.fit(corpus.X if name.startswith("RLSI") else corpus.counts).components_


def _heaviest(components: Any, vocabulary: Sequence[str], n_terms: int) -> list[list[str]]:
    """The terms of every topic with the largest absolute weights; none without weight."""
    dense = np.abs(components.toarray() if hasattr(components, "toarray") else components)
    order = np.argsort(-dense, axis=1, kind="stable")[:, :n_terms]
    return [
        [str(vocabulary[term]) for term in terms if row[term] > 0]
        for terms, row in zip(order, dense, strict=True)
    ]


def render(results: Results) -> Section:
    """The section about topics."""
    models = results["models"]
    numbers = [
        [
            name,
            decimal(found["density"], 4),
            decimal(results["paper"][name], 4),
            f"{found['alive']} of {results['n_topics']}",
            decimal(found["npmi"]),
        ]
        for name, found in models.items()
    ]
    shown = [
        [name, *(" ".join(topic) for topic in found["topics"][:5])] for name, found in models.items()
    ] + [[f"{name} …", *(" ".join(topic) for topic in found["topics"][5:])] for name, found in models.items()]
    order = [row for pair in zip(shown[: len(models)], shown[len(models) :], strict=True) for row in pair]
    text = _TEXT.format(
        **{key: results[key] for key in ("n_documents", "n_terms", "n_topics")},
        n_shown=N_SHOWN,
        n_words=N_WORDS,
        numbers=table(["model", "density", "density, paper", "alive", "NPMI"], numbers, "lrrrr"),
        shown=table(["model", *[""] * 5], [row + [""] * (6 - len(row)) for row in order], "llllll"),
        conclusions=_conclusions(models),
    )
    sparse = models["RLSI l1/l2"]
    findings = [
        f"**Topics**: a topic of RLSI has {100 * sparse['density']:.2f} % of the terms (paper: "
        f"{100 * results['paper']['RLSI l1/l2']:.2f} %). Its topics have an NPMI coherence of "
        f"{decimal(sparse['npmi'])}; those of PLSA have {decimal(models['PLSA']['npmi'])}, of LDA "
        f"{decimal(models['LDA']['npmi'])}, and of LSI {decimal(models['LSI']['npmi'])}."
    ]
    return Section("Topics (Tables 6 and 8)", text, findings)


def _conclusions(models: Results) -> str:
    compact = [name for name, found in models.items() if found["density"] < COMPACT]
    expected = ["RLSI l1/l2", "RLSI l1/l1"]
    readable = {name: found["npmi"] for name, found in models.items() if found["npmi"] is not None}
    plain, lsi = readable.get("RLSI l2/l2"), readable["LSI"]
    with_l1 = [readable[name] for name in ("RLSI l1/l2", "RLSI l2/l1", "RLSI l1/l1") if name in readable]
    verdict = plain is not None and with_l1 and min(with_l1) > plain
    return "\n".join(
        [
            "- *l1 on topics makes them compact, and nothing else does*: "
            f"{'confirmed' if compact == expected else 'not confirmed'}; compact here (below {COMPACT:.0%}): "
            f"{', '.join(compact) or 'none'}.",
            "- *l1 on either side makes topics readable, l2 on both does not*: by coherence "
            f"{'confirmed' if verdict else 'not confirmed'} ({', '.join(map(decimal, with_l1))} against "
            f"{decimal(plain)}).",
            f"- *Topics of LSI are hard to understand*: {decimal(lsi)}, "
            f"{'the lowest' if lsi == min(readable.values()) else 'not the lowest'} of all models here.",
        ]
    )
