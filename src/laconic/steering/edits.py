"""Edits of topics: pure functions from a draft to the next; `refitting` makes a model of the last.

Numbers of topics never move. A topic that is dropped, or merged into another, leaves an empty row behind,
whose number is not used again; a split, or a new seed, adds topics at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse, vstack

from laconic.bundle.notes import Notes, Returns
from laconic.errors import ParameterError
from laconic.losses.starts import unit_budget
from laconic.steering.contexts import context_target
from laconic.steering.inputs import inputs_of, lacking_links
from laconic.steering.tree import tree_of
from laconic.words import enumerated

if TYPE_CHECKING:
    from laconic.bundle import Bundle, Documents

PARTS = 2
"""Into how many a topic is split."""


@dataclass(frozen=True)
class Draft:
    """Topics on their way from one version to the next.

    Parameters
    ----------
    bundle : Bundle
        What is edited; it is not changed.
    rows : csr_array of shape (n_topics, n_terms)
        The topics as a refit finds them.
    notes : Notes
        Names, and what was retired, frozen and forbidden.
    owners : tuple of int
        Of each topic the number of the class that owns it; -1 for those of all documents.
    free : frozenset of int
        Topics whose words are to be found anew.
    held : frozenset of int
        Those of them that are held where the draft has them: they may follow the documents a little.
    seeds : mapping of int to csr_array of shape (1, n_terms)
        Where topics are held that are wanted by some words.
    did : tuple of str
        What was done, as one would type it.
    merged_names : mapping of int to str
        What topics were called when they were merged into others.
    """

    bundle: Bundle
    rows: csr_array
    notes: Notes
    owners: tuple[int, ...]
    free: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()
    seeds: Mapping[int, csr_array] = field(default_factory=dict)
    did: tuple[str, ...] = ()
    merged_names: Mapping[int, str] = field(default_factory=dict)

    @property
    def n_topics(self) -> int:
        """How many rows there are, those of retired topics with them."""
        return int(self.rows.shape[0])

    @property
    def lost_names(self) -> dict[int, str]:
        """Names that no topic has any more, by the topics that had them and were merged into others."""
        return {k: name for k, name in self.merged_names.items() if name not in self.notes.names}

    def number(self, topic: int | str) -> int:
        """The number of a topic that is still there, by number or name."""
        if isinstance(topic, str):
            found = self.notes.number(topic)
        elif (
            isinstance(topic, int | np.integer) and not isinstance(topic, bool) and 0 <= topic < self.n_topics
        ):
            found = int(topic)
        else:
            raise ParameterError(f"there is no topic {topic!r}: topics are 0 to {self.n_topics - 1}")
        self.notes.check_living(found)
        return found


def draft_of(bundle: Bundle) -> Draft:
    """The draft that nothing was done to yet."""
    owners = tuple(bundle.model.owner_numbers.tolist())
    return Draft(bundle, csr_array(bundle.model.components_, copy=True), bundle.notes, owners)


def obstacle(bundle: Bundle) -> str | None:
    """Why the topics of a bundle can be renamed, but not edited; None if they can be."""
    if "anchors" in bundle.model.get_params(deep=False):
        return None
    return (
        f"topics of {type(bundle.model).__name__} form one orthonormal basis, which rotates as a whole, so "
        f"none can change while the others stay"
    )


def check_editable(bundle: Bundle, *, anew: bool = False) -> None:
    """Refuse what the topics of a bundle do not allow; `anew`: if they have to be found in the documents."""
    why = obstacle(bundle)
    if why is not None:
        raise ParameterError(f"{why}: they can be renamed, but not edited")
    why = lacking_links(bundle) if anew else None
    if why is not None:
        raise ParameterError(f"{why}: they can be merged, dropped and frozen, but not found anew")


def rename(draft: Draft, topic: int | str, name: str | None) -> Draft:
    """Give a topic a name, or take it away."""
    number = draft.number(topic)
    did = f"rename {number} {name}" if name is not None else f"rename {number}"
    return _done(replace(draft, notes=draft.notes.renamed(number, name)), did)


def merge(draft: Draft, *topics: int | str) -> Draft:
    """Make one topic of several: it has the number of the first, and its name.

    If the first has none, it takes the name of a topic that makes up more than half of it, and else none.
    """
    check_editable(draft.bundle)
    numbers = list(dict.fromkeys(draft.number(topic) for topic in topics))
    if len(numbers) < 2:
        raise ParameterError("name two topics or more to merge")
    first, *others = numbers
    strange = [k for k in others if draft.owners[first] not in (-1, draft.owners[k])]
    if strange:
        raise ParameterError(
            f"topic {strange[0]} is not of the class of topic {first}, whose documents alone would have it: "
            "merge topics of one class, or into a shared one, which is named first"
        )
    masses = _masses(draft)[numbers]
    shares = masses / masses.sum() if masses.sum() > 0 else np.full(len(numbers), 1 / len(numbers))
    row = csr_array(shares[None, :].astype(draft.rows.dtype)) @ draft.rows[numbers]
    notes, largest = draft.notes, int(shares.argmax())
    name = notes.names[first]
    if name is None and shares[largest] > 1 / 2:
        name = notes.names[numbers[largest]]
    notes = _retired(notes, others, f"merged into {first}").renamed(first, name)
    called = {k: name for k in others if (name := draft.notes.names[k]) is not None}
    draft = replace(draft, notes=notes, merged_names={**draft.merged_names, **called})
    draft = _with_rows(draft, {first: row} | dict.fromkeys(others))
    _check_classes(draft)
    # free, it would leave one of them for the other
    return _done(_held(draft, first), f"merge {' '.join(map(str, numbers))}")


def split(draft: Draft, topic: int | str, into: int = PARTS) -> Draft:
    """Make several topics of one: a small model is fitted to the documents that have most of it.

    The part that is most like the topic keeps its number and name; the others come after all topics.
    """
    check_editable(draft.bundle, anew=True)
    number = draft.number(topic)
    if type(into) is not int or into < 2:
        raise ParameterError(f"a topic is split into two or more, not {into!r}")
    weights = _dense(_kept(draft, "split").weights)
    own = weights[:, number] if number < weights.shape[1] else np.zeros(len(weights))
    members = np.flatnonzero((own > 0) & (own >= weights.max(axis=1)))
    if len(members) < 2 * into:
        raise ParameterError(
            f"topic {number} is the largest of {len(members)} documents: too few to split it into {into}"
        )
    model = draft.bundle.model
    small = model.of_owners(np.full(into, -1)).set_params(verbose=0, max_iter=50, **unsteered(model))
    inputs_of(draft.bundle).some(members).fit(small)
    parts = csr_array(small.components_)
    likeness = np.asarray((parts @ draft.rows[[number]].T).toarray()).ravel() / _norms(parts)
    order = np.argsort(-likeness, kind="stable")
    new = list(range(draft.n_topics, draft.n_topics + into - 1))
    rows = {topic: parts[[k]] for topic, k in zip([number, *new], order, strict=True)}
    draft = _with_rows(_longer(draft, len(new), draft.owners[number]), rows)
    return _done(_freed(draft, number, *new), f"split {number}" + (f" {into}" if into != PARTS else ""))


def drop(draft: Draft, *topics: int | str) -> Draft:
    """Take topics away; their documents get the weights that the others give them."""
    check_editable(draft.bundle)
    numbers = list(dict.fromkeys(draft.number(topic) for topic in topics))
    if not numbers:
        raise ParameterError("name a topic to drop")
    if len(numbers) >= len(draft.notes.living):
        raise ParameterError("at least one topic must stay: drop fewer")
    draft = _with_rows(
        replace(draft, notes=_retired(draft.notes, numbers, "dropped")), dict.fromkeys(numbers)
    )
    _check_classes(draft)
    return _done(draft, f"drop {' '.join(map(str, numbers))}")


def reduce(draft: Draft, n: int) -> Draft:
    """Merge the topics that are most alike until so many are left; the heaviest keeps number and name."""
    check_editable(draft.bundle)
    living = draft.notes.living
    owners = np.array(draft.owners)[living]
    fewest = len(set(owners.tolist()))
    if type(n) is not int or not fewest <= n <= len(living):
        raise ParameterError(f"topics can be reduced to between {fewest} and {len(living)}, not {n!r}")
    rows = draft.rows[living]
    lengths = _norms(rows)
    cosines = (rows @ rows.T).toarray() / np.outer(lengths, lengths)
    # those of different owners are never joined: less alike than any two others
    cosines[owners[:, None] != owners] = -2
    masses = _masses(draft)
    root = tree_of(living, [""] * len(living), masses[living], cosines)
    assert root is not None
    before = draft.did
    for group in root.cut(n):
        if len(group) > 1:
            draft = merge(draft, *sorted(group, key=lambda topic: -masses[topic]))
    return replace(draft, did=(*before, f"reduce {n}"))


def forbid(draft: Draft, words: Iterable[str], topic: int | str | None = None) -> Draft:
    """Keep words out of a topic, or of all: now, and whenever topics are edited."""
    check_editable(draft.bundle)
    columns = _columns(draft, _listed(words, "forbid"))
    listed = _terms(draft, columns)
    number = None if topic is None else draft.number(topic)
    concerned = draft.notes.living if number is None else [number]
    barred = np.zeros(draft.rows.shape[1], bool)
    barred[columns] = True
    changed = {}
    for k in concerned:
        row = draft.rows[[k]]
        if barred[row.indices].any():
            row.data[barred[row.indices]] = 0
            row.eliminate_zeros()
            if not all(row[:, part].nnz for part in segments(draft)):
                raise ParameterError(f"topic {k} would have no words left: drop it, or forbid fewer")
            changed[k] = row
    pairs = tuple((number, word) for word in listed if (number, word) not in draft.notes.forbidden)
    notes = replace(draft.notes, forbidden=(*draft.notes.forbidden, *pairs))
    draft = _held(_with_rows(replace(draft, notes=notes), changed), *changed)
    where = "" if number is None else f"{number} "
    return _done(draft, f"forbid {where}{' '.join(listed)}")


def seed(
    draft: Draft,
    words: Iterable[str],
    topic: int | str | None = None,
    name: str | None = None,
    owner: str | None = None,
) -> Draft:
    """Hold a topic, or a new one at the end, at some words; `owner` is the class of a new one."""
    check_editable(draft.bundle, anew=True)
    columns = _columns(draft, _listed(words, "seed a topic with"))
    listed = _terms(draft, columns)
    number = draft.n_topics if topic is None else draft.number(topic)
    if number == draft.n_topics:
        draft = _longer(draft, 1, _class_number(draft, owner))
    elif owner is not None:
        raise ParameterError(f"topic {number} has its owner already: leave the class out")
    if name is not None:
        draft = replace(draft, notes=draft.notes.renamed(number, name))
    corpora = _kept(draft, "seed").corpora.values()
    scale = float(np.median(_norms(draft.rows[draft.notes.living])))
    members = _members(draft, draft.owners[number])
    X = csr_array(hstack([corpus.X for corpus in corpora], format="csr"))
    parts = segments(draft)
    target = context_target(X, columns, members=members, scale=scale, segments=parts)
    if target is None:
        raise ParameterError(f"no document has {enumerated(listed, 'or')}")
    for part, modality in zip(parts, draft.bundle.modalities or [""], strict=True):
        if not target[:, part].nnz:
            raise ParameterError(
                f"no document that has {enumerated(listed, 'or')} has words of {modality}: name some of "
                "these, too"
            )
    draft = replace(draft, seeds={**draft.seeds, number: target})
    draft = _with_rows(draft, {number: target})
    where = "" if topic is None else f"{number} "
    return _done(_freed(draft, number), f"seed {where}{' '.join(listed)}")


def freeze(draft: Draft, *topics: int | str) -> Draft:
    """Leave the words of topics alone, whatever else is edited, from now on."""
    check_editable(draft.bundle)
    numbers = [draft.number(topic) for topic in topics]
    if not numbers:
        raise ParameterError("name a topic to freeze")
    notes = replace(draft.notes, frozen=draft.notes.frozen.union(numbers))
    return _done(replace(draft, notes=notes), f"freeze {' '.join(map(str, numbers))}")


def thaw(draft: Draft, *topics: int | str) -> Draft:
    """Let frozen topics be edited again."""
    numbers = [draft.number(topic) for topic in topics]
    if not numbers:
        raise ParameterError("name a topic to thaw")
    notes = replace(draft.notes, frozen=draft.notes.frozen.difference(numbers))
    return _done(replace(draft, notes=notes), f"thaw {' '.join(map(str, numbers))}")


def _done(draft: Draft, did: str) -> Draft:
    return replace(draft, did=(*draft.did, did))


def _freed(draft: Draft, *topics: int) -> Draft:
    """Topics whose words have changed: not frozen, and not known to come back."""
    frozen = sorted(draft.notes.frozen.intersection(topics))
    if frozen:
        raise ParameterError(f"topic {frozen[0]} is frozen: thaw it first")
    notes, returns = draft.notes, draft.notes.returns
    if returns is not None:
        shares = tuple(None if k in topics else share for k, share in enumerate(returns.shares))
        notes = replace(notes, returns=Returns(shares, returns.n_refits))
    return replace(draft, free=draft.free.union(topics), held=draft.held.difference(topics), notes=notes)


def _held(draft: Draft, *topics: int) -> Draft:
    """Topics whose words have changed, and which are to stay about as they are."""
    # what was split or seeded before goes on as that
    held = set(topics) - draft.free
    draft = _freed(draft, *topics)
    return replace(draft, held=draft.held.union(held))


def _retired(notes: Notes, topics: Iterable[int], why: str) -> Notes:
    gone = list(topics)
    frozen = sorted(notes.frozen.intersection(gone))
    if frozen:
        raise ParameterError(f"topic {frozen[0]} is frozen: thaw it first")
    names = tuple(None if k in gone else name for k, name in enumerate(notes.names))
    return replace(notes, names=names, retired={**notes.retired, **dict.fromkeys(gone, why)})


def _with_rows(draft: Draft, rows: Mapping[int, Any]) -> Draft:
    """Other rows for some topics (None: no words), cut to what the model's topics may be."""
    if not rows:
        return draft
    empty = csr_array((1, draft.rows.shape[1]), dtype=draft.rows.dtype)
    parts = [
        (empty if rows[k] is None else _shaped(draft, csr_array(rows[k]))) if k in rows else draft.rows[[k]]
        for k in range(draft.n_topics)
    ]
    gone = {k for k, row in rows.items() if row is None}
    return replace(
        draft,
        rows=csr_array(vstack(parts, "csr"), dtype=draft.rows.dtype),
        free=draft.free.difference(gone),
        seeds={k: words for k, words in draft.seeds.items() if k not in gone},
    )


