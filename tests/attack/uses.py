"""What people do with each kind of stored directory, on toys of each."""

import contextlib
import shutil
from pathlib import Path

import numpy as np

import laconic
from laconic import PLSA, RLSI, Corpus, GraphPLSA, GroupNMF, GroupRLSI, SearchIndex, SparseLSA
from laconic.bundle import Bundle
from laconic.bundle.chosen import Chosen, Tried
from laconic.bundle.history import undo
from laconic.bundle.pending import keep_asked, keep_found, pending
from laconic.engines.checkpoints import Checkpoint, check_saved
from laconic.explore import views
from laconic.search.ltr import Ranker
from laconic.steering.edits import obstacle
from laconic.steering.refitting import found_before
from stored_files import edit

HERE = Path(__file__).parent.parent
TEXTS = ["sun and moon", "salt, pepper and chilli", "stars", "", "unheard of"]
DOCUMENTS = [
    "sun moon stars", "moon stars sun sun", "stars sun moon", "salt pepper chilli", "pepper chilli salt salt",
    "chilli salt pepper", "sun salt", "moon pepper stars",
]  # fmt: skip
LABELS = ["sky", "sky", "sky", "food", "food", "food", "sky", "food"]
DATES = [f"202{n}-01-0{n + 1}" for n in range(8)]
OTHER = [
    "sonne mond",
    "mond sterne",
    "sterne sonne",
    "salz pfeffer",
    "pfeffer salz",
    "salz",
    "sonne salz",
    "mond",
]
QUERIES = {"q": "sun moon", "r": "salt unheard"}
FITS = {
    "rlsi": {"model": "rlsi", "n_topics": 2},
    "rlsi-signed": {"model": "rlsi", "n_topics": 3, "nonnegative": False, "alpha_topics": 0.1, "words": None},
    "nmf": {"model": "nmf", "n_topics": 2},
    "nmf-kl": {"model": "nmf-kl", "n_topics": 2},
    "plsa": {"model": "plsa", "n_topics": 2},
    "sparse-lsa": {"model": "sparse-lsa", "n_topics": 2},
    "group-rlsi": {"model": "group-rlsi", "n_shared": 1, "n_per_class": 1},
    "group-nmf": {"model": "group-nmf", "n_shared": 1, "n_per_class": 1},
    "graph-plsa": {"model": "graph-plsa", "n_topics": 2, "n_neighbors": 2},
}
# Fits that are interrupted; all steps that keep something of their own are among them.
COUNTS = np.random.default_rng(0).poisson(1.0, (30, 14)).astype(np.float32)
UNFINISHED = {
    "checkpoint-rlsi-l1": RLSI(3, alpha_topics=0.1, max_iter=12, tol=0, random_state=0),
    "checkpoint-rlsi-l0": RLSI(3, topic_norm="l0", terms_per_topic=4, doc_norm="l1", max_iter=12, tol=0),
    "checkpoint-group-rlsi": GroupRLSI(1, 2, alpha_topics=0.1, max_iter=12, tol=0, random_state=0),
    "checkpoint-plsa": PLSA(3, max_iter=20, tol=0, random_state=0),
    "checkpoint-graph-plsa": GraphPLSA(3, n_neighbors=2, max_iter=20, tol=0, random_state=0),
    "checkpoint-sparse-lsa": SparseLSA(3, max_iter=20, tol=0, random_state=0),
}
# Models that go on with more documents, of which they keep sums.
BATCHES = {
    "batches-rlsi": RLSI(3, alpha_topics=0.1, max_iter=12, random_state=0),
    "batches-plsa": PLSA(3, max_iter=12, random_state=0),
    "batches-group-nmf": GroupNMF(1, 2, max_iter=12, random_state=0),
    "batches-sparse-lsa": SparseLSA(3, max_iter=12, random_state=0),
}


class Interrupted(BaseException):
    """What ends a process in the middle of a fit."""


def go_on(kind, path, halves=None):
    """Fit with a checkpoint, from where it is; to the end, or up to some half steps."""
    seen = []

    def watch(progress):
        seen.append(progress)
        if len(seen) == halves:
            raise Interrupted

    checkpoint = Checkpoint(path, every=60 if halves is None else 0, keep=True)
    return UNFINISHED[kind].fit(COUNTS, *classes(kind), checkpoint=checkpoint, callback=watch)


def classes(kind):
    """What is fitted to, besides counts."""
    return (np.arange(len(COUNTS)) % 2,) if "-group-" in kind else ()


