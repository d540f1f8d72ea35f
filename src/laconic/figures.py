"""Figures of a bundle for notebooks, made of views: objects of Plotly (extra ``plots``).

>>> import laconic
>>> bundle = laconic.fit(["sun, moon", "moon, sun", "salt, pepper", "pepper, salt"], n_topics=2)
>>> figure = laconic.figures.topic_map(bundle)
>>> [trace.name for trace in figure.data]
['topics']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from laconic.explore import views
from laconic.explore.facts import facts_of
from laconic.explore.layout import product
from laconic.explore.views.topics import map_radii

if TYPE_CHECKING:
    from laconic.bundle import Bundle
    from laconic.losses.loop import Progress

__all__ = ["Watch", "classes", "documents", "fit", "objective", "similarity", "terms", "time", "to_pyldavis"]
__all__ += ["topic_map", "tree"]

INK, BAR, AGAINST = "#1f1d1a", "#5b92bb", "#a4501e"
HUES = ("#1f6fa8", "#a85a00", "#2b7a4b", "#8a4a9e", "#b23a48", "#5f6b00")
# Shapes tell classes apart where hues do not.
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "x")
MOST_DOCUMENTS = 20_000
"""Of more documents than this, a sample is drawn."""


def _plotly() -> Any:
    try:
        from plotly import graph_objects
    except ImportError as error:
        raise ImportError("figures need Plotly: pip install 'laconic[plots]'") from error
    return graph_objects


def _figure(data: Any, title: str, **layout: Any) -> Any:
    """A figure in our style: calm, legible on white, no boxes."""
    go = _plotly()
    return go.Figure(
        data,
        go.Layout(
            title={"text": title, "x": 0.02},
            font={"family": "system-ui, sans-serif", "color": INK},
            plot_bgcolor="white",
            margin={"t": 60, "r": 20},
            hovermode="closest",
            **layout,
        ),
    )


def _plain(text: str) -> str:
    """Text that Plotly does not take for markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _titled(topic: Any) -> str:
    return _plain(f"{topic.id} {topic.name}")


def topic_map(bundle: Bundle) -> Any:
    """The topics as points of a plane: near each other where they share words.

    Parameters
    ----------
    bundle : Bundle

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    view = views.topic_map(bundle)
    radii = map_radii(np.array([point.weight for point in view.points])) * 300
    traces = []
    for place, owner in enumerate(view.owners or [None]):
        chosen = [n for n, point in enumerate(view.points) if point.owner == owner]
        shared = owner in (None, "shared")
        traces.append(
            go.Scatter(
                x=[view.points[n].x for n in chosen],
                y=[view.points[n].y for n in chosen],
                mode="markers+text",
                name=owner or "topics",
                text=[_plain(view.points[n].name.split(", ")[0]) for n in chosen],
                hovertext=[_titled(view.points[n]) for n in chosen],
                hoverinfo="text",
                textposition="bottom center",
                marker={
                    "size": [2 * float(radii[n]) for n in chosen],
                    "color": BAR if shared else HUES[place % len(HUES)],
                    "symbol": "circle" if shared else SHAPES[place % len(SHAPES)],
                    "opacity": 0.65,
                },
            )
        )
    hidden = {"visible": False}
    return _figure(
        traces,
        "Topics that share words are near each other",
        xaxis=hidden,
        yaxis={**hidden, "scaleanchor": "x"},
        showlegend=len(view.owners) > 1,
    )


def terms(bundle: Bundle, topic: int | str, n_words: int = 20) -> Any:
    """The heaviest words of a topic, as bars.

    Parameters
    ----------
    bundle : Bundle
    topic : int or str
        Its number, or its name.
    n_words : int, default=20

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    line = views.topic(bundle, bundle.topic_number(topic), n_words=n_words, n_documents=0).topic
    traces = [
        go.Bar(
            x=[word.weight for word in part.words],
            y=[_plain(word.term) for word in part.words],
            orientation="h",
            name=part.modality or "words",
            marker={"color": [BAR if word.weight >= 0 else AGAINST for word in part.words]},
        )
        for part in line.words
    ]
    height = 120 + 22 * max((len(part.words) for part in line.words), default=1) * len(traces)
    return _figure(traces, _titled(line), height=height, yaxis={"autorange": "reversed"})


