"""Tables 10 and 11 of the paper: topics that all classes share, and topics of each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from laconic.evaluate.coherence import coherence
from laconic.experiments.fitting import iterations_given
from laconic.experiments.parts import SEED, Results, Say, Section
from laconic.experiments.retrieval.news import DATASET, news
from laconic.experiments.writing import decimal, list_of, percent, table
from laconic.models import NMF, RLSI, GroupNMF, GroupRLSI

N_SHARED, N_OWN = 10, 5
N_SHOWN, N_WORDS = 3, 6  # as in the paper
FAMILIES = ("RLSI", "NMF")
# Coherence that differs by less is held to be the same.
CLOSE = 0.03
# Section 7.2: average topic compactness of GRLSI on Wikipedia and on Web-I.
COMPACTNESS = (0.0032, 0.0018)

_TEXT = """ The paper shows topics of Wikipedia and of web pages. Here we use BBC news, whose {n_classes}
classes come with the data: {n_documents:,} articles (every fifth is held out), {n_terms:,} terms, tf-idf;
{n_shared} shared topics and {n_own} of each class, with default penalties. Flat models have the same total
number of topics. *Density* is the paper's average topic compactness, for which it has {paper} with RLSI;
*NPMI* the coherence of the first ten words (from -1 to 1); *classes* the share of held-out articles whose
class is predicted correctly.

{numbers}

{shown}
"""


def run(quick: bool, say: Say) -> Results:
    """Fit group models and flat ones."""
    data, corpus = news(quick, say)
    labels = np.asarray(data.labels)
    held_out = np.arange(len(data)) % 5 == 0
    classes = sorted(set(labels))
    total = N_SHARED + N_OWN * len(classes)
    common: Results = {"random_state": SEED, "max_iter": 10 if quick else 200}
    models = {
        "group RLSI": GroupRLSI(N_SHARED, N_OWN, **common),
        "group NMF": GroupNMF(N_SHARED, N_OWN, **common),
        "flat RLSI": RLSI(total, init="documents", **common),
        "flat NMF": NMF(total, init="documents", **common),
    }
    found: Results = {}
    for name, model in models.items():
        say(f"{DATASET}: {name}")
        grouped = name.startswith("group")
        with iterations_given():
            model.fit(corpus.X[~held_out], labels[~held_out] if grouped else None)
        listed = model.topics(corpus.vocabulary)
        found[name] = {
            "density": model.density_,
            "npmi": coherence([topic for topic in listed if topic], corpus).mean,
        }
        if grouped:
            predicted = model.predict(corpus.X[held_out])
            found[name]["accuracy"] = float((predicted == labels[held_out]).mean())
            found[name]["topics"] = _shown(model, listed)
    return {
        "n_documents": len(data),
        "n_terms": len(corpus.vocabulary),
        "n_classes": len(classes),
        "n_shared": N_SHARED,
        "n_own": N_OWN,
        "models": found,
        "paper": COMPACTNESS,
    }


def _shown(model: Any, listed: list[list[tuple[str, float]]]) -> dict[str, list[list[str]]]:
    """The first topics of every owner that have words."""
    shown: dict[str, list[list[str]]] = {}
    for owner, topic in zip(model.topic_class_, listed, strict=True):
        mine = shown.setdefault(str(owner), [])
        if topic and len(mine) < N_SHOWN:
            mine.append([term for term, _ in topic[:N_WORDS]])
    return shown


def render(results: Results) -> Section:
    """The section about topics."""
    models = results["models"]
    rows = [
        [name, decimal(each["density"], 4), decimal(each["npmi"]), percent(each.get("accuracy"))]
        for name, each in models.items()
    ]
    shown = []
    for name in ("group RLSI", "group NMF"):
        lines = [
            [owner, *(" ".join(topic) for topic in topics), *[""] * (N_SHOWN - len(topics))]
            for owner, topics in models[name]["topics"].items()
        ]
        shown.append(f"### {name[0].upper()}{name[1:]}\n\n" + table(["", *[""] * N_SHOWN], lines, "llll"))
    text = _TEXT.format(
        **{key: results[key] for key in ("n_documents", "n_terms", "n_classes", "n_shared", "n_own")},
        paper=list_of(decimal(value, 4) for value in results["paper"]),
        numbers=table(["model", "density", "NPMI", "classes (%)"], rows, "lrrr"),
        shown="\n\n".join(shown),
    )
    return Section("Topics (Tables 10 and 11)", text, [_finding(models)])


def _finding(models: Results) -> str:
    coherences = {
        family: [models[f"{kind} {family}"]["npmi"] for kind in ("group", "flat")] for family in FAMILIES
    }
    level = all(group > flat - CLOSE for group, flat in coherences.values())
    kept = "; ".join(
        f"{family} {group:.3f} against {flat:.3f}" for family, (group, flat) in coherences.items()
    )
    sparse = models["group RLSI"]
    return (
        "**Topics**: that group models keep the readability of flat ones is "
        f"{'confirmed' if level else 'not confirmed'} by coherence (NPMI: {kept}). Topics of group RLSI have "
        f"{100 * sparse['density']:.2f} % of the terms each, and predict the class of "
        f"{percent(sparse['accuracy'])} % of held-out articles correctly."
    )
