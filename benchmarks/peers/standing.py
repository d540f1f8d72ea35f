"""Who is ahead of whom: in each measure, in both of OCTIS' at once, and beside what others have published."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.contenders import CONTROL, LACONIC
from benchmarks.peers.protocols import LABELS, OCTIS, OCTIS_20
from benchmarks.report import Report

OURS = "laconic.fit"
PUBLISHED: Mapping[str, tuple[float, float]] = {
    "LDA": (0.014, 0.577),
    "NMF": (0.012, 0.549),
    "CTM": (0.094, 0.819),
    "BERTopic": (0.167, 0.794),
    "Top2Vec": (0.171, 0.792),
}
"""NPMI and diversity of BBC News in the paper of BERTopic (arXiv 2203.05794, table 1)."""
PUBLISHED_OF = "octis_bbc_news"
NAMES = {"npmi": "NPMI"}
TITLES = {
    "octis_bbc_news": "OCTIS' BBC News",
    "octis_m10": "OCTIS' M10",
    "bbc_news": "BBC News",
    "ag_news": "AG News",
    "reuters21578": "Reuters-21578",
    "20newsgroups": "20 Newsgroups",
}
NOTES = {OCTIS.name: ", OCTIS' protocol", OCTIS_20.name: ", OCTIS' protocol with 20 topics"}
MEASURES = {
    OCTIS.name: ("npmi", "diversity"),
    OCTIS_20.name: ("npmi", "diversity"),
    LABELS.name: ("npmi", "diversity", "stability", "purity", "accuracy"),
}


def is_peer(row: Mapping[str, Any]) -> bool:
    return row["family"] not in (LACONIC, CONTROL)


def ahead(rows: Sequence[Mapping[str, Any]], measures: Sequence[str], ours: str = OURS) -> str:
    """In words: who is ahead of laconic's defaults, in what, and whom these are ahead of in everything.

    The means decide, also where intervals overlap.
    """
    own = next((row for row in rows if row["what"] == ours), None)
    if own is None:
        return f"{ours} has no result here."
    others = [row for row in rows if is_peer(row)]
    sentences = []
    for what in measures:
        better = [row["what"] for row in others if row[what].value > own[what].value]
        named = NAMES.get(what, what)
        sentences.append(f"in {named}: {', '.join(better) or 'none'}")
    beaten = [row["what"] for row in others if all(row[what].value < own[what].value for what in measures)]
    sentences.append(f"behind it in all of these: {', '.join(beaten) or 'none'}")
    return f"Peers ahead of `{ours}` " + "; ".join(sentences) + "."


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def where(protocol: str, collection: str) -> str:
    """A table's name, in few words."""
    return TITLES[collection] + (", K = 20" if protocol == OCTIS_20.name else "")


def leaders(tables: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """For each collection and measure: the best peer, the best of all, and where laconic's defaults stand.

    The place is that among the peers, without laconic's other rows. The means decide, also where intervals
    overlap.
    """
    found = []
    for (protocol, collection), rows in tables.items():
        own = next((row for row in rows if row["what"] == OURS), None)
        peers = [row for row in rows if is_peer(row)]
        if own is None or not peers:
            continue
        for what in MEASURES[protocol]:
            best, peer = (max(some, key=lambda row: row[what].value) for some in (rows, peers))
            place = 1 + sum(row[what].value > own[what].value for row in peers)
            found.append(
                {
                    "where": where(protocol, collection),
                    "measure": NAMES.get(what, what),
                    "peer": f"{peer['what']} {peer[what].value:.3f}",
                    "own": own[what].value,
                    "place": place,
                    "of": len(peers) + 1,
                    "standing": f"{place} of {len(peers) + 1}",
                    "times": peer["times"],
                    "best": f"{best['what']} {best[what].value:.3f}",
                }
            )
    return found


LEADERS_COLUMNS = {
    "where": ("collection", str),
    "measure": ("measure", str),
    "peer": ("best peer", str),
    "own": (OURS, "{:.3f}".format),
    "standing": (f"place of {OURS}", str),
    "times": (f"CPU time, best peer ÷ {OURS}", "{:,.1f}".format),
    "best": ("best of all rows", str),
}


def ahead_in_all(tables: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]) -> list[str]:
    """The peers that are ahead of laconic's defaults in every measure of a table, and which table that is."""
    found = []
    for (protocol, collection), rows in tables.items():
        for own in (row for row in rows if row["what"] == OURS):
            found += [
                f"{row['what']} on {where(protocol, collection)}"
                for row in rows
                if is_peer(row) and all(row[what].value > own[what].value for what in MEASURES[protocol])
            ]
    return found


def add_leaders(report: Report, found: list[dict[str, Any]], in_all: Sequence[str] = ()) -> None:
    """The table of who is ahead in what, and what it comes to."""
    report.add("Who is ahead", found, LEADERS_COLUMNS)
    counts = []
    for measure in dict.fromkeys(row["measure"] for row in found):
        rows = [row for row in found if row["measure"] == measure]
        counts.append(f"in {measure} in {sum(row['place'] == 1 for row in rows)} of {len(rows)} tables")
    report.page.append(
        f"`{OURS}` is ahead of all peers {', '.join(counts)}. Peers ahead of it in every measure of a table: "
        f"{listed(in_all)}. Its place in a table is that among the peers, without "
        "laconic's other models and weightings; the last column counts them, too. The means decide, also "
        "where intervals overlap. Rows of different days are compared here, so small ratios of CPU time may "
        "be the machine's. Diversity means little alone: topics whose words never occur together are "
        "diverse, too.\n"
    )


