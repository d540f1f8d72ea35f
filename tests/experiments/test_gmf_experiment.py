from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from laconic.experiments import gmf
from laconic.experiments.gmf import classes, timing
from laconic.experiments.gmf.ranking import FAMILIES, PAPER, SIMILARITIES, _models, _verdict, render, rests_on
from laconic.experiments.gmf.topics import _finding
from laconic.experiments.keeping import Keeper
from laconic.experiments.parts import plain
from laconic.experiments.retrieval.titles import FAMILIES as FAMILIES_OF_CODES
from laconic.experiments.retrieval.titles import Article, collection_of, subject
from laconic.models import NMF, RLSI, GroupNMF, GroupRLSI

MEASURES = ("AP", "nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10")


def test_the_numbers_of_the_paper():
    assert PAPER["group RLSI"][:2] == (0.3039, 0.3066)
    assert PAPER["flat NMF"][-1] == 0.4895
    for family in FAMILIES:
        flat, own, group = (PAPER[f"{kind} {family}"][0] for kind in ("flat", "class-wise", "group"))
        assert PAPER["BM25"][0] < own < group < flat


def test_models_of_a_grid_have_as_many_topics():
    (flat, *_), (group, *_), (own, *_) = (
        list(_models("RLSI", kind, 4, False)) for kind in ("flat", "group", "class-wise")
    )
    assert isinstance(flat, RLSI)
    assert isinstance(group, GroupRLSI)
    assert flat.n_components == group.n_shared + 4 * group.n_per_class
    assert (own.n_shared, own.n_per_class) == (0, group.n_per_class)
    assert [type(next(_models("NMF", kind, 4, False))) for kind in ("flat", "group")] == [NMF, GroupNMF]


@pytest.mark.parametrize(
    ("other", "ends", "verdict"),
    [
        ("class-wise", (1.01, 1.05), "confirmed"),
        ("class-wise", (0.99, 1.05), "undecided (the interval contains 1)"),
        ("class-wise", (0.9, 0.99), "refuted"),
        ("flat", (0.985, 1.0), "confirmed"),
        ("flat", (0.95, 1.0), "undecided (the loss may exceed 2 %)"),
        ("flat", (0.9, 0.97), "refuted"),
    ],
)
def test_verdicts(other, ends, verdict):
    assert _verdict(other, {"interval": ends}) == verdict


def test_section_compares_with_the_paper():
    ours = {
        "held_out": {name: dict(zip(MEASURES, values, strict=True)) for name, values in PAPER.items()},
        "significant": {name: dict.fromkeys(MEASURES, "+" if name != "BM25" else "") for name in PAPER},
    }
    pair = {"ratio": 1.004, "interval": [1.001, 1.007]}
    section = render(
        plain(
            {
                "collections": {"time": {}},
                "contests": {similarity: {"time": ours} for similarity in SIMILARITIES},
                "pairs": {s: {f: {"class-wise": pair, "flat": pair} for f in FAMILIES} for s in SIMILARITIES},
                "paper": PAPER,
                "n_classes": 8,
                "sizes": [(10, 5), (20, 10)],
                "alphas": (0.02, 0.1),
                "alpha_docs": 0.1,
            }
        )
    )
    assert "| BM25 + group RLSI | 0.304+ |" in section.text
    assert "6 of 6 do here" in section.text
    assert "*Group NMF is better than class-wise NMF*: confirmed" in section.text
    assert "10 shared topics and 5 of each class or 20 shared topics and 10 of each class" in section.text
    assert len(section.findings) == len(FAMILIES)


def test_readability_is_kept_or_not():
    models = {
        f"{kind} {family}": {"npmi": 0.3, "density": 0.01, "accuracy": 0.9}
        for kind in ("group", "flat")
        for family in FAMILIES
    }
    assert "is confirmed by coherence" in _finding(models)
    models["flat NMF"]["npmi"] = 0.4
    assert (
        "is not confirmed by coherence (NPMI: RLSI 0.300 against 0.300; NMF 0.300 against 0.400)"
        in _finding(models)
    )


def test_time_of_iterations_is_compared_with_the_paper():
    seconds = {"RLSI": {"0.01": [0.2, 0.9]}, "GroupRLSI": {"0.01": [0.1, 0.3]}}
    results = {
        "n_documents": 9,
        "n_terms": 8,
        "n_classes": 2,
        "sizes": [[10, 4], [20, 8]],
        "topics": [18, 36],
        "alphas": [0.01],
        "iterations": 6,
        "seconds": seconds,
        "nmf": {"NMF": {"mu": [4, 9], "cd": [2, 4]}, "GroupNMF": {"mu": [2, 3], "cd": [2, 1]}},
        "paper": timing.PAPER,
    }
    section = timing.render(results)
    assert "| 0.01 | 0.2 | 0.1 | 2.0 | 0.9 | 0.3 | 3.0 |" in section.text
    assert "342.59" not in section.text
    assert "| 0.01 | 19.5 | 15 | 1.3 | 44.1 | 23.3 | 1.9 | 110 | 52 | 2.1 | 343 | 106 | 3.2 |" in section.text
    judged = {claim.text: claim.judge(results) for claim in gmf.CLAIMS if claim.parts == ("timing",)}
    assert "| multiplicative updates | 4 | 2 | 2.0 | 9 | 3 | 3.0 |" in section.text
    assert [verdict.state for verdict in judged.values()] == ["in part", "confirmed"]
    assert (
        "2.0 → 3.0 for RLSI, 2.0 → 3.0 for NMF (multiplicative updates)"
        in judged["The more topics, the greater the gain"].reason
    )


