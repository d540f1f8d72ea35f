"""Windows that slide over the words of texts."""

from __future__ import annotations

import numpy as np

from laconic.kernels.compiling import njit


@njit(nogil=True, cache=True)
def slide(tokens, ends, size, table):
    """Add the windows with two words to one of their entries in `table`, and those with one to the diagonal.

    Tokens are numbers of rows, or -1 for other words; `ends` tells where texts end.
    """
    n_words = len(table)
    times = np.zeros(n_words, np.int64)  # how often each word is in the window
    place = np.zeros(n_words, np.int64)
    inside = np.zeros(n_words, np.int64)  # the words in the window, in no order
    start = 0
    for text in range(ends.size):
        stop = ends[text]
        n_inside = 0
        for right in range(start, stop):
            word = tokens[right]
            if word >= 0:
                if times[word] == 0:
                    place[word] = n_inside
                    inside[n_inside] = word
                    n_inside += 1
                times[word] += 1
            if right - size >= start:
                gone = tokens[right - size]
                if gone >= 0:
                    times[gone] -= 1
                    if times[gone] == 0:
                        n_inside -= 1
                        last = inside[n_inside]
                        inside[place[gone]] = last
                        place[last] = place[gone]
            if right - start >= size - 1 or right == stop - 1:
                for i in range(n_inside):
                    row = table[inside[i]]
                    for j in range(i + 1):
                        row[inside[j]] += 1
        for i in range(n_inside):
            times[inside[i]] = 0
        start = stop
