"""Matches between two players: the arena, result counts, series of matches."""
