"""The options of `fit` that say which terms are counted and what they weigh.

None stands for an option that was not typed: then the library's own default holds, and files of counts, to
which most of these options do not apply, can tell what was asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laconic.cli import completion
from laconic.cli.screen.errors import option_names

if TYPE_CHECKING:
    from laconic.corpus.options import VectorizerOptions
    from laconic.corpus.sources import Modality

_TERMS = "Choosing and weighting terms"


class WeightingName(Enum):
    """How counts become weights."""

    tfidf = "tfidf"
    log_entropy = "log-entropy"
    binary = "binary"
    count = "count"


MinDf = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Leave out terms in fewer documents: a number (5) or a part of them (0.01).",
        show_default="2",
        rich_help_panel=_TERMS,
    ),
]
MaxDf = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER",
        help="Leave out terms in more documents: a number (500) or a part of them (0.1).",
        show_default="0.5",
        rich_help_panel=_TERMS,
    ),
]
MaxFeatures = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=1,
        help="Keep only that many terms, the most frequent ones.",
        show_default="all",
        rich_help_panel=_TERMS,
    ),
]
StopWords = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS",
        help="Words to leave out: those of a language (such as german), of a file with a word in each line, "
        "or none; for several texts, also de=german,en=english.",
        show_default="english",
        autocompletion=completion.stop_word_languages,
        rich_help_panel=_TERMS,
    ),
]
Stemmer = Annotated[
    str | None,
    typer.Option(
        metavar="LANGUAGE",
        help="Take off the endings of words, so that fishes and fishing are both fish; for several texts, "
        "also de=german,en=english.",
        show_default="none",
        autocompletion=completion.stemmer_languages,
        rich_help_panel=_TERMS,
    ),
]
Ngrams = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        min=1,
        help="Also take sequences of up to that many words.",
        show_default="1",
        rich_help_panel=_TERMS,
    ),
]
Weighting = Annotated[
    WeightingName | None,
    typer.Option(
        metavar="NAME",
        help="How counts become weights: tfidf, log-entropy, binary or count.",
        show_default="tfidf",
        rich_help_panel=_TERMS,
    ),
]
SublinearTf = Annotated[
    bool,
    typer.Option("--sublinear-tf", help="For tfidf, take 1 + ln(count) for a count.", rich_help_panel=_TERMS),
]


def texts_of(columns: Mapping[str, str], **typed: Any) -> list[Modality]:
    """The texts that are read: those of each column, by its name, or else those of --text, without a name.

    Parameters
    ----------
    columns : mapping of str to str
        From names to columns; empty if documents have one text.
    **typed
        The options of `vectorizer_options`.

    Returns
    -------
    list of Modality
        In the order of `columns`.
    """
    from laconic.corpus.sources import Modality

    if not columns:
        return [Modality("", None, vectorizer_options(**typed))]
    by_name = ("stop_words", "stemmer")
    return [
        Modality(
            name,
            column,
            vectorizer_options(
                **{
                    **typed,
                    **{option: for_medium(typed[option], name, columns, option) for option in by_name},
                }
            ),
        )
        for name, column in columns.items()
    ]


def vectorizer_options(
    *,
    min_df: str | None,
    max_df: str | None,
    max_features: int | None,
    stop_words: str | None,
    stemmer: str | None,
    ngrams: int | None,
    weighting: WeightingName | None,
    sublinear_tf: bool,
) -> VectorizerOptions:
    """The options of a `Vectorizer`: those that were typed."""
    options: VectorizerOptions = {}
    if min_df is not None:
        options["min_df"] = frequency(min_df, "--min-df")
    if max_df is not None:
        options["max_df"] = frequency(max_df, "--max-df")
    if max_features is not None:
        options["max_features"] = max_features
    if stop_words is not None:
        options["stop_words"] = read_stop_words(stop_words)
    if stemmer is not None:
        options["stemmer"] = known_stemmer(stemmer)
    if ngrams is not None:
        options["ngram_range"] = (1, ngrams)
    if weighting is not None:
        options["weighting"] = weighting.value
    if sublinear_tf:
        options["sublinear_tf"] = True
    return options


def check_counted(weighting: WeightingName | None, sublinear_tf: bool, model: str) -> None:
    """Refuse weights for a model that is fitted to counts."""
    for wrong, option in (
        (weighting not in (None, WeightingName.count), "--weighting"),
        (sublinear_tf, "--sublinear-tf"),
    ):
        if wrong:
            raise typer.BadParameter(
                f"--model {model} is fitted to the counts themselves: leave it out", param_hint=option
            )


def for_medium(value: str | None, medium: str, media: Collection[str], option: str) -> str | None:
    """What an option says of one of several texts: the same of all, or of each by its name.

    >>> for_medium("german", "de", ["de", "en"], "stemmer")
    'german'
    >>> for_medium("de=german,en=english", "en", ["de", "en"], "stemmer")
    'english'
    """
    if value is None or "=" not in value:
        return value
    by_name = {name: said for name, _, said in (part.partition("=") for part in value.split(","))}
    strange = next((name for name, said in by_name.items() if name not in media or not said), None)
    if strange is not None:
        raise typer.BadParameter(
            f"{strange!r} in {value!r} names none of the texts {', '.join(media)}, or says nothing of it",
            param_hint=option_names([option]),
        )
    return by_name.get(medium)


def frequency(value: str, option: str) -> int | float:
    """A number of documents, or a part of all documents.

    >>> frequency("5", "--min-df"), frequency("0.05", "--min-df"), frequency("1.0", "--max-df")
    (5, 0.05, 1.0)
    """
    try:
        number = int(value) if value.strip().isdecimal() else float(value)
    except ValueError:
        number = -1.0
    if (isinstance(number, int) and number >= 1) or (isinstance(number, float) and 0 <= number <= 1):
        return number
    raise typer.BadParameter(
        f"{value!r} is neither a number of documents (1, 2, ...) nor a part of all documents (0.0 to 1.0)",
        param_hint=option,
    )


def read_stop_words(value: str) -> str | list[str] | None:
    """The words to leave out, as a `Vectorizer` takes them."""
    name = value.lower()
    if name == "english":
        return "english"
    if name == "none":
        return None
    from laconic.corpus.languages import read_words, stop_words_of

    if Path(value).is_file():
        # Texts are lower-cased before their stop words are looked for.
        return [word.lower() for word in read_words(Path(value), "--stop-words")]
    known = completion.stop_word_languages("")
    if known and name not in known:
        raise typer.BadParameter(
            f"there is no file {value!r}, nor a list of words of such a language; there are none and "
            f"{', '.join(known)}",
            param_hint="--stop-words",
        )
    # Without the package that has them, this says how to get it.
    return stop_words_of(name)


def known_stemmer(value: str) -> str:
    """The name of a language that has a stemmer."""
    from laconic.corpus.languages import stemmers

    known = stemmers("--stemmer")
    if value.lower() not in known:
        raise typer.BadParameter(
            f"there is no stemmer for {value!r}; there are {', '.join(known)}", param_hint="--stemmer"
        )
    return value.lower()