def _shaped(draft: Draft, row: csr_array) -> csr_array:
    """A row as the model has them: with its budget of words, or as a distribution."""
    model = draft.bundle.model
    if model.word_budget is not None:
        return unit_budget(row, model.word_budget, nonnegative=model.traits.nonnegative)
    if model.wants != "counts":
        return row
    parts = []
    for columns in segments(draft):
        part = row[:, columns]
        parts.append(part / (part.sum() or 1))
    return csr_array(hstack(parts, "csr"))


def segments(draft: Draft) -> list[slice]:
    """The columns of each modality, over each of which a topic is a distribution."""
    model = draft.bundle.model
    sizes = [model.n_terms_of(name) for name in model.modalities] or [draft.rows.shape[1]]
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def _members(draft: Draft, owner: int) -> Any:
    """Which documents are of a class, by number; None for all of them."""
    documents, model = draft.bundle.documents, draft.bundle.model
    if owner < 0 or documents is None or documents.labels is None:
        return None
    return np.asarray(documents.labels) == str(model.classes_.tolist()[owner])


def _class_number(draft: Draft, owner: str | None) -> int:
    """The number of a class; -1 for None, which owns the topics of all documents."""
    if owner is None:
        return -1
    model = draft.bundle.model
    known = [str(label) for label in model.classes_.tolist()] if model.traits.classes else []
    if owner not in known:
        there = f"there are {', '.join(known)}" if known else f"{type(model).__name__} has none"
        raise ParameterError(f"there is no class {owner!r}: {there}")
    return known.index(owner)


