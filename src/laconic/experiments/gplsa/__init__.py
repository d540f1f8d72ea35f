"""Wang, Chang and Lyu: graph regularised PLSA for images, texts and languages."""

from __future__ import annotations

from laconic.experiments.gplsa import bilingual, crossmodal, efficiency, joint, joint_page, networks
from laconic.experiments.gplsa.claims import CHANGED, CLAIMS, FUTURE
from laconic.experiments.gplsa.images import Plan, run_images
from laconic.experiments.gplsa.images_page import render_images
from laconic.experiments.parts import Desk, Results, Study

__all__ = ["ABOUT", "CHANGED", "CLAIMS", "FUTURE", "PARTS", "TITLE"]

TITLE = "PLSA with a graph"
ABOUT = """
X. Wang, M.-C. Chang and S. Lyu, *Efficient Algorithms for Graph Regularized PLSA for Probabilistic Topic
Modeling*. The paper adds to PLSA a penalty on the divergence (l1, l2 or symmetric Kullback-Leibler, "skl")
between the topics of documents linked by a graph: neighbouring images, the image and the text of one
article, a speech and its translation.
"""

STRENGTHS = (1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6)
MARKS = (1, 2, 3, 5, 10, 30, 60, 100, 200)
COIL20 = Plan({10: 5, 15: 5, 20: 5}, STRENGTHS, (*MARKS, 500), seeds=5, tuning_seeds=3, curve=20)
PIE = Plan({30: 15, 50: 15, 68: 15}, STRENGTHS, MARKS, seeds=5, tuning_seeds=3, curve=30)
QUICK = Plan({4: 3}, (100.0, 1000.0), (2, 10), seeds=2, tuning_seeds=1, curve=4)


def run_coil20(quick: bool, desk: Desk) -> Results:
    """Table 2 of the paper."""
    return run_images("coil20", QUICK if quick else COIL20, desk)


def run_pie(quick: bool, desk: Desk) -> Results:
    """Table 1 of the paper."""
    return run_images("pie_pose27", QUICK if quick else PIE, desk)


PARTS = {
    "coil20": Study(run_coil20, render_images),
    "pie": Study(run_pie, render_images),
    "networks": Study(networks.run, networks.render),
    "efficiency": Study(efficiency.run, efficiency.render),
    "wikipedia": Study(crossmodal.run, crossmodal.render),
    "wikipedia-joint": Study(joint.run, joint_page.render),
    "europarl": Study(bilingual.run, bilingual.render),
}
