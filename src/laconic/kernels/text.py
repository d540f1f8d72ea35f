"""Words of texts, counted: bytes to tokens, tokens to numbers of terms, numbers to counts.

A term is two numbers. Of a token, FIRST has the first eight bytes, SECOND its length in the lower half and,
in the upper half, the place of the rest in an array of words of eight bytes. An n-gram is a pair: FIRST is
the id of the n-gram without its last token, SECOND is -1 - the id of that token.

A *table* gives terms their ids. Its `rows` are FIRST and SECOND of each term, its `arena` has the rest of
long tokens. `slots` finds the id: open addressing, at most half full, an entry being ``tag << 32 | id + 1``,
or 0. The tag is a part of the hash; no two terms are taken for one before all their bytes have been compared.

No kernel hands arrays to another function in a loop: counting their references would take most of the time.
"""

from __future__ import annotations

import numpy as np

from laconic.kernels.compiling import njit

# The columns of `rows`.
FIRST, SECOND = range(2)

# The columns of `notes`: where a term was noted last, and in how many texts it is.
PLACE, DOCUMENTS = range(2)

# What `classes` says of a character, above its lower-case form.
CODE = (1 << 21) - 1
WORD = 1 << 21
OPENS = 1 << 22

# Bytes that UTF-8 never has.
TOKEN_END = 0xFE
TEXT_END = 0xFF

_LOWER = (1 << 32) - 1
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_TOP = np.uint64(33)
_NONE = np.uint64(0)
_DIGIT = 11
_LAST_DIGIT = (1 << _DIGIT) - 1


@njit(nogil=True, cache=True, makes_arrays=False)
def scan_tokens(text, classes, plain, shortest, progress, firsts, seconds, rest, ends):
    """Split a batch of texts, each of which ends with TEXT_END, into tokens.

    Bytes below `plain` are characters of their own, others are parts of UTF-8. `classes` says of each
    character whether it belongs to a word and may open one, and its lower-case form. A word is a token if it
    has at least `shortest` characters; TOKEN_END ends a token in any case, even an empty one.

    The tokens of text i stand before ``ends[i]`` in `firsts` and `seconds`, what is behind their first eight
    bytes in `rest`. `progress` is (position, tokens, words of `rest`, texts) so far: where there is no room
    for more tokens, the kernel stops, and goes on from there when it is called again.
    """
    position, n_tokens, n_rest, n_texts = progress[0], progress[1], progress[2], progress[3]
    start = position
    size = length = 0
    opens = True
    word = first = _NONE
    while position < text.size:
        byte = np.int64(text[position])
        width = 1
        character = np.int64(0)
        if byte < plain:
            character = np.int64(classes[byte])
        elif byte < TOKEN_END:
            code = np.int64(text[position + 1]) & 0x3F
            if byte < 0xE0:
                code |= (byte & 0x1F) << 6
                width = 2
            elif byte < 0xF0:
                code = (byte & 0x0F) << 12 | code << 6 | np.int64(text[position + 2]) & 0x3F
                width = 3
            else:
                code = (byte & 0x07) << 18 | code << 12 | (np.int64(text[position + 2]) & 0x3F) << 6
                code |= np.int64(text[position + 3]) & 0x3F
                width = 4
            character = np.int64(classes[code])
        if character & WORD:
            if length == 0:
                opens = character & OPENS != 0
            packed, n_bytes = np.uint64(character & 0xFF), 1
            if byte >= plain:
                packed, n_bytes = _utf8(character & CODE)
            shift = np.uint64((size & 7) << 3)
            word |= packed << shift
            if (size & 7) + n_bytes >= 8:
                if size < 8:
                    first = word
                else:
                    rest[n_rest + (size >> 3) - 1] = word
                word = packed >> np.uint64(64) - shift
            size += n_bytes
            length += 1
            position += width
            continue
        if length >= shortest and opens and (length > 0 or byte == TOKEN_END):
            if n_tokens == firsts.size:
                break
            if size < 8:
                first = word
            elif size & 7 != 0:
                rest[n_rest + (size >> 3) - 1] = word
            firsts[n_tokens] = np.int64(first)
            seconds[n_tokens] = n_rest << 32 | size
            n_rest += max(size - 1, 0) >> 3
            n_tokens += 1
        if byte == TEXT_END:
            ends[n_texts] = n_tokens
            n_texts += 1
        position += width
        start = position
        size = length = 0
        opens = True
        word = _NONE
    progress[0], progress[1], progress[2], progress[3] = start, n_tokens, n_rest, n_texts