def _check_classes(draft: Draft) -> None:
    """Refuse to leave documents of a class without topics."""
    model = draft.bundle.model
    if not model.traits.classes:
        return
    left = {draft.owners[k] for k in draft.notes.living}
    lacking = [label for p, label in enumerate(model.classes_.tolist()) if not {-1, p} & left]
    if lacking:
        raise ParameterError(f"documents of class {lacking[0]!r} would have no topics: leave one of them")


def _longer(draft: Draft, more: int, owner: int) -> Draft:
    """Room for topics of an owner after all others."""
    rows = vstack([draft.rows, csr_array((more, draft.rows.shape[1]), dtype=draft.rows.dtype)], "csr")
    notes, returns = draft.notes, draft.notes.returns
    if returns is not None:
        returns = Returns((*returns.shares, *[None] * more), returns.n_refits)
    notes = replace(notes, names=(*notes.names, *[None] * more), returns=returns)
    return replace(draft, rows=csr_array(rows), notes=notes, owners=(*draft.owners, *[owner] * more))


def _masses(draft: Draft) -> NDArray[np.float64]:
    """How much of each topic the documents have; alike without documents, or for new topics."""
    masses = np.ones(draft.n_topics)
    documents = draft.bundle.documents
    if documents is not None:
        found = np.asarray(np.maximum(_dense(documents.weights), 0).sum(axis=0), np.float64)
        masses[: len(found)] = found
    return masses


