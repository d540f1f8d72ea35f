"""The data sets that laconic knows how to read: what they are, and where the public ones come from."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal[
    "text", "retrieval", "counts", "images", "graph", "parallel", "multimodal", "groups"
]

# `load` tells type checkers by these names which record it returns.
TextName: TypeAlias = Literal["bbc_news", "octis_bbc_news", "octis_m10", "ohsumed23", "reuters21578"]
RetrievalName: TypeAlias = Literal["adi", "cacm", "cranfield", "npl", "scifact", "time"]
ImagesName: TypeAlias = Literal["coil20", "pie_pose27"]
GraphName: TypeAlias = Literal["cora", "cora_ml", "dblp4"]


class Known(NamedTuple):
    """What is known about a data set without having it."""

    kind: Kind
    size: str
    description: str
    source: str
    files: tuple[str, ...]


_DOCS = ("docs.jsonl",)
_RETRIEVAL = ("docs.jsonl", "queries.jsonl", "qrels.tsv")

# Text files may also be compressed: each name stands for itself and for name.gz and name.xz.
KNOWN: dict[str, Known] = {
    "20newsgroups": Known(
        "text",
        "18,846 messages, 20 groups",
        "20 Newsgroups, the split by date",
        "GitHub julenminer/mlnn_P65 (Jason Rennie's bydate version)",
        _DOCS,
    ),
    "adi": Known(
        "retrieval",
        "82 documents, 35 queries",
        "ADI: a tiny retrieval collection about documentation",
        "GitHub lailaglez/belief-network-irs",
        _RETRIEVAL,
    ),
    "bbc_news": Known(
        "text",
        "2,225 articles, 5 classes",
        "BBC news of 2004 and 2005",
        "GitHub dejanbatanjac/bbc-article-classify-bert (Greene & Cunningham, ICML 2006)",
        _DOCS,
    ),
    "cacm": Known(
        "retrieval",
        "3,204 documents, 64 queries",
        "CACM: titles and abstracts of Communications of the ACM",
        "GitHub meier-flo/CACMTrecEvalFromRwithSolr",
        _RETRIEVAL,
    ),
    "coil20": Known(
        "images",
        "1,440 images, 20 objects",
        "COIL-20: objects in 32 x 32 grey pixels",
        "GitHub farhadabedinzadeh/AutoUFSTool (Columbia's images in Deng Cai's version)",
        ("coil20_32x32.npz",),
    ),
    "cora": Known(
        "graph",
        "2,708 papers, 7 classes",
        "Cora: papers with citations and binary words without names",
        "GitHub shchur/gnn-benchmark",
        ("cora.npz",),
    ),
    "cora_ml": Known(
        "graph",
        "2,995 papers, 7 classes",
        "Cora-ML: papers with citations and tf-idf of named words",
        "GitHub abojchevski/sparse_smoothing",
        ("cora_ml.npz",),
    ),
    "cranfield": Known(
        "retrieval",
        "1,400 documents, 225 queries",
        "Cranfield: abstracts about aerodynamics, with graded judgments",
        "GitHub lailaglez/belief-network-irs (the Glasgow IR group's distribution)",
        _RETRIEVAL,
    ),
    "dblp4": Known(
        "graph",
        "4,057 authors, 4 areas",
        "DBLP: authors with the words of their titles and their co-authors",
        "GitHub cynricfu/MAGNN (from the four-area data of Ji et al. and Gao et al.)",
        ("papers.jsonl", "authors.tsv"),
    ),
    "europarl_de_en": Known(
        "parallel",
        "6,000 pairs of speeches",
        "Europarl: speeches in German and English",
        "GitHub UDS-SFB-B6-Datasets/Multilingual-Parallel-Direct-Europarl",
        ("pairs.jsonl",),
    ),
    "nips12": Known(
        "counts",
        "1,740 papers, 13,649 terms",
        "NIPS papers, volumes 0 to 12, as counts of words",
        "GitHub ThomasYeoLab/CBIG (Steyvers & Griffiths' toolbox, from Sam Roweis' data)",
        ("counts.npz", "vocab.txt", "papers.jsonl"),
    ),
    "npl": Known(
        "retrieval",
        "11,429 documents, 93 queries",
        "NPL, also called Vaswani: abstracts about electronics",
        "GitHub terrier-org/pyterrier, queries from GitHub stefreschke/Information-Retrieval",
        _RETRIEVAL,
    ),
    "octis_bbc_news": Known(
        "text",
        "2,225 articles, 5 classes",
        "BBC News as OCTIS has it: lemmatised, without stop words",
        "GitHub MIND-Lab/OCTIS",
        _DOCS,
    ),
    "octis_m10": Known(
        "text",
        "8,355 titles, 10 classes",
        "M10: titles of scientific papers, lemmatised",
        "GitHub MIND-Lab/OCTIS",
        _DOCS,
    ),
    "ohsumed23": Known(
        "text",
        "7,400 abstracts, 23 classes",
        "OHSUMED: medical abstracts with exactly one disease class",
        "GitHub yao8839836/text_gcn",
        _DOCS,
    ),
    "p53_pathways": Known(
        "groups",
        "50 samples, 4,301 genes",
        "Gene expression of cancer cell lines, with 308 overlapping pathways",
        "GitHub cran/grpregOverlap (data of Subramanian et al., 2005)",
        ("expression.npz", "groups.json"),
    ),
    "pie_pose27": Known(
        "images",
        "2,856 images, 68 people",
        "CMU PIE, pose 27: faces in 32 x 32 grey pixels",
        "GitHub louloupiano/PCPSNMF (CMU's images in Deng Cai's version)",
        ("pie_pose27_32x32.npz",),
    ),
    "reuters21578": Known(
        "text",
        "21,578 articles, several topics each",
        "Reuters newswire of 1987, with the ModApte split",
        "GitHub colibri17/TextCategorization (Distribution 1.0)",
        _DOCS,
    ),
    "scifact": Known(
        "retrieval",
        "5,183 documents, 1,109 queries",
        "SciFact: abstracts, and claims as queries (train and test)",
        "GitHub sumithra-p-v/claimverifier, originally GitHub allenai/scifact",
        _RETRIEVAL,
    ),
    "time": Known(
        "retrieval",
        "423 documents, 83 queries",
        "TIME: articles of the magazine from 1963",
        "GitHub Chaplinski/IR-Assignment3",
        _RETRIEVAL,
    ),
    "wikipedia_xmodal": Known(
        "multimodal",
        "2,866 pairs, 10 categories",
        "Wikipedia featured articles: features of image and text",
        "GitHub emanuetre/crossmodal and GitHub azrealwang/sph (Rasiwasia et al., 2010)",
        ("wikipedia_xmodal.npz", "pairs.tsv"),
    ),
}
