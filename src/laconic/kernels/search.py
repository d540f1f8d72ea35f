"""Scores of documents for a query, and the best of them.

Term matching keeps, for each term, the documents that have it and what it is worth in each (its impacts).
Topic matching keeps a vector of topics for each document.
"""

from __future__ import annotations

import numpy as np

from laconic.kernels.compiling import njit

# The sum over topics may be taken in any order, so that it vectorises; nothing else is left to chance.
_REORDERED = {"reassoc", "contract"}

STRIDE = 64
"""Documents that are looked at together: most are passed over, and many at once are compared sooner."""

NOISE = np.float32(1e-6)
"""What rounding leaves of a cosine of zero: a document is not found for that."""


@njit(nogil=True, cache=True, makes_arrays=False)
def bm25_impacts(indptr, indices, counts, idf, saturation, out):
    """What each count is worth: idf * count / (count + saturation of the document)."""
    for m in range(indptr.size - 1):
        rarity = idf[m]
        for j in range(indptr[m], indptr[m + 1]):
            out[j] = rarity * counts[j] / (counts[j] + saturation[indices[j]])


@njit(nogil=True, cache=True, makes_arrays=False)
def unit_impacts(indptr, indices, counts, idf, sublinear, squares, out):
    """Tf-idf with documents of length one; `squares` is zero, with room for every document."""
    for m in range(indptr.size - 1):
        for j in range(indptr[m], indptr[m + 1]):
            frequency = 1 + np.log(counts[j]) if sublinear else counts[j]
            out[j] = frequency * idf[m]
            squares[indices[j]] += np.float64(out[j]) * out[j]
    for j in range(out.size):
        out[j] /= np.sqrt(squares[indices[j]])


@njit(nogil=True, cache=True, makes_arrays=False)
def add_impacts(indptr, indices, impacts, terms, weights, scores):
    """Add what the terms of a query are worth in each document, in the order of the terms."""
    for t in range(terms.size):
        weight = weights[t]
        start, stop = indptr[terms[t]], indptr[terms[t] + 1]
        documents, worth = indices[start:stop], impacts[start:stop]
        for j in range(documents.size):
            scores[documents[j]] += weight * worth[j]


@njit(nogil=True, cache=True, makes_arrays=False)
def _before(score, document, other_score, other_document):
    """Whether one result ranks before another: the higher score, then the earlier document."""
    return score > other_score or (score == other_score and document < other_document)


@njit(nogil=True, cache=True, makes_arrays=False)
def sift(scores, documents, size, place):
    """Move the result at a place of a heap, whose root ranks last, down to where it belongs."""
    score, document = scores[place], documents[place]
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        right = child + 1
        if right < size and _before(scores[child], documents[child], scores[right], documents[right]):
            child = right
        if not _before(score, document, scores[child], documents[child]):
            break
        scores[place], documents[place] = scores[child], documents[child]
        place = child
    scores[place], documents[place] = score, document


@njit(nogil=True, cache=True, makes_arrays=False)
def heap_sort(scores, documents, size):
    """Put the results of a heap in order, the best first."""
    for last in range(size - 1, 0, -1):
        scores[0], scores[last] = scores[last], scores[0]
        documents[0], documents[last] = documents[last], documents[0]
        sift(scores, documents, last, 0)


