"""The numbers of the paper, as it prints them: Wang, Chang and Lyu, Tables 1 to 3."""

from __future__ import annotations

from typing import TypeAlias

Pair: TypeAlias = tuple[float, float]

# By data set, number of classes and method: accuracy and normalised mutual information, as shares.
CLUSTERING: dict[str, dict[int, dict[str, Pair]]] = {
    # Table 2
    "coil20": {
        10: {
            "k-means": (0.4389, 0.5414),
            "graph NMF": (0.7958, 0.8792),
            "graph NMF KL": (0.8431, 0.8844),
            "GraphPLSA l1": (0.6000, 0.6595),
            "GraphPLSA l2": (0.8500, 0.8862),
            "GraphPLSA skl": (0.8736, 0.9018),
        },
        15: {
            "k-means": (0.6537, 0.7108),
            "graph NMF": (0.8435, 0.8531),
            "graph NMF KL": (0.8417, 0.8760),
            "GraphPLSA l1": (0.6787, 0.7654),
            "GraphPLSA l2": (0.8583, 0.8622),
            "GraphPLSA skl": (0.8639, 0.8918),
        },
        20: {
            "k-means": (0.6049, 0.7386),
            "graph NMF": (0.7222, 0.8760),
            "graph NMF KL": (0.7368, 0.8518),
            "GraphPLSA l1": (0.7368, 0.8169),
            "GraphPLSA l2": (0.8097, 0.8836),
            "GraphPLSA skl": (0.8181, 0.9014),
        },
    },
    # Table 1
    "pie_pose27": {
        30: {
            "k-means": (0.2683, 0.4838),
            "graph NMF": (0.8286, 0.9049),
            "graph NMF KL": (0.6151, 0.7811),
            "GraphPLSA l1": (0.3881, 0.5725),
            "GraphPLSA l2": (0.8444, 0.9119),
            "GraphPLSA skl": (0.7627, 0.8812),
        },
        50: {
            "k-means": (0.2548, 0.5093),
            "graph NMF": (0.7614, 0.8926),
            "graph NMF KL": (0.6257, 0.8120),
            "GraphPLSA l1": (0.3943, 0.6289),
            "GraphPLSA l2": (0.8048, 0.9022),
            "GraphPLSA skl": (0.7014, 0.8628),
        },
        68: {
            "k-means": (0.2399, 0.5377),
            "graph NMF": (0.7556, 0.8807),
            "graph NMF KL": (0.6355, 0.8320),
            "GraphPLSA l1": (0.3575, 0.6356),
            "GraphPLSA l2": (0.7766, 0.8914),
            "GraphPLSA skl": (0.7623, 0.8916),
        },
    },
}

# Table 3, Wikipedia, semantic correlation matching: what the paper compares with.
CROSS_MODAL_BASELINE: dict[str, Pair] = {"topic space": (0.267, 0.219), "semantic space": (0.362, 0.273)}

# Table 3, Wikipedia: mean average precision from image to text and from text to image.
CROSS_MODAL: dict[str, dict[str, Pair]] = {
    "topic space": {
        "tied": (0.247, 0.247),
        "l1": (0.317, 0.307),
        "l2": (0.360, 0.358),
        "skl": (0.413, 0.413),
    },
    "semantic space": {
        "tied": (0.605, 0.605),
        "l1": (0.667, 0.658),
        "l2": (0.706, 0.701),
        "skl": (0.726, 0.724),
    },
}
