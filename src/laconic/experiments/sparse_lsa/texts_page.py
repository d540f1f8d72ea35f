"""The sections of the page about classes of texts."""

from __future__ import annotations

from laconic.experiments.parts import Results, Section
from laconic.experiments.sparse_lsa.classifying import PAPERS_SEARCH
from laconic.experiments.sparse_lsa.plots import figures
from laconic.experiments.sparse_lsa.projections import (
    FEW_DOCUMENTS,
    LDA,
    LDA_ROUND,
    LDA_TOL,
    LSA,
    NONNEGATIVE,
    SCALED,
    SPARSE,
    SPARSE_ITERATIONS,
)
from laconic.experiments.sparse_lsa.texts_verdicts import conclusions, findings, smallest_tried
from laconic.experiments.writing import count, list_of, percent, table

TITLES = {
    "20newsgroups": "20 Newsgroups, whole messages",
    "20newsgroups-bare": "20 Newsgroups, without headers",
    "reuters21578": "Reuters, instead of RCV1",
}
# The dimension with a number in the paper's Table 2 that may be a slip.
SUSPECT = "100"
_DATA = {
    "20newsgroups": """
The groups alt.atheism and talk.religion.misc, as in the paper. Messages are complete, including headers,
which name the groups a message was sent to. That makes the task easier than the texts alone would be; the
next section leaves headers out. The paper does not say what it did. All words of the training messages
count.""",
    "20newsgroups-bare": """
The same messages without headers, quoted lines and signatures, in a shorter version of the experiment. The
number of remaining words {near} the paper's. All words of the training messages count.""",
    "reuters21578": """
The paper's subset of RCV1 is not available. Instead we use Reuters-21578 with its usual split (ModApte): all
articles with exactly one topic, of the {n_classes} topics that both sides of the split have. Two of these
topics make up most of the articles. Words are those in at least five training articles, without English
stop words. With another collection, only conclusions about methods can be compared, not numbers.""",
}

_PROTOCOL = """
{data}

| Table 1 | here | paper |
| :--- | ---: | ---: |
| documents | {n_documents:,} | {paper_documents:,} |
| words | {n_terms:,} | {paper_terms:,} |
| classes | {n_classes} | {paper_classes} |

Documents are tf-idf vectors of unit length. A linear SVM (LIBSVM) tells their classes, with {search} on the
training documents{papers_search}. {split}

The paper finds the topics of *all* documents, and splits them afterwards. Here **vocabulary, weights and
topics are those of the training documents only** ({n_train:,} documents, {n_train_terms:,} words{last}),
except where it says "all documents". {limit}

{methods}

### Accuracy and dimension (Figure 2)

![Accuracy against the number of dimensions](figure:{name}-dimensions)

{accuracies}

### How sparse the topics are (Table 2)

The share of weights that are not zero, in per cent; other methods' topics are dense.{counterpart}

{densities}{slip}

### Accuracy and effective dimension (Figure 3)

The effective dimension is the number of non-zero weights for each word; that of dense methods is their
dimension. Sparse LSA has {swept:,} dimensions{papers_swept}, and λ varies.

![Accuracy against the effective dimension](figure:{name}-effective)

{effective}

### Time and memory (Table 3)

Here there are {whole:,} dimensions, and topics of all documents, as in the paper. Times are milliseconds of
one core per document, for sparse documents: projected alone, and as one of {n_projected:,} projected at once.
The paper's times seem to be for single documents, on a computer of 2010. Weights take four bytes here and
eight in the paper; for sparse topics, the positions of the weights count as well. "Projected" is the share of
dimensions that are not zero. "{scaled}" also divides by the singular values, as the paper's formula does. The
last column is for topics of training documents only, with {largest:,} dimensions.
{whole_split}{whole_coding}

{efficiency}

### What agrees, and what does not

{conclusions}
"""
_LIMIT = """There cannot be more topics than documents, so training documents cannot have 1,000 as in the
paper; the largest dimension is {largest:,}."""
_ERROR = "± is the standard error of a share of the latter."
_GIVEN = "There is one split, with {n_train:,} articles to train on and {n_test:,} to test with; "
_SINGLE = "There is one random split, with {n_train:,} documents to train on and {n_test:,} to test with; "
_RANDOM = """It is trained on two thirds of the documents and tested on the rest; numbers are means ± standard
deviations over {splits}."""
_SPARSE_LSA = """*Sparse LSA* has up to {iterations} iterations, and starts from documents drawn at random.
  Its λ is the paper's 0.05, which can be used as it is: the paper's loss has the same factor 1/2, and its
  documents have unit length."""