@njit(nogil=True, cache=True, makes_arrays=False)
def offer(score, document, best_scores, best_documents, size):
    """Put a result into a heap of the best ones if it belongs there; gives the heap's new size."""
    room = best_scores.size
    if size < room:
        best_scores[size], best_documents[size] = score, document
        size += 1
        if size == room:
            for place in range(room // 2 - 1, -1, -1):
                sift(best_scores, best_documents, room, place)
    elif _before(score, document, best_scores[0], best_documents[0]):
        best_scores[0], best_documents[0] = score, document
        sift(best_scores, best_documents, room, 0)
    return size


@njit(nogil=True, cache=True, makes_arrays=False)
def settle(best_scores, best_documents, size):
    """Put what was offered in order, the best first, whether or not there was more than enough."""
    if size < best_scores.size:
        for place in range(size // 2 - 1, -1, -1):
            sift(best_scores, best_documents, size, place)
    heap_sort(best_scores, best_documents, size)


@njit(nogil=True, cache=True, makes_arrays=False)
def best_positive(scores, best_scores, best_documents):
    """Find the best documents of positive score, as many as there is room for; gives their number."""
    size, least = 0, np.float32(0)
    if best_scores.size == 0:
        return size
    for start in range(0, scores.size, STRIDE):
        stride = scores[start : start + STRIDE]
        n_above = 0
        for j in range(stride.size):
            n_above += stride[j] > least
        if n_above == 0:
            continue
        for j in range(stride.size):
            # An equal score further down ranks after those there are.
            if stride[j] > least:
                size = offer(stride[j], start + j, best_scores, best_documents, size)
                if size == best_scores.size:
                    least = best_scores[0]
    settle(best_scores, best_documents, size)
    return size


@njit(nogil=True, cache=True, makes_arrays=False)
def cosine(total):
    """An inner product of two vectors of length one, without what rounding did to it."""
    if abs(total) < NOISE:
        return np.float32(0)
    return min(np.float32(1), max(np.float32(-1), total))


@njit(nogil=True, cache=True, makes_arrays=False, fastmath=_REORDERED)
def topic_score(vector, row):
    """The cosine of a query and a document whose vectors are scaled."""
    total = np.float32(0)
    for k in range(vector.size):
        total += vector[k] * row[k]
    return cosine(total)


@njit(nogil=True, cache=True, makes_arrays=False)
def blended(term, topic, blend, unit):
    """The score of a document; never smaller for a larger part, to the last bit."""
    return blend * topic + (np.float32(1) - blend) * (term / unit)


@njit(nogil=True, cache=True, makes_arrays=False)
def scan_blend(scores, documents, vectors, vector, blend, unit, floor, best_scores, best_documents, size):
    """Offer the documents of a part to the heap of the best, and give its new size.

    Topics are looked at only where the best that they could add would do: `floor`, or the last of a full
    heap. Documents without a positive score are left out.
    """
    least = max(floor, best_scores[0]) if size == best_scores.size else floor
    for start in range(0, scores.size, STRIDE):
        stride = scores[start : start + STRIDE]
        n_within = 0
        for j in range(stride.size):
            n_within += blended(stride[j], np.float32(1), blend, unit) >= least
        if n_within == 0:
            continue
        for j in range(stride.size):
            if blended(stride[j], np.float32(1), blend, unit) >= least:
                score = blended(stride[j], topic_score(vector, vectors[start + j]), blend, unit)
                if score > 0 and score >= least:
                    size = offer(score, documents[start + j], best_scores, best_documents, size)
                    if size == best_scores.size:
                        least = max(floor, best_scores[0])
    return size


@njit(nogil=True, cache=True, makes_arrays=False)
def tile_blend(scores, topics, documents, blend, units, floors, best_scores, best_documents, sizes):
    """The same for several queries, a row each, where the topic scores are known but for rounding.

    What rounding could have kept from a positive score is not left out, if the floors are below zero.
    """
    for q in range(sizes.size):
        mine, ids, size, unit = best_scores[q], best_documents[q], sizes[q], units[q]
        least = max(floors[q], mine[0]) if size == mine.size else floors[q]
        terms, row = scores[q], topics[q]
        for start in range(0, documents.size, STRIDE):
            worth, stride = terms[start : start + STRIDE], row[start : start + STRIDE]
            n_within = 0
            for j in range(stride.size):
                n_within += blended(worth[j], stride[j], blend, unit) >= least
            if n_within == 0:
                continue
            for j in range(stride.size):
                score = blended(worth[j], stride[j], blend, unit)
                # Just zero are documents that have nothing of the query: no rounding made them so.
                if score != 0 and score >= least:
                    size = offer(score, documents[start + j], mine, ids, size)
                    if size == mine.size:
                        least = max(floors[q], mine[0])
        sizes[q] = size


@njit(nogil=True, cache=True, makes_arrays=False)
def topic_scores(vectors, rows, vector, out):
    """The topic scores of some rows."""
    for j in range(rows.size):
        out[j] = topic_score(vector, vectors[rows[j]])


@njit(nogil=True, cache=True, makes_arrays=False)
def count_within(scores, blend, unit, floor):
    """How many documents could reach a score if their topics were those of the query."""
    n_within = 0
    for document in range(scores.size):
        if blended(scores[document], np.float32(1), blend, unit) >= floor:
            n_within += 1
    return n_within


@njit(nogil=True, cache=True, makes_arrays=False)
def blend_all(terms, topics, blend, unit, out):
    """The scores of documents, from both parts of each."""
    for j in range(terms.size):
        out[j] = blended(terms[j], topics[j], blend, unit)
