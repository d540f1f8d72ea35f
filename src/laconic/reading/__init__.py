r"""Files and tables to documents, one at a time, and files of counts to matrices.

=================  =====================================================================================
`documents`        one loop over all rows: what is checked, what becomes of bad rows
`ledger`           what was read: rows, rows left out, bytes
`paths`            paths, lists and patterns to sources; the table of formats
`files`            a file as UTF-8 lines, whatever its compression and encoding
`jsonl` and so on  one file for each format: from a source to rows
`counts`           the same for files of counts: `svmlight`, `entries` (Matrix Market, UCI docword)
`rows`             what formats give; `strings` and `dates` are what labels, ids and dates become
`columns`          the names of a file's columns, from its beginning
`links`            links between documents
`queries`          queries; `rankings` has judgements and runs
=================  =====================================================================================

Examples
--------
>>> import tempfile, pathlib
>>> from laconic.reading import read_documents
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "fish.txt")
...     _ = path.write_text("red fish\nblue fish\n")
...     [document.text for document in read_documents(path)]
['red fish', 'blue fish']
"""

from typing import TYPE_CHECKING

from laconic.lazily import lazily

if TYPE_CHECKING:
    from laconic.reading.counts import Counted, Terms, holds_counts, read_counts
    from laconic.reading.documents import (
        Document,
        DocumentStream,
        MultimodalDocument,
        read_documents,
        read_modalities,
        read_table,
    )
    from laconic.reading.ledger import OnError, Progress, Reading
    from laconic.reading.paths import Paths

__all__ = [
    "Counted",
    "Document",
    "DocumentStream",
    "MultimodalDocument",
    "OnError",
    "Paths",
    "Progress",
    "Reading",
    "Terms",
    "holds_counts",
    "read_counts",
    "read_documents",
    "read_modalities",
    "read_table",
]

_HOMES = {
    "laconic.reading.counts": ("Counted", "Terms", "holds_counts", "read_counts"),
    "laconic.reading.documents": (
        "Document",
        "DocumentStream",
        "MultimodalDocument",
        "read_documents",
        "read_modalities",
        "read_table",
    ),
    "laconic.reading.ledger": ("OnError", "Progress", "Reading"),
    "laconic.reading.paths": ("Paths",),
}
__getattr__ = lazily(__name__, {name: home for home, names in _HOMES.items() for name in names})
