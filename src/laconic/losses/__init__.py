"""The mathematics: what minimises what. One loop, and a folder for each loss.

`squared` is ||X - WC||^2, `divergence` that of Kullback and Leibler, `orthogonal` 1/2 ||X - UA||^2 with an
orthonormal U. A loss keeps topics, Gram matrices and objective at the coordinator; documents and their
weights live in shards, and an engine runs functions over them.
"""
