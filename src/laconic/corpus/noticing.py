"""What is noticed while texts are counted: stop words of another language, a script without spaces.

Neither is an error, and both make topics that say nothing; so they are noticed, and told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from laconic.corpus.languages import INSTALL, has_stop_words
from laconic.errors import InputError, InPython, Parameter

if TYPE_CHECKING:
    from laconic.corpus.counting import Counted

# Some of the commonest words of each language: signs of it, and no list of words to leave out.
SIGNS: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": "the and of that is with for was this are from have which they been were",
        "german": "der und das nicht ist ein eine mit auf für von sich auch dem wird werden",
        "french": "les des est une dans pour que qui sur pas avec sont aux cette mais ils",
        "spanish": "los las del una por para con que como más pero está este sus muy han",
        "italian": "che della non sono gli una del per dei nella con anche più alla questo come",
        "portuguese": "não uma para com dos como mais por foi pelo pela são mas isso das seu",
        "dutch": "het een van niet dat zijn voor met aan ook maar deze worden naar wordt heeft",
        "swedish": "och att som för det inte den med till har ett från kan om jag också",
        "danish": "og det ikke til for som af der den med har jeg på kan også blev",
        "norwegian": "og det ikke til for som av den med har jeg på kan også ble fra",
        "finnish": "ja on ei että se mutta hän ovat oli kun myös tai niin ole joka kuin",
        "polish": "nie się jest na do że to jak ale za przez tego dla jego był oraz",
        "czech": "je že se na jsem to ale jako jsou které který nebo podle být byl také",
        "hungarian": "és hogy nem az egy is meg volt csak már vagy mint ez ha még pedig",
        "romanian": "și este nu să pentru care din sau fi mai cu sunt prin după lui acest",
        "russian": "что не на это как его из по но так все был для или при если",  # noqa: RUF001
        "ukrainian": "що не на це як його та для або від але був при також після які",  # noqa: RUF001
        "turkish": "ve bir bu için ile daha çok gibi ama da de ne ki en veya ise",
        "indonesian": "yang dan di dengan untuk dari ini pada tidak itu dalam akan adalah juga ke oleh",
    }.items()
}

# In which part of the texts a sign of their language is, on average, at least.
_ENOUGH = 0.1
# Rarer words than this are no sign, and fewer texts are not enough to tell.
_RARE = 0.02
_FEWEST_TEXTS = 20

# Of terms, for the look at their script.
_MOST_TERMS = 20_000
_MUCH = 0.3

# First and last character of scripts without spaces between words; and how long terms are, on average, at
# least, where they are no words but clauses.
_UNSPACED: tuple[tuple[str, int, int, float], ...] = (
    ("Chinese or Japanese", 0x3040, 0x30FF, 4.0),
    ("Chinese or Japanese", 0x3400, 0x9FFF, 4.0),
    # the pattern of words breaks these at the marks of vowels and tones
    ("Thai", 0x0E00, 0x0E7F, 0.0),
    ("Lao", 0x0E80, 0x0EFF, 0.0),
    ("Burmese", 0x1000, 0x109F, 0.0),
    ("Khmer", 0x1780, 0x17FF, 0.0),
)
_SPLITTERS = {
    "Chinese or Japanese": "jieba.lcut (pip install jieba) for Chinese, or fugashi for Japanese",
    "Thai": "pythainlp.word_tokenize (pip install pythainlp)",
}


def noticed(counted: Counted, settings: Mapping[str, Any]) -> Iterator[InputError]:
    """What to tell of texts that were counted, with the options of the vectoriser that did it."""
    script = unspaced_script(counted)
    if script is not None and settings["tokenizer"] is None:
        such = _SPLITTERS.get(script)
        yield InputError(
            f"the texts are {script}, which has no spaces between words, so clauses or fragments were "
            f"counted instead of words: split the texts into words first, with spaces between them",
            InPython(", or give a tokenizer"),
            f", for example with {such}" if such else "",
        )
        return
    language = None if settings["stop_words"] is None else language_of(counted)
    if language is not None:
        given = settings["stop_words"]
        before = f"{given},{language}" if isinstance(given, str) else None
        which = f"those that were left out are {given.title()}" if before else "they were not left out"
        also: list[object] = [", or ", Parameter("stop_words", before), " for both"] if before else []
        install = [] if has_stop_words() else [f" ({INSTALL})"]
        yield InputError(
            f"the texts seem to be {language.title()}, and the most common words of that language are among "
            f"the terms, because {which}: use ",
            Parameter("stop_words", language),
            *also,
            *install,
        )


def language_of(counted: Counted) -> str | None:
    """The language whose commonest words are among the terms, if there is one."""
    n_texts = counted.n_texts
    if n_texts < _FEWEST_TEXTS:
        return None
    frequent = np.flatnonzero(counted.documents >= max(2, _RARE * n_texts)).astype(np.int32)
    documents = dict(zip(counted.table.spell(frequent), counted.documents[frequent].tolist(), strict=True))
    found = {
        language: sum(documents.get(sign, 0) for sign in signs) / (len(signs) * n_texts)
        for language, signs in SIGNS.items()
    }
    best = max(found, key=lambda language: found[language])
    return best if found[best] >= _ENOUGH else None


def unspaced_script(counted: Counted) -> str | None:
    """The script of most terms, if it is one without spaces, and they are too long to be words."""
    documents = counted.documents
    known = np.flatnonzero(documents > 0)
    step = max(1, len(known) // _MOST_TERMS)
    terms = known[::step].astype(np.int32)
    weights = documents[terms].tolist()
    total = sum(weights)
    shares: dict[str, float] = {}
    lengths: dict[str, float] = {}
    limits: dict[str, float] = {}
    for term, weight in zip(counted.table.spell(terms), weights, strict=True):
        code = ord(term[0]) if term else 0
        if code < 0x0E00:
            continue
        for script, first, last, length in _UNSPACED:
            if first <= code <= last:
                shares[script] = shares.get(script, 0) + weight / total
                lengths[script] = lengths.get(script, 0) + weight / total * len(term)
                limits[script] = length
    for script, share in shares.items():
        if share >= _MUCH and lengths[script] / share > limits[script]:
            return script
    return None
