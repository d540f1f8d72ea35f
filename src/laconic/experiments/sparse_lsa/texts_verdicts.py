"""What the numbers about classes of texts say about the paper's claims."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from laconic.experiments.parts import Results
from laconic.experiments.sparse_lsa.claims import verdict
from laconic.experiments.sparse_lsa.projections import CODING, LDA, LSA, NONNEGATIVE, SCALED, SPARSE
from laconic.experiments.writing import CLOSE, list_of, percent, points

# The paper calls accuracy "slightly worse (below 1%)".
SLIGHTLY = 1.0
# An order of magnitude.
ORDER = 10.0
# The collection and messages that the paper has, too.
AS_PAPER = "20newsgroups"


def findings(results: Results, title: str) -> list[str]:
    """What to say at the head of the page."""
    rows, theirs = results["whole"]["rows"], results["paper"]["efficiency"]
    ours = {method: _last(results, method)["accuracy"] for method in (LSA, SPARSE)}
    memory = rows[LSA]["megabytes"] / rows[SPARSE]["megabytes"]

    def beside(method: str) -> str:
        # numbers of another collection, or of other parts of its messages, tell nothing
        return f" (paper: {percent(theirs[method]['accuracy'])})" if results["name"] == AS_PAPER else ""

    return [
        f"**{title}**: with {results['whole']['dimension']:,} dimensions, and topics of all documents as in "
        f"the paper, LSA has {percent(rows[LSA]['accuracy'])} %{beside(LSA)} and Sparse LSA "
        f"{percent(rows[SPARSE]['accuracy'])} %{beside(SPARSE)}, with "
        f"{100 * rows[SPARSE]['density']:.2f} % of the weights and in {memory:.0f} times less memory. With "
        f"topics of training documents only and {results['largest']:,} dimensions "
        f"it is {percent(ours[LSA])} and {percent(ours[SPARSE])} %. Words "
        f"without projection have {percent(results['words']['accuracy'])} %."
    ]


def conclusions(results: Results) -> list[str]:
    """A sentence and a verdict for every claim."""
    return [
        _loss(results),
        _few_dimensions(results),
        _density(results),
        _nonnegative(results),
        _memory(results),
        _time(results),
        _same_size(results),
        *([_coding(results)] if results["dimensions"][CODING] else []),
        *([_lda(results)] if results["dimensions"][LDA] else []),
        _scaled(results),
    ]


def _last(results: Results, method: str) -> Results:
    runs: Results = results["dimensions"][method]
    return runs[str(results["largest"])]


def _gap(rows: Results, better: str, worse: str) -> float:
    """By how many points of accuracy one method is above another."""
    return float(100 * (rows[better]["accuracy"] - rows[worse]["accuracy"]))


def _loss(results: Results) -> str:
    rows, theirs = results["whole"]["rows"], results["paper"]["efficiency"]
    whole = _gap(rows, LSA, SPARSE)
    trained = _gap({method: _last(results, method) for method in (LSA, SPARSE)}, LSA, SPARSE)
    lost = (
        f"Sparse LSA loses less than a point of accuracy against LSA with many dimensions: it loses "
        f"{whole:.1f} points with {results['whole']['dimension']:,} dimensions of all documents (paper: "
        f"{_gap(theirs, LSA, SPARSE):.1f}), and {trained:.1f} with {results['largest']:,} of the training "
        f"documents. {verdict([whole < SLIGHTLY, trained < SLIGHTLY])}"
    )
    if results["name"] != AS_PAPER:
        return lost
    compared = list_of(
        f"{method}'s {points(rows[method]['accuracy'], theirs[method]['accuracy'])}"
        for method in (LSA, SPARSE)
    )
    return f"{lost} The accuracies themselves, of all documents: {compared}."


def _few_dimensions(results: Results) -> str:
    runs = results["dimensions"]
    gaps = {n: _gap({LSA: runs[LSA][n], SPARSE: runs[SPARSE][n]}, LSA, SPARSE) for n in runs[SPARSE]}
    said = [f"{gap:+.1f} ({n})" for n, gap in gaps.items()]
    noise = max(run["accuracy_sd"] for method in (LSA, SPARSE) for run in runs[method].values())
    first, *_, last = gaps.values()
    said_of_it = (
        "**Cannot be told apart.**" if abs(first - last) < 100 * noise else verdict([first > 0, first > last])
    )
    return (
        f"With few dimensions it loses more than with many: LSA is ahead by {list_of(said)} points, with "
        f"an uncertainty (±) of up to {100 * noise:.1f}. {said_of_it}"
    )


def _density(results: Results) -> str:
    densities = [run["density"] for run in results["dimensions"][SPARSE].values()]
    ours = results["whole"]["rows"][SPARSE]["density"]
    theirs = results["paper"]["densities"][SPARSE]["1000"]
    return (
        f"More topics are sparser: {100 * densities[0]:.2f} % to {100 * densities[-1]:.2f} "
        f"% of the weights are not zero. {verdict([densities == sorted(densities, reverse=True)])} With "
        f"{results['whole']['dimension']:,} dimensions of all documents it is {100 * ours:.2f} % (paper, "
        f"1,000 dimensions: {100 * theirs:.2f} %)."
    )


def _nonnegative(results: Results) -> str:
    rows = results["whole"]["rows"]
    gap = _gap(rows, NONNEGATIVE, SPARSE)
    sparse, nonnegative = (100 * rows[method]["density"] for method in (SPARSE, NONNEGATIVE))
    return (
        f"Without negative weights it does as well, with sparser topics: {gap:+.1f} points, with "
        f"{nonnegative:.3f} % instead of {sparse:.3f} % of the weights. "
        f"{verdict([abs(gap) < SLIGHTLY, nonnegative < sparse])}"
    )


def _memory(results: Results) -> str:
    rows, theirs = results["whole"]["rows"], results["paper"]["efficiency"]
    ours, paper = (table[LSA]["megabytes"] / table[SPARSE]["megabytes"] for table in (rows, theirs))
    # Numbers of eight bytes, 1,000 for each word.
    expected = results["paper"]["sizes"]["n_terms"] * 1000 * 8 / 2**20
    off = theirs[LSA]["megabytes"] / expected
    doubt = f", whose {theirs[LSA]['megabytes']:g} MB for LSA are {off:.1f} times those of its words"
    return (
        f"Topics take less memory by orders of magnitude: LSA's take {ours:.0f} times as much (paper: "
        f"{paper:.0f}{doubt if abs(off - 1) > 0.05 else ''}). {verdict([ours >= ORDER])} Of a projected "
        f"document, {percent(rows[SPARSE]['described'])} % of the dimensions are not zero (paper: "
        f"{percent(theirs[SPARSE]['described'])} %)."
    )


def _time(results: Results) -> str:
    rows, theirs = results["whole"]["rows"], results["paper"]["efficiency"]
    alone, together = (rows[LSA][key] / rows[SPARSE][key] for key in ("one", "many"))
    dense = results["whole"]["dense_product"]
    slower = dense / rows[SPARSE]["one"]
    paper = theirs[LSA]["milliseconds"] / theirs[SPARSE]["milliseconds"]
    return (
        f"Projection is faster by orders of magnitude: LSA takes {alone:.1f} times as long for a document "
        f"alone, and {together:.1f} times for one among others (paper: {paper:.0f}). "
        f"{verdict([alone >= ORDER, together >= ORDER, slower >= ORDER])} Here LSA reads only the weights "
        "of a document's words. If documents are dense vectors, as the paper's times suggest, it projects "
        f"one in {dense:.2g} ms, {slower:.0f} times as long as Sparse LSA one alone."
    )


def same_size(results: Results) -> list[tuple[float, float, float]]:
    """Effective dimensions of Sparse LSA, its accuracy in per cent, and LSA's with as many dimensions.

    LSA's is read off between the dimensions measured. Below its smallest it can only be worse, and is taken
    with that.
    """
    runs = results["dimensions"][LSA]
    sizes, scores = [float(n) for n in runs], [run["accuracy"] for run in runs.values()]
    compared = []
    for run in results["strengths"][SPARSE].values():
        level = np.interp(np.log(max(run["effective"], sizes[0])), np.log(sizes), scores)
        compared.append((run["effective"], 100 * run["accuracy"], 100 * float(level)))
    return compared


def _same_size(results: Results) -> str:
    compared = same_size(results)
    said = [f"{ours:.1f} against {lsa:.1f} % ({effective:.2g})" for effective, ours, lsa in compared]
    return (
        f"Sparse LSA is better than LSA of the same effective dimension: {list_of(said)}, where LSA is read "
        f"off between the dimensions measured, and taken with {next(iter(results['dimensions'][LSA]))} where "
        f"the effective dimension is less. {verdict([ours > lsa for _, ours, lsa in compared])}"
    )


def smallest_tried(choices: list[Results]) -> bool:
    """Whether a penalty lies at the lower edge of those tried: a smaller one might do better."""
    return any(each["chosen"] == min(map(float, each["tried"])) for each in choices)


class Coding(NamedTuple):
    """Sparse coding beside LSA and Sparse LSA.

    Attributes
    ----------
    gaps : dict of str to float
        By how many points of accuracy it is above LSA, with topics of training documents, by dimension.
    whole : float or None
        The same with topics of all documents, where it was measured.
    allowed : float
        How many points still count as comparable: the paper's own gap, or one.
    slower : float or None
        How many times as long as Sparse LSA it takes to project documents.
    smallest : bool
        Whether the penalty for topics of all documents is the smallest that was tried.
    """

    gaps: dict[str, float]
    whole: float | None
    allowed: float
    slower: float | None
    smallest: bool

    @property
    def holds(self) -> list[bool]:
        """Whether it is comparable, wherever it was measured, and slower by an order of magnitude."""
        gaps = [*self.gaps.values(), *([] if self.whole is None else [self.whole])]
        comparable = [abs(gap) <= self.allowed for gap in gaps]
        return comparable + ([] if self.slower is None else [self.slower >= ORDER])


def coding(results: Results) -> Coding:
    """Compare sparse coding, at every dimension where it was measured."""
    runs, rows, theirs = results["dimensions"], results["whole"]["rows"], results["paper"]["efficiency"]
    gaps = {n: _gap({CODING: run, LSA: runs[LSA][n]}, CODING, LSA) for n, run in runs[CODING].items()}
    allowed = max(SLIGHTLY, abs(_gap(theirs, CODING, LSA)))
    if CODING not in rows:
        return Coding(gaps, None, allowed, None, False)
    slower = rows[CODING]["many"] / rows[SPARSE]["many"]
    return Coding(gaps, _gap(rows, CODING, LSA), allowed, slower, smallest_tried(results["whole"]["coding"]))


def _coding(results: Results) -> str:
    found, rows, theirs = coding(results), results["whole"]["rows"], results["paper"]["efficiency"]
    said = list_of(f"{gap:+.1f} points ({n})" for n, gap in found.gaps.items())
    lines = [
        f"Sparse coding is comparable with LSA, and slow: with topics of training documents they differ by "
        f"{said}. Up to {found.allowed:.1f} points count as comparable: the paper's own difference, or at "
        f"least {SLIGHTLY:.0f}."
    ]
    if found.whole is not None:
        times = theirs[CODING]["milliseconds"] / theirs[SPARSE]["milliseconds"]
        lines += [
            f"With {results['whole']['dimension']:,} dimensions of all documents it is {found.whole:+.1f} "
            f"points (paper: {_gap(theirs, CODING, LSA):+.1f}), {percent(rows[CODING]['described'])} % of "
            f"the weights of a document are not zero (paper: {percent(theirs[CODING]['described'])} %), and "
            f"it takes {found.slower:,.0f} times as long as Sparse LSA for documents together (paper: "
            f"{times:,.0f})."
        ]
        if found.smallest:
            lines.append("The penalty is the smallest that was tried there, and a smaller one may do better.")
    else:
        lines.append("Its time was not measured here.")
    return " ".join([*lines, verdict(found.holds)])


def _scaled(results: Results) -> str:
    rows, theirs = results["whole"]["rows"], results["paper"]["efficiency"]
    gap = _gap(rows, LSA, SCALED)
    told = "can hardly have done so" if gap > CLOSE else "may have done so"
    paper = f" The paper, with {percent(theirs[LSA]['accuracy'])} %, {told}."
    return (
        f"LSA divided by its singular values, as the paper's formula has it, has an accuracy of "
        f"{percent(rows[SCALED]['accuracy'])} % with topics of all documents, {abs(gap):.1f} points "
        f"{'below' if gap > 0 else 'above'} LSA without.{paper if results['name'] == AS_PAPER else ''}"
    )


class Lead(NamedTuple):
    """By how many points of accuracy a method is above LDA, and the standard error of that."""

    gap: float
    error: float

    @property
    def holds(self) -> bool | None:
        """Whether it is ahead; None if that may be chance."""
        return None if abs(self.gap) < 2 * self.error else self.gap > 0


def above_lda(results: Results) -> dict[str, list[Lead]]:
    """LSA and Sparse LSA beside LDA, at every dimension where it was measured."""
    runs = results["dimensions"]
    return {
        method: [
            Lead(
                _gap({method: runs[method][n], LDA: run}, method, LDA),
                100 * float(np.hypot(runs[method][n]["accuracy_sd"], run["accuracy_sd"])),
            )
            for n, run in runs[LDA].items()
        ]
        for method in (LSA, SPARSE)
    }


def _lda(results: Results) -> str:
    found = above_lda(results)
    said = list_of(
        f"{method} is ahead by {list_of(f'{lead.gap:+.1f}' for lead in leads)}"
        for method, leads in found.items()
    )
    return (
        f"LDA does not do well: with {list_of(results['dimensions'][LDA])} dimensions, {said} points. "
        f"{verdict([bool(lead.holds) for leads in found.values() for lead in leads])} A lead below two "
        "standard errors does not count."
    )
