"""The page: tables, who is ahead of whom, and a picture of quality against time, all of them from results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.contenders import LACONIC, Contender, contenders
from benchmarks.peers.measures import Mean, mean_of
from benchmarks.peers.protocols import LABELS, OCTIS, PROTOCOLS, SEEDS, Protocol, is_at_hand
from benchmarks.peers.standing import (
    MEASURES,
    NOTES,
    OURS,
    PUBLISHED_OF,
    TITLES,
    add_both,
    add_leaders,
    add_published,
    ahead,
    ahead_in_all,
    leaders,
)
from benchmarks.peers.store import Store, source_state
from benchmarks.report import Columns, Report

from laconic.experiments.figures import Chart, Charts, Line, write_pictures

PICTURE = "peers.svg"
PICTURED = ((OCTIS, "octis_bbc_news"), (LABELS, "bbc_news"))
NOT_PICTURED = (
    "laconic RLSI (tfidf)",
    "laconic RLSI (log-entropy)",
    "laconic RLSI (bm25)",
    "laconic.fit (distinct)",
    "laconic NMF (distinct)",
    "scikit-learn NMF, listed by laconic (distinct)",
    "turftopic S3",
)
"""All but the last lie on others, and the last so low that all others would lie on each other."""
PAGE = """# laconic and its peers

{headline}

Written by `make bench-peers` and `make bench-peers-encoders`; every number is measured, except those
marked as published. Each contender runs in its own process on one thread, with the settings that its
manual starts with; laconic runs with its defaults, whatever they are.

- Peers get the same words as laconic: words that begin with a letter, without English stop words, in at
  least two documents and in at most half of them.
