"""The explorer under load: pages of a large model, one after another, and many clients at once.

Run as ``python -m benchmarks.explorer``: 100,000 generated documents with texts, 20,000 terms, 500 topics of
40 words; then the server in a process of its own, on loopback.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote, urlsplit

import numpy as np
from scipy.sparse import csr_array

from laconic import RLSI, Bundle, Corpus
from laconic.bundle import Documents
from laconic.corpus import Vectorizer

SEED = 0


def generated(n_documents: int, n_terms: int, n_topics: int) -> Bundle:
    """A model with documents, labels, dates and texts, as a fit would leave it."""
    rng = np.random.default_rng(SEED)
    names = np.array([f"word{j:05}" for j in range(n_terms)])
    spread = 1 / np.arange(1, n_terms + 1)
    spread /= spread.sum()
    words = np.concatenate([np.sort(rng.choice(n_terms, 40, replace=False)) for _ in range(n_topics)])
    topics = csr_array(
        (rng.random(len(words)) + 0.1, words, 40 * np.arange(n_topics + 1)), shape=(n_topics, n_terms)
    )
    own = rng.integers(0, n_topics, (n_documents, 3))
    common = rng.choice(n_terms, (n_documents, 20), p=spread)
    texts, rows, columns = [], [], []
    for number in range(n_documents):
        said = np.concatenate(
            [words[40 * topic + rng.integers(0, 40, 20)] for topic in own[number]] + [common[number]]
        )
        texts.append(" ".join(names[said]))
        rows.append(np.full(len(said), number))
        columns.append(said)
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    counts = csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=(n_documents, n_terms))
    counts.sum_duplicates()
    vectorizer = Vectorizer.from_dict({"weighting": "tfidf"}, names.tolist(), idf=np.ones(n_terms))
    corpus = Corpus(
        counts,
        vectorizer,
        ids=np.array([f"document-{number}" for number in range(n_documents)]),
        labels=np.array([f"class-{number % 20}" for number in range(n_documents)]),
        dates=np.datetime64("2015-01-01") + rng.integers(0, 3650, n_documents).astype("timedelta64[D]"),
    ).with_texts(texts)
    weights = csr_array(
        (rng.random(3 * n_documents).astype(np.float32), own.ravel(), 3 * np.arange(n_documents + 1)),
        shape=(n_documents, n_topics),
    )
    weights.sum_duplicates()
    model = RLSI(n_topics, topic_norm="l0", terms_per_topic=40, nonnegative="both")
    model.components_, model.n_features_in_, model.n_iter_ = topics.astype(np.float32), n_terms, 1
    model.objective_history_, model.data_hash_ = np.array([1.0]), "generated"
    model.alpha_topics_, model.alpha_docs_ = 0.0, 0.1
    return Bundle(model, vectorizer, documents=Documents({"": corpus}, {"": weights}))


def pages(n_documents: int, n_topics: int) -> dict[str, list[str]]:
    """Addresses of each kind of page."""
    rng = np.random.default_rng(SEED)
    some = rng.integers(0, n_topics, 40)
    return {
        "overview": [
            f"/?first={100 * (k % 5)}&order={order}" for k, order in enumerate(["share", "name"] * 20)
        ],
        "topic": [f"/topics/{k}" for k in some],
        "word": [f"/word?term=word{j:05}" for j in rng.integers(0, 20_000, 40)],
        "document": [f"/document?id=document-{d}" for d in rng.integers(0, n_documents, 40)],
        "search": [f"/search?q=word{a:05}+word{b:05}" for a, b in rng.integers(0, 20_000, (40, 2))],
        "compare": [f"/compare?first={a}&second={b}" for a, b in zip(some, some[::-1], strict=True)],
        "class": [f"/class?name=class-{k % 20}" for k in some],
        "classes": ["/classes"] * 40,
        "time": ["/time"] * 40,
        "near": ["/near"] * 40,
    }


class Server:
    """``laconic serve`` in a process of its own."""

    def __init__(self, path: Path) -> None:
        command = [str(Path(sys.executable).with_name("laconic")), "serve", str(path), "--port", "0"]
        began = time.perf_counter()
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        said = ""
        for line in self.process.stderr:  # type: ignore[union-attr]
            said += line.strip()
            if found := re.search(r"(http://\S+?)\?token=([\w-]{40,})", said):
                break
        self.seconds = time.perf_counter() - began
        self.address, self.token = found.groups()  # type: ignore[union-attr]
        self.port = urlsplit(self.address).port

    def memory(self) -> float:
        """Resident megabytes."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]

    async def get(self, reader_writer, path: str) -> int:
        """Ask over a connection that is open; gives the status."""
        reader, writer = reader_writer
        head = f"GET {quote(path, safe='/?=&+-')} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
        writer.write(f"{head}Authorization: Bearer {self.token}\r\n\r\n".encode())
        await writer.drain()
        status = int((await reader.readline()).split()[1])
        length = 0
        while (line := (await reader.readline()).strip()) != b"":
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        await reader.readexactly(length)
        return status

    def cpu(self) -> float:
        """Milliseconds of processor that it has taken."""
        parts = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    async def open(self):
        """A connection."""
        return await asyncio.open_connection("127.0.0.1", self.port)


