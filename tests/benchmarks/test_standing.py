"""Who is ahead of whom, and in which number."""

from benchmarks.peers import standing
from benchmarks.peers.measures import Mean
from benchmarks.report import Report


def row(what, npmi, diversity, family="peers"):
    return {"what": what, "family": family, "npmi": Mean(npmi), "diversity": Mean(diversity)}


def some_rows():
    return [
        row("leader", 0.3, 0.95, "laconic"),
        row("coherent", 0.25, 0.7, "laconic"),
        row("loser", 0.01, 0.5, "laconic"),
        row("diverse", -0.2, 0.9),
        row("middling", 0.2, 0.6),
    ]


def text_about(collection, rows=None):
    report = Report("{headline}", "")
    standing.add_both(report, rows or some_rows(), collection)
    return "\n".join(report.page)


def test_each_row_names_who_is_ahead_of_it_and_in_which_number():
    told = text_about("octis_m10")
    assert "| leader | 0.300, 0.950 | nobody | nobody | nobody |" in told
    assert "| coherent | 0.250, 0.700 | nobody | diverse (-0.200, 0.900) | nobody |" in told
    assert "| loser | 0.010, 0.500 | nobody | diverse (-0.200, 0.900) | middling (0.200, 0.600) |" in told
    assert "- Ahead of every peer that ran here in both numbers at once: leader." in told
    assert "- Nobody is ahead in both numbers at once of: leader, coherent." in told
    assert "- Somebody is ahead in both numbers at once of: loser." in told
    assert "- Peers that no row of laconic is ahead of in both numbers at once: none." in told


def test_a_control_is_neither_a_peer_nor_a_row_of_laconic():
    told = text_about("octis_m10", [*some_rows(), row("shows", 0.9, 0.99, "control")])
    assert "shows" not in told
    assert told == text_about("octis_m10")
    rows = [row("laconic.fit", 0.2, 0.8, "laconic"), row("peer", 0.1, 0.7), row("shows", 0.9, 0.9, "control")]
    assert standing.ahead_in_all({("octis", "octis_m10"): rows}) == []
    assert "in NPMI: none; in diversity: none; behind it in all of these: peer" in standing.ahead(
        rows, ("npmi", "diversity")
    )


def test_published_rows_count_where_they_were_measured():
    assert "published" not in text_about("octis_m10")
    told = text_about(standing.PUBLISHED_OF)
    assert "CTM, published (0.094, 0.819)" in told
    assert "- Ahead of every published row in both numbers at once: leader." in told


def test_who_is_level_is_neither_ahead_nor_behind():
    rows = [row("ours", 0.2, 0.8, "laconic"), row("level", 0.1, 0.8)]
    told = text_about("octis_m10", rows)
    assert "| ours | 0.200, 0.800 | nobody | nobody | nobody |" in told
    assert "- Ahead of every peer that ran here in both numbers at once: none." in told
    assert "- Peers that no row of laconic is ahead of in both numbers at once: level." in told


def test_who_is_ahead_in_every_measure_is_named():
    rows = [
        row("laconic.fit", 0.2, 0.8, "laconic"),
        row("laconic NMF", 0.3, 0.9, "laconic"),
        row("better", 0.3, 0.9),
        row("diverse", 0.1, 0.9),
    ]
    tables = {("octis-20", "octis_m10"): rows, ("octis", "octis_m10"): rows[:2]}
    assert standing.ahead_in_all(tables) == ["better on OCTIS' M10, K = 20"]


def test_nothing_is_said_without_peers():
    assert text_about("octis_m10", some_rows()[:3]) == ""