def similarity(bundle: Bundle, most: int = 100) -> Any:
    """How near topics are to each other, as a heat map of cosines.

    Parameters
    ----------
    bundle : Bundle
    most : int, default=100
        Of more topics, the heaviest are shown.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    view = views.similarity(bundle, most=most)
    names = [_plain(f"{topic} {name}") for topic, name in zip(view.topics, view.names, strict=True)]
    heat = go.Heatmap(z=view.cosines, x=names, y=names, colorscale="RdBu_r", zmid=0, zmin=-1, zmax=1)
    return _figure(heat, "Cosines of topics", yaxis={"autorange": "reversed"})


def classes(bundle: Bundle) -> Any:
    """What the documents of each class have of each topic, as a heat map.

    Parameters
    ----------
    bundle : Bundle
        Whose documents have labels.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    view = views.labels(bundle)
    if not view.labels:
        raise ValueError("the documents have no labels: give labels when you fit")
    names = [_plain(f"{topic} {name}") for topic, name in zip(view.topics, view.names, strict=True)]
    labels = [_plain(label) for label in view.labels]
    heat = go.Heatmap(z=view.shares, x=labels, y=names, colorscale="Blues", zmin=0)
    return _figure(heat, "Topics by class", yaxis={"autorange": "reversed"}, height=160 + 22 * len(names))


def time(bundle: Bundle, topics: Any = None, n_topics: int = 8) -> Any:
    """Topics over time.

    Parameters
    ----------
    bundle : Bundle
        Whose documents have dates.
    topics : sequence of int or str, optional
        Which ones; by default those that change most.
    n_topics : int, default=8
        How many of these.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    view = views.time(bundle)
    if not view.periods:
        raise ValueError("the documents have no dates: give dates when you fit")
    wanted = None if topics is None else [bundle.topic_number(topic) for topic in topics]
    shown = view.topics[:n_topics] if wanted is None else [row for row in view.topics if row.id in wanted]
    traces = [go.Scatter(x=view.periods, y=row.shares, mode="lines", name=_titled(row)) for row in shown]
    return _figure(traces, f"Topics by {view.unit}", yaxis={"tickformat": ".0%", "rangemode": "tozero"})


def tree(bundle: Bundle) -> Any:
    """The topics as a tree: those that share most words are joined first.

    Parameters
    ----------
    bundle : Bundle

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    root = views.tree(bundle)
    leaves: list[tuple[int, str]] = []
    xs: list[float | None] = []
    ys: list[float | None] = []

    def place(branch: Any) -> float:
        """Draw a branch, and tell how high it lies; no tree is deeper than `views.tree` lets it be."""
        if not branch.branches:
            leaves.append((branch.topics[0], branch.name))
            return len(leaves) - 1.0
        at = [place(child) for child in branch.branches]
        for child, y in zip(branch.branches, at, strict=True):
            xs.extend([branch.height, branch.height, child.height, None])
            ys.extend([sum(at) / len(at), y, y, None])
        return sum(at) / len(at)

    if root is not None:
        place(root)
    names = [_plain(f"{topic} {name}") for topic, name in leaves]
    lines = go.Scatter(x=xs, y=ys, mode="lines", line={"color": INK, "width": 1}, hoverinfo="skip")
    return _figure(
        lines,
        "Topics that share most are joined first",
        height=160 + 22 * len(names),
        yaxis={"tickvals": list(range(len(names))), "ticktext": names, "autorange": "reversed"},
        xaxis={"title": "1 - cosine", "rangemode": "tozero"},
    )


def objective(bundle: Bundle) -> Any:
    """The objective after every iteration of the fit.

    Parameters
    ----------
    bundle : Bundle

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    history = [float(value) for value in bundle.model.objective_history_]
    line = go.Scatter(x=list(range(1, len(history) + 1)), y=history, mode="lines+markers", name="objective")
    return _figure(line, "Objective by iteration", xaxis={"title": "iteration"})


class Watch:
    """A callback for `laconic.fit` that remembers how the fit went, for the figure `fit`.

    Examples
    --------
    >>> import laconic
    >>> watch = laconic.figures.Watch()
    >>> texts = ["sun, moon", "moon, sun", "salt, pepper", "pepper, salt"]
    >>> bundle = laconic.fit(texts, n_topics=2, callback=watch)
    >>> len(watch.reports) > 0
    True
    """

    def __init__(self) -> None:
        self.reports: list[Progress] = []

    def __call__(self, report: Progress) -> None:
        """Remember a report."""
        if report.phase == "fit" and report.half == "topics":
            self.reports.append(report)


def fit(watch: Watch) -> Any:
    """Objective and density after every iteration of a fit that was watched.

    Parameters
    ----------
    watch : Watch
        Given to `laconic.fit` as its callback.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    steps = [report.iteration for report in watch.reports]
    traces = [
        go.Scatter(x=steps, y=[report.objective for report in watch.reports], name="objective"),
        go.Scatter(
            x=steps,
            y=[report.density for report in watch.reports],
            name="density",
            yaxis="y2",
            line={"dash": "dash"},
        ),
    ]
    return _figure(
        traces,
        "Objective and density by iteration",
        xaxis={"title": "iteration"},
        yaxis={"title": "objective"},
        yaxis2={"title": "density", "overlaying": "y", "side": "right", "rangemode": "tozero"},
    )


