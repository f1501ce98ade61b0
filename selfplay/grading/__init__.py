"""How well players play: exact grades, late positions, reference players, comparison of levels, ratings."""