@njit(nogil=True, cache=True, makes_arrays=False)
def _utf8(code):
    """The bytes of a character, the first of them lowest, and how many there are."""
    if code < 0x80:
        return np.uint64(code), 1
    last = 0x80 | code & 0x3F
    if code < 0x800:
        return np.uint64(0xC0 | code >> 6 | last << 8), 2
    middle = 0x80 | code >> 6 & 0x3F
    if code < 0x10000:
        return np.uint64(0xE0 | code >> 12 | middle << 8 | last << 16), 3
    return np.uint64(0xF0 | code >> 18 | (0x80 | code >> 12 & 0x3F) << 8 | middle << 16 | last << 24), 4


@njit(nogil=True, cache=True, makes_arrays=False)
def number_tokens(
    text, classes, plain, shortest, progress, firsts, seconds, rest, ends,
    sizes, slots, rows, notes, arena, ids,
):  # fmt: skip
    """Scan a batch of texts and find its tokens, and say whether there was room for all.

    In one call: a thread that comes back to Python from each may wait for the others every time. `progress`
    has one more number than for `scan_tokens`, how many tokens are found.
    """
    scan_tokens(text, classes, plain, shortest, progress, firsts, seconds, rest, ends)
    if progress[0] < text.size:
        return False
    progress[4] = find_terms(
        firsts, seconds, rest, progress[4], progress[1], sizes, slots, rows, notes, arena, ids
    )
    return progress[4] == progress[1]


@njit(nogil=True, cache=True, makes_arrays=False)
def find_terms(firsts, seconds, rest, start, stop, sizes, slots, rows, notes, arena, ids):
    """Give the ids of the terms `start` to `stop`, and add those that are new to the table.

    `sizes` holds how many terms, and how many words of the arena, the table has; the arena must have room for
    `rest`. Returns where the table was full.
    """
    n_terms, n_words = sizes[0], sizes[1]
    mask = slots.size - 1
    i = start
    while i < stop and n_terms < rows.shape[0]:
        first, second = firsts[i], seconds[i]
        lower = second & _LOWER
        n_rest = 0 if second < 0 else max(lower - 1, 0) >> 3
        place = second >> 32
        key = (np.uint64(first) ^ np.uint64(lower) << _HALF) * _MIX
        for k in range(place, place + n_rest):
            key = (key ^ key >> _HALF ^ rest[k]) * _MIX
        tag = np.int64(((key ^ key >> _HALF) * _MIX) >> _TOP)
        slot = tag & mask
        term = -1
        while term < 0:
            entry = slots[slot]
            if entry == 0:
                break
            if entry >> 32 == tag:
                other = (entry & _LOWER) - 1
                same = rows[other, FIRST] == first and rows[other, SECOND] & _LOWER == lower
                if same and (rows[other, SECOND] < 0) == (second < 0):
                    k = 0
                    while k < n_rest and arena[(rows[other, SECOND] >> 32) + k] == rest[place + k]:
                        k += 1
                    if k == n_rest:
                        term = other
            slot = slot + 1 & mask
        if term < 0:
            term = n_terms
            slots[slot] = tag << 32 | term + 1
            rows[term, FIRST] = first
            rows[term, SECOND] = second if second < 0 else n_words << 32 | lower
            notes[term, PLACE], notes[term, DOCUMENTS] = -1, 0
            for k in range(n_rest):
                arena[n_words + k] = rest[place + k]
            n_words += n_rest
            n_terms += 1
        ids[i] = term
        i += 1
    sizes[0], sizes[1] = n_terms, n_words
    return i


@njit(nogil=True, cache=True, makes_arrays=False)
def note_terms(terms, term_ends, n_stop, earlier, notes, ids, counts, ends):
    """Count the terms of each text: those of text i stand before ``ends[i]`` of `ids`, each of them once.

    Terms below `n_stop` do not count. `earlier` is how many have been noted before this batch. Returns how
    many are noted in it, and the sum of their counts.
    """
    n_found = n_counted = start = 0
    for i in range(term_ends.size):
        text_start = n_found
        for k in range(start, term_ends[i]):
            term = terms[k]
            if term < n_stop:
                continue
            n_counted += 1
            # Places go on rising from batch to batch, so that an old one is never taken for one in this text.
            place = notes[term, PLACE] - earlier
            if place >= text_start:
                counts[place] += 1
            else:
                ids[n_found] = term
                counts[n_found] = 1
                notes[term, PLACE] = earlier + n_found
                notes[term, DOCUMENTS] += 1
                n_found += 1
        start = term_ends[i]
        ends[i] = n_found
    return n_found, n_counted


