"""The experiments there are.

To add one:

1. Write a module, or a package if it is long, with these constants: ``TITLE`` (the heading of its page),
   ``ABOUT`` (Markdown: which paper it is), ``CLAIMS`` (what the paper claims, each a `parts.Claim` that is
   judged by results), ``CHANGED`` (settings that were changed after results had been seen), ``FUTURE`` (what
   the paper leaves for the future and the library has) and ``PARTS``, a dict from names to `parts.Study`.
   The numbers of the paper are constants of that module which name their table; ``run`` puts them into its
   results beside ours, and ``render`` compares the two. Nothing on a page is typed by hand.
2. Add an entry to `EXPERIMENTS`.

The command, its list, the JSON file, the page and its place in the manual (``docs/papers``) come with that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laconic.experiments.parts import Claim, Study


@dataclass(frozen=True)
class Experiment:
    """An experiment, without what it takes to run it: to list experiments should not wait for scikit-learn.

    Attributes
    ----------
    name : str
        What is typed after ``laconic reproduce``.
    summary : str
        One line.
    minutes : int
        About how long it takes on two cores.
    needs : dict of str to tuple of str
        From the names of its parts to those of the data sets that they need.
    module : str
        Where its ``TITLE``, ``ABOUT`` and ``PARTS`` are.
    """

    name: str
    summary: str
    minutes: int
    needs: dict[str, tuple[str, ...]]
    module: str

    @property
    def title(self) -> str:
        """The heading of its page."""
        return str(import_module(self.module).TITLE)

    @property
    def about(self) -> str:
        """What stands first on its page."""
        return str(import_module(self.module).ABOUT)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the paper claims, and how it is judged."""
        return tuple(import_module(self.module).CLAIMS)

    @property
    def changed(self) -> tuple[str, ...]:
        """Settings that were changed after results had been seen, a sentence or two each."""
        return tuple(import_module(self.module).CHANGED)

    @property
    def future(self) -> tuple[str, ...]:
        """What the paper leaves for future work and the library has, with links."""
        return tuple(import_module(self.module).FUTURE)

    @property
    def parts(self) -> dict[str, Study]:
        """Its parts by name, in the order of the page."""
        parts: dict[str, Study] = import_module(self.module).PARTS
        return parts

    def chosen(self, names: Iterable[str]) -> list[str]:
        """The parts of these names, or all if there are none, in the order of the page."""
        asked = list(names)
        unknown = next((name for name in asked if name not in self.needs), None)
        if unknown is not None:
            raise ValueError(
                f"{self.name} has no part {unknown!r}; {_did_you_mean(unknown, self.needs)}"
                f"there are {', '.join(self.needs)}"
            )
        return [name for name in self.needs if not asked or name in asked]


EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "gplsa",
            "PLSA with a graph: images in clusters, papers that cite, pictures and texts, German and English",
            75,
            {
                "coil20": ("coil20",),
                "pie": ("pie_pose27",),
                "networks": ("cora_ml", "dblp4"),
                "efficiency": ("coil20",),
                "wikipedia": ("wikipedia_xmodal",),
                "wikipedia-joint": ("wikipedia_xmodal",),
                "europarl": ("europarl_de_en",),
            },
            "laconic.experiments.gplsa",
        ),
        Experiment(
            "priors",
            "Priors that leave each document few topics, for PLSA and NMF",
            10,
            {"bbc_news": ("bbc_news",), "20newsgroups": ("20newsgroups",), "readings": ("bbc_news",)},
            "laconic.experiments.priors",
        ),
        Experiment(
            "sparse-lsa",
            "Sparse LSA: classes of texts with few weights, topics beside LDA's, groups of genes",
            30,
            {
                "20newsgroups": ("20newsgroups",),
                "20newsgroups-bare": ("20newsgroups",),
                "reuters21578": ("reuters21578",),
                "nips12": ("nips12",),
                "p53_pathways": ("p53_pathways",),
            },
            "laconic.experiments.sparse_lsa",
        ),
        Experiment(
            "rlsi",
            "RLSI: topics blended with term matching, sparse ones and dense ones, norms, learning to rank",
            45,
            {
                "ranking": ("cranfield", "cacm", "npl", "scifact", "time", "adi"),
                "grids": ("cranfield", "cacm", "npl", "scifact", "time", "adi"),
                "starts": ("cranfield", "cacm", "npl", "scifact", "time", "adi"),
                "helped": ("cranfield", "time", "adi"),
                "variants": ("cranfield", "cacm", "time", "adi", "npl", "scifact"),
                "topics": ("bbc_news",),
                "vocabulary": ("cranfield", "cacm", "scifact", "time", "adi"),
                "lambdarank": ("scifact",),
                "lambdarank-folds": ("cranfield", "cacm", "npl", "scifact", "time", "adi"),
            },
            "laconic.experiments.rlsi",
        ),
        Experiment(
            "gmf",
            "Group models: topics that classes share and topics of each, blended with term matching",
            15,
            {
                "timing": ("20newsgroups",),
                "ranking": ("cranfield", "cacm", "npl", "time", "adi"),
                "classes": ("20newsgroups", "reuters21578"),
                "topics": ("bbc_news",),
            },
            "laconic.experiments.gmf",
        ),
    )
}


def find(name: str) -> Experiment:
    """Find an experiment by its name.

    Examples
    --------
    >>> find("gplsa").name
    'gplsa'
    >>> find("gpsla")
    Traceback (most recent call last):
    ...
    ValueError: there is no experiment 'gpsla'; did you mean 'gplsa'? there are gplsa, priors, sparse-lsa, \
rlsi, gmf
    """
    if name not in EXPERIMENTS:
        raise ValueError(
            f"there is no experiment {name!r}; {_did_you_mean(name, EXPERIMENTS)}"
            f"there are {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]


def _did_you_mean(name: str, names: Iterable[str]) -> str:
    close = get_close_matches(name, list(names), n=1)
    return f"did you mean {close[0]!r}? " if close else ""
