"""Grading by an exact solver, in games whose solver solves matches from their start."""
