"""Exact values of positions near the end of a match."""
