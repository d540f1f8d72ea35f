"""From images to texts and back, by topics that both share: the Wikipedia columns of Table 3."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from laconic import datasets
from laconic.evaluate import mean_average_precision
from laconic.experiments.fitting import iterations_given
from laconic.experiments.gplsa.modalities import Trial, fit_modalities, try_all
from laconic.experiments.gplsa.paper import CROSS_MODAL, CROSS_MODAL_BASELINE
from laconic.experiments.parts import SEED, Desk, Results, Section
from laconic.experiments.writing import concordance, count, decimal, edges, list_of, ranking, table

STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
MODALITIES = ("image", "text")
# Of the training pairs, this share chooses the strength.
VALIDATION = 0.2

_TEXT = """
**The task.** There are {n_train:,} pairs of an image and a text to learn from and {n_test:,} to look up, of
{n_classes} categories (the paper says 30; the data have {n_classes}). A query is an image or a text of the
test set, and all test items of the other side are ranked. An item is relevant if it has the query's
category.

**The models** have {topics} topics, and fits {iterations} iterations and one start. "tied" (Link-PLSA in
the paper) has one set of weights for both sides, and no strength. The topics of a query are those of plain
PLSA with the learned topics of its side. It is compared with items by centred normalised correlation: in
"topic space" of topics, in "semantic space" of the predictions of a logistic regression on them, trained on
the training set.

**The measure.** The paper reports "the mean precision value for the top 10 relevant retrievals". We read
this as the mean of the precisions at the first ten relevant items. The columns "first 10 ranks" follow the
other reading, where only ten items count. "Random" is the mean over items in random order.

**The strength** is the best of {grid} when a fifth of the training pairs is held out (mean of both
directions, topic space): {strengths}. {edges}

{table}

**The data differ.** The paper's vocabularies have 1,024 visual words and 6,203 words of texts. The copy of
the data used here has histograms of {n_visual} visual words and tf-idf of {n_words:,} words. The histograms
say little about the category: a logistic regression on them is right for {image_accuracy} of the test
images, one on the tf-idf for {text_accuracy} of the test texts. The row "without topics" is the correlation
of these two predictions.

### What agrees, and what does not

