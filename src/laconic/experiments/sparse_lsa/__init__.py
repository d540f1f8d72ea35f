"""Chen, Qi, Bai, Lin and Carbonell: sparse latent semantic analysis."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from laconic.experiments.parts import Desk, Results, Study
from laconic.experiments.sparse_lsa import genes, topics
from laconic.experiments.sparse_lsa.classifying import Search
from laconic.experiments.sparse_lsa.judging import CHANGED, CLAIMS, FUTURE
from laconic.experiments.sparse_lsa.texts import Plan, run_texts
from laconic.experiments.sparse_lsa.texts_data import load_newsgroups, load_reuters
from laconic.experiments.sparse_lsa.texts_page import render_texts

__all__ = ["ABOUT", "CHANGED", "CLAIMS", "FUTURE", "PARTS", "TITLE"]

TITLE = "Sparse latent semantic analysis"
ABOUT = """
X. Chen, Y. Qi, B. Bai, Q. Lin and J. G. Carbonell, *Sparse Latent Semantic Analysis*, SDM 2011. The paper
adds to LSA an l1 penalty, of strength λ, on the weights of words in topics, and keeps the documents' basis
orthogonal.
"""

NEWSGROUPS = Plan(
    dimensions=(10, 50, 100, 500, 900),
    swept=500,
    coding=(100, 500),
    lda=(10, 50),
    strengths=(0.3, 0.02),
    coding_strengths=(0.0001, 0.0003, 0.001, 0.003),
    whole_strengths=(0.00003, 0.0001, 0.0003, 0.001),
    splits=1,
    whole=1000,
    whole_splits=3,
)
BARE = replace(NEWSGROUPS, dimensions=(10, 500), coding=(), lda=(), strengths=(0.3,), whole_strengths=())
REUTERS = replace(
    NEWSGROUPS,
    dimensions=(10, 100, 1000),
    swept=1000,
    coding=(100,),
    lda=(10,),
    strengths=(0.3, 0.1),
    whole_strengths=(),
    splits=None,
    whole_splits=None,
    search=Search((-2, 2), 3),
)
QUICK = Plan(
    dimensions=(5, 20),
    swept=20,
    coding=(5,),
    lda=(5,),
    strengths=(0.3,),
    coding_strengths=(0.01, 0.03),
    whole_strengths=(0.01,),
    splits=1,
    whole=20,
    whole_splits=1,
)


def run_newsgroups(name: str, bare: bool, quick: bool, desk: Desk) -> Results:
    """Tables 1 to 3, Figures 2 and 3, part a."""
    plan = QUICK if quick else BARE if bare else NEWSGROUPS
    return run_texts(name, "20newsgroups", partial(load_newsgroups, bare, quick), plan, desk)


def run_reuters(quick: bool, desk: Desk) -> Results:
    """Tables 1 to 3, Figures 2 and 3, part b."""
    plan = replace(QUICK, splits=None, whole_splits=None) if quick else REUTERS
    return run_texts("reuters21578", "rcv1", partial(load_reuters, quick), plan, desk)


PARTS = {
    "20newsgroups": Study(partial(run_newsgroups, "20newsgroups", False), render_texts),
    "20newsgroups-bare": Study(partial(run_newsgroups, "20newsgroups-bare", True), render_texts),
    "reuters21578": Study(run_reuters, render_texts),
    "nips12": Study(topics.run, topics.render),
    "p53_pathways": Study(genes.run, genes.render),
}
