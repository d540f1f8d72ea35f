"""Documents on three themes, in files of several formats."""

import csv
import itertools
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq

THEMES = {
    "fruit": ["apple", "pear", "plum", "cherry", "grape", "lemon", "mango", "quince"],
    "cars": ["engine", "wheel", "brake", "gear", "clutch", "diesel", "motor", "axle"],
    "music": ["violin", "cello", "flute", "oboe", "trumpet", "drum", "piano", "größe"],
}


def documents(n_documents=90, seed=0):
    rng = random.Random(seed)
    rows = []
    for number in range(n_documents):
        kind = rng.choice(list(THEMES))
        words = rng.choices(THEMES[kind], k=10) + rng.choices(["noise", "sound", "thing", "The"], k=3)
        rng.shuffle(words)
        rows.append({"body": " ".join(words), "kind": kind, "key": f"doc-{number}"})
    return rows


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(path, rows, encoding="utf-8"):
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_parquet(path, rows):
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_svmlight(path, counts, labels):
    lines = [
        f"{label} " + " ".join(f"{term + 1}:{count:g}" for term, count in entries)
        for label, entries in zip(labels, _by_rows(counts), strict=True)
    ]
    return write_lines(path, lines)


def write_matrix_market(path, counts):
    header = ["%%MatrixMarket matrix coordinate integer general", "% counts"]
    sizes = f"{counts.shape[0]} {counts.shape[1]} {counts.nnz}"
    return write_lines(path, [*header, sizes, *_entries(counts)])


def write_docword(path, counts):
    return write_lines(path, [*counts.shape, counts.nnz, *_entries(counts)])


def _entries(counts):
    return [
        f"{row} {term + 1} {count:g}"
        for row, entries in enumerate(_by_rows(counts), start=1)
        for term, count in entries
    ]


def _by_rows(counts):
    for start, stop in itertools.pairwise(counts.indptr):
        yield zip(counts.indices[start:stop], counts.data[start:stop], strict=True)
