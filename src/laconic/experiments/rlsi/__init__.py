"""Wang, Xu, Li and Craswell: regularised latent semantic indexing, and how it ranks."""

from __future__ import annotations

from laconic.experiments.parts import Study
from laconic.experiments.rlsi import (
    alike,
    folds,
    helped,
    lambdarank,
    ranking,
    ranking_page,
    starts,
    topics,
    variants,
    vocabulary,
)
from laconic.experiments.rlsi.claims import CHANGED, CLAIMS, FUTURE

__all__ = ["ABOUT", "CHANGED", "CLAIMS", "FUTURE", "PARTS", "TITLE"]

TITLE = "Regularised latent semantic indexing"
ABOUT = """
Q. Wang, J. Xu, H. Li and N. Craswell, *Regularized Latent Semantic Indexing*, SIGIR 2011. The paper finds
topics by penalised least squares, with l1 or l2 on topics and on documents.
"""

PARTS = {
    "ranking": Study(ranking.run, ranking_page.render),
    "grids": Study(alike.run, alike.render),
    "starts": Study(starts.run, starts.render),
    "helped": Study(helped.run, helped.render),
    "variants": Study(variants.run, variants.render),
    "topics": Study(topics.run, topics.render),
    "vocabulary": Study(vocabulary.run, vocabulary.render),
    "lambdarank": Study(lambdarank.run, lambdarank.render),
    "lambdarank-folds": Study(folds.run, folds.render),
}