_CODING = """*Sparse coding* is RLSI with l2 topics and l1 documents. Its penalty is chosen anew at every
  dimension, by the accuracy in cross-validation on the training documents: {choices}."""
_LDA = """*LDA* is scikit-learn's, by variational inference on counts, until {round} more iterations lower the
  perplexity of the training documents by less than {tol:.1%}: {iterations}. It is slow, so it is left out for
  many dimensions."""


def render_texts(results: Results) -> Section:
    """The section of one collection."""
    sizes = results["paper"]["sizes"]
    fewer = results["n_train"] < results["whole"]["dimension"]
    text = _PROTOCOL.format(
        **{key: results[key] for key in ("name", "n_documents", "n_terms", "n_classes", "n_train")},
        **{key: results[key] for key in ("n_train_terms", "swept", "largest", "search")},
        **{f"paper_{key.removeprefix('n_')}": value for key, value in sizes.items()},
        data=_DATA[results["name"]].format(near=_near(results), n_classes=results["n_classes"]).strip(),
        papers_search="" if results["search"] == str(PAPERS_SEARCH) else f" (paper: {PAPERS_SEARCH})",
        split=_split(results),
        last=" in the last split" if len(results["coding"]) > 1 else "",
        limit=_LIMIT.format(largest=results["largest"]) if fewer else "",
        methods="\n".join(f"- {' '.join(line.split())}" for line in _methods(results)),
        accuracies=_accuracies(results),
        slip=_slip(results),
        counterpart=" Beside 900 stands the paper's 1,000." if "900" in results["dimensions"][LSA] else "",
        densities=_densities(results),
        papers_swept=" here (the paper has 1,000)" if results["swept"] != 1000 else ", as in the paper",
        effective=_effective(results),
        whole=results["whole"]["dimension"],
        whole_split=_whole_split(results),
        whole_coding=_whole_coding(results),
        n_projected=results["whole"]["n_projected"],
        scaled=SCALED,
        efficiency=_efficiency(results),
        conclusions="\n".join(f"- {line}" for line in conclusions(results)),
    )
    title = TITLES[results["name"]]
    return Section(f"{title} (Tables 1 to 3)", text, findings(results, title), figures(results, title))


def _split(results: Results) -> str:
    sizes = {key: results[key] for key in ("n_train", "n_test")}
    if results["splits"] is None:
        return _GIVEN.format(**sizes) + _ERROR
    if results["splits"] == 1:
        return _SINGLE.format(**sizes) + _ERROR
    return _RANDOM.format(splits=count(results["splits"], "random split"))


def _whole_split(results: Results) -> str:
    splits = results["whole"]["splits"]
    if splits == results["splits"]:
        return ""
    return f"Accuracies here are means ± standard deviations over {count(splits, 'random split')}. "


def _methods(results: Results) -> list[str]:
    """How each method was run."""
    words = results["words"]
    approximate = ", found approximately" if results["n_train"] > FEW_DOCUMENTS else ""
    lines = [
        f"*Words*, the SVM on tf-idf itself without any projection, have an accuracy of "
        f"{percent(words['accuracy'], words['accuracy_sd'])} %.",
        f"*LSA* projects on singular vectors{approximate}.",
        _SPARSE_LSA.format(iterations=SPARSE_ITERATIONS),
    ]
    by_dimension = {n: [run[n] for run in results["coding"]] for n in results["coding"][0]}
    if by_dimension:
        said = "; ".join(f"with {n} dimensions {_choices(choices)}" for n, choices in by_dimension.items())
        lines.append(_CODING.format(choices=said))
    runs = results["dimensions"][LDA]
    if runs:
        said = list_of(f"{run['iterations']:.0f} iterations with {n} dimensions" for n, run in runs.items())
        means = " (means)" if len(results["coding"]) > 1 else ""
        lines.append(_LDA.format(round=LDA_ROUND, tol=LDA_TOL, iterations=f"{said}{means}"))
    return lines


