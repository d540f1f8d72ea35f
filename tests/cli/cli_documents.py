"""Documents on three themes, in files of several formats."""

import csv
import json
import random

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
