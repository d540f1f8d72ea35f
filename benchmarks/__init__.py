"""Benchmarks: laconic and its peers side by side, in one process run (`make bench`)."""