def _choices(choices: list[Results]) -> str:
    """What was chosen in every split, and what was tried in the first."""
    tried = ", ".join(f"{key}: {percent(value)} %" for key, value in choices[0]["tried"].items())
    chosen = list_of(dict.fromkeys(f"{each['chosen']:g}" for each in choices))
    edge = ", the smallest tried" if smallest_tried(choices) else ""
    return f"{chosen}{edge} ({tried}{' in the first split' if len(choices) > 1 else ''})"


def _whole_coding(results: Results) -> str:
    choices = results["whole"]["coding"]
    if not choices:
        return "Sparse coding is left out here, because its fit of so many dimensions takes too long."
    return f"The penalty of sparse coding, chosen in the same way, is {_choices(choices)}."


def _near(results: Results) -> str:
    ratio = results["n_terms"] / results["paper"]["sizes"]["n_terms"]
    return "is near to" if abs(ratio - 1) < 0.02 else "differs from"


def _accuracies(results: Results) -> str:
    measured = results["dimensions"]
    columns = list(measured[LSA])
    rows = [
        [method, *(_accuracy(runs[n]) if n in runs else "" for n in columns)]
        for method, runs in measured.items()
        if runs
    ]
    return table(["accuracy (%)", *columns], rows, "l" + "r" * len(columns))


def _accuracy(run: Results) -> str:
    return percent(run["accuracy"], run["accuracy_sd"])


def _densities(results: Results) -> str:
    slip = _slip(results)
    columns = list(results["dimensions"][SPARSE])
    rows = []
    for method in (SPARSE, NONNEGATIVE):
        runs, theirs = results["dimensions"][method], results["paper"]["densities"][method]
        beside = [theirs.get("1000" if n == "900" else n) for n in columns]
        printed = ["" if value is None else f"{100 * value:.2f}" for value in beside]
        if slip and method == NONNEGATIVE and SUSPECT in columns:
            printed[columns.index(SUSPECT)] += " (sic)"
        rows += [
            [method, "ours", *(f"{100 * runs[n]['density']:.2f}" for n in columns)],
            [method, "paper", *printed],
        ]
    return table(["density (%)", "", *columns], rows, "ll" + "r" * len(columns))


def _effective(results: Results) -> str:
    rows = []
    for method, runs in results["strengths"].items():
        accuracies = [f"{_accuracy(run)} ({run['effective']:.2g})" for run in runs.values()]
        rows.append([method, *accuracies])
    strengths = list(results["strengths"][SPARSE])
    headings = ["accuracy (%), and effective dimension", *(f"λ = {strength}" for strength in strengths)]
    return table(headings, rows, "l" + "r" * len(strengths))


def _milliseconds(time: float) -> str:
    return f"{time:.2g}" if time < 100 else f"{time:,.0f}"


def _efficiency(results: Results) -> str:
    rows = []
    for method, run in results["whole"]["rows"].items():
        last = results["dimensions"].get(method, {}).get(str(results["largest"]))
        rows.append(
            [
                method,
                "ours",
                _milliseconds(run["one"]),
                _milliseconds(run["many"]),
                f"{run['megabytes']:.2f}",
                percent(run["described"]),
                _accuracy(run),
                "" if last is None else _accuracy(last),
            ]
        )
        if method in results["paper"]["efficiency"]:
            theirs = results["paper"]["efficiency"][method]
            rows.append(
                [
                    method,
                    "paper",
                    f"{theirs['milliseconds']:g}",
                    "",
                    f"{theirs['megabytes']:.2f}",
                    percent(theirs["described"]),
                    _accuracy(theirs),
                    "",
                ]
            )
    times = ["alone (ms)", "together (ms)"]
    headings = ["method", "", *times, "MB", "projected (%)", "accuracy (%)", "training only (%)"]
    return table(headings, rows, "llrrrrrr")


def _slip(results: Results) -> str:
    """A remark on a number that cannot be what the paper means, where it is printed."""
    printed = results["paper"]["densities"][NONNEGATIVE]
    smaller, suspect, larger = (printed[n] for n in ("50", SUSPECT, "500"))
    if not smaller > suspect < larger:
        return ""
    return (
        f"\n\nThe paper prints {100 * suspect:.2f} % for {NONNEGATIVE} with {SUSPECT} dimensions, less than "
        f"both its {100 * smaller:.2f} % with 50 and its {100 * larger:.2f} % with 500. That must be a slip, "
        f"perhaps for {1000 * suspect:.2f} %."
    )
