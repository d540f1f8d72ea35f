"""Ugander: concave penalties, and the priors behind them, for documents with few topics."""

from __future__ import annotations

from functools import partial

from laconic.experiments.parts import Study
from laconic.experiments.priors import classes, readings
from laconic.experiments.priors.claims import CHANGED, CLAIMS, FUTURE

__all__ = ["ABOUT", "CHANGED", "CLAIMS", "FUTURE", "PARTS", "TITLE"]

TITLE = "Priors for documents with few topics"
ABOUT = """
J. H. Ugander, *Concave regularizations and MAP priors for sparse topic models*, 2010. The paper shows that
some priors on the documents' topics are penalties that reward zeros: the exponential prior (l1) and the
Pareto prior (a logarithm) for NMF with Kullback-Leibler loss, and a "bounded pseudo-Dirichlet" prior for
PLSA. Its experiment is a figure: the average topics of the classes of a collection of blogs, with maximum
likelihood and with the prior, from which it concludes that "it is however qualitatively clear that the
prior does indeed induce sparsity". It has no numbers; those here are ours, on other collections.
"""

PARTS = {
    **{name: Study(partial(classes.run, name), classes.render) for name in ("bbc_news", "20newsgroups")},
    "readings": Study(readings.run, readings.render),
}
