"""Wang, Cao, Xu and Li: group matrix factorisation."""

from __future__ import annotations

from laconic.experiments.gmf import classes, ranking, timing, topics
from laconic.experiments.gmf.claims import CHANGED, CLAIMS, FUTURE
from laconic.experiments.parts import Study

__all__ = ["ABOUT", "CHANGED", "CLAIMS", "FUTURE", "PARTS", "TITLE"]

TITLE = "Group matrix factorisation"
ABOUT = """
Q. Wang, Z. Cao, J. Xu and H. Li, *Group Matrix Factorization for Scalable Topic Modeling*, SIGIR 2012. If
documents have classes, topics are either shared by all or belong to a class, so that many topics can be
found in less time. Our setting differs from the paper's: it learns topics from one web collection in 204
categories and ranks another. Here topics are learnt from the collection that is ranked, and clusters
replace classes where there are none.
"""

PARTS = {
    "timing": Study(timing.run, timing.render),
    "ranking": Study(ranking.run, ranking.render),
    "classes": Study(classes.run, classes.render),
    "topics": Study(topics.run, topics.render),
}
