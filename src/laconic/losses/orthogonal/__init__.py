"""The squared loss with an orthonormal basis of documents, 1/2 ||X - UA||^2: Sparse LSA."""
