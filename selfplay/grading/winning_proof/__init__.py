"""Proofs that a player wins against every play: a walk through all lines, judged by an exact solver."""
