"""How well players play: exact proofs, endgame positions, reference players, comparison of levels, ratings."""
