"""Compiled kernels: arrays and scalars only, no Python objects, no classes, no interface.

Every kernel is `nogil`, so that the blocks of an engine run side by side, and none starts threads of its
own. Inner loops run over slices taken outside of them: numba's test for negative indices in `a[offset + k]`
would keep them from being vectorised.

Kernels that are written in loops are compiled in tenths of a second. `a[:] = b` for two arrays,
`np.partition`, `np.sort` and their like bring seconds of their own: each is a library to be compiled first.
"""