@njit(nogil=True, cache=True, makes_arrays=False)
def refill_slots(old, slots):
    """Put the entries of slots into larger ones."""
    mask = slots.size - 1
    for entry in old:
        if entry != 0:
            slot = entry >> 32 & mask
            while slots[slot] != 0:
                slot = slot + 1 & mask
            slots[slot] = entry


@njit(nogil=True, cache=True, makes_arrays=False)
def spell_terms(terms, start, rows, arena, out, used, ends):
    """Write terms one after the other, n-grams with spaces; `ends` are in characters, not bytes.

    Returns the first term that there was no room for, and how many bytes are written.
    """
    characters = ends[start - 1] if start > 0 else 0
    for i in range(start, terms.size):
        size = 0
        term = np.int64(terms[i])
        while rows[term, SECOND] < 0:
            size += 1 + (rows[-1 - rows[term, SECOND], SECOND] & _LOWER)
            term = rows[term, FIRST]
        size += rows[term, SECOND] & _LOWER
        if used + size > out.size:
            return i, used
        at = used + size
        term = np.int64(terms[i])
        while term >= 0:
            second = rows[term, SECOND]
            last = term if second >= 0 else -1 - second
            length = rows[last, SECOND] & _LOWER
            at -= length
            for k in range(length):
                word = np.uint64(rows[last, FIRST])
                if k >= 8:
                    word = arena[(rows[last, SECOND] >> 32) + (k >> 3) - 1]
                byte = np.int64(word >> np.uint64((k & 7) << 3)) & 0xFF
                out[at + k] = byte
                characters += byte & 0xC0 != 0x80
            if second < 0:
                at -= 1
                out[at] = 0x20
                characters += 1
            term = rows[term, FIRST] if second < 0 else np.int64(-1)
        used += size
        ends[i] = characters
    return terms.size, used


@njit(nogil=True, cache=True, makes_arrays=False)
def tally_terms(ids, counts, ends, mapping, text, seen, documents, total):
    """Add up in how many texts, and how often, the terms occur that ids are mapped to.

    `text` is the number of the first text, `seen` the last text of each term: several ids may be one term.
    """
    start = 0
    for end in ends:
        for k in range(start, end):
            term = mapping[ids[k]]
            total[term] += counts[k]
            if seen[term] != text:
                seen[term] = text
                documents[term] += 1
        start = end
        text += 1


@njit(nogil=True, cache=True)
def fill_rows(ids, counts, ends, columns, n_columns, indices, data, row_ends):
    """Turn counted texts into sorted rows of a CSR matrix, and return how many entries they have.

    Ids of the column -1 are left out, and those of the same column added up. All entries are sorted by column
    at once, digit by digit, and then dealt out to their rows: linear, however long or short the rows are.
    """
    keys, spare_keys = np.empty(ids.size, np.int64), np.empty(ids.size, np.int64)
    values, spare_values = np.empty(ids.size, np.uint32), np.empty(ids.size, np.uint32)
    places = np.zeros(ends.size, np.int64)
    size = start = 0
    for row in range(ends.size):
        for k in range(start, ends[row]):
            column = np.int64(columns[ids[k]])
            if column >= 0:
                keys[size], values[size] = column << 32 | row, counts[k]
                size += 1
        start = ends[row]
        row_ends[row] = size
        if row + 1 < ends.size:
            places[row + 1] = size
    shift = 32
    while n_columns >> (shift - 32) > 0:
        starts = np.zeros(1 << _DIGIT, np.int64)
        for k in range(size):
            starts[keys[k] >> shift & _LAST_DIGIT] += 1
        total = 0
        for digit in range(starts.size):
            starts[digit], total = total, total + starts[digit]
        for k in range(size):
            digit = keys[k] >> shift & _LAST_DIGIT
            spare_keys[starts[digit]], spare_values[starts[digit]] = keys[k], values[k]
            starts[digit] += 1
        keys, spare_keys = spare_keys, keys
        values, spare_values = spare_values, values
        shift += _DIGIT
    for k in range(size):
        row = keys[k] & _LOWER
        spare_keys[places[row]], spare_values[places[row]] = keys[k], values[k]
        places[row] += 1
    used = start = 0
    for row in range(ends.size):
        for k in range(start, row_ends[row]):
            column = spare_keys[k] >> 32
            if k > start and column == spare_keys[k - 1] >> 32:
                data[used - 1] += spare_values[k]
            else:
                indices[used], data[used] = column, spare_values[k]
                used += 1
        start = row_ends[row]
        row_ends[row] = used
    return used
