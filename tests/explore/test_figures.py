import json
import sys

import numpy as np
import pytest
from explore_toys import KINDS

import laconic
from laconic import figures
from laconic.explore import views

pytest.importorskip("plotly")


def traces(figure):
    return json.loads(figure.to_json())["data"]


@pytest.mark.parametrize("kind", KINDS)
def test_figures_of_every_kind(kind):
    bundle = KINDS[kind]()
    made = [
        figures.topic_map(bundle),
        figures.terms(bundle, 0),
        figures.similarity(bundle),
        figures.tree(bundle),
    ]
    made.append(figures.objective(bundle))
    if bundle.documents is not None:
        made.append(figures.documents(bundle))
        if bundle.documents.labels is not None:
            made.append(figures.classes(bundle))
        if bundle.documents.dates is not None:
            made.append(figures.time(bundle))
    assert all(traces(figure) for figure in made)


def test_figures_show_the_views():
    bundle = KINDS["flat"]()
    (bars,) = figures.terms(bundle, 1, n_words=3).data
    assert list(bars.y) == [word.term for word in views.topic(bundle, 1, n_words=3).topic.words[0].words]
    lines = figures.time(bundle, [2, 0]).data
    assert {line.name.split()[0] for line in lines} == {"0", "2"}
    assert list(figures.objective(bundle).data[0].y) == pytest.approx(
        bundle.model.objective_history_.tolist()
    )
    assert [trace.name for trace in figures.topic_map(KINDS["group"]()).data] == [
        "shared",
        "food",
        "sea",
        "sky",
    ]


def test_a_fit_that_is_watched():
    watch = figures.Watch()
    bundle = laconic.fit(["sun moon", "moon sun", "salt pepper", "pepper salt"], 2, callback=watch)
    objective, density = figures.fit(watch).data
    assert len(objective.y) == len(density.y) == bundle.model.n_iter_
    assert all(0 <= value <= 1 for value in density.y)


def test_many_documents_are_sampled(monkeypatch):
    monkeypatch.setattr(figures, "MOST_DOCUMENTS", 10)
    figure = figures.documents(KINDS["flat"]())
    assert sum(len(trace.x) for trace in figure.data) == 10
    assert "10 of 60" in figure.layout.title.text


def test_names_are_not_markup():
    figure = figures.documents(KINDS["flat"]())
    assert not any("<script" in text for trace in figure.data for text in trace.text)


def test_what_there_is_not_is_said():
    with pytest.raises(ValueError, match="no documents"):
        figures.documents(KINDS["no_documents"]())
    with pytest.raises(ValueError, match="no labels"):
        figures.classes(KINDS["no_texts"]())
    with pytest.raises(ValueError, match="no dates"):
        figures.time(KINDS["no_texts"]())


def test_without_plotly_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(ImportError, match=r"laconic\[plots\]"):
        figures.topic_map(KINDS["flat"]())


@pytest.mark.parametrize("kind", ["flat", "dense", "graph"])
def test_pyldavis_gets_probabilities(kind):
    bundle = KINDS[kind]()
    given = figures.to_pyldavis(bundle)
    for name in ("topic_term_dists", "doc_topic_dists"):
        assert given[name].min() >= 0
        np.testing.assert_allclose(given[name].sum(axis=1), 1)
    n_topics, n_terms = given["topic_term_dists"].shape
    assert given["doc_topic_dists"].shape == (len(given["doc_lengths"]), n_topics)
    assert len(given["vocab"]) == len(given["term_frequency"]) == n_terms
    assert given["doc_lengths"].sum() == given["term_frequency"].sum()


def test_pyldavis_refuses_what_it_cannot_show():
    assert views.overview(KINDS["signed"]()).signed
    with pytest.raises(ValueError, match="may be negative"):
        figures.to_pyldavis(KINDS["signed"]())
    with pytest.raises(ValueError, match="several modalities"):
        figures.to_pyldavis(KINDS["multimodal"]())
    with pytest.raises(ValueError, match="needs documents"):
        figures.to_pyldavis(KINDS["no_documents"]())


def test_the_tree_joins_the_nearest_first():
    bundle = KINDS["signed"]()
    root = views.tree(bundle)
    assert sorted(root.topics) == [0, 1, 2, 3]
    nearest = views.nearest_pairs(bundle)[0]
    joined = []

    def walk(branch):
        for child in branch.branches:
            assert child.height <= branch.height + 1e-12
            walk(child)
        if len(branch.topics) == 2:
            joined.append((sorted(branch.topics), branch.height))

    walk(root)
    assert min(joined, key=lambda pair: pair[1])[0] == [nearest.first, nearest.second]
