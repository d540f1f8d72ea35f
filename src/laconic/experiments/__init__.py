"""The experiments of the papers, behind ``laconic reproduce``.

`registry` lists them and says how to add one.
"""

from laconic.experiments.registry import EXPERIMENTS, Experiment, find

__all__ = ["EXPERIMENTS", "Experiment", "find"]
