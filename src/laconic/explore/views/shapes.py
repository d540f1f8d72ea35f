"""The shapes of views: plain data, which becomes JSON as it is (``dataclasses.asdict``)."""

from __future__ import annotations

from dataclasses import dataclass, field

from laconic.bundle.chosen import Chosen


@dataclass(frozen=True)
class Word:
    """A word of a topic; a weight below zero counts against it."""

    term: str
    weight: float


@dataclass(frozen=True)
class Words:
    """The heaviest words of a topic in one modality; "" is the name of the only one."""

    modality: str
    words: list[Word]


@dataclass(frozen=True)
class TopicLine:
    """A topic in a line.

    Attributes
    ----------
    id : int
        Its number, which never changes.
    name : str
        What it is called: by its heaviest words, unless somebody has named it.
    named : bool
        Whether somebody has.
    owner : str or None
        Its class, or "shared"; None for models without classes.
    size : int
        How many words it has.
    share : float or None
        Its part of all documents' weights.
    documents : int or None
        Of how many documents it is the largest topic.
    stability : float or None
        How surely it comes back when the model is fitted again, from 0 to 1, where that was measured.
    labels : list of str
        Where it is strongest.
    words : list of Words
        One entry for each modality.
    """

    id: int
    name: str
    named: bool
    owner: str | None
    size: int
    share: float | None
    documents: int | None
    stability: float | None
    labels: list[str]
    words: list[Words]


@dataclass(frozen=True)
class LabelLine:
    """A class of documents, or a label: how many have it, and how many topics are its own."""

    label: str
    documents: int
    topics: int


@dataclass(frozen=True)
class Overview:
    """A model and its documents at a glance.

    Attributes
    ----------
    model : str
        The name of the model's class.
    n_topics, n_alive, n_terms, n_used : int
        Topics; those with words; terms; terms that some topic has.
    n_documents : int or None
        None without documents.
    has_texts, has_dates : bool
        What is known of the documents.
    signed : bool
        Whether words may count against a topic.
    modalities : list of str
        Empty, if there is just one.
    labels : list of LabelLine
        The labels of documents, or the classes of the model.
    period : list of str, or None
        The first and the last day.
    explained : float or None
        The share of the documents' content that the topics explain, measured on `measured` of them.
    measured : int or None
        See above.
    n_iter : int
        How many iterations the fit took.
    chosen : laconic.bundle.chosen.Chosen or None
        What spoke for which number of topics, where that was asked.
    first : int
        The place of the first topic of `topics` among all.
    topics : list of TopicLine
        In the order asked for.
    """

    model: str
    n_topics: int
    n_alive: int
    n_terms: int
    n_used: int
    n_documents: int | None
    has_texts: bool
    has_dates: bool
    signed: bool
    modalities: list[str]
    labels: list[LabelLine]
    period: list[str] | None
    explained: float | None
    measured: int | None
    n_iter: int
    chosen: Chosen | None
    first: int
    topics: list[TopicLine]


@dataclass(frozen=True)
class Piece:
    """A piece of text, and the topic that explains it, if it is a word that one explains."""

    text: str
    topic: int | None = None


@dataclass(frozen=True)
class DocumentLine:
    """A document in a line: what it has of a topic, and a piece of its text where texts were kept."""

    id: str
    weight: float
    share: float | None = None
    label: str | None = None
    date: str | None = None
    text: list[Piece] = field(default_factory=list)


@dataclass(frozen=True)
class LabelPart:
    """The part of a topic in the documents of a label, and how many times its part in all of them that is."""

    label: str
    share: float
    lift: float


@dataclass(frozen=True)
class Period:
    """A topic's part of the weights of a period's documents; how many documents these are."""

    period: str
    share: float
    documents: int


@dataclass(frozen=True)
class Neighbour:
    """A topic near another: the cosine of the two, and the words that both have, by what they add to it."""

    id: int
    name: str
    owner: str | None
    cosine: float
    words: list[str]


@dataclass(frozen=True)
class TopicView:
    """All about a topic."""

    topic: TopicLine
    labels: list[LabelPart]
    time: list[Period]
    neighbours: list[Neighbour]
    documents: list[DocumentLine]


@dataclass(frozen=True)
class WordTopic:
    """A topic that has a word: its weight there, and the word's rank among the topic's words."""

    id: int
    name: str
    owner: str | None
    weight: float
    rank: int


