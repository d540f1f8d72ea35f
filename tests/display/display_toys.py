"""A reader of HTML that notices what a browser would silently mend."""

from __future__ import annotations

from html.parser import HTMLParser

TAGS = {
    "div", "style", "p", "span", "table", "thead", "tbody", "tr", "th", "td", "mark", "details", "summary",
}  # fmt: skip
ATTRIBUTES = {"class", "style", "title", "scope", "aria-hidden"}


class Page(HTMLParser):
    """Checks that tags are ours, nested and closed; collects the text, that of marks, and the titles."""

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.open, self.texts, self.marks, self.titles, self.rows = [], [], [], [], []
        self.feed(markup)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS, tag
        assert {key for key, _ in attributes} <= ATTRIBUTES, attributes
        for key, value in attributes:
            assert key != "style" or (":" in value and "url" not in value and ";" not in value), value
        self.titles += [value for key, value in attributes if key == "title"]
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        if tag == "mark":
            self.marks.append("")
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.texts.append(data)
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data
        if "mark" in self.open:
            self.marks[-1] += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment

    @property
    def text(self):
        return "".join(self.texts)


def read(shown):
    """The page that an object's representation is; it can be sent, and fetches nothing."""
    markup = shown if isinstance(shown, str) else shown._repr_html_()
    markup.encode("utf-8")
    for outside in ("http:", "https:", "<script", "@import", "url("):
        assert outside not in markup
    return Page(markup)
