"""Measuring how well players play: exact proofs, endgame positions, reference players, comparisons, ratings."""
