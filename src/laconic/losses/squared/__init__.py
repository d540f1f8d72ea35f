"""The squared loss ||X - WC||^2: RLSI and NMF, flat and with classes."""