- Matrix factorisations get tf-idf weights (except gensim's NMF, which OCTIS runs on counts), and LDA gets
  counts. tomotopy draws 500 times. gensim's LDA makes one pass, its default.
- BERTopic starts with clusters of five, as in its paper, and merges them. turftopic's models run with their
  defaults. These four start from sentence vectors of all-MiniLM-L6-v2, which reads the first 256 tokens of
  a text. The vectors are computed once for all of them, and every fit is charged for the time and memory of
  those it uses. FASTopic ignores its `random_state`, so its fits are seeded from outside; where all documents
  at once would not fit into memory, it takes them in batches.
- laconic's defaults were chosen on 20 Newsgroups, Reuters-21578 and Ohsumed, and confirmed on BBC News, M10
  and DBLP ([how](performance-topics.md)), so these texts are not new to them. OCTIS' file of BBC News had no
  part in it, but its articles are those of BBC News.

Times run from texts to topics, after a first small fit, so they exclude imports and compilation. There is
CPU time and wall time; the machine is shared, so look at the CPU time. ± is half a 95 % interval over
{seeds} seeds. The best value in a column is bold. A topic is its ten heaviest words. Rows stay as they were
measured until they are measured again; `results/peers.json` has them all.

Rows called "distinct" are the same topics as those above them, with each word listed only in the topic where
it is strongest (`laconic topics --distinct`). It needs no setting, and any topics can be listed so: a row
shows what it does to scikit-learn's NMF, and counts neither as laconic's nor as a peer.
"""

OCTIS_WORDS = """{name} as OCTIS ships it (tokens, closed vocabulary, all documents), by OCTIS' protocol. NPMI
is gensim's `c_npmi`, counted on the collection itself. Diversity is the share of distinct words among the ten
words of all topics. Means over K = {sizes} and {seeds} seeds each."""
LABELS_WORDS = """{name}, K = {sizes}, {seeds} seeds. NPMI and stability come from topics of two random
halves of the documents. NPMI is counted on the half that was held out. Stability is the share of 20 words
in common when the topics of the two halves are matched one to one. Purity and accuracy come from all
documents: purity is that of the strongest topics, accuracy that of logistic regression on the weights, on a
held-out third. Memory is the peak of the process. Model sizes are those saved by each package, with
vocabulary, without documents or encoder. All contenders get the same halves and the same held-out
documents, so differences are more certain than the intervals suggest, which also cover the choice of
halves."""


def title_of(protocol: Protocol, collection: str) -> str:
    """What a table is called."""
    return TITLES[collection] + NOTES.get(protocol.name, "")


def means_of(result: Mapping[str, Any]) -> dict[str, list[float | None]] | None:
    """The mean and the margin of every measure; None where nothing was run."""
    if "runs" not in result:
        return result.get("means")
    runs = result["runs"]
    measured = [what for what in runs[0] if what not in ("n_topics", "seed", "topics")]
    means = {what: mean_of(runs, what) for what in measured}
    if "peak" in means:
        # Of the first fit: later ones come after measures, which take memory, too.
        means["peak"] = Mean(runs[0]["peak"])
    means["found"] = Mean(sum(run["found"] for run in runs) / sum(run["n_topics"] for run in runs))
    return {what: [mean.value, mean.margin] for what, mean in means.items()}


def all_means(store: Store, everyone: Sequence[Contender]) -> dict[str, Any]:
    """What is known of every contender on every collection, in few numbers, or why it failed."""
    kept = {}
    for protocol in PROTOCOLS.values():
        for collection in protocol.collections:
            for contender in everyone:
                result = store.read(protocol.name, collection, contender.key) or {}
                means = means_of(result)
                name = f"{protocol.name}/{collection}/{contender.key}"
                if means is not None:
                    told = {what: result[what] for what in ("versions", "source", "day") if what in result}
                    kept[name] = {**told, "means": means}
                elif "failed" in result:
                    kept[name] = {"failed": result["failed"]}
    return kept


def summaries(
    store: Store, protocol: Protocol, collection: str, everyone: Sequence[Contender]
) -> list[dict[str, Any]]:
    """A row for each contender that has results, the most coherent first."""
    rows = []
    for contender in everyone:
        means = means_of(store.read(protocol.name, collection, contender.key) or {})
        if means is not None:
            row = {what: Mean(*pair) for what, pair in means.items()}
            rows.append(
                {"what": contender.name, "family": contender.family, **row, "found": row["found"].value}
            )
    own = next((row["cpu"].value for row in rows if row["what"] == OURS), float("nan"))
    for row in rows:
        row["times"] = row["cpu"].value / own
    return sorted(rows, key=lambda row: -row["npmi"].value)


def share(mean: Mean) -> str:
    """A measure between -1 and 1, with its interval."""
    margin = "" if mean.margin is None else f" ± {mean.margin:.3f}"
    return f"{mean.value:.3f}{margin}"


def plain(form: str, factor: float = 1.0) -> Callable[[Mean], str]:
    """A mean without its interval."""
    return lambda mean: form.format(mean.value * factor)


def embolden(
    rows: Sequence[Mapping[str, Any]], best: Mapping[str, Callable[..., Any]]
) -> Callable[[str, Any], bool]:
    """Tells whether a value is the best of its column."""
    tops = {what: choose(row[what].value for row in rows) for what, choose in best.items() if rows}
    return lambda what, mean: what in tops and mean.value == tops[what]


def columns_of(
    rows: Sequence[Mapping[str, Any]], shown: Mapping[str, tuple[str, Callable[[Any], str], Any]]
) -> Columns:
    """Columns of a table; what is best in its own is bold."""
    is_best = embolden(rows, {what: choose for what, (_, _, choose) in shown.items() if choose})

    def form(what: str, written: Callable[[Any], str]) -> Callable[[Any], str]:
        return lambda value: f"**{written(value)}**" if is_best(what, value) else written(value)

    return {
        what: (heading, form(what, written) if choose else written)
        for what, (heading, written, choose) in shown.items()
    }


COST = {
    "cpu": ("CPU s", plain("{:,.2f}"), min),
    "times": (f"times {OURS}", "{:,.1f}".format, None),
    "wall": ("s", plain("{:,.2f}"), min),
}
OCTIS_COLUMNS = {
    "what": ("what", str, None),
    "npmi": ("NPMI", share, max),
    "diversity": ("diversity", share, max),
    "found": ("topics of K", "{:.0%}".format, None),
    **COST,
}
LABELS_COLUMNS = {
    "what": ("what", str, None),
    "npmi": ("NPMI, held out", share, max),
    "diversity": ("diversity", share, max),
    "stability": ("stability", share, max),
    "purity": ("purity", share, max),
    "accuracy": ("accuracy", share, max),
    **COST,
    "peak": ("peak MB", plain("{:,.0f}", 2**-20), min),
    "bytes": ("model MB", plain("{:,.2f}", 2**-20), min),
}


def absences(store: Store, everyone: Sequence[Contender]) -> list[str]:
    """What has no result, and why: a line for each collection and reason."""
    lines = []
    for protocol in PROTOCOLS.values():
        for collection in protocol.collections:
            reasons: dict[str, list[str]] = {}
            for contender in everyone:
                result = store.read(protocol.name, collection, contender.key) or {}
                if means_of(result) is None:
                    why = result.get("missing") or result.get("failed") or "not run yet"
                    reasons.setdefault(why, []).append(contender.name)
            if list(map(len, reasons.values())) == [len(everyone)]:
                why = "nobody has run it yet" if is_at_hand(collection) else "its data are not at hand here"
                lines.append(f"{title_of(protocol, collection)}: nothing, because {why}.")
            else:
                named = (f"{', '.join(names)} ({why})" for why, names in reasons.items())
                lines += [f"{title_of(protocol, collection)}: {each}." for each in named]
    return lines


def outdated(store: Store, everyone: Sequence[Contender]) -> list[str]:
    """The collections with rows of laconic that were measured before its source changed."""
    state = source_state()
    found = []
    for protocol in PROTOCOLS.values():
        for collection in protocol.collections:
            results = (
                store.read(protocol.name, collection, contender.key) or {}
                for contender in everyone
                if contender.family == LACONIC
            )
            if any(means_of(result) is not None and result.get("source") != state for result in results):
                found.append(title_of(protocol, collection))
    return found


def undated(store: Store, everyone: Sequence[Contender]) -> list[str]:
    """The rows of which only rounded means are left, without the day of their runs, by collections."""
    found = []
    for protocol in PROTOCOLS.values():
        for collection in protocol.collections:
            results = {each.name: store.read(protocol.name, collection, each.key) or {} for each in everyone}
            names = [name for name, result in results.items() if "means" in result and "day" not in result]
            if names:
                found.append(f"{title_of(protocol, collection)}: {', '.join(names)}.")
    return found


def versions(store: Store, everyone: Sequence[Contender]) -> str:
    """The versions of all packages that were run."""
    found: dict[str, str] = {}
    for contender in everyone:
        for protocol in PROTOCOLS.values():
            for collection in protocol.collections:
                result = store.read(protocol.name, collection, contender.key) or {}
                for name, number in result.get("versions", {}).items():
                    found[name.lower().replace("_", "-")] = number
    return ", ".join(f"{name} {number}" for name, number in found.items())


def chart_of(
    protocol: Protocol, collection: str, rows: Sequence[Mapping[str, Any]], everyone: Sequence[Contender]
) -> Chart:
    """NPMI against CPU seconds: a colour for each family, and a mark for each of its members."""
    families = list(dict.fromkeys(contender.family for contender in everyone))
    by_name = {row["what"]: row for row in rows}
    lines = {}
    for style, family in enumerate(families):
        members = [contender.name for contender in everyone if contender.family == family]
        for mark, name in enumerate(members):
            if name in by_name:
                point = (by_name[name]["cpu"].value, by_name[name]["npmi"].value)
                lines[name] = Line([point], style=style, mark=mark)
    held_out = ", held out" if protocol is LABELS else ""
    return Chart(TITLES[collection] + held_out, "CPU seconds, texts to topics", "NPMI", lines)


def half_measured(pictured: Mapping[str, Sequence[Mapping[str, Any]]], shared: Collection[str]) -> str:
    """Who is not in the picture because they ran on one of its collections only, as a sentence."""
    told = dict.fromkeys(row["what"] for rows in pictured.values() for row in rows)
    names = [name for name in told if name not in shared and name not in NOT_PICTURED]
    return f" {', '.join(names)} did not run on both collections." if names else ""


def write_page(store: Store, page: Path | None) -> None:
    """Print the tables; and write them, and the picture, where asked for."""
    everyone = contenders()
    report = Report(PAGE.replace("{seeds}", str(len(SEEDS))), f"Versions: {versions(store, everyone)}.")
    tables = {
        (protocol.name, collection): rows
        for protocol in PROTOCOLS.values()
        for collection in protocol.collections
        if (rows := summaries(store, protocol, collection, everyone))
    }
    if found := leaders(tables):
        add_leaders(report, found, ahead_in_all(tables))
    for collection in OCTIS.collections:
        add_both(report, tables.get((OCTIS.name, collection), []), collection)
    for (name, collection), rows in tables.items():
        protocol = PROTOCOLS[name]
        words, columns = (
            (LABELS_WORDS, LABELS_COLUMNS) if protocol is LABELS else (OCTIS_WORDS, OCTIS_COLUMNS)
        )
        report.add(title_of(protocol, collection), rows, columns_of(rows, columns))
        sizes = ", ".join(map(str, protocol.sizes))
        explained = words.format(name=TITLES[collection], sizes=sizes, seeds=len(SEEDS))
        report.page.append(f"{explained}\n\n{ahead(rows, MEASURES[name])}\n")
        if protocol is OCTIS and collection == PUBLISHED_OF:
            add_published(report, rows)
    pictured = {name: tables.get((protocol.name, name), []) for protocol, name in PICTURED}
    shared = set.intersection(*({row["what"] for row in rows} for rows in pictured.values()))
    shared -= set(NOT_PICTURED)
    if shared:
        report.page.append(
            f"## Quality against time\n\n![NPMI against CPU seconds](images/{PICTURE})\n\n"
            "Up and to the left is better; the horizontal axis is logarithmic. For want of room the picture "
            f"is without {', '.join(NOT_PICTURED[:-1])} and {NOT_PICTURED[-1]}; the tables have them."
            f"{half_measured(pictured, shared)}\n"
        )
    if older := outdated(store, everyone):
        report.page.append(
            "## Older rows\n\nSome of laconic's rows were measured before its source last changed: those for "
            f"{', '.join(older)}. `--only laconic --again` measures them again.\n"
        )
    if rounded := undated(store, everyone):
        bullets = "\n".join(f"- {line}" for line in rounded)
        report.page.append(
            "## Rows without a date\n\nOf these rows, only rounded means are left, from an earlier state of "
            f"the benchmark. `--again` measures them again.\n\n{bullets}\n"
        )
    lacking = absences(store, everyone)
    report.page.append("## Not run\n\n" + ("\n".join(f"- {line}" for line in lacking) or "Nothing.") + "\n")
    report.write(None, page)
    if page:
        store.keep(all_means(store, everyone))
    if page and shared:
        chosen = [contender for contender in everyone if contender.name in shared]
        charts = [chart_of(protocol, name, pictured[name], chosen) for protocol, name in PICTURED]
        images = page.parent / "images"
        images.mkdir(exist_ok=True)
        write_pictures({PICTURE: Charts(charts)}, images)