def make(kind, path):
    """Write a directory of a kind."""
    if kind in UNFINISHED:
        # Late enough for steps that begin with plain ones.
        with contextlib.suppress(Interrupted):
            go_on(kind, path, halves=29)
        assert check_saved(path).iteration > 1
    elif kind in BATCHES:
        BATCHES[kind].partial_fit(COUNTS, *classes(kind)).save(path)
    elif kind in FITS:
        fitted(**FITS[kind]).save(path)
    elif kind == "bundle-1":
        # as the first version wrote it: a model and its vocabulary
        bundle = fitted(**FITS["rlsi-signed"])
        Bundle(bundle.model, bundle.vectorizer).save(path)
        edit(path, lambda document: document.update(format_version=1))
    elif kind == "edited":
        bundle = fitted(model="rlsi", n_topics=4)
        bundle.chosen = Chosen(4, "so it is", ("few documents",), 8, 2, (Tried(4, *[0.5] * 6),))
        bundle.save(path)
        bundle = bundle.edit().rename(0, "night").forbid(["chilli"], 0).freeze(1).apply()
        bundle.save(path)
        bundle.edit().drop(3).apply().save(path)
    elif kind == "vectors":
        bundle = laconic.fit(DOCUMENTS, n_topics=2, min_df=1, max_df=1.0, stop_words=None, random_state=0)
        SearchIndex(bundle, vectors=np.eye(8, 3)).save(path)
    elif kind == "refit":
        make("graph-plsa", path)
        bundle = laconic.load(path)
        keep_asked(path, "drop 1", {"kind": "drop"}, bundle.version)
        keep_found(path, bundle.edit().drop(1).apply())
    elif kind == "multimodal":
        texts = {"english": DOCUMENTS, "german": OTHER}
        options = {"min_df": 1, "max_df": 1.0, "stop_words": None, "random_state": 0, "n_topics": 2}
        laconic.fit(texts, model="multimodal-plsa", **options).save(path)
    elif kind == "corpus":
        corpus = Corpus.from_texts(
            DOCUMENTS, labels=LABELS, ids=list("abcdefgh"), dates=DATES, min_df=1, max_df=1.0, keep_texts=True
        )
        corpus.save(path)
    elif kind == "ranker":
        Ranker.load(HERE / "search/ranker-format-1", index()).save(path)
    else:
        raise ValueError(kind)


def fitted(texts=DOCUMENTS, **options):
    """A bundle of texts with all that can be known of them."""
    usual = {"min_df": 1, "max_df": 1.0, "stop_words": None, "random_state": 0}
    return laconic.fit(texts, labels=LABELS, dates=DATES, **usual | options)


FIXTURES = {
    "bundle-2-plsa": "bundle/format-2-plsa",
    "bundle-3": "bundle/format-3",
    "index-1": "search/index-format-1",
    "index-1-groups": "search/index-format-1-groups",
    "index-1-modalities": "search/index-format-1-modalities",
    "corpus-1": "corpus/corpus-format-1",
    "corpus-2": "corpus/corpus-format-2",
    "ranker-1": "search/ranker-format-1",
}
OTHERS = ["multimodal", "vectors", "refit", "edited", "corpus", "ranker", "bundle-1"]
KINDS = [*FITS, *OTHERS, *FIXTURES, *BATCHES, *UNFINISHED]


def index():
    """What rankers of the fixture were learnt with."""
    if not _INDEX:
        _INDEX.append(laconic.load(HERE / "bundle/format-3").index)
    return _INDEX[0]


_INDEX = []


def use(kind, path, scratch):
    """Load a directory, and do with it what people do."""
    if kind in UNFINISHED:
        check_saved(path)
        shutil.copytree(path, scratch)
        go_on(kind, scratch)
    elif kind.startswith("ranker"):
        ranker = Ranker.load(path, index())
        ranker.rank(QUERIES)
        ranker.importance  # noqa: B018
        ranker.save(scratch)
    elif kind.startswith("corpus"):
        corpus = Corpus.load(path)
        corpus.X  # noqa: B018
        corpus.vectorize(TEXTS)
        repr(corpus), corpus._repr_html_()
        corpus.save(scratch)
    elif kind in BATCHES:
        bundle = laconic.load(path)
        bundle.topics()
        # classes of its own, whatever they are called
        known = [bundle.model.classes_[y % len(bundle.model.classes_)] for y in classes(kind)]
        bundle.model.partial_fit(COUNTS, *known)
        bundle.save(scratch)
    elif kind == "refit":
        use_bundle(found_before(laconic.load(path), pending(path)), scratch)
    else:
        use_bundle(laconic.load(path), scratch)
        if kind == "edited":
            shutil.copytree(path, scratch / "undone")
            undo(scratch / "undone")
            laconic.load(scratch / "undone")


def use_bundle(bundle, scratch):
    bundle.topics()
    bundle.topic_words(3)
    repr(bundle), bundle._repr_html_()
    for name in bundle.modalities or [None]:
        with (
            contextlib.suppress(ValueError)
            if bundle.vectorizer is None and not bundle.modalities
            else _plain()
        ):
            bundle.transform(TEXTS, modality=name)
    if bundle.documents is not None:
        bundle.documents_of(0)
        repr(bundle.documents)
        modality = next(iter(bundle.documents.corpora)) if bundle.modalities else None
        if bundle.documents.vectors is not None:
            asked = np.ones(bundle.documents.vectors.shape[1])
            bundle.index.explain("sun", bundle.index.search("sun salt", vector=asked).ids[0], vector=asked)
        results = bundle.search("sun salt moon", 3, modality=modality)
        repr(results), results._repr_html_()
        edit_topics(bundle)
    look_at(bundle)
    bundle.save(scratch)


def edit_topics(bundle):
    """Topics merged, and found anew where documents are kept for it."""
    living = bundle.notes.living
    if obstacle(bundle) is None and len(living) > 1 and not bundle.notes.frozen:
        # the first one may be of all classes
        bundle.edit().merge(living[0], living[-1]).apply()


def look_at(bundle):
    """What the explorer shows."""
    views.overview(bundle)
    views.topic(bundle, bundle.notes.living[0])
    views.topic_map(bundle), views.tree(bundle), views.nearest_pairs(bundle)
    if bundle.documents is not None:
        views.document(bundle, bundle.documents.ids[0])
        views.labels(bundle)
        if bundle.documents.dates is not None:
            views.time(bundle)


@contextlib.contextmanager
def _plain():
    yield
