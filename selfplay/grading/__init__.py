"""Measuring how well players play: exact proofs, solved positions, reference players, comparisons, ratings."""
