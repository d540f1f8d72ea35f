"""Tables 12 and 13 again, with classes that come with the data."""

from __future__ import annotations

from laconic.experiments.gmf import ranking
from laconic.experiments.parts import Desk, Results, Section
from laconic.experiments.retrieval.collections import TITLES
from laconic.experiments.retrieval.titles import LEAST, MIN_DF, MOST, SMALLEST, read_titles
from laconic.experiments.writing import list_of, table

NAMES = ("20newsgroups", "reuters21578")

_TEXT = """ The clusters above are found in the texts that are ranked. Here the classes come with the data,
but the queries do not: titles of held-out articles ask for articles that had appeared before.

- **20 Newsgroups**: documents are the messages of the earlier part of the usual split by date, without
headers, quotations and signatures, and so without subject lines. Classes are the groups. Queries are the
subject lines of threads that go on in the later part; the thread's earlier messages are relevant.
- **Reuters-21578**: documents are the training articles of the ModApte split, and queries the titles of its
test articles. Classes are Reuters' own families of topic codes: companies, commodities, the economy, energy,
and a rest (exchange rates, interest, shipping). Documents that have a code of the query's article are
relevant, so relevance is finer than the classes.

Queries have from {least} to {most} relevant documents, classes at least {smallest} documents, and terms
occur in at least {min_df}. Grids, weights, blends and folds are those above.

{collections}

### Mean average precision, cosine of weights

{cosine}

### Mean average precision, metric of the Gram matrix

{gram}

{conclusions}
"""


def run(quick: bool, desk: Desk) -> Results:
    """Rank by models of all kinds, with real classes."""
    names, most_documents = (NAMES[1:], 600) if quick else (NAMES, None)
    key = f"{ranking.SIZES}, {ranking.ALPHAS}, {LEAST} to {MOST}, {SMALLEST}, {MIN_DF}, {quick}"
    found = {name: desk.keep(f"{name}: {key}", _compared, name, most_documents, quick) for name in names}
    limits = {"least": LEAST, "most": MOST, "smallest": SMALLEST, "min_df": MIN_DF}
    return ranking.summed_up(found) | limits


def _compared(name: str, most_documents: int | None, quick: bool) -> Results:
    collection, classes = read_titles(name, most_documents=most_documents)
    n_relevant = sum(map(len, collection.relevant)) / len(collection.queries)
    return ranking.compared(collection, classes, quick) | {"n_relevant": n_relevant}


def render(results: Results) -> Section:
    """The section about real classes."""
    rows = [
        [
            TITLES[name],
            f"{each['n_documents']:,}",
            f"{each['n_terms']:,}",
            str(len(each["class_sizes"])),
            f"{each['class_sizes'][0]:,} to {each['class_sizes'][-1]:,}",
            str(each["n_queries"]),
            f"{each['n_relevant']:.1f}",
        ]
        for name, each in results["collections"].items()
    ]
    headings = [
        "",
        "documents",
        "terms",
        "classes",
        "their documents",
        "queries",
        "relevant documents of each",
    ]
    text = _TEXT.format(
        **{key: results[key] for key in ("least", "most", "smallest", "min_df")},
        collections=table(headings, rows, "lrrrrrr"),
        cosine=ranking.across(results, "cosine"),
        gram=ranking.across(results, "gram"),
        conclusions=ranking.conclusions(results),
    )
    names = list_of(TITLES[name] for name in results["collections"])
    title = "Rankings with real classes (Tables 12 and 13)"
    return Section(title, text, ranking.findings(results, "real classes", names))