NPMI_ONLY, DIVERSITY_ONLY, BOTH = (True, False), (False, True), (True, True)


@dataclass(frozen=True)
class Rival:
    """One whom a row is compared with in NPMI and diversity, measured here or published."""

    name: str
    npmi: float
    diversity: float

    def ahead_of(self, row: Mapping[str, Any]) -> tuple[bool, bool]:
        """Whether it is ahead of a row in NPMI, and in diversity."""
        return self.npmi > row["npmi"].value, self.diversity > row["diversity"].value

    def is_behind(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is ahead of it in both numbers at once."""
        return row["npmi"].value > self.npmi and row["diversity"].value > self.diversity

    def __str__(self) -> str:
        return f"{self.name} ({self.npmi:.3f}, {self.diversity:.3f})"


def peers_of(rows: Sequence[Mapping[str, Any]]) -> list[Rival]:
    """The peers of a table."""
    return [Rival(row["what"], row["npmi"].value, row["diversity"].value) for row in rows if is_peer(row)]


def published_of(collection: str) -> list[Rival]:
    """What others have published of a collection, if anything."""
    published = PUBLISHED if collection == PUBLISHED_OF else {}
    return [Rival(f"{name}, published", *numbers) for name, numbers in published.items()]


def both_rows(own: Sequence[Mapping[str, Any]], rivals: Sequence[Rival]) -> list[dict[str, Any]]:
    """For each row: who is ahead of it in NPMI alone, in diversity alone, and in both at once."""
    kinds = {"npmi": NPMI_ONLY, "diversity": DIVERSITY_ONLY, "both": BOTH}
    return [
        {
            "what": row["what"],
            "own": f"{row['npmi'].value:.3f}, {row['diversity'].value:.3f}",
            **{
                what: "; ".join(str(rival) for rival in rivals if rival.ahead_of(row) == kind) or "nobody"
                for what, kind in kinds.items()
            },
        }
        for row in own
    ]


BOTH_COLUMNS = {
    "what": ("what", str),
    "own": ("NPMI, diversity", str),
    "npmi": ("ahead of it in NPMI only", str),
    "diversity": ("ahead of it in diversity only", str),
    "both": ("ahead of it in both", str),
}


def add_both(report: Report, rows: Sequence[Mapping[str, Any]], collection: str) -> None:
    """Who is ahead in NPMI and diversity at once, by the full protocol of OCTIS."""
    own = [row for row in rows if row["family"] == LACONIC]
    peers, published = peers_of(rows), published_of(collection)
    if not (own and peers):
        return
    report.add(f"Both numbers at once: {TITLES[collection]}", both_rows(own, peers + published), BOTH_COLUMNS)

    def leading(rivals: Sequence[Rival]) -> str:
        return listed(row["what"] for row in own if all(rival.is_behind(row) for rival in rivals))

    beaten = [row["what"] for row in own if any(rival.ahead_of(row) == BOTH for rival in peers + published)]
    told = {
        "every published row": leading(published) if published else None,
        "every peer that ran here": leading(peers),
    }
    lines = [f"Ahead of {whom} in both numbers at once: {who}." for whom, who in told.items() if who]
    lines += [
        "Nobody is ahead in both numbers at once of: "
        f"{listed(row['what'] for row in own if row['what'] not in beaten)}.",
        f"Somebody is ahead in both numbers at once of: {listed(beaten)}.",
        "Peers that no row of laconic is ahead of in both numbers at once: "
        f"{listed(peer.name for peer in peers if not any(peer.is_behind(row) for row in own))}.",
    ]
    bullets = "\n".join(f"- {line}" for line in lines)
    report.page.append(f"The two numbers are NPMI and diversity, means over all K and seeds.\n\n{bullets}\n")


def published_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The published rows, and where laconic's defaults stand to each."""
    own = next((row for row in rows if row["what"] == OURS), None)
    published = []
    for name, (npmi, diversity) in PUBLISHED.items():
        differences = (
            ""
            if own is None
            else (f"{own['npmi'].value - npmi:+.3f}, {own['diversity'].value - diversity:+.3f}")
        )
        published.append({"what": name, "npmi": npmi, "diversity": diversity, "ours": differences})
    return published


def add_published(report: Report, rows: Sequence[Mapping[str, Any]]) -> None:
    """The table of published numbers."""
    report.add(
        "OCTIS' BBC News, published",
        published_rows(rows),
        {
            "what": ("what", str),
            "npmi": ("NPMI", "{:.3f}".format),
            "diversity": ("diversity", "{:.3f}".format),
            "ours": (f"{OURS} minus this", str),
        },
    )
    leading = [
        row["what"]
        for row in rows
        if all(row["npmi"].value > npmi and row["diversity"].value > one for npmi, one in PUBLISHED.values())
    ]
    report.page.append(
        f"Ahead of every published row in both numbers at once: {', '.join(leading) or 'none'}.\n\n"
        "These numbers are from the BERTopic paper ([arXiv 2203.05794](https://arxiv.org/abs/2203.05794), "
        "table 1), with the same files, protocol, K and number of runs; none of them was measured here. Its "
        "LDA and NMF are gensim's, which were also run here. Its sentence vectors come from a larger "
        "encoder, all-mpnet-base-v2.\n"
    )