@dataclass(frozen=True)
class WordView:
    """All about a word: every topic it is in, and documents that have it."""

    term: str
    modality: str
    n_documents: int | None
    n_occurrences: int | None
    topics: list[WordTopic]
    documents: list[DocumentLine]


@dataclass(frozen=True)
class TopicPart:
    """What a topic has of a document, or of a class: a weight, and its part of all positive ones."""

    id: int
    name: str
    owner: str | None
    weight: float
    share: float


@dataclass(frozen=True)
class TermCount:
    """A term of a document, how often it occurs, and the topic that explains it."""

    term: str
    count: int
    topic: int | None


@dataclass(frozen=True)
class Body:
    """What a document has in one modality: its text in pieces, if texts were kept, and its terms."""

    modality: str
    text: list[Piece]
    cut: bool
    terms: list[TermCount]


@dataclass(frozen=True)
class DocumentView:
    """A document: its topics, and its words with the topic that explains each.

    `explained` is the part of its known words that some topic explains.
    """

    id: str
    label: str | None
    date: str | None
    topics: list[TopicPart]
    bodies: list[Body]
    explained: float
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True)
class LabelView:
    """A class: its topics, largest first; its own ones apart, where the model has classes."""

    label: str
    documents: int
    topics: list[TopicPart]
    own: list[TopicLine]
    shared: list[TopicLine]
    examples: list[DocumentLine]


@dataclass(frozen=True)
class TimeRow:
    """A topic over time: its part of each period."""

    id: int
    name: str
    shares: list[float]


@dataclass(frozen=True)
class TimeView:
    """Topics over time."""

    unit: str
    periods: list[str]
    documents: list[int]
    undated: int
    topics: list[TimeRow]


@dataclass(frozen=True)
class Table:
    """Topics × classes: a row for each topic, a column for each label, parts of the label's weights."""

    labels: list[str]
    topics: list[int]
    names: list[str]
    shares: list[list[float]]


@dataclass(frozen=True)
class ComparedWord:
    """A word of two topics, with its weight in each."""

    term: str
    modality: str
    first: float
    second: float


@dataclass(frozen=True)
class Comparison:
    """Two topics side by side: words of both, of the one alone and of the other alone."""

    first: TopicLine
    second: TopicLine
    cosine: float
    both: list[ComparedWord]
    only_first: list[ComparedWord]
    only_second: list[ComparedWord]
    n_both: int
    labels: list[list[LabelPart]]


@dataclass(frozen=True)
class Reason:
    """What a word or a topic adds to a score: already scaled and blended, so that reasons add up to it."""

    kind: str
    text: str
    topic: int | None
    part: float


@dataclass(frozen=True)
class Found:
    """A document that was found, both parts of its score as they count, and why it matched."""

    id: str
    score: float
    terms: float
    topics: float
    label: str | None
    date: str | None
    text: list[Piece]
    reasons: list[Reason]


@dataclass(frozen=True)
class SearchView:
    """What a search has found."""

    query: str
    blend: float
    modality: str
    known: list[str]
    n_documents: int
    hits: list[Found]


@dataclass(frozen=True)
class Point:
    """A topic on the map, from -1 to 1 each way; its weight, from 0 to 1, is that of its circle's area."""

    id: int
    name: str
    owner: str | None
    x: float
    y: float
    weight: float


@dataclass(frozen=True)
class MapView:
    """The topics as points of a plane; `shown` is the part of their distances that two dimensions hold."""

    points: list[Point]
    shown: float
    owners: list[str]


@dataclass(frozen=True)
class Similarity:
    """Cosines of topics; of very many, only of the heaviest."""

    topics: list[int]
    names: list[str]
    cosines: list[list[float]]


@dataclass(frozen=True)
class Pair:
    """Two topics that are near each other, and the words that both have."""

    first: int
    second: int
    first_name: str
    second_name: str
    cosine: float
    words: list[str]


@dataclass(frozen=True)
class TopicDifference:
    """A topic that has changed: its words before and after, those gained and lost, the cosine of both."""

    id: int
    name: str
    cosine: float
    before: list[str]
    after: list[str]
    gained: list[str]
    lost: list[str]


@dataclass(frozen=True)
class Difference:
    """What has changed between two models, how many topics stayed, what both explain, and unused names."""

    topics: list[TopicDifference]
    n_same: int
    explained: list[float | None]
    lost_names: list[str]


@dataclass(frozen=True)
class Described:
    """A new text: its topics, its words with the topic that explains each, and its class if that is found."""

    modality: str
    label: str | None
    known: int
    topics: list[TopicPart]
    text: list[Piece]
    explained: float
