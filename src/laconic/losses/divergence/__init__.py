"""The Kullback-Leibler divergence of X from WC: PLSA, KL-NMF, linked documents, several modalities."""