async def one_after_another(
    server: Server, asked: dict[str, list[str]]
) -> dict[str, tuple[list[float], float]]:
    """Milliseconds of every page, and those of processor that one takes in the mean."""
    connection = await server.open()
    found = {}
    for kind, paths in asked.items():
        times, cpu = [], server.cpu()
        for path in paths:
            began = time.perf_counter()
            status = await server.get(connection, path)
            times.append(1000 * (time.perf_counter() - began))
            assert status == 200, (path, status)
        found[kind] = times, (server.cpu() - cpu) / len(paths)
    return found


async def many(
    server: Server, asked: dict[str, list[str]], n_clients: int, seconds: float
) -> dict[str, float]:
    """Clients that ask one page after another, all at once."""
    paths = [path for one in asked.values() for path in one]
    ends, counts, wrong, slow = time.perf_counter() + seconds, [0], [0], []

    async def client(number: int) -> None:
        connection = await server.open()
        place = number
        while time.perf_counter() < ends:
            began = time.perf_counter()
            status = await server.get(connection, paths[place % len(paths)])
            slow.append(time.perf_counter() - began)
            counts[0] += 1
            wrong[0] += status != 200
            place += 7
        connection[1].close()

    before = server.memory()
    results = await asyncio.gather(*(client(number) for number in range(n_clients)), return_exceptions=True)
    wrong[0] += sum(isinstance(one, Exception) for one in results)
    return {
        "clients": n_clients,
        "pages": counts[0],
        "errors": wrong[0],
        "pages a second": counts[0] / seconds,
        "median ms": 1000 * statistics.median(slow),
        "MB before": before,
        "MB after": server.memory(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--topics", type=int, default=500)
    parser.add_argument("--model", type=Path, help="where the model is kept, for the next run")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        if given.model is not None:
            path = given.model
        if not (path / "model.json").exists():
            generated(given.documents, 20_000, given.topics).save(path)
        server = Server(path)
        try:
            asked = pages(given.documents, given.topics)
            print(f"starts in {server.seconds:.1f} s, {server.memory():.0f} MB; {os.cpu_count()} cores")
            print(f"load before: {os.getloadavg()[0]:.1f}")
            asyncio.run(one_after_another(server, asked))
            times = asyncio.run(one_after_another(server, asked))
            every = [one for found, _ in times.values() for one in found]
            cpu = statistics.mean(cost for _, cost in times.values())
            for kind, (found, cost) in [*times.items(), ("all", (every, cpu))]:
                p50, p95 = statistics.median(found), np.quantile(found, 0.95)
                print(f"{kind:10} median {p50:6.1f} ms  p95 {p95:6.1f} ms  processor {cost:6.1f} ms")
            if given.clients:
                asyncio.run(many(server, asked, given.clients, 5))
                print(json.dumps(asyncio.run(many(server, asked, given.clients, given.seconds)), indent=1))
        finally:
            server.process.terminate()
            server.process.wait()


if __name__ == "__main__":
    main()
