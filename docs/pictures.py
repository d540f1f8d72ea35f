"""Make the pictures of the manual anew: python docs/pictures.py."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console

from laconic import Bundle, Corpus
from laconic.bundle.listing import Listing
from laconic.cli.commands.demo import TERMS, TERMS_SHOWN, TOPICS
from laconic.cli.screen.tables import labels_column, topics_table
from laconic.models.making import make_model

IMAGES = Path(__file__).parent / "images"


def demo() -> None:
    """The table that `laconic demo` ends with."""
    corpus = Corpus.standard_library(**TERMS)
    model = make_model("rlsi", TOPICS, random_state=0)
    weights = model.fit_transform(corpus.X)
    modules = labels_column(corpus.labels, weights)
    console = Console(record=True, width=104, file=io.StringIO(), force_terminal=True)
    console.print(topics_table(Listing.of(Bundle(model, corpus.vectorizer)), TERMS_SHOWN, extra=modules))
    picture = console.export_svg(title="laconic demo")
    # fonts of the viewer's own machine: a picture should not fetch anything
    picture = re.sub(r"@font-face \{.*?\}\n", "", picture, flags=re.DOTALL)
    (IMAGES / "demo.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    demo()
