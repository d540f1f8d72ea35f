import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from explore_toys import HOSTILE, KINDS, of_size

from laconic.explore import views
from laconic.explore.card import command_of, model_card
from laconic.explore.pages.drawing import draw_map, draw_tree
from laconic.explore.pages.rendering import asset
from laconic.explore.report import report_html, summary, write_report
from laconic.steering.tree import Branch

EMPTY = {"area", "base", "br", "circle", "hr", "img", "input", "link", "meta", "path", "rect"}


class Page(HTMLParser):
    """What a page consists of; tags must be closed in their order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.text, self.scripts, self.styles = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        {"script": self.scripts, "style": self.styles}.get(inside, self.text).append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    @property
    def ids(self):
        return [attrs["id"] for _, attrs in self.tags if "id" in attrs]


@pytest.fixture(scope="module")
def pages():
    return {kind: report_html(made(), documents=2) for kind, made in KINDS.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_reports_are_sound_and_fetch_nothing(pages, kind):
    page = Page(pages[kind])
    assert len(page.ids) == len(set(page.ids))
    for tag, attrs in page.tags:
        assert "style" not in attrs, "what a policy would refuse"
        assert not any(name.startswith("on") for name in attrs)
        for name in ("src", "href", "action", "data", "srcset"):
            if name in attrs:
                assert (tag, name) == ("a", "href")
                assert attrs[name].startswith("#")
                assert attrs[name][1:] in page.ids
    assert not re.search(r"url\(|@import|https?:", "".join(page.styles + page.scripts))


@pytest.mark.parametrize("kind", KINDS)
def test_the_policy_allows_just_our_script(pages, kind):
    page = Page(pages[kind])
    (policy,) = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == "'none'"
    for name, found in (("script-src", page.scripts), ("style-src", page.styles)):
        (text,) = ["".join(found)]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert allowed[name] == f"'sha256-{digest}'"
    assert "".join(page.scripts) == asset("look.js")


def test_what_documents_contain_stays_text():
    page = Page(report_html(KINDS["flat"](), documents=60, title=HOSTILE))
    assert len(page.all("script")) == 1
    assert not page.all("img")
    assert "".join(page.text).count(HOSTILE) > 3


def test_documents_are_in_it_on_request_only(tmp_path):
    bundle = KINDS["flat"]()
    given = bundle.documents
    plain = report_html(bundle)
    for text, id in zip(given.texts, given.ids, strict=True):
        assert text[:40] not in plain
        assert f"{id}<" not in plain
    assert "contains no documents" in plain
    path = bundle.report(tmp_path / "with.html", documents=1)
    assert "Typical documents" in path.read_text("utf-8")


def test_every_topic_has_a_card_a_row_and_a_circle(pages):
    page = Page(pages["group"])
    for topic in range(8):
        assert f"topic-{topic}" in page.ids
        assert len([attrs for _, attrs in page.tags if attrs.get("data-topic") == str(topic)]) >= 4


def test_a_hundred_topics_are_less_than_a_megabyte():
    assert len(report_html(of_size(100, 3000, 40)).encode()) < 1_000_000


def test_of_very_many_topics_the_largest_have_cards():
    page = Page(report_html(of_size(700)))
    assert len(page.all("article")) == 500
    assert "200 smaller topics are in the table only" in " ".join(page.text)


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_few_topics(n_topics):
    page = Page(report_html(of_size(n_topics)))
    assert len(page.all("article")) == n_topics


def test_the_summary_is_in_words():
    said = " ".join(summary(views.overview(KINDS["flat"]())))
    assert "60 documents were read, from 2015-03-01 to 2022-03-28, in 3 classes." in said
    assert "described by 4 topics of at most 6 words each" in said
    assert "account for" in said
    assert " ".join(summary(views.overview(KINDS["no_documents"]()))).startswith("There are 3 topics")


def test_a_report_is_written_whole_or_not_at_all(tmp_path):
    bundle = KINDS["flat"]()
    path = tmp_path / "report.html"
    path.write_text("before")
    with pytest.raises(ValueError, match="documents"):
        write_report(bundle, path, documents=-1)
    assert path.read_text() == "before"
    assert bundle.report(path) == path
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(ValueError, match="is a directory"):
        bundle.report(tmp_path)
    with pytest.raises(ValueError, match="there is no directory"):
        bundle.report(tmp_path / "none" / "report.html")


def test_the_same_model_gives_the_same_bytes():
    bundle = KINDS["group"]()
    assert report_html(bundle) == report_html(bundle)


@pytest.mark.parametrize("kind", ["flat", "dense", "group"])
def test_the_line_does_make_it_again(kind):
    import numpy as np

    import laconic

    bundle = KINDS[kind]()
    given = bundle.documents
    names = {"laconic": laconic, "DATA": list(given.texts), "LABELS": given.labels, "DATES": given.dates}
    line = command_of(bundle)
    assert "tol" not in line, "what is so anyway is not said"
    again = eval(line, names)  # our own line, of our own bundle
    assert again.model.data_hash_ == bundle.model.data_hash_
    a, b = (
        one.toarray() if hasattr(one, "toarray") else one
        for one in (again.model.components_, bundle.model.components_)
    )
    np.testing.assert_array_equal(a, b)


def test_the_card_has_hash_parameters_and_versions():
    bundle = KINDS["flat"]()
    lines = dict(model_card(bundle).lines)
    assert bundle.model.data_hash_ in lines["Data"]
    assert "n_components=4" in lines["Parameters"]
    assert "numpy" in lines["Versions"]


def test_labels_on_the_map_do_not_cover_each_other():
    drawn = draw_map(views.topic_map(of_size(60)))
    boxes = [
        (c.x - 3.2 * len(c.label), c.label_y - 11, c.x + 3.2 * len(c.label), c.label_y + 3)
        for c in drawn.circles
        if c.label
    ]
    assert len(boxes) > 20
    for place, a in enumerate(boxes):
        for b in boxes[:place]:
            assert a[0] >= b[2] - 0.5 or b[0] >= a[2] - 0.5 or a[1] >= b[3] - 0.5 or b[1] >= a[3] - 0.5


def test_a_deep_tree_is_drawn():
    tree = Branch([0], "a", 0.0)
    for topic in range(1, 3000):
        tree = Branch([*tree.topics, topic], "", float(topic), [tree, Branch([topic], "b", 0.0)])
    drawn = draw_tree(tree)
    # the names of the topics stand where the lines end
    ends = [float(line.rsplit(" ", 1)[1].split(",")[0]) for line in drawn.lines]
    assert max(ends) == drawn.width + 2
    assert [leaf[0] for leaf in drawn.leaves] == list(range(3000))
    assert len(drawn.lines) == 2 * 2999