def documents(bundle: Bundle, random_state: int = 0) -> Any:
    """The documents on the map of topics: each between the topics that it has.

    Parameters
    ----------
    bundle : Bundle
        With documents.
    random_state : int, default=0
        Which of more than 20,000 documents are shown.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    go = _plotly()
    facts = facts_of(bundle)
    if facts.documents is None:
        raise ValueError("this bundle has no documents: keep them when you fit")
    n = len(facts.documents)
    rows = np.arange(n)
    if n > MOST_DOCUMENTS:
        rows = np.sort(np.random.default_rng(random_state).choice(n, MOST_DOCUMENTS, replace=False))
    weights = facts.weights[rows]
    positive = weights.maximum(0) if issparse(weights) else np.maximum(weights, 0)
    totals = np.asarray(positive.sum(axis=1), np.float64).ravel()
    points = product(positive, np.nan_to_num(facts.layout.points)) / np.where(totals > 0, totals, 1)[:, None]
    groups: Any = (
        ["documents"] * len(rows) if facts.documents.labels is None else facts.documents.labels[rows]
    )
    ids = facts.documents.ids[rows]
    traces = []
    for place, name in enumerate(dict.fromkeys(sorted(map(str, groups)))):
        chosen = np.flatnonzero(np.asarray(groups, str) == name)
        traces.append(
            go.Scattergl(
                x=points[chosen, 0],
                y=points[chosen, 1],
                mode="markers",
                name=_plain(name),
                text=[_plain(str(id)) for id in ids[chosen]],
                hoverinfo="text",
                marker={"size": 5, "opacity": 0.55, "symbol": SHAPES[place % len(SHAPES)]},
            )
        )
    hidden = {"visible": False}
    title = f"{n:,} documents between their topics" if len(rows) == n else f"{len(rows):,} of {n:,} documents"
    return _figure(traces, title, xaxis=hidden, yaxis={**hidden, "scaleanchor": "x"})


def to_pyldavis(bundle: Bundle) -> dict[str, Any]:
    """What ``pyLDAvis.prepare`` takes.

    Parameters
    ----------
    bundle : Bundle
        With documents, whose topics and weights are not negative.

    Returns
    -------
    dict
        ``pyLDAvis.prepare(**laconic.figures.to_pyldavis(bundle), sort_topics=False)`` keeps the numbers of
        topics (pyLDAvis counts from one). Topics without words are left out, and so are documents without
        any topic.

    Raises
    ------
    ValueError
        For topics with words that count against them, several modalities, or no documents.
    """
    facts = facts_of(bundle)
    if facts.documents is None:
        raise ValueError("pyLDAvis needs documents: keep them when you fit")
    if bundle.modalities:
        raise ValueError("pyLDAvis shows only one vocabulary, but this model has several modalities")
    weights = _dense(facts.weights)
    if facts.signed or weights.min(initial=0) < 0:
        raise ValueError(
            "pyLDAvis shows probabilities, but weights of this model may be negative: choose rlsi with "
            "nonnegative='both', nmf or plsa"
        )
    alive = np.flatnonzero(facts.sizes)
    topics, weights = _dense(facts.model.components_[alive]), weights[:, alive]
    counts = facts.documents.counts
    used = np.asarray(counts.sum(axis=0)).ravel() > 0
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    kept = (weights.sum(axis=1) > 0) & (lengths > 0)
    topics = topics[:, used].astype(np.float64)
    weights = weights[kept].astype(np.float64)
    terms = facts.parts[0]
    return {
        "topic_term_dists": topics / topics.sum(axis=1, keepdims=True),
        "doc_topic_dists": weights / weights.sum(axis=1, keepdims=True),
        "doc_lengths": lengths[kept],
        "vocab": [terms.term(int(column)) for column in np.flatnonzero(used)],
        "term_frequency": np.asarray(counts.sum(axis=0)).ravel()[used],
    }


def _dense(matrix: Any) -> Any:
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)
