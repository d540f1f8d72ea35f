"""A fit in a process of its own, under a hard limit of memory: what its plan says."""

import re
import resource
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.linalg
from numba.core.dispatcher import Dispatcher
from scipy.sparse import csr_array

from laconic import Corpus
from laconic.bundle import planning
from laconic.bundle.fitting import fit_bundle, plan_of
from laconic.engines import room, shards
from laconic.models.making import make_model

N_DOCUMENTS, N_TERMS, PER_DOCUMENT = 100_000, 40_000, 100
N_WARM = 400


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


def compiled():
    """Kernels that are in memory: a kernel for other types of arrays is another one."""
    modules = [module for name, module in sys.modules.items() if name.startswith("laconic.kernels")]
    kernels = {
        value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)
    }
    return {(str(kernel), types) for kernel in kernels for types in kernel.signatures}


def warm_up(name, whole, folder, place):
    """Fit some documents, from the disk and in files as all of them will be: all is compiled and loaded then.

    LLVM takes memory as well, and ends the process where it gets none.
    """
    usual = room.SMALL, shards.NONZEROS_PER_SHARD
    room.SMALL, shards.NONZEROS_PER_SHARD = 0, N_WARM * PER_DOCUMENT // 4
    few = Corpus.from_counts(
        whole.counts[:N_WARM], whole.vocabulary, whole.labels[:N_WARM], weighting="tfidf"
    )
    few.save(folder)
    fit_bundle(made(name), {"": Corpus.load(folder)}, keep_documents=False, room=place)
    room.SMALL, shards.NONZEROS_PER_SHARD = usual
    # both libraries for matrices keep what they took once
    square = np.ones((1000, 1000))
    scipy.linalg.blas.dgemm(1.0, square, square @ square)


def made(name):
    """A model that works on one core: each more, computing at the same moment, takes 32 MB for good."""
    return make_model(name, random_state=0, max_iter=3, n_jobs=1)


def main(name, folder, where):
    """Fit twice: some documents, so that all is compiled and loaded, and all of them under the limit."""
    warnings.simplefilter("ignore")
    shards.NONZEROS_PER_SHARD = planning.NONZEROS_PER_SHARD = 1 << 19
    whole = corpus(folder)
    model = made(name)
    most = plan_of(model, {"": whole}, None).total
    plan = plan_of(model, {"": whole}, most - 1)
    assert plan.folder is not None
    place = plan.room if where == "files" else None
    warm_up(name, whole, f"{folder}-few", place)
    known = compiled()
    limit = owned() + plan.total - planning.PROGRAM
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    fit_bundle(model, {"": whole}, keep_documents=False, room=place)
    assert compiled() == known, compiled() - known
    print(f"fitted within {limit - owned()} bytes of the limit, {plan.total} planned, {most} in memory")


if __name__ == "__main__":
    main(*sys.argv[1:])
