"""Several texts of each document: the same rows in every corpus, whatever the format."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from laconic.corpus import Corpus, CorpusError, read_corpora
from laconic.reading import MultimodalDocument, read_modalities

ROWS = [
    {"de": "rote Fische", "en": "red fish", "kind": "a"},
    {"de": "blaue Fische", "en": "", "kind": "b"},
    {"de": None, "en": "blue fish", "kind": "b"},
    {"de": "rote Vögel", "en": "red birds", "kind": "a"},
]
LOOSE = {name: {"min_df": 1, "max_df": 1.0, "stop_words": None} for name in ("german", "english")}
COLUMNS = {"german": "de", "english": "en"}


def write(path, rows=ROWS):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [",".join(rows[0]), *(",".join(value or "" for value in row.values()) for row in rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_every_format_gives_all_texts(tmp_path, suffix):
    path = write(tmp_path / f"pairs.{suffix}")
    expected = [
        MultimodalDocument((row["en"], row["de"] or ""), row["kind"], str(number))
        for number, row in enumerate(ROWS)
    ]
    assert list(read_modalities(path, ["en", "de"], label="kind")) == expected


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_each_corpus_is_that_of_its_column(tmp_path, suffix):
    path = write(tmp_path / f"pairs.{suffix}")
    corpora = read_corpora(path, COLUMNS, label="kind", options=LOOSE)
    assert list(corpora) == ["german", "english"]
    for name, column in COLUMNS.items():
        alone = Corpus.read(path, text=column, label="kind", **LOOSE[name])
        assert corpora[name].vocabulary.tolist() == alone.vocabulary.tolist()
        assert corpora[name].counts.toarray().tolist() == alone.counts.toarray().tolist()
        assert corpora[name].labels.tolist() == alone.labels.tolist()
        assert corpora[name].ids.tolist() == alone.ids.tolist()
        assert corpora[name].reading == alone.reading
        assert corpora[name].n_empty == 1


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"de": {"a": 3}, "en": "sea", "kind": "a"}, "the text 'de' is of type dict; it must be a string"),
        ({"de": "Meer", "en": [7], "kind": "a"}, "the text 'en' is of type list"),
        ({"de": "Meer", "kind": "a"}, "no column 'en'; there are: 'de', 'kind'"),
        ({"de": "Meer", "en": "sea", "kind": None}, "the label is missing"),
    ],
)
def test_a_row_is_left_out_of_all(tmp_path, row, problem):
    path = write(tmp_path / "pairs.jsonl", [ROWS[0], row, ROWS[3]])
    with pytest.raises(CorpusError, match=rf"pairs.jsonl, line 2: {problem}"):
        read_corpora(path, COLUMNS, label="kind", options=LOOSE)
    corpora = read_corpora(path, COLUMNS, label="kind", on_error="skip", options=LOOSE)
    for corpus in corpora.values():
        assert corpus.shape[0] == 2
        assert corpus.n_empty == 0
        assert (corpus.reading.n_rows, corpus.reading.n_skipped) == (3, 1)


def test_columns_of_a_table_are_checked(tmp_path):
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"de": ["Meer"], "en": [3]}), path)
    with pytest.raises(CorpusError, match="the column 'en' holds int64; texts must be strings"):
        list(read_modalities(path, ["de", "en"]))
    with pytest.raises(CorpusError, match="no column 'fr'"):
        list(read_modalities(path, ["de", "fr"]))


def test_half_characters_are_replaced_in_every_text(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"de": "Meer \\ud83d", "en": "sea \\ud83d"}\n')
    assert next(read_modalities(path, ["de", "en"])).texts == ("Meer �", "sea �")


def test_one_column_is_not_several(tmp_path):
    path = write(tmp_path / "pairs.jsonl")
    for texts in (["de"], "de", []):
        with pytest.raises(CorpusError, match="two or more columns of texts"):
            read_modalities(path, texts)


def test_the_medium_without_terms_is_named(tmp_path):
    path = write(tmp_path / "pairs.jsonl", [{"de": "Meer", "en": ""}] * 3)
    with pytest.raises(CorpusError, match="the texts of 'english': no terms found in 3 texts"):
        read_corpora(path, COLUMNS, options=LOOSE)


def test_progress_goes_over_all_passes(tmp_path):
    path = write(tmp_path / "pairs.jsonl")
    size = path.stat().st_size
    reports = []
    read_corpora(path, COLUMNS, options=LOOSE, progress=lambda *report: reports.append(report))
    assert reports == [(size, 2 * size, 4), (2 * size, 2 * size, 4)]


def test_files_that_change_are_told(tmp_path):
    path = write(tmp_path / "pairs.jsonl")

    def change(done, total, n_documents):
        if done < total:
            write(path, ROWS[:2])

    with pytest.raises(CorpusError, match="changed while they were being read"):
        read_corpora(path, COLUMNS, options=LOOSE, progress=change)