def test_ratios_on_generated_documents_are_those_of_their_page():
    page = (Path(__file__).parents[2] / "docs" / "performance-groups.md").read_text(encoding="utf-8")
    whole = page.partition("## A group model against a flat one, all documents")[2].partition("\n## ")[0]
    tenth = page.partition("## Group models against flat ones, a tenth")[2].partition("\n## ")[0]

    def ratio(text, model):
        (line,) = (line for line in text.splitlines() if line.startswith(f"| {model}, "))
        return float(line.split("|")[3])

    assert {
        "at_scale": ratio(whole, "RLSI"),
        "at_tenth": ratio(tenth, "RLSI"),
        "nmf_at_tenth": ratio(tenth, "NMF"),
    } == timing.GENERATED


def test_an_iteration_is_timed():
    rng = np.random.default_rng(0)
    X = csr_array(rng.random((30, 12)) * (rng.random((30, 12)) < 0.4))
    model = GroupRLSI(1, 1, max_iter=4, tol=0, random_state=0, n_jobs=1)
    assert timing._seconds(model, X, np.arange(30) % 2) > 0


def article(number, title, text, label, marks, later=False):
    return Article(f"a{number}", title, text, label, frozenset(marks), later)


def articles():
    """Fifty messages each about two things, and later ones whose titles ask for some of them."""
    rng = np.random.default_rng(0)
    words = {"sky": ["sun", "moon", "star", "comet"], "sea": ["salt", "wave", "ship", "harbour"]}
    earlier = [
        article(n, "", " ".join(rng.choice(words[label], 8)), label, [(label, n // 10)])
        for n, label in enumerate(["sky", "sea"] * 50)
    ]
    odd = [article(200, "", "one of its own", "land", ["odd"])]
    later = [
        article(300, "The comet", "comet", "sky", [("sky", 1)], later=True),
        article(301, "the comet", "another", "sky", [("sky", 1)], later=True),
        article(302, "Waves and ships", "wave", "sea", [("sea", 2), ("sea", 3)], later=True),
        article(303, "Odd", "odd", "land", ["odd"], later=True),
        article(304, "", "no title", "sea", [("sea", 1)], later=True),
    ]
    return [*earlier, *odd, *later]


def test_titles_of_later_articles_ask_for_earlier_ones():
    collection, classes = collection_of("20newsgroups", articles())
    # The one article of a small class is no document, and no query asks for it; titles ask once.
    assert collection.n_documents == len(classes) == 100
    assert np.bincount(classes).tolist() == [50, 50]
    assert collection.queries == ["a300", "a302"]
    assert [len(places) for places in collection.relevant] == [5, 10]
    assert set(collection.qrels["a300"]) == {f"a{n}" for n in range(10, 20, 2)}
    assert not set(collection.queries) & set(collection.corpus.ids)
    few, _ = collection_of("20newsgroups", articles(), 40)
    assert few.n_documents <= 40


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Subject: Re: RE[2]: Fwd: a  fish", "a fish"),
        ("subject: Research: fish\n of the sea", "Research: fish of the sea"),
        ("From: a@b", ""),
    ],
)
def test_subjects_of_replies_are_those_of_their_threads(line, expected):
    assert subject(f"{line}\n\nSubject: no") == expected


def test_families_of_codes_do_not_overlap():
    codes = [code for listed in FAMILIES_OF_CODES.values() for code in listed.split()]
    assert len(codes) == len(set(codes)) == 3 + 16 + 27 + 2 + 9


def test_real_classes_from_start_to_page(monkeypatch, tmp_path):
    monkeypatch.setattr(classes, "read_titles", lambda name, **options: collection_of(name, articles()))
    results = plain(classes.run(True, Keeper(tmp_path / "pieces.json", lambda message: None)))
    assert results["collections"]["reuters21578"]["class_sizes"] == [50, 50]
    section = classes.render(results)
    assert "| BM25 + group RLSI |" in section.text
    judged = [claim.judge(results) for claim in gmf.CLAIMS if claim.parts == ("classes",)]
    assert len(judged) == 3
    assert all("Reuters-21578" in verdict.reason for verdict in judged)


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        (("+", ""), " On TIME none does, so the ratios over all collections rest mostly on ADI."),
        (("+", "+"), ""),
        (("", "-"), ""),
    ],
)
def test_page_says_where_no_method_helps(marks, sentence):
    found = {
        name: {"significant": {method: {"AP": mark} for method in PAPER}}
        for name, mark in zip(("adi", "time"), marks, strict=True)
    }
    assert rests_on({"contests": {"cosine": found}, "paper": PAPER}) == sentence