def _kept(draft: Draft, what: str) -> Documents:
    documents = draft.bundle.documents
    if documents is None:
        raise ParameterError(f"this model was saved without its documents, so topics cannot be {what}")
    return documents


def word_columns(bundle: Bundle) -> dict[str, list[int]]:
    """The columns of each word of the vocabulary: one, or one in each modality that has it."""
    found: dict[str, list[int]] = {}
    first = 0
    for name in (*bundle.modalities,) or (None,):
        vectorizer = bundle.vectorizer if name is None else bundle.vectorizers.get(name)
        for column, term in enumerate(() if vectorizer is None else vectorizer.vocabulary):
            found.setdefault(str(term), []).append(first + column)
        first += bundle.model.n_terms_of(name)
    return found


def _columns(draft: Draft, words: Iterable[str]) -> list[int]:
    """The columns of words, which may be written as in a text: with capitals, or as a form of a stem."""
    bundle = draft.bundle
    places = word_columns(bundle)
    if not places:
        raise ParameterError("this model was saved without a vocabulary, so it has no words")
    vectorizers = [one for one in (bundle.vectorizer, *bundle.vectorizers.values()) if one is not None]
    found: list[int] = []
    unknown = []
    for word in words:
        forms = [word]
        if word not in places:
            forms = [str(v.vocabulary[m]) for v in vectorizers for m in v.count([word]).indices]
        found += [column for form in forms for column in places[form]]
        if not forms:
            unknown.append(repr(word[:80]))
    if unknown:
        raise ParameterError(f"{enumerated(unknown, 'or')} is not in the vocabulary")
    return list(dict.fromkeys(found))


def _terms(draft: Draft, columns: Iterable[int]) -> list[str]:
    names = {column: word for word, own in word_columns(draft.bundle).items() for column in own}
    return list(dict.fromkeys(names[column] for column in columns))


def _listed(words: Iterable[str], what: str) -> list[str]:
    listed = [words] if isinstance(words, str) else list(dict.fromkeys(words))
    if not listed or not all(isinstance(word, str) and word for word in listed):
        raise ParameterError(f"name words to {what}")
    return listed


def unsteered(model: Any) -> dict[str, Any]:
    """Parameters that depend on which topics there are, as they are by default."""
    given = model.get_params(deep=False)
    usual = type(model)().get_params(deep=False)
    named = given["init"] is None or isinstance(given["init"], str)
    return {
        **({} if named else {"init": usual["init"]}),
        **({"anchors": None} if "anchors" in given else {}),
    }


def _norms(rows: csr_array) -> NDArray[np.float64]:
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), np.float64)).ravel()
    return np.where(norms > 0, norms, 1.0)


def _dense(matrix: Any) -> NDArray[Any]:
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix)
