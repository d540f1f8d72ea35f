"""The numbers of Chen et al., by table; shares where the paper has per cent."""

from __future__ import annotations

from laconic.experiments.parts import Results
from laconic.experiments.sparse_lsa.projections import CODING, LSA, NONNEGATIVE, SPARSE

# Table 1.
SIZES: dict[str, Results] = {
    "20newsgroups": {"n_documents": 1425, "n_terms": 17390, "n_classes": 2},
    "rcv1": {"n_documents": 15564, "n_terms": 7413, "n_classes": 53},
}

# The strength of the penalty in Tables 2 and 3, and the dimensions of Table 2.
STRENGTH = 0.05
DIMENSIONS = (10, 50, 100, 500, 1000)

# Table 2: the share of A that is not zero, as printed: for 100 dimensions of RCV1, 0.40 must be a slip.
DENSITIES: dict[str, dict[str, dict[int, float]]] = {
    data: {
        method: dict(zip(DIMENSIONS, values, strict=True))
        for method, values in ((SPARSE, sparse), (NONNEGATIVE, nonnegative))
    }
    for data, sparse, nonnegative in (
        ("20newsgroups", (0.0148, 0.0080, 0.0074, 0.0032, 0.0018), (0.0144, 0.0072, 0.0055, 0.0031, 0.0017)),
        ("rcv1", (0.1352, 0.0746, 0.0740, 0.0271, 0.0113), (0.1165, 0.0497, 0.0040, 0.0191, 0.0079)),
    )
}

# Table 3, 1,000 dimensions: milliseconds for a document, megabytes of A, the share of the dimensions of a
# projected document that are not zero, and the accuracy.
_KEYS = ("milliseconds", "megabytes", "described", "accuracy", "accuracy_sd")
EFFICIENCY: dict[str, dict[str, Results]] = {
    data: {method: dict(zip(_KEYS, values, strict=True)) for method, values in rows.items()}
    for data, rows in {
        "20newsgroups": {
            SPARSE: (0.25, 0.6314, 0.3581, 0.9301, 0.0117),
            NONNEGATIVE: (0.22, 0.6041, 0.3544, 0.9300, 0.0114),
            LSA: (31.6, 132.68, 1.0, 0.9389, 0.0058),
            CODING: (1711.1, 132.68, 0.8694, 0.9054, 0.0155),
        },
        "rcv1": {
            SPARSE: (0.59, 1.3374, 0.5538, 0.8888, 0.0043),
            NONNEGATIVE: (0.46, 0.9537, 0.4647, 0.8897, 0.0049),
            LSA: (13.2, 113.17, 1.0, 0.8938, 0.0058),
            CODING: (370.5, 113.17, 0.8388, 0.8879, 0.0155),
        },
    }.items()
}

# Table 4: topics of NIPS papers by non-negative Sparse LSA, the first seven of ten. In the paper, the last
# two words of topics 5 to 7 are once more those of topics 1 to 3: left out here.
TOPICS: tuple[str, ...] = (
    "network neural networks system neurons neuron input output time systems",
    "learning reinforcement algorithm function rule control learn weight action policy",
    "network learning data neural training set function model input networks",
    "model data models parameters mixture likelihood distribution gaussian em variables",
    "function functions approximation linear basis threshold theorem loss",
    "input output inputs chip analog circuit signal current",
    "image images recognition visual object system feature figure",
)
# Table 5: topics by LDA.
LDA_TOPICS: tuple[str, ...] = (
    "learning data model training information number algorithm performance linear input",
    "figure model output neurons vector networks state layer system order",
    "algorithm method networks process learning input based function error parameter",
    "single general sets time maximum paper rates features estimated neural",
    "rate unit data time estimation node set input neural properties",
    "algorithms set problem weight temporal prior obtain parameter neural simulated",
    "function neural hidden networks recognition output visual noise parameters references",
)

# Section 5.4: 295 tumours.
GENES: Results = {
    "n_samples": 295,
    "n_genes": 3510,
    "n_groups": 1103,
    "strength": 0.12,
    "components": 5,
    "groups_of_all": 93,
    "groups_of_second": 12,
    "genes_of_plain": 100,
}
