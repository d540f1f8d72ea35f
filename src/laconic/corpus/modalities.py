"""Documents with several texts, such as translations: a corpus for each modality, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from laconic.corpus.corpus import Corpus, Given
from laconic.corpus.options import VectorizerOptions
from laconic.corpus.vectorizer import Vectorizer
from laconic.errors import CorpusError
from laconic.reading import (
    Document,
    DocumentStream,
    MultimodalDocument,
    OnError,
    Paths,
    Progress,
    read_modalities,
)


def read_corpora(
    path: Paths,
    texts: Mapping[str, str],
    *,
    label: str | None = None,
    id: str | None = None,
    date: str | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    on_error: OnError = "raise",
    max_documents: int | None = None,
    progress: Progress | None = None,
    keep_texts: bool = False,
    options: Mapping[str, VectorizerOptions] | None = None,
) -> dict[str, Corpus]:
    r"""Read documents with several texts: one corpus for each modality, with the same rows.

    Files are read once per modality, so that texts need not be kept.

    Parameters
    ----------
    path : str or path, or a list of them
        Files with columns: ``.jsonl``, ``.csv``, ``.tsv`` or ``.parquet``, as in `Corpus.read`.
    texts : mapping of str to str
        The column of each modality, by name; two or more. An empty text, or null, means that the document
        lacks that modality: its row is empty.
    label, id, date, encoding, delimiter, on_error, max_documents
        As in `Corpus.read`. A row that is skipped is left out of all corpora.
    progress : callable or None, default=None
        As in `Corpus.read`; bytes are counted once for each modality.
    keep_texts : bool, default=False
        As in `Corpus.read`.
    options : mapping of str to mapping, optional
        Those of `Vectorizer` for each modality, by its name.

    Returns
    -------
    dict of str to Corpus
        In the order of `texts`; row n of each is document n.

    Raises
    ------
    CorpusError
        If the files cannot be used; the message names the line, or the modality, and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "pairs.csv")
    ...     _ = path.write_text("de,en\nrote Fische,red fish\nblaue Fische,blue fish\nblaue,\n")
    ...     options = {"english": {"max_df": 1.0}, "german": {"max_df": 1.0}}
    ...     corpora = read_corpora(path, {"german": "de", "english": "en"}, options=options)
    >>> corpora["english"]
    Corpus(3 documents x 1 term, 2 non-zeros, 1 empty document)
    >>> corpora["german"].vocabulary
    array(['blaue', 'fische'], dtype=object)
    """
    corpora: dict[str, Corpus] = {}
    for number, name in enumerate(texts):
        documents = read_modalities(
            path,
            list(texts.values()),
            label=label,
            id=id,
            date=date,
            encoding=encoding,
            delimiter=delimiter,
            on_error=on_error,
            max_documents=max_documents,
            progress=None if progress is None else _in_all(progress, number, len(texts)),
        )
        one = _OneText(documents, number)
        try:
            vectorizer = Vectorizer(**(options or {}).get(name, {}))
            given = Given(label is not None, date is not None, keep_texts)
            corpus = Corpus.of_documents(one, given, vectorizer, vectorizer.fit_count)
        except CorpusError as error:
            if not one.complete:
                raise
            raise CorpusError(f"the texts of {name!r}: ", error) from error
        corpus.reading = documents.reading
        corpora[name] = corpus
    if len({corpus.shape[0] for corpus in corpora.values()}) > 1:
        raise CorpusError("the files changed while they were being read; read them again")
    return corpora


class _OneText:
    """The documents with the text of one modality; `complete` when all are read."""

    def __init__(self, documents: DocumentStream[MultimodalDocument], number: int) -> None:
        self.complete = False
        self._documents = documents
        self._number = number

    def __iter__(self) -> Iterator[Document]:
        for texts, label, name, date, _ in self._documents:
            yield Document(texts[self._number], label, name, date)
        self.complete = True


def _in_all(progress: Progress, number: int, n_modalities: int) -> Progress:
    """Count the bytes of all passes over the files, of which this is one."""

    def tell(done: int, total: int | None, n_documents: int) -> object:
        if total is None:
            return progress(done, None, n_documents)
        return progress(number * total + done, n_modalities * total, n_documents)

    return tell