{comparison}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Fit all divergences, and look up test images and texts."""
    size, strengths = ((20, 5), (1.0,)) if quick else ((100, 50), STRENGTHS)
    data = datasets.load("wikipedia_xmodal")
    train, test = data.split("train"), data.split("test")
    trial = Trial(strengths, _validated, held_out(train), "map", _measured, (train, test), size)
    return {
        "n_train": len(train.labels),
        "n_test": len(test.labels),
        "n_classes": len(set(data.labels)),
        "n_visual": data.modalities["image"].shape[1],
        "n_words": data.modalities["text"].shape[1],
        "topics": size[0],
        "iterations": size[1],
        **try_all(trial, desk),
        "without_topics": _without_topics(train, test),
        "random": _maps(np.random.default_rng(SEED).random((len(test.labels),) * 2), test.labels),
        "paper": CROSS_MODAL,
        "baseline": CROSS_MODAL_BASELINE,
    }


def held_out(train: datasets.Multimodal) -> tuple[datasets.Multimodal, datasets.Multimodal]:
    """Most of the training pairs, and those that choose the strength."""
    apart = np.random.default_rng(SEED).random(len(train.labels)) < VALIDATION
    return _rows_of(train, ~apart), _rows_of(train, apart)


def matrices(data: datasets.Multimodal) -> dict[str, Any]:
    """Images and texts."""
    return {modality: data.modalities[modality] for modality in MODALITIES}


def _validated(
    part: datasets.Multimodal,
    rest: datasets.Multimodal,
    divergence: str,
    strength: float,
    n_topics: int,
    iterations: int,
) -> Results:
    model = fit_modalities(matrices(part), divergence, strength, n_topics, iterations)
    similar = model.similarity(rest.modalities["image"], rest.modalities["text"], "image", "text")
    maps = _maps(similar, rest.labels)
    return {"map": (maps["i2t"] + maps["t2i"]) / 2}


def _rows_of(data: datasets.Multimodal, chosen: NDArray[np.bool_]) -> datasets.Multimodal:
    """Some of the documents."""
    return datasets.Multimodal(
        name=data.name,
        modalities={modality: X[np.flatnonzero(chosen)] for modality, X in data.modalities.items()},
        labels=data.labels[chosen],
        splits=data.splits[chosen],
        ids=data.ids[chosen],
    )


def _measured(
    train: datasets.Multimodal,
    test: datasets.Multimodal,
    divergence: str,
    strength: float,
    n_topics: int,
    iterations: int,
) -> Results:
    model = fit_modalities(matrices(train), divergence, strength, n_topics, iterations)
    similar = model.similarity(test.modalities["image"], test.modalities["text"], "image", "text")
    semantic = []
    for modality in MODALITIES:
        # Folded in like test items: the weights of a fit also know the other side of each pair.
        known = model.transform(train.modalities[modality], modality=modality)
        new = model.transform(test.modalities[modality], modality=modality)
        semantic.append(class_probabilities(known, train.labels, new))
    return {
        "topic space": _maps(similar, test.labels),
        "semantic space": _maps(correlation(*semantic), test.labels),
    }


def class_probabilities(known: Any, labels: NDArray[Any], new: Any) -> NDArray[np.float64]:
    """Probabilities of the categories, by a logistic regression on rows whose mean square is one."""
    scale = np.sqrt(known.shape[1])
    with iterations_given():
        model = LogisticRegression(max_iter=300, C=10.0).fit(known * scale, labels)
    return np.asarray(model.predict_proba(new * scale))


def correlation(A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Centred normalised correlation of each row of A with each row of B.

    Examples
    --------
    >>> correlation(np.array([[0.0, 1.0, 2.0]]), np.array([[1.0, 3.0, 5.0], [2.0, 1.0, 0.0]])).round(6)
    array([[ 1., -1.]])
    """
    centred = [rows - rows.mean(axis=1, keepdims=True) for rows in (A, B)]
    a, b = (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12) for rows in centred)
    product: NDArray[np.float64] = a @ b.T
    return product


def _maps(similar: Any, labels: NDArray[Any]) -> Results:
    """Mean average precisions in both directions and in both readings; images are rows."""
    both = {"i2t": np.asarray(similar), "t2i": np.asarray(similar).T}
    measured = {key: mean_average_precision(S, labels, labels, n_relevant=10) for key, S in both.items()}
    return measured | {
        f"{key}_ranks": mean_average_precision(S, labels, labels, depth=10) for key, S in both.items()
    }


def _without_topics(train: datasets.Multimodal, test: datasets.Multimodal) -> Results:
    said = {}
    accuracy = {}
    for modality in MODALITIES:
        known, new = (dense(side.modalities[modality]) for side in (train, test))
        said[modality] = class_probabilities(known, train.labels, new)
        best = np.unique(train.labels)[said[modality].argmax(axis=1)]
        accuracy[modality] = float((best == test.labels).mean())
    return {"accuracy": accuracy, **_maps(correlation(said["image"], said["text"]), test.labels)}


