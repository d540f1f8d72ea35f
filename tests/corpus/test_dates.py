"""Dates of documents: what is understood, what is refused, and that they survive."""

from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic import Corpus, CorpusError
from laconic.reading import read_documents
from laconic.reading.dates import as_date, as_dates
from stored_files import npy, swap

DAY = np.datetime64("2026-11-16", "s")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2026-11-16", DAY),
        ("  2026-11-16\n", DAY),
        ("20261116", DAY),
        ("2026/11/16", DAY),
        ("2026/11/16 17:53", DAY + np.timedelta64(17 * 60 + 53, "m")),
        ("2026-W47-1", DAY),
        ("2026", np.datetime64("2026", "s")),
        ("2026-11", np.datetime64("2026-11", "s")),
        ("2026-11-16T17:53:07", np.datetime64("2026-11-16T17:53:07")),
        ("2026-11-16 17:53:07.999", np.datetime64("2026-11-16T17:53:07")),
        ("2026-11-16T17:53:07Z", np.datetime64("2026-11-16T17:53:07")),
        ("2026-11-16T18:53:07+01:00", np.datetime64("2026-11-16T17:53:07")),
        ("Mon, 16 Nov 2026 18:53:07 +0100", np.datetime64("2026-11-16T17:53:07")),
        ("16 Nov 2026 17:53:07 GMT", np.datetime64("2026-11-16T17:53:07")),
        (2026, np.datetime64("2026", "s")),
        (2026.0, np.datetime64("2026", "s")),
        (date(2026, 11, 16), DAY),
        (datetime(2026, 11, 16, 17), DAY + np.timedelta64(17, "h")),
        (datetime(2026, 11, 16, 1, tzinfo=timezone(timedelta(hours=1))), DAY),
        (pd.Timestamp("2026-11-16"), DAY),
        (np.datetime64("2026-11-16"), DAY),
    ],
)
def test_what_is_understood(written, meant):
    assert as_date(written) == meant


@pytest.mark.parametrize(
    "missing", [None, "", "  ", float("nan"), np.float32("nan"), pd.NaT, np.datetime64("NaT")]
)
def test_what_is_missing(missing):
    assert np.isnat(as_date(missing))


@pytest.mark.parametrize(
    "written",
    [
        "03/04/2026",
        "yesterday",
        "2026-13-01",
        "2026-02-30",
        20261116,
        12,
        True,
        3.5,
        b"2026",
        [],
        "9" * 99,
        "0000",
        np.datetime64("12026-01-01"),
        np.datetime64(10**15, "Y"),
        np.datetime64(-(2**62), "s"),
    ],
)
def test_what_is_refused(written):
    with pytest.raises(CorpusError, match="is not understood; write it as 2026-11-16"):
        as_date(written)


@given(st.datetimes(min_value=datetime(1000, 1, 1)))
def test_every_moment_is_read_back(moment):
    found = as_date(moment.isoformat())
    assert found == np.datetime64(moment.replace(microsecond=0), "s")
    aware = moment.replace(tzinfo=UTC).isoformat()
    assert as_date(aware) == found


def test_the_place_of_a_bad_one_is_told():
    with pytest.raises(CorpusError, match="document 1: the date 'soon' is not understood"):
        as_dates(["2026", "soon"])
    with pytest.raises(CorpusError, match="not one string"):
        as_dates("2026")


ROWS = [("red fish", "2026-11-16"), ("blue fish", ""), ("red bird", "2024")]


@pytest.fixture(params=["csv", "jsonl", "parquet", "table", "texts"])
def corpus(request, tmp_path):
    table = pd.DataFrame(ROWS, columns=["text", "day"])
    path = tmp_path / f"rows.{request.param}"
    if request.param == "csv":
        table.to_csv(path, index=False)
    elif request.param == "jsonl":
        table.to_json(path, orient="records", lines=True)
    elif request.param == "parquet":
        table.to_parquet(path)
    elif request.param == "table":
        return Corpus.from_table(table, date="day", keep_texts=True, min_df=1)
    else:
        return Corpus.from_texts(table.text, dates=table.day, keep_texts=True, min_df=1)
    return Corpus.read(path, date="day", keep_texts=True, min_df=1)


def test_dates_and_texts_are_read_and_saved(corpus, tmp_path):
    expected = np.array(["2026-11-16", "NaT", "2024-01-01"], "datetime64[s]")
    np.testing.assert_array_equal(corpus.dates, expected)
    assert list(corpus.texts) == [text for text, _ in ROWS]
    corpus.save(tmp_path / "corpus")
    loaded = Corpus.load(tmp_path / "corpus")
    np.testing.assert_array_equal(loaded.dates, expected)
    assert list(loaded.texts) == list(corpus.texts)
    assert loaded.with_texts(None).texts is None
    both = loaded.extended(
        Corpus(loaded.counts[:1], loaded.vectorizer, ids=["new"], dates=[None], texts=["red"])
    )
    assert np.isnat(both.dates[-1])
    assert both.texts[3] == "red"


def test_a_row_with_a_bad_date_is_a_bad_row(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("text,day\nred fish,2026\nblue fish,someday\n")
    with pytest.raises(CorpusError, match=r"line 3: the date 'someday' is not understood"):
        list(read_documents(path, date="day"))
    found = read_documents(path, date="day", on_error="skip")
    assert [document.date for document in found] == [np.datetime64("2026", "s")]
    assert found.reading.n_skipped == 1


def test_corpora_of_the_same_length():
    with pytest.raises(CorpusError, match="2 dates for 3 documents"):
        Corpus.from_texts(["a fish", "fish", "fish b"], dates=["2026", None])
    corpus = Corpus.from_texts(["red fish", "blue fish"], min_df=1, max_df=1.0)
    with pytest.raises(CorpusError, match="1 texts for 2 documents"):
        corpus.with_texts(["one"])


def test_a_corpus_written_by_the_second_format_is_still_read():
    corpus = Corpus.load(Path(__file__).with_name("corpus-format-2"))
    assert corpus.ids.tolist() == list("abcdef")
    assert corpus.dates.astype(str).tolist()[1:4] == ["2025-01-01T00:00:00", "NaT", "2024-02-01T00:00:00"]
    assert corpus.texts[5] == "chilli & salt <b>"
    assert corpus.shape == (6, 6)


def test_dates_out_of_the_calendar_are_refused_in_arrays_and_in_saved_corpora(tmp_path):
    far = np.array(["2026-11-16", "NaT", "12026-01-01"], "datetime64[s]")
    texts, options = ["sun moon", "moon", "sun"], {"min_df": 1, "max_df": 1.0}
    with pytest.raises(CorpusError, match="document 2: its date is not in the years 1 to 9999"):
        Corpus.from_texts(texts, dates=far, **options)
    Corpus.from_texts(texts, dates=[*far[:2].tolist(), None], **options).save(tmp_path)
    swap(tmp_path, "dates", npy(far.astype(np.int64)))
    with pytest.raises(CorpusError, match=r"dates-.*the years 1 to 9999"):
        Corpus.load(tmp_path)
