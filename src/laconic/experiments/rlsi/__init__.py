"""Wang, Xu, Li and Craswell: regularised latent semantic indexing, and how it ranks."""

from __future__ import annotations

from laconic.experiments.parts import Claim, Study
from laconic.experiments.rlsi import (
    helped,
    lambdarank,
    ranking,
    ranking_page,
    starts,
    topics,
    variants,
    vocabulary,
)

TITLE = "Regularised latent semantic indexing"
ABOUT = """
Q. Wang, J. Xu, H. Li and N. Craswell, *Regularized Latent Semantic Indexing*, SIGIR 2011. The paper finds
topics by penalised least squares, with l1 or l2 on topics and on documents. It claims that l1 on topics and
l2 on documents is best for reading and for ranking; that blended with term matching it ranks better than that
alone, and slightly better than LSI, PLSA and LDA do; that its score improves LambdaRank; and that
reducing the vocabulary hurts.
"""
CLAIMS: tuple[Claim, ...] = ()
CHANGED: tuple[str, ...] = ()
FUTURE: tuple[str, ...] = ()

PARTS = {
    "ranking": Study(ranking.run, ranking_page.render),
    "starts": Study(starts.run, starts.render),
    "helped": Study(helped.run, helped.render),
    "variants": Study(variants.run, variants.render),
    "topics": Study(topics.run, topics.render),
    "vocabulary": Study(vocabulary.run, vocabulary.render),
    "lambdarank": Study(lambdarank.run, lambdarank.render),
}