def dense(X: Any) -> NDArray[np.float64]:
    """An array, of what may be sparse."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)


def render(results: Results) -> Section:
    """The section of the page."""
    raw = results["without_topics"]
    text = _TEXT.format(
        **{key: results[key] for key in ("n_train", "n_test", "n_classes", "n_visual", "n_words")},
        **{key: results[key] for key in ("topics", "iterations")},
        grid=list_of([f"{row['strength']:g}" for row in next(iter(results["tuning"].values()))]),
        strengths=list_of([f"{value:g} for {name}" for name, value in results["strengths"].items()]),
        edges=strength_edges(results),
        table=_table(results),
        image_accuracy=f"{raw['accuracy']['image']:.0%}",
        text_accuracy=f"{raw['accuracy']['text']:.0%}",
        comparison="\n".join(_comparison(results)),
    )
    return Section("Images and texts: Wikipedia", text, _findings(results))


def strength_edges(results: Results) -> str:
    """Whether the chosen strengths are at the edge of what was tried."""
    choices = {name: [row["strength"] for row in rows] for name, rows in results["tuning"].items()}
    return edges(results["strengths"], choices)


def _table(results: Results) -> str:
    rows = []
    for space, paper in results["paper"].items():
        for divergence, (i2t, t2i) in paper.items():
            ours = results["ours"][divergence][space]
            rows.append([space, divergence, *_cells(ours, i2t, t2i)])
        rows.append([space, "SCM (the paper's baseline)", *_cells({}, *results["baseline"][space])])
    rows.append(["", "without topics", *_cells(results["without_topics"], None, None)])
    rows.append(["", "random", *_cells(results["random"], None, None)])
    headings = ["space", "model", "image → text", "paper (Table 3)", "text → image", "paper (Table 3)"]
    headings += ["image → text, first 10 ranks", "text → image, first 10 ranks"]
    return table(headings, rows, "llrrrrrr")


def _cells(ours: Results, i2t: float | None, t2i: float | None) -> list[str]:
    first = [decimal(ours.get("i2t")), decimal(i2t), decimal(ours.get("t2i")), decimal(t2i)]
    return [*first, decimal(ours.get("i2t_ranks")), decimal(ours.get("t2i_ranks"))]


def _mean(results: Results, space: str) -> dict[str, float]:
    return {
        divergence: (runs[space]["i2t"] + runs[space]["t2i"]) / 2
        for divergence, runs in results["ours"].items()
    }


def _comparison(results: Results) -> list[str]:
    lines = []
    for space, paper in results["paper"].items():
        ours = _mean(results, space)
        theirs = {divergence: sum(pair) / 2 for divergence, pair in paper.items()}
        same, pairs = concordance(ours, theirs)
        gaps = [theirs[name] - ours[name] for name in ours]
        side = "below" if min(gaps) > 0 else "above" if max(gaps) < 0 else "around"
        lines.append(
            f"- {space.capitalize()}, mean of both directions. Here: {ranking(ours)}. In the paper: "
            f"{ranking(theirs)}. {same} of {count(pairs, 'pair')} are in the same order. Our numbers are "
            f"{side} the paper's, by {decimal(min(map(abs, gaps)))} to {decimal(max(map(abs, gaps)))}."
        )
    semantic, topic = _mean(results, "semantic space"), _mean(results, "topic space")
    gain = sum(semantic[name] > topic[name] for name in topic)
    paper = results["paper"]
    known = sum(sum(paper["semantic space"][name]) > sum(paper["topic space"][name]) for name in topic)
    lines.append(
        f"- Semantic space is better than topic space for {gain} of {len(topic)} models; in the paper for "
        f"{known}."
    )
    raw = results["without_topics"]
    base = (raw["i2t"] + raw["t2i"]) / 2
    above = [name for name, value in semantic.items() if value > base]
    lines.append(
        f"- Without topics the mean of both directions is {decimal(base)}; above that, in semantic space, "
        f"are {list_of(above) or 'none'}, and the best has {decimal(max(semantic.values()))}."
    )
    return lines


def _findings(results: Results) -> list[str]:
    ours = {space: _mean(results, space) for space in results["paper"]}
    best = max(ours["topic space"], key=lambda name: ours["topic space"][name])
    runs = results["ours"][best]["topic space"]
    paper = results["paper"]["topic space"]["skl"]
    return [
        f"**Wikipedia**, topic space: {best} is best, with a mean average precision of "
        f"{decimal(runs['i2t'])} from image to text and {decimal(runs['t2i'])} from text to image (random "
        f"{decimal(results['random']['i2t'])}); the paper's best, skl, has {decimal(paper[0])} and "
        f"{decimal(paper[1])} on richer features than ours."
    ]
