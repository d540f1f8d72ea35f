"""A fit in a process of its own, under a hard limit of memory: what its plan says."""

import re
import resource
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from laconic import Corpus
from laconic.bundle import planning
from laconic.bundle.fitting import fit_bundle, plan_of
from laconic.engines import shards
from laconic.models.making import make_model

N_DOCUMENTS, N_TERMS, PER_DOCUMENT = 100_000, 40_000, 100


def corpus(folder):
    """Counts of Zipfian words, on the disk."""
    rng = np.random.default_rng(0)
    size = N_DOCUMENTS * PER_DOCUMENT
    terms = (N_TERMS * rng.random(size, dtype=np.float32) ** 3).astype(np.int32)
    indptr = np.arange(0, size + 1, PER_DOCUMENT)
    counts = csr_array((np.ones(size, np.float32), terms, indptr), shape=(N_DOCUMENTS, N_TERMS))
    counts.sum_duplicates()
    labels = [f"class{n % 3}" for n in range(N_DOCUMENTS)]
    words = [f"w{n}" for n in range(N_TERMS)]
    Corpus.from_counts(counts, words, labels, weighting="tfidf").save(folder)
    return Corpus.load(folder)


def owned():
    """What the limit holds for, in bytes."""
    return 1024 * int(re.search(r"VmData:\s+(\d+)", Path("/proc/self/status").read_text())[1])


def main(name, folder, where):
    """Fit twice: some documents, so that all is compiled and loaded, and all of them under the limit."""
    warnings.simplefilter("ignore")
    shards.NONZEROS_PER_SHARD = planning.NONZEROS_PER_SHARD = 1 << 19
    whole = corpus(folder)
    model = make_model(name, random_state=0, max_iter=3, n_jobs=2)
    few = Corpus.from_counts(whole.counts[:300], whole.vocabulary, whole.labels[:300], weighting="tfidf")
    fit_bundle(make_model(name, random_state=0, max_iter=3, n_jobs=2), {"": few}, keep_documents=False)
    most = plan_of(model, {"": whole}, None).total
    plan = plan_of(model, {"": whole}, most - 1)
    assert plan.folder is not None
    limit = owned() + plan.total - planning.PROGRAM
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    room = plan.room if where == "files" else None
    fit_bundle(model, {"": whole}, keep_documents=False, room=room)
    print(f"fitted within {limit - owned()} bytes of the limit, {plan.total} planned, {most} in memory")


if __name__ == "__main__":
    main(*sys.argv[1:])
