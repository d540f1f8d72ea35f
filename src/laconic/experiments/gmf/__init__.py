"""Wang, Cao, Xu and Li: group matrix factorisation."""

from __future__ import annotations

from laconic.experiments.gmf import ranking, topics
from laconic.experiments.parts import Claim, Study

TITLE = "Group matrix factorisation"
ABOUT = """
Q. Wang, Z. Cao, J. Xu and H. Li, *Group Matrix Factorization for Scalable Topic Modeling*, SIGIR 2012. Where
documents have classes, topics are shared by all or belong to a class, so that many topics are found in less
time. The paper claims that such topics are as readable as those of flat models; that blended with BM25 they
rank better than topics found for each class alone, and hardly worse than flat ones. How the cost grows is on
another page: {doc}`../performance-groups`.
"""
CLAIMS: tuple[Claim, ...] = ()
CHANGED: tuple[str, ...] = ()
FUTURE: tuple[str, ...] = ()

PARTS = {"ranking": Study(ranking.run, ranking.render), "topics": Study(topics.run, topics.render)}
