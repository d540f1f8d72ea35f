"""Wang, Chang and Lyu: graph regularised PLSA for images, texts and languages."""

from __future__ import annotations

from laconic.experiments.gplsa import bilingual, crossmodal, networks
from laconic.experiments.gplsa.images import Plan, run_images
from laconic.experiments.gplsa.images_page import render_images
from laconic.experiments.parts import Results, Say, Study

TITLE = "PLSA with a graph"
ABOUT = """
X. Wang, M.-C. Chang and S. Lyu, *Efficient Algorithms for Graph Regularized PLSA for Probabilistic Topic
Modeling*. The paper adds to PLSA a penalty on the divergence (l1, l2 or symmetric Kullback-Leibler, "skl")
between the topics of documents that a graph joins. It claims that the graph makes better clusters of images
than graph regularised NMF does, and, where the images and the texts of the same documents are joined,
better search from one to the other; and it shows topics in two languages.
"""

STRENGTHS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
COIL20 = Plan({10: 3, 15: 3, 20: 3}, 10, STRENGTHS, 200, 20)
PIE = Plan({30: 1, 68: 1}, 12, STRENGTHS, 200)
QUICK = Plan({4: 1}, 3, (100.0, 1000.0), 5, 4)


def run_coil20(quick: bool, say: Say) -> Results:
    """Table 2 of the paper."""
    return run_images("coil20", QUICK if quick else COIL20, say)


def run_pie(quick: bool, say: Say) -> Results:
    """Table 1 of the paper."""
    return run_images("pie_pose27", QUICK if quick else PIE, say)


PARTS = {
    "coil20": Study(run_coil20, render_images),
    "pie": Study(run_pie, render_images),
    "networks": Study(networks.run, networks.render),
    "wikipedia": Study(crossmodal.run, crossmodal.render),
    "europarl": Study(bilingual.run, bilingual.render),
}
